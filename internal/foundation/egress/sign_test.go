package egress_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"ace/internal/foundation/egress"
)

// TestSign signs each hop as it goes out, and sends nothing unsigned.
func TestSign(t *testing.T) {
	t.Parallel()
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.Path+" "+strings.Join(r.Header.Values("X-Signed"), ",")+" "+r.Header.Get("User-Agent"))
		if r.URL.Path == "/from" {
			http.Redirect(w, r, "/to", http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	guard := egress.New(&egress.Options{
		Allow:     []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		UserAgent: "tester",
	})
	call := func(path string, sign func(*http.Request) error) error {
		purpose := egress.SiteAudit()
		purpose.Sign = sign
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := guard.Client(purpose).Do(req)
		if err != nil {
			return err
		}
		if len(req.Header) > 0 {
			t.Errorf("the caller's own header has %v", req.Header)
		}
		return res.Body.Close()
	}
	sign := func(r *http.Request) error {
		r.Header.Set("X-Signed", r.URL.Path)
		return nil
	}
	if err := call("/from", sign); err != nil || strings.Join(got, "; ") != "/from /from tester; /to /to tester" {
		t.Errorf("got %q, %v, want each hop with a signature of its own", got, err)
	}
	got = nil
	refusal := errors.New("no key")
	if err := call("/from", func(*http.Request) error { return refusal }); !errors.Is(err, refusal) || len(got) != 0 {
		t.Errorf("call() = %v with %q sent, want the refusal and nothing", err, got)
	}
}
