package storehttp_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"ace/internal/browsertest"
	"ace/internal/sandbox/sandboxtest"
	"ace/internal/storefront/storehttp/storetest"
)

// pressBuy sends the form of a product page and returns the token of the
// session.
func pressBuy(t *testing.T, w *storetest.Store, form string) string {
	t.Helper()
	r := w.Do(http.MethodPost, "/checkout/new", form, "Content-Type", "application/x-www-form-urlencoded",
		"Sec-Fetch-Site", "same-origin")
	token, found := strings.CutSuffix(strings.TrimPrefix(r.Header.Get("Location"), "/checkout/"), "/pay")
	if r.Status != http.StatusSeeOther || !found {
		t.Fatalf("Buy with %s = %d %s %s", form, r.Status, r.Header.Get("Location"), r.Body)
	}
	return token
}

// TestBuyButton opens the session that an agent opens, pays it, and finds the
// way from the page of thanks to the delivery and back.
func TestBuyButton(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	const delivery = "https://downloads.example/handbook?t=1"
	w.Sandbox.Call(http.MethodPost, "/v1/prices/price_test_prompt_handbook",
		"metadata[delivery_url]=https%3A%2F%2Fdownloads.example%2Fhandbook%3Ft%3D1", nil)
	w.Catalog.Invalidate()
	page := w.Do(http.MethodGet, "/products/prompt_handbook", "")
	page.Shows(t, `action="/checkout/new"`, `name="offer" value="prompt_handbook"`, `max="10"`)
	if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self'") {
		t.Errorf("policy of a product page = %s, want its own forms allowed", policy)
	}
	if policy := w.Do(http.MethodGet, "/about", "").Header.Get("Content-Security-Policy"); !strings.Contains(policy,
		"form-action 'none'") {
		t.Errorf("policy of another page = %s, want no forms", policy)
	}
	for _, path := range []string{"/products/prompt_handbook", "/agent/commerce/products"} {
		if r := w.Do(http.MethodGet, path, ""); strings.Contains(string(r.Body), "downloads.example") {
			t.Errorf("%s shows where the delivery is before it is paid", path)
		}
	}

	token := pressBuy(t, w, "offer=prompt_handbook&quantity=2")
	lead := w.Do(http.MethodGet, "/checkout/"+token+"/pay", "")
	found := regexp.MustCompile(`http-equiv="refresh" content="0; url=([^"]+)"`).FindSubmatch(lead.Body)
	if lead.Status != http.StatusOK || found == nil {
		t.Fatalf("page that leads to the payment = %d %s", lead.Status, lead.Body)
	}
	hosted := string(found[1])
	if !strings.HasPrefix(hosted, w.Sandbox.URL) {
		t.Errorf("it leads to %s, want the processor", hosted)
	}
	w.Do(http.MethodGet, hosted, "").Shows(t, "Back to Test Store", "Pay Test Store", "USD 58.00")
	if seen := sandboxtest.NewPerson(t, nil).Pay(hosted, sandboxtest.CardOK); seen.Status != http.StatusSeeOther {
		t.Fatalf("paying = %d", seen.Status)
	}
	done := w.Do(http.MethodGet, "/checkout/"+token+"/done", "")
	done.Shows(t, "Thank you", "USD 58.00", `href="`+strings.ReplaceAll(delivery, "&", "&amp;")+`"`,
		"Open what you bought", `href="/products/prompt_handbook"`, "Back to Prompt Handbook")
	if strings.Contains(string(done.Body), "assistant") {
		t.Errorf("a person without an assistant reads of one:\n%s", done.Body)
	}
	w.Do(http.MethodGet, "/checkout/"+token+"/pay", "").Shows(t, "Thank you") // paid: no second payment
}

func TestBuyButtonRefuses(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	tests := []struct {
		name, form, site string
		status           int
		says             []string
	}{
		{"sold out", "offer=founders_mug", "same-origin", 409, []string{"sold out", `href="/products"`}},
		{"unknown", "offer=submarine", "same-origin", 404, []string{"not for sale", `href="/products"`}},
		{"nothing", "", "same-origin", 400, []string{"not for sale"}},
		{
			"too many", "offer=prompt_handbook&quantity=900", "same-origin", 400,
			[]string{"from 1 to 10", `href="/products/prompt_handbook"`},
		},
		{"half", "offer=prompt_handbook&quantity=0.5", "same-origin", 400, []string{"from 1 to 10"}},
		{"none", "offer=prompt_handbook&quantity=0", "same-origin", 400, []string{"from 1 to 10"}},
		{"another site", "offer=prompt_handbook", "cross-site", 403, []string{"belongs to the product pages"}},
		{"large", "offer=" + strings.Repeat("a", 8<<10), "same-origin", 400, []string{"cannot be read"}},
	}
	for _, tt := range tests {
		r := w.Do(http.MethodPost, "/checkout/new", tt.form, "Content-Type", "application/x-www-form-urlencoded",
			"Sec-Fetch-Site", tt.site)
		if r.Status != tt.status || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s = %d %s, want a page with %d", tt.name, r.Status, r.Header.Get("Content-Type"), tt.status)
		}
		r.Shows(t, tt.says...)
	}
	sold := w.Do(http.MethodGet, "/products/founders_mug", "")
	if strings.Contains(string(sold.Body), "<form") {
		t.Error("the page of a sold out product has a Buy button")
	}
}

// TestBuyInBrowser walks from a product page to the page of thanks and back, on
// a phone and on a desktop, with and without scripts.
func TestBuyInBrowser(t *testing.T) {
	w := storetest.StartSite(t)
	b := browsertest.Start(t)
	screens := []struct {
		name string
		opts browsertest.Options
	}{
		{"phone-light", browsertest.Options{Width: 390, Height: 844, Mobile: true}},
		{"phone-dark-without-scripts", browsertest.Options{
			Width: 390, Height: 844, Mobile: true, Dark: true, NoScript: true,
		}},
		{"desktop-light-without-scripts", browsertest.Options{Width: 1440, Height: 900, NoScript: true}},
		{"desktop-dark", browsertest.Options{Width: 1440, Height: 900, Dark: true}},
	}
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) {
			tab := b.Tab(t, screen.opts)
			tab.Open(w.URL + "/products/prompt_handbook")
			tab.Shot("buy-product-" + screen.name)
			tab.Fill("#quantity", "2")
			tab.Click(".buy .button")
			if heading := tab.Text("#form-heading"); heading == "" {
				t.Error("the payment page has no heading")
			}
			tab.See("Back to Test Store")
			tab.See("USD 58.00")
			tab.Shot("buy-pay-" + screen.name)
			for field, value := range map[string]string{
				"#email": "ada@example.com", "#card_number": "4242424242424242", "#card_expiry": "04/44",
				"#card_cvc": "123", "#name": "Ada Lovelace", "#postal_code": "94107",
			} {
				tab.Fill(field, value)
			}
			tab.Choose("#country", "US")
			tab.Press(".button-wide")
			tab.See("Thank you")
			tab.Shot("buy-thanks-" + screen.name)
			tab.Press(".back a")
			if got := tab.URL(); got != w.URL+"/products/prompt_handbook" {
				t.Errorf("back leads to %s", got)
			}
		})
	}
}
