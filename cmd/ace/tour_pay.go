package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// formToken finds the token that the sandbox's payment page asks for.
var formToken = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// payInSandbox is the person of the tour: it fills in the payment page of the
// sandbox with a test card. It refuses any other page.
func (t *tour) payInSandbox(address string) error {
	t.say("The tour plays the person: it fills in the sandbox's payment page with the test card 4242 4242 4242 4242.")
	person, err := t.newPerson()
	if err != nil {
		return err
	}
	page, err := t.visit(person, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	if at, err := url.Parse(page.address); err == nil {
		t.sandbox = at.Scheme + "://" + at.Host
	}
	token := formToken.FindStringSubmatch(page.body)
	if page.sandbox == "" || token == nil {
		return errors.New("this is not the sandbox's payment page; open the address yourself and leave --pay out")
	}
	form := url.Values{
		"csrf": {token[1]}, "email": {"newcomer@example.com"}, "name": {"A Newcomer"}, "country": {"US"},
		"postal_code": {"94107"},
		"method":      {"card"}, "card_number": {"4242424242424242"}, "card_expiry": {"12 / 44"}, "card_cvc": {"123"},
		"shipping_name": {"A Newcomer"}, "shipping_line1": {"1 Main Street"}, "shipping_city": {"San Francisco"},
		"shipping_state":       {"CA"},
		"shipping_postal_code": {"94107"}, "shipping_country": {"US"},
	}
	page, err = t.visit(person, http.MethodPost, page.address, form)
	if err != nil {
		return err
	}
	if page.sandbox != "" {
		return errors.New("the payment page did not take the payment; open the address yourself")
	}
	return nil
}

// newPerson is the browser of the person.
func (t *tour) newPerson() (*http.Client, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("preparing a browser: %w", err)
	}
	return &http.Client{Jar: jar, Timeout: time.Minute, Transport: t.transport}, nil
}

type visited struct {
	address string // after redirects
	body    string
	sandbox string // header of the sandbox's own pages
}

func (t *tour) visit(person *http.Client, method, address string, form url.Values) (visited, error) {
	req, err := http.NewRequestWithContext(t.ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return visited{}, fmt.Errorf("opening a page: %w", err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", req.URL.Scheme+"://"+req.URL.Host)
	}
	res, err := person.Do(req)
	if err != nil {
		return visited{}, fmt.Errorf("opening a page: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return visited{}, fmt.Errorf("reading a page: %w", err)
	}
	return visited{res.Request.URL.String(), string(body), res.Header.Get("Ace-Sandbox")}, nil
}
