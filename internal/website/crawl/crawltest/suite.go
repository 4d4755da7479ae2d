package crawltest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ace/internal/website/crawl"
)

// RunFetcher tests what every crawl.Fetcher promises. open serves responses by
// their paths and returns a fetcher and the address of the website.
func RunFetcher(t *testing.T, open func(t *testing.T, answers map[string]Answer) (f crawl.Fetcher, base string)) {
	answers := map[string]Answer{
		"/":      Page("<!doctype html><title>First</title>"),
		"/away":  Redirect(302, "/"),
		"/gone":  {Status: 410, Body: "gone"},
		"/empty": {Status: 204},
		"/large": Text("text/plain", strings.Repeat("large ", 1000)),
		"/multi": {Header: map[string]string{"Content-Type": "text/plain", "X-Robots-Tag": "noindex"}, Body: "x"},
	}
	limits := func(r crawl.Request) crawl.Request {
		r.WireLimit, r.DecodedLimit = 1000, 2000
		return r
	}
	tests := []struct {
		name, path, method string
		status             int
		body               string
		truncated          bool
		header, value      string
	}{
		{
			name: "a page", path: "/", status: 200, body: "<!doctype html><title>First</title>", header: "Content-Type",
			value: "text/html; charset=utf-8",
		},
		{name: "a redirect is the answer", path: "/away", status: 302, header: "Location", value: "/"},
		{name: "a status is no failure", path: "/gone", status: 410, body: "gone"},
		{name: "no body", path: "/empty", status: 204},
		{
			name: "head", path: "/", method: "HEAD", status: 200, header: "content-type",
			value: "text/html; charset=utf-8",
		},
		{name: "other fields", path: "/multi", status: 200, body: "x", header: "x-robots-tag", value: "noindex"},
		{name: "only to the limit", path: "/large", status: 200, truncated: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, base := open(t, answers)
			res, err := f.Fetch(t.Context(), limits(crawl.Request{URL: base + tt.path, Method: tt.method}))
			if err != nil {
				t.Fatal(err)
			}
			if res.Status != tt.status || res.Failure != "" || res.Truncated != tt.truncated {
				t.Errorf("Fetch(%s) = status %d, failure %q, truncated %v, want %d, none, %v", tt.path, res.Status,
					res.Failure, res.Truncated, tt.status, tt.truncated)
			}
			if res.URL != base+tt.path || len(res.Chain) != 0 {
				t.Errorf("Fetch(%s) answers for %s after %v", tt.path, res.URL, res.Chain)
			}
			if !tt.truncated && string(res.Body) != tt.body {
				t.Errorf("Fetch(%s) = %q, want %q", tt.path, res.Body, tt.body)
			}
			if len(res.Body) > 2000 || res.DecodedBytes > 2001 {
				t.Errorf("Fetch(%s) read %d bytes, kept %d", tt.path, res.DecodedBytes, len(res.Body))
			}
			if tt.header != "" && res.Header.Get(tt.header) != tt.value {
				t.Errorf("Fetch(%s) has %s: %q, want %q", tt.path, tt.header, res.Header.Get(tt.header), tt.value)
			}
		})
	}
	t.Run("an ended context is an error", func(t *testing.T) {
		t.Parallel()
		f, base := open(t, answers)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if res, err := f.Fetch(ctx, limits(crawl.Request{URL: base + "/"})); !errors.Is(err, context.Canceled) {
			t.Errorf("Fetch with an ended context = %v, %v", res, err)
		}
	})
}
