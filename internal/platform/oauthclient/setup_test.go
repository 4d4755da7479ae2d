package oauthclient_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient"
)

var (
	_ connection.Authorizer = (*oauthclient.Client)(nil)
	_ connection.Stepper    = (*oauthclient.Client)(nil)
)

const redirect = "https://platform.example/oauth/callback/app"

// plain is an HTTP client as the egress guard makes them, without the guard:
// the fakes stand on this machine.
func plain() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// define parses a definition of one app with one scheme.
func define(t *testing.T, text string) (*app.App, *app.Scheme) {
	t.Helper()
	a, err := app.Parse([]byte("id: app\nname: App\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Schemes) == 0 {
		t.Fatal("the definition has no scheme")
	}
	return a, &a.Schemes[0]
}

func newAttempt() *connection.Attempt {
	return &connection.Attempt{
		AccountID: "acc_1", State: "state-of-the-attempt", Redirect: redirect,
		Extra: map[string]string{},
	}
}

// parsed is an address with its query, or with its fragment.
func parsed(t *testing.T, address string) (*url.URL, url.Values) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if _, behind, ok := strings.Cut(u.Fragment, "?"); ok {
		values, err := url.ParseQuery(behind)
		if err != nil {
			t.Fatal(err)
		}
		return u, values
	}
	return u, u.Query()
}

// failureOf is what a vendor did, inside an error.
func failureOf(t *testing.T, err error) *connection.RefreshError {
	t.Helper()
	failed, ok := errors.AsType[*connection.RefreshError](err)
	if !ok {
		t.Fatalf("the error is %v, want one with a RefreshError", err)
	}
	return failed
}

// problemCode is the code of the problem inside an error, or "".
func problemCode(err error) string {
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok {
		return ""
	}
	return p.Code
}

// faultsOf are the single faults of the problem inside an error.
func faultsOf(err error) string {
	p, _ := errors.AsType[*problem.Problem](err)
	text := ""
	if p != nil {
		for _, item := range p.Items {
			text += item.Pointer + ": " + item.Detail + "\n"
		}
	}
	return text
}
