package sandbox

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// person is a browser without a script: it keeps cookies and does not follow
// redirects out of the pay page.
type person struct {
	http *http.Client
}

func newPerson(t *testing.T) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &person{&http.Client{
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// page is what the person sees.
type seen struct {
	status   int
	body     string
	location string
	header   http.Header
}

func (p *person) get(t *testing.T, address string) seen {
	t.Helper()
	return p.do(t, http.MethodGet, address, nil)
}

func (p *person) do(t *testing.T, method, address string, form url.Values) seen {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := p.http.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, address, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return seen{resp.StatusCode, string(body), resp.Header.Get("Location"), resp.Header}
}

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// token reads the form token of a page.
func (s seen) token(t *testing.T) string {
	t.Helper()
	m := csrfField.FindStringSubmatch(s.body)
	if m == nil {
		t.Fatalf("the page has no form token (status %d):\n%s", s.status, s.body)
	}
	return m[1]
}

// card is what a person types, with one card number.
func card(number string) url.Values {
	return url.Values{
		"email": {"ada@example.com"}, "method": {"card"}, "card_number": {number}, "card_expiry": {"04 / 44"},
		"card_cvc": {"123"},
		"name":     {"Ada Lovelace"}, "country": {"US"}, "postal_code": {"94107"},
	}
}

func with(v url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

// pay opens the page and sends the form.
func (p *person) pay(t *testing.T, address string, form url.Values) seen {
	t.Helper()
	return p.do(t, http.MethodPost, address, with(form, "csrf", p.get(t, address).token(t)))
}
