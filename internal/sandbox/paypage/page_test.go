package paypage

import (
	"bytes"
	"fmt"
	"html/template"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ace/internal/foundation/sqldb"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payform"
	"ace/internal/sandbox/payments"

	"github.com/jba/templatecheck"
)

func TestTemplates(t *testing.T) {
	t.Parallel()
	all, err := parse()
	if err != nil {
		t.Fatal(err)
	}
	views := map[string]any{
		payTemplate: &payView{}, messageTemplate: &messageView{},
		authenticateTemplate: &authenticateView{},
	}
	for name, view := range views {
		if err := templatecheck.CheckHTML(all[name], view); err != nil {
			t.Errorf("template %s: %v", name, err)
		}
	}
	if len(all) != len(views) {
		t.Errorf("%d templates, %d are checked", len(all), len(views))
	}
	files, err := filepath.Glob("templates/*.html")
	if err != nil || len(files) != len(views)+1 {
		t.Errorf("template files = %v (%v), want one per view and the layout", files, err)
	}
}

// luminance is the relative luminance of WCAG 2.2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatalf("colour %s: %v", hex, err)
		}
		c := float64(v) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

var colour = regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`)

// TestContrast reads the colors of the style sheet: text has 4.5:1, edges of
// inputs and the focus ring 3:1 (WCAG 2.2 AA), in both schemes.
func TestContrast(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("assets/pay.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, _ := strings.Cut(string(css), "@media (prefers-color-scheme: dark)")
	pairs := []struct {
		front, back string
		least       float64
	}{
		{"ink", "paper", 4.5},
		{"ink", "ground", 4.5},
		{"soft", "paper", 4.5},
		{"soft", "ground", 4.5},
		{"accent-deep", "paper", 4.5},
		{"accent-deep", "ground", 4.5},
		{"accent-deep", "tile", 4.5},
		{"on-accent", "accent", 4.5},
		{"on-accent", "accent-deep", 4.5},
		{"bad", "paper", 4.5},
		{"bad", "bad-ground", 4.5},
		{"on-banner", "banner", 4.5},
		{"edge", "paper", 3},
		{"focus", "paper", 3},
		{"focus", "ground", 3},
	}
	for scheme, text := range map[string]string{"light": light, "dark": dark} {
		colours := map[string]string{}
		for _, m := range colour.FindAllStringSubmatch(text, -1) {
			colours[m[1]] = m[2]
		}
		for _, p := range pairs {
			a, b := luminance(t, colours[p.front]), luminance(t, colours[p.back])
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < p.least {
				t.Errorf("%s: %s on %s has %.2f:1, want %.1f:1", scheme, p.front, p.back, ratio, p.least)
			}
		}
	}
}

// session makes an open session with everything on, without a database.
func session() *object.Session {
	return &object.Session{
		ID: "cs_test_x", Status: object.SessionOpen, Mode: object.ModePayment, Currency: "usd", AmountTotal: 14900,
		MethodTypes: []string{object.MethodCard, object.MethodDebit}, BillingAddress: "required",
		SuccessURL:      "https://shop.example/",
		ShippingAddress: &object.ShippingCollection{Countries: []string{"US", "DE"}},
	}
}

func testHandler(tb testing.TB) *handler {
	tb.Helper()
	db, err := sqldb.Open(tb.Context(), "sqlite:"+filepath.Join(tb.TempDir(), "pay.db"), nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	p, err := payments.Open(tb.Context(), db, nil)
	if err != nil {
		tb.Fatal(err)
	}
	all, err := parse()
	if err != nil {
		tb.Fatal(err)
	}
	return &handler{p: p, templates: all}
}

// FuzzCardForm: whatever a browser sends, the form is answered with a page
// that holds neither the card number nor the security code, and no markup of
// the sender.
func FuzzCardForm(f *testing.F) {
	f.Add("ada@example.com", "4242424242424242", "04/44", "123", "Ada", "94107", "1 Main St", "US")
	f.Add("", "", "", "", "", "", "", "")
	f.Add(`"><script>alert(1)</script>`, "4000002500003155", "13/99", "abcd", "\x00\xff", "<b>", "' onfocus=x", "ZZ")
	f.Add("a@b.c", "378282246310005", "1230", "98765", strings.Repeat("é", 600), "SW1A 1AA", "{{.}}", "DE")
	h := testHandler(f)
	f.Fuzz(func(t *testing.T, email, number, expiry, cvc, name, postal, line, country string) {
		o := session()
		sent := url.Values{
			"email": {email}, "method": {"card"}, "card_number": {number}, "card_expiry": {expiry}, "card_cvc": {cvc},
			"name":        {name},
			"postal_code": {postal}, "country": {country}, "line1": {line}, "city": {line}, "shipping_line1": {line},
			"shipping_country": {country}, "shipping_postal_code": {postal}, "shipping_name": {name},
			"shipping_rate": {line},
		}
		form := typed(sent, o)
		faults := form.Check(o, h.p.Now())
		v, err := h.show(t.Context(), o, form, faults)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := h.templates[payTemplate].Execute(&b, v); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		if strings.Contains(page, "<script") {
			t.Fatalf("the page holds a script")
		}
		for _, input := range []string{"card_number", "card_cvc"} {
			at := strings.Index(page, `name="`+input+`"`)
			if at < 0 || !strings.Contains(page[at:at+60], `value=""`) {
				t.Fatalf("the field %s is not empty", input)
			}
		}
		if len(faults) == 0 && !payform.ValidEmail(form.Email) {
			t.Fatalf("a form with the email %q was accepted", form.Email)
		}
	})
}

func TestSuccessURL(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"https://shop.example/done", "https://shop.example/done"},
		{"https://shop.example/done?id={CHECKOUT_SESSION_ID}", "https://shop.example/done?id=cs_test_x"},
		{"https://shop.example/done?id=%7BCHECKOUT_SESSION_ID%7D", "https://shop.example/done?id=cs_test_x"},
	}
	for _, tt := range tests {
		o := session()
		o.SuccessURL = tt.in
		if got := successURL(o); got != tt.want {
			t.Errorf("successURL(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestCSP(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://shop.example/x": "form-action 'self' https://shop.example;", "": "form-action 'self';",
		"https://a;b/": "form-action 'self';",
	} {
		if got := csp(in); !strings.Contains(got, want) || strings.Contains(got, "script-src") {
			t.Errorf("csp(%q) = %q, want %q in it", in, got, want)
		}
	}
}

// TestAccessibleForm reads the page as a screen reader would find it.
func TestAccessibleForm(t *testing.T) {
	t.Parallel()
	h := testHandler(t)
	o := session()
	form := typed(url.Values{"method": {"card"}}, o)
	v, err := h.show(t.Context(), o, form, form.Check(o, h.p.Now()))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := h.templates[payTemplate].Execute(&b, v); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		`<html lang="en">`, `autocomplete="email"`, `autocomplete="cc-number"`, `autocomplete="cc-exp"`,
		`autocomplete="cc-csc"`,
		`autocomplete="billing name"`, `autocomplete="shipping address-line1"`, `autocomplete="shipping postal-code"`,
		`role="alert"`, `href="#card_number"`, `aria-describedby="card_number-error"`, `id="card_number-error"`,
		`aria-invalid="true"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for _, m := range regexp.MustCompile(`<(?:input|select)[^>]* id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, `for="`+m[1]+`"`) {
			t.Errorf("the field %s has no label", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, fmt.Sprintf(`id="%s"`, template.HTMLEscapeString(m[1]))) {
			t.Errorf("the error summary leads to #%s, which is not there", m[1])
		}
	}
}
