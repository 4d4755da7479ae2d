package x402facilitator_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/egress"
	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/x402facilitator"
)

const hash = "0xea42715e7c014d0dafb38b71513e2ed4cb8c01dd542f4ca19d5a2b5c1baaf595"

// The ports that are implemented here.
var (
	_ paidservice.Facilitator = (*x402facilitator.Pool)(nil)
	_ paidservice.Facilitator = (*x402facilitator.Remote)(nil)
	_ paidservice.Prover      = (*x402facilitator.Chains)(nil)
)

func terms() x402.PaymentRequirements {
	return x402.PaymentRequirements{
		Scheme: "exact", Network: "eip155:84532", Amount: "90000", Asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
		PayTo: "0x90F79bf6EB2c4f870365E785982E1f101E93b906", MaxTimeoutSeconds: 300,
		Extra: map[string]any{"name": "USDC", "version": "2"},
	}
}

func payment(t testing.TB) *x402.PaymentPayload {
	t.Helper()
	key, err := evm.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	p, err := key.Pay(terms(), nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func remote(t testing.TB, url string, auth x402facilitator.Auth) *x402facilitator.Remote {
	t.Helper()
	f, err := x402facilitator.New(url, auth, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// serve gives every call the same response.
func serve(t testing.TB, status int, body string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// outcome sorts what a call to settle for terms came to.
func outcome(answer x402.SettleResponse, err error) string { return outcomeFor(terms(), answer, err) }

func outcomeFor(terms x402.PaymentRequirements, answer x402.SettleResponse, err error) string {
	switch {
	case errors.Is(err, paidservice.ErrNotSent):
		return "not sent"
	case err != nil:
		return "unknown"
	}
	return string(answer.Class(terms))
}

// TestSettle shows what each response of a facilitator, honest or not, means.
func TestSettle(t *testing.T) {
	t.Parallel()
	const good = `{"success":true,"payer":"0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC","transaction":"` + hash +
		`","network":"eip155:84532"}`
	tests := []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"settled", 200, good, "accepted"},
		{
			"refused with 400, as CDP does",
			400, `{"success":false,"errorReason":"insufficient_funds","transaction":"","network":"eip155:84532"}`,
			"payer_can_fix",
		},
		{
			"refused",
			200,
			`{"success":false,"errorReason":"invalid_exact_evm_signature","transaction":"","network":"eip155:84532"}`,
			"payer_final",
		},
		{
			"pending",
			200, `{"success":false,"errorReason":"settlement_pending","transaction":"` + hash +
				`","network":"eip155:84532"}`, "ambiguous",
		},
		{
			"not sent to the chain",
			200,
			`{"success":false,"errorReason":"invalid_exact_evm_transaction_failed","transaction":"",` +
				`"network":"eip155:84532"}`,
			"transient",
		},
		{
			"failed on the chain", 200,
			`{"success":false,"errorReason":"invalid_exact_evm_transaction_failed","transaction":"` + hash + `"}`,
			"ambiguous",
		},
		{"wrong network", 200, strings.Replace(good, "84532", "8453", 1), "ambiguous"},
		{"success without a transaction", 200, strings.Replace(good, hash, "", 1), "ambiguous"},
		{"a reason nobody knows", 200, `{"success":false,"errorReason":"gremlins"}`, "ambiguous"},
		{"bad gateway after settling", 502, "<html>bad gateway</html>", "unknown"},
		{"500 with the body of a success", 500, good, "unknown"},
		{"503", 503, "", "unknown"},
		{"408", 408, "", "unknown"},
		{"redirect", 307, "", "unknown"},
		{"too many requests", 429, "", "not sent"},
		{"wrong key", 401, `{"errorType":"unauthorized"}`, "not sent"},
		{"the seller has not paid", 402, `{}`, "not sent"},
		{"wrong path", 404, "not found", "not sent"},
		{"no JSON", 200, "OK", "unknown"},
		{"nothing", 200, "", "unknown"},
		{
			"two answers in one", 200,
			`{"success":false,"success":true,"transaction":"` + hash + `","network":"eip155:84532"}`, "unknown",
		},
		{"two answers", 200, good + good, "unknown"},
		{"an endless answer", 200, strings.Repeat(" ", 1<<20), "unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := remote(t, serve(t, tt.status, tt.body).URL, nil)
			if got := outcome(f.Settle(t.Context(), payment(t), terms())); got != tt.want {
				t.Errorf("Settle = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestConnections(t *testing.T) {
	t.Parallel()
	dropped := httptest.NewServer(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(dropped.Close)
	closed := httptest.NewServer(nil)
	closed.Close()
	for url, want := range map[string]string{closed.URL: "not sent", dropped.URL: "unknown"} {
		if got := outcome(remote(t, url, nil).Settle(t.Context(), payment(t), terms())); got != want {
			t.Errorf("Settle(%s) = %s, want %s", url, got, want)
		}
	}
	// The guard of outbound calls refuses before anything is sent.
	guard := egress.New(nil)
	f, err := x402facilitator.New(dropped.URL, nil, guard.Client(egress.Facilitator("127.0.0.1")))
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome(f.Settle(t.Context(), payment(t), terms())); got != "not sent" {
		t.Errorf("Settle at a private address = %s, want not sent", got)
	}
}

// silent never answers, as a connection that stands.
type silent struct{}

func (s silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestTimeLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, err := x402facilitator.New("https://facilitator.example", nil, &http.Client{Transport: silent{}})
		if err != nil {
			t.Fatal(err)
		}
		p := payment(t)
		for name, call := range map[string]struct {
			run  func() error
			want time.Duration
		}{
			"verify":    {func() error { _, err := f.Verify(t.Context(), p, terms()); return err }, 15 * time.Second},
			"settle":    {func() error { _, err := f.Settle(t.Context(), p, terms()); return err }, 20 * time.Second},
			"supported": {func() error { _, err := f.Supported(t.Context()); return err }, 10 * time.Second},
		} {
			start := time.Now()
			err := call.run()
			if took := time.Since(start); took != call.want || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s gave up after %s with %v, want %s", name, took, err, call.want)
			}
		}
	})
}

// TestRecordedCalls compares what is sent with what the client libraries sent,
// and reads what they were answered.
func TestRecordedCalls(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(shared, "specs/x402/fixtures", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, layout := range []string{"dev-31337", "usdc-84532"} {
		got := map[string]string{}
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			name := strings.TrimPrefix(r.URL.Path, "/x402/")
			got[name] = string(body)
			file := layout + "/facilitator-" + name + "-response.json"
			if name == "supported" {
				file = layout + "/facilitator-supported.json"
			}
			_, _ = w.Write(read(file))
		}))
		t.Cleanup(s.Close)
		f := remote(t, s.URL+"/x402/", nil)
		p, err := x402.ReadPayload(read(layout + "/payment-signature.json"))
		if err != nil {
			t.Fatal(err)
		}
		verified, err := f.Verify(t.Context(), p, p.Accepted)
		if err != nil || !verified.IsValid || verified.Payer != p.Authorization.From {
			t.Errorf("Verify = %+v, %v", verified, err)
		}
		settled, err := f.Settle(t.Context(), p, p.Accepted)
		if err != nil || settled.Class(p.Accepted) != x402.Accepted {
			t.Errorf("Settle = %+v, %v", settled, err)
		}
		supported, err := f.Supported(t.Context())
		if err != nil || !supported.Supports("exact", p.Accepted.Network) {
			t.Errorf("Supported = %+v, %v", supported, err)
		}
		for name, text := range got {
			if name == "supported" {
				continue
			}
			var a, b any
			if json.Unmarshal([]byte(text), &a) != nil ||
				json.Unmarshal(read(layout+"/facilitator-"+name+"-request.json"), &b) != nil {
				t.Fatal("a request is no JSON")
			}
			if diff := cmp.Diff(b, a); diff != "" {
				t.Errorf("request of %s (-recorded +sent):\n%s", name, diff)
			}
		}
	}
}

func TestPool(t *testing.T) {
	t.Parallel()
	const good = `{"success":true,"isValid":true,"transaction":"` + hash +
		`","network":"eip155:84532","kinds":[{"x402Version":2,"scheme":"exact","network":"eip155:84532"}]}`
	const other = `{"success":true,"isValid":true,"transaction":"` + hash +
		`","network":"eip155:84532","kinds":[{"x402Version":2,"scheme":"exact","network":"eip155:1"}]}`
	tests := []struct {
		name   string
		status int
		body   string
		settle string
		second int32 // calls of the second facilitator to settle
		verify bool
	}{
		{"the first answers", 200, good, "accepted", 0, true},
		{"the first refuses the key", 401, "", "accepted", 1, true},
		{"the first is too busy", 429, "", "accepted", 1, true},
		{
			"the first's node takes nothing",
			200, `{"isValid":true,"success":false,"errorReason":"settle_exact_node_failure"}`, "accepted", 1, true,
		},
		{"the first breaks off", 502, "", "unknown", 0, true},
		{
			"the first does not know", 200, `{"isValid":true,"success":false,"errorReason":"settlement_pending"}`,
			"ambiguous", 0, true,
		},
		{
			"the first refuses", 200,
			`{"isValid":false,"invalidReason":"insufficient_funds","success":false,"errorReason":"insufficient_funds"}`,
			"payer_can_fix", 0, false,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var settles atomic.Int32
			second := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/settle" {
					settles.Add(1)
				}
				_, _ = io.WriteString(w, good)
			}))
			t.Cleanup(second.Close)
			pool := x402facilitator.NewPool(nil, remote(t, serve(t, tt.status, tt.body).URL, nil),
				remote(t, second.URL, nil))
			p := payment(t)
			verified, err := pool.Verify(t.Context(), p, terms())
			if err != nil || verified.IsValid != tt.verify {
				t.Errorf("Verify = %+v, %v, want valid %v", verified, err, tt.verify)
			}
			if got := outcome(pool.Settle(t.Context(), p, terms())); got != tt.settle || settles.Load() != tt.second {
				t.Errorf("Settle = %s with %d calls of the second, want %s with %d", got, settles.Load(), tt.settle,
					tt.second)
			}
			if supported, err := pool.Supported(t.Context()); err != nil || !supported.Supports("exact",
				"eip155:84532") {
				t.Errorf("Supported = %+v, %v", supported, err)
			}
		})
	}
	t.Run("a network of the second", func(t *testing.T) {
		t.Parallel()
		pool := x402facilitator.NewPool(nil, remote(t, serve(t, 200, other).URL, nil),
			remote(t, serve(t, 200, good).URL, nil))
		if _, err := pool.Supported(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := outcome(pool.Settle(t.Context(), payment(t), terms())); got != "accepted" {
			t.Errorf("Settle = %s, want the second to settle", got)
		}
	})
	t.Run("nobody", func(t *testing.T) {
		t.Parallel()
		pool := x402facilitator.NewPool(nil, remote(t, serve(t, 500, "").URL, nil))
		_, errVerify := pool.Verify(t.Context(), payment(t), terms())
		_, errSupported := pool.Supported(t.Context())
		if errVerify == nil || errSupported == nil {
			t.Errorf("Verify, Supported = %v, %v, want errors", errVerify, errSupported)
		}
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"", "facilitator.example", "ftp://a.example", "https://key:secret@a.example",
		"https://a.example?key=1", "https://a.example#x", "https://%zz",
	} {
		if _, err := x402facilitator.New(address, nil, http.DefaultClient); err == nil {
			t.Errorf("New(%q) worked, want an error", address)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("New(%q) = %v, which shows credentials", address, err)
		}
	}
	if f := remote(t, "https://a.example/x402/", nil); f.Host() != "a.example" {
		t.Errorf("host = %s", f.Host())
	}
}
