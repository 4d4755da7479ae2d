package stripe

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// prefixed adds the path of a base URL to each call. stripe-go itself takes an
// origin only: it reads the API's generation from the start of the path.
type prefixed struct {
	prefix string
	next   http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (p prefixed) RoundTrip(req *http.Request) (*http.Response, error) {
	moved := req.Clone(req.Context())
	moved.URL.Path, moved.URL.RawPath = p.prefix+req.URL.Path, ""
	res, err := p.next.RoundTrip(moved)
	if err != nil {
		return nil, err //nolint:wrapcheck // the client names the call
	}
	res.Request = req
	return res, nil
}

// split returns the origin of a base URL and a client that adds its path.
func split(baseURL string, client *http.Client) (origin string, moved *http.Client, err error) {
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" {
		return "", nil, fmt.Errorf("the address of the payment processor %q has no host", baseURL)
	}
	moved = &http.Client{}
	if client != nil {
		*moved = *client
	}
	if moved.Transport == nil {
		moved.Transport = http.DefaultTransport
	}
	if prefix := strings.TrimRight(u.Path, "/"); prefix != "" {
		moved.Transport = prefixed{prefix, moved.Transport}
	}
	return u.Scheme + "://" + u.Host, moved, nil
}
