package x402_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"ace/internal/protocol/x402"
)

// fixture reads one of the recorded exchanges.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	data, err := os.ReadFile(filepath.Join(shared, "specs/x402/fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// layouts are the two chains that the exchanges were recorded on.
var layouts = []string{"dev-31337", "usdc-84532"}

func TestRecordedPayments(t *testing.T) {
	t.Parallel()
	for _, layout := range layouts {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			header := fixture(t, layout+"/payment-signature.b64")
			p, err := x402.ParsePayment(string(header))
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if want := fixture(t, layout+"/payment-signature.json"); string(text) != string(want) {
				t.Errorf("JSON of the payment = %s, want the recorded bytes %s", text, want)
			}
			q, err := x402.ParseRequiredHeader(string(fixture(t, layout+"/payment-required.b64")))
			if err != nil {
				t.Fatal(err)
			}
			if i, ok := x402.Match(p.Accepted, q.Accepts); !ok || i != 0 {
				t.Errorf("Match = %d, %v, want the first way to pay", i, ok)
			}
			again, err := q.Header()
			if err != nil || again != string(fixture(t, layout+"/payment-required.b64")) {
				t.Errorf("header of the quote = %s, %v, want the recorded one", again, err)
			}
			settled, err := x402.ParseResponseHeader(string(fixture(t, layout+"/payment-response.b64")))
			if err != nil || settled.Class(q.Accepts[0]) != x402.Accepted {
				t.Errorf("response = %+v, %v, of class %s, want accepted", settled, err, settled.Class(q.Accepts[0]))
			}
		})
	}
}
