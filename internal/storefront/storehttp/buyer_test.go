package storehttp_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ace/internal/sandbox/sandboxtest"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp/storetest"
)

// opened opens a checkout and returns it with the path of the buyer's link.
func opened(t *testing.T, w *storetest.Store, offerID string) (session *checkout.Session, link string) {
	t.Helper()
	session, err := w.Sales.Create(t.Context(),
		checkout.Request{Protocol: checkout.UCP, OfferID: offerID, ReturnURL: "https://agent.example/chat"})
	if err != nil {
		t.Fatal(err)
	}
	return session, strings.TrimPrefix(w.Sales.ContinueURL(session), w.URL)
}

// shows fails unless a page of the buyer's shows the text, is kept by nobody
// and leaks its address to nobody.
func shows(t *testing.T, w *storetest.Store, path string, status int, texts ...string) {
	t.Helper()
	r := w.Do(http.MethodGet, path, "")
	if r.Status != status || r.Header.Get("Cache-Control") != "no-store" ||
		r.Header.Get("Referrer-Policy") != "no-referrer" || r.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("%s = %d %v, want %d", path, r.Status, r.Header, status)
	}
	for _, text := range texts {
		if !strings.Contains(string(r.Body), text) {
			t.Errorf("%s lacks %q:\n%s", path, text, r.Body)
		}
	}
}

func TestBuyerPages(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	tests := []struct {
		name, offer string
		act         func(t *testing.T, s *checkout.Session, link string)
		want        []string
	}{
		{"paid", "prompt_handbook", func(t *testing.T, _ *checkout.Session, link string) {
			t.Helper()
			sandboxtest.NewPerson(t, nil).Pay(w.URL+link, sandboxtest.CardOK)
		}, []string{"Thank you", "USD 29.00", "What happens next", "Return to agent.example", "Sandbox."}},
		{"delayed", "prompt_handbook", func(t *testing.T, _ *checkout.Session, link string) {
			t.Helper()
			sandboxtest.NewPerson(t, nil).PayLater(w.URL+link, "succeeds")
		}, []string{"Your payment is on its way", `http-equiv="refresh"`}},
		{"canceled", "prompt_handbook", func(t *testing.T, s *checkout.Session, _ string) {
			t.Helper()
			if _, err := w.Sales.Cancel(t.Context(), s.ID, ""); err != nil {
				t.Fatal(err)
			}
		}, []string{"This purchase was canceled", "Nothing was charged"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			session, link := opened(t, w, tt.offer)
			tt.act(t, session, link)
			shows(t, w, "/checkout/"+session.Token+"/done", http.StatusOK, tt.want...) // asks the processor
			shows(t, w, link, http.StatusOK, tt.want...)
		})
	}
}

func TestBuyerLeavesAndGoesOn(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	session, link := opened(t, w, "prompt_handbook")
	shows(t, w, "/checkout/"+session.Token+"/back", http.StatusOK, "Nothing has been charged", w.URL+link)
	r := w.Do(http.MethodGet, link, "")
	if r.Status != http.StatusSeeOther || r.Header.Get("Location") != session.Page().URL {
		t.Errorf("the link = %d to %s, want 303 to the payment page", r.Status, r.Header.Get("Location"))
	}
}

func TestBuyerAfterExpiry(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	_, link := opened(t, w, "prompt_handbook")
	w.Sandbox.Advance(24 * time.Hour)
	for range 2000 { // the processor closes the page a moment after its time
		if r := w.Do(http.MethodGet, link, ""); r.Status == http.StatusOK {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	shows(t, w, link, http.StatusOK, "This payment link has expired")
}

func TestBuyerWithABrokenLink(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	session, _ := opened(t, w, "prompt_handbook")
	for _, token := range []string{"c_", "c_abcdefghijklmnopqrstuvwxyz", session.ID, "%2e%2e%2f"} {
		shows(t, w, "/c/"+token, http.StatusNotFound, "This link leads nowhere")
	}
}

// What a seller or an agent wrote does not become markup.
func TestBuyerPagesEscape(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t)
	w.Sandbox.Call(http.MethodPost, "/v1/prices/price_test_prompt_handbook",
		"nickname=%3Cscript%3Ealert(1)%3C/script%3E", nil)
	w.Catalog.Invalidate()
	session, err := w.Sales.Create(t.Context(),
		checkout.Request{OfferID: "prompt_handbook", ReturnURL: "javascript:alert(1)"})
	if err != nil {
		t.Fatal(err)
	}
	r := w.Do(http.MethodGet, "/checkout/"+session.Token+"/back", "")
	if body := string(r.Body); strings.Contains(body, "<script>") || strings.Contains(body, "javascript:") ||
		!strings.Contains(body, "&lt;script&gt;") {
		t.Errorf("the page holds markup of others:\n%s", body)
	}
}
