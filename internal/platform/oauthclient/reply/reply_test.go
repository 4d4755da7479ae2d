package reply_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient/reply"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, kind, body string
		want             any
	}{
		{"JSON", "", ` {"a":{"b":1}}`, map[string]any{"a": map[string]any{"b": json.Number("1")}}},
		{"JSON and more", "", `{"a":1} {"b":2}`, nil},
		{"a text in JSON", "", `"token"`, "token"},
		{"form", "", "a=1&b=x%20y&a=2", map[string]any{"a": "1", "b": "x y"}},
		{"form that is none", "form", "%zz", nil},
		{"bare text", "", "abc.def.ghi", "abc.def.ghi"},
		{"nothing", "", " \n", nil},
		{"JSON that was to be a form", "form", `{"a":1}`, map[string]any{`{"a":1}`: ""}},
		{"form that was to be JSON", "json", "a=1", nil},
		{
			"XML", "",
			`<?xml version="1.0"?><!-- c --><r a="1"><x>1</x><x>2</x><y/><ns:z xmlns:ns="u">t &amp; u</ns:z></r>`,
			map[string]any{"r": map[string]any{"x": []any{"1", "2"}, "y": "", "z": "t & u"}},
		},
		{"XML that breaks off", "", `<r><x>1</x>`, nil},
		{"XML with an entity of its own", "", `<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;</r>`, nil},
		{"XML too deep", "", strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100), nil},
		{"HTML", "", "<html><body>Sorry<br></body></html>", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, reply.Parse(tt.kind, []byte(tt.body))); diff != "" {
				t.Errorf("Parse(%s) (-want +got):\n%s", tt.body, diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, body := range []string{
		`{"access_token":"at-1","expires_in":3600}`, "a=1&b=2", "<a><b>1</b></a>", `"x"`,
		"x", "\xef\xbb\xbf{}",
	} {
		f.Add("", body)
		f.Add("xml", body)
	}
	f.Fuzz(func(_ *testing.T, kind, body string) {
		document := reply.Parse(kind, []byte(body))
		_ = app.PickText(document, "/access_token")
	})
}

func TestEnds(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := now.Add(time.Hour)
	tests := []struct {
		text string
		e    app.Expires
		want time.Time
	}{
		{"3600", app.Expires{}, at},
		{" 3600.4 ", app.Expires{}, at},
		{"3600000", app.Expires{Unit: "ms"}, at},
		{"1795266000", app.Expires{Kind: "at"}, at},
		{"1795266000000", app.Expires{Kind: "at", Unit: "ms"}, at},
		{"2026-11-21T13:00:00Z", app.Expires{Parse: "iso"}, at},
		{"2026-11-21T14:00:00.123+01:00", app.Expires{Parse: "iso"}, at},
		{"2026-11-21T14:00:00+0100", app.Expires{Parse: "iso"}, at},
		{"2026-11-21 13:00:00", app.Expires{Parse: "iso"}, at},
		{"2026-11-21 13:00:00 UTC", app.Expires{Parse: "iso"}, at},
		{"Sat, 21 Nov 2026 13:00:00 UTC", app.Expires{Parse: "iso"}, at},
		{"0:01:00:00", app.Expires{Parse: "dhms"}, at},
		{"60:00", app.Expires{Parse: "dhms"}, at},
		{"1:2:3:4:5", app.Expires{Parse: "dhms"}, time.Time{}},
		{"-1:00", app.Expires{Parse: "dhms"}, time.Time{}},
		{"0", app.Expires{}, time.Time{}},
		{"-5", app.Expires{}, time.Time{}},
		{"NaN", app.Expires{}, time.Time{}},
		{"Inf", app.Expires{}, time.Time{}},
		{"1e18", app.Expires{}, time.Time{}},
		{"9999-12-31T00:00:00Z", app.Expires{Parse: "iso"}, time.Time{}},
		{"253402300799", app.Expires{Kind: "at"}, time.Time{}},
		{"tomorrow", app.Expires{Parse: "iso"}, time.Time{}},
		{"", app.Expires{}, time.Time{}},
	}
	for _, tt := range tests {
		if got := reply.Ends(tt.text, &tt.e, now); !got.Equal(tt.want) {
			t.Errorf("Ends(%q, %+v) = %v, want %v", tt.text, tt.e, got, tt.want)
		}
	}
}

func FuzzEnds(f *testing.F) {
	f.Add("3600", "in", "", "")
	f.Add("1:02:03:04", "", "", "dhms")
	f.Add("2026-11-21T13:00:00Z", "at", "ms", "iso")
	f.Fuzz(func(t *testing.T, text, kind, unit, parse string) {
		now := time.Unix(1795262400, 0)
		got := reply.Ends(text, &app.Expires{Kind: kind, Unit: unit, Parse: parse}, now)
		if got.Sub(now) > 101*365*24*time.Hour {
			t.Errorf("Ends(%q) = %v", text, got)
		}
	})
}

func TestMoment(t *testing.T) {
	t.Parallel()
	want := time.Now().Add(time.Hour).Truncate(time.Second)
	for _, text := range []string{
		want.UTC().Format(time.RFC3339), fmt.Sprint(want.Unix()),
		fmt.Sprint(want.UnixMilli()),
	} {
		if got := reply.Moment(text); !got.Equal(want) {
			t.Errorf("Moment(%s) = %v, want %v", text, got, want)
		}
	}
}

type client func(*http.Request) (*http.Response, error)

func (d client) Do(r *http.Request) (*http.Response, error) { return d(r) }

func fetch(t *testing.T, d client) (*reply.Reply, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://a.example/?secret=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	return reply.Fetch(d, r, "")
}

func answers(header http.Header, body io.Reader) client {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusCreated, Header: header, Body: io.NopCloser(body)}, nil
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	header := http.Header{"X-Token": {"h"}, "Set-Cookie": {"a=1", "sid=c; Path=/"}}
	got, err := fetch(t, answers(header, strings.NewReader(`{"a":{"b":"j"},"l":["x",2,{}]}`)))
	if err != nil || got.Status != 201 {
		t.Fatalf("Fetch = %+v, %v", got, err)
	}
	for place, want := range map[string]string{
		"/a/b": "j", "header:x-token": "h", "cookie:sid": "c", "cookie:none": "",
		"/none": "",
	} {
		if text := got.At(place); text != want {
			t.Errorf("At(%s) = %q, want %q", place, text, want)
		}
	}
	if text := got.Text("/none", "cookie:sid", "/a/b"); text != "c" {
		t.Errorf("Text = %q", text)
	}
	if diff := cmp.Diff([]string{"x", "2"}, got.List("/l")); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

func TestFetchFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		client client
		want   connection.RefreshError
	}{
		"nobody": {func(*http.Request) (*http.Response, error) {
			return nil, errors.New("dialling https://a.example/?secret=1")
		}, connection.RefreshError{Class: connection.Temporary, Code: "unreachable"}},
		"breaks off": {
			answers(nil, io.MultiReader(strings.NewReader("{"), broken{})),
			connection.RefreshError{Class: connection.Temporary, Code: "unreachable"},
		},
		"never ending": {
			answers(nil, endless{}),
			connection.RefreshError{Class: connection.Unknown, Status: 201, Code: "response_too_large"},
		},
	}
	for name, tt := range tests {
		_, err := fetch(t, tt.client)
		failed, ok := errors.AsType[*connection.RefreshError](err)
		if !ok || *failed != tt.want || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: Fetch answers %+v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://a.example", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reply.Fetch(answers(nil, broken{}), r, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("after the caller left Fetch answers %v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("reset") }

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"7": 7 * time.Second, "1.5": 1500 * time.Millisecond, "": 0,
		"x": 0, "-1": 0, "1e300": 24 * time.Hour, "Thu, 01 Jan 1970 00:00:00 GMT": 0,
	} {
		if got := reply.RetryAfter(http.Header{"Retry-After": {text}}); got != want {
			t.Errorf("RetryAfter(%s) = %v, want %v", text, got, want)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		at := time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
		if got := reply.RetryAfter(http.Header{"Retry-After": {at}}); got != time.Minute {
			t.Errorf("RetryAfter(%s) = %v", at, got)
		}
	})
}

func TestClaims(t *testing.T) {
	t.Parallel()
	if got := app.PickText(reply.Claims("e30.eyJzdWIiOjd9.c2ln"), "/sub"); got != "7" {
		t.Errorf("sub = %q", got)
	}
	for _, token := range []string{"", "a.b", "a.!.c", "a.W10.c", "a.bm8.c", "a.b.c.d"} {
		if got := reply.Claims(token); got != nil {
			t.Errorf("Claims(%q) = %v", token, got)
		}
	}
}

// Vendors tell when a token ends in many ways; a definition says which.
func ExampleEnds() {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	fmt.Println(reply.Ends("3600", &app.Expires{}, now))
	fmt.Println(reply.Ends("1:02:30:00", &app.Expires{Parse: "dhms"}, now))
	fmt.Println(reply.Ends("never", &app.Expires{}, now).IsZero())
	// Output:
	// 2026-11-21 13:00:00 +0000 UTC
	// 2026-11-22 14:30:00 +0000 UTC
	// true
}
