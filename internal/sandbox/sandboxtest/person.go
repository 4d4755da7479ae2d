// Package sandboxtest is test support around the sandbox: a sandbox on a port
// of its own, its controls, and a person who pays without a script.
package sandboxtest

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// Test cards of the pay page.
const (
	CardOK       = "4242424242424242"
	CardDeclined = "4000000000000002"
	Card3DS      = "4000002500003155"
)

// Person is a browser without a script: it keeps cookies and does not follow
// redirects by itself.
type Person struct {
	t    testing.TB
	http *http.Client
}

// NewPerson returns a person. client, if not nil, makes the calls; it is not
// changed.
func NewPerson(t testing.TB, client *http.Client) *Person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	own := http.Client{}
	if client != nil {
		own = *client
	}
	own.Jar = jar
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Person{t, &own}
}

// Seen is a page as it came.
type Seen struct {
	Status   int
	Body     string
	Location string
}

// Get opens an address.
func (p *Person) Get(address string) Seen {
	p.t.Helper()
	return p.do(http.MethodGet, address, nil)
}

func (p *Person) do(method, address string, form url.Values) Seen {
	p.t.Helper()
	seen, err := p.try(method, address, form)
	if err != nil {
		p.t.Fatalf("%s %s: %v", method, address, err)
	}
	return seen
}

func (p *Person) try(method, address string, form url.Values) (Seen, error) {
	req, err := http.NewRequestWithContext(p.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return Seen{}, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := p.http.Do(req)
	if err != nil {
		return Seen{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return Seen{res.StatusCode, string(body), res.Header.Get("Location")}, err
}

var csrf = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// Pay opens a pay page, or a link that leads to one, fills in the form with a
// card and sends it. more are further fields: name, value, name, value, …
func (p *Person) Pay(address, card string, more ...string) Seen {
	p.t.Helper()
	return p.Submit(address,
		append([]string{"method", "card", "card_number", card, "card_expiry", "04 / 44", "card_cvc", "123"},
			more...)...)
}

// PayLater is Pay with the test bank debit. outcome is "succeeds" or "fails",
// three days later by the sandbox's clock.
func (p *Person) PayLater(address, outcome string) Seen {
	p.t.Helper()
	return p.Submit(address, "method", "us_bank_account", "debit_outcome", outcome, "debit_after", "3d")
}

// Submit sends the form of a pay page with the fields that every payment has
// and the given ones.
func (p *Person) Submit(address string, fields ...string) Seen {
	p.t.Helper()
	page := p.Get(address)
	for hops := 0; page.Status/100 == 3 && hops < 3; hops++ {
		address = resolve(p.t, address, page.Location)
		page = p.Get(address)
	}
	token := csrf.FindStringSubmatch(page.Body)
	if token == nil {
		return page // expired, paid already or not a pay page
	}
	form := url.Values{
		"csrf": {token[1]}, "email": {"ada@example.com"}, "name": {"Ada Lovelace"}, "country": {"US"},
		"postal_code": {"94107"},
	}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return p.do(http.MethodPost, address, form)
}

// ShippingAddress are the fields of an address in the United States.
func ShippingAddress() []string {
	return []string{
		"shipping_name", "Ada Lovelace", "shipping_line1", "1 Analytical Way", "shipping_city", "San Francisco",
		"shipping_state", "CA",
		"shipping_postal_code", "94107", "shipping_country", "US",
	}
}

func resolve(t testing.TB, base, location string) string {
	t.Helper()
	u, err := url.Parse(base)
	if err == nil {
		u, err = u.Parse(location)
	}
	if err != nil {
		t.Fatalf("Location %q: %v", location, err)
	}
	return u.String()
}
