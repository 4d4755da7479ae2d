package oauthclient_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sort"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient"

	"github.com/google/go-cmp/cmp"
)

// seen is a request as a vendor reads it.
type seen struct {
	*http.Request
	body  string
	form  url.Values // of the body, where it is a form
	query url.Values
}

// reply is what a vendor answers; JSON with status 200 by default.
type reply struct {
	status int
	body   string
	header map[string]string
}

// vendor is a made-up vendor whose hosts all are this Doer. It behaves as its
// handlers say, by host and path, and notes what it was sent.
type vendor struct {
	t        *testing.T
	handlers map[string]func(*seen) reply
	mu       sync.Mutex
	log      []string
}

// Do implements oauthclient.Doer.
func (v *vendor) Do(r *http.Request) (*http.Response, error) {
	s := &seen{Request: r, query: r.URL.Query()}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		s.body = string(body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		s.form, _ = url.ParseQuery(s.body)
	}
	v.mu.Lock()
	v.log = append(v.log, transcript(s))
	v.mu.Unlock()
	handler := v.handlers[r.URL.Host+r.URL.Path]
	if handler == nil {
		handler = func(*seen) reply { return reply{status: 404, body: "<html>not here</html>"} }
	}
	answer := handler(s)
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Content-Type", "application/json")
	for name, value := range answer.header {
		recorder.Header().Add(name, value)
	}
	if answer.status == 0 {
		answer.status = http.StatusOK
	}
	recorder.WriteHeader(answer.status)
	_, _ = recorder.WriteString(answer.body)
	return recorder.Result(), nil
}

// transcript is a request in one text: its line, its own header fields, its
// body.
func transcript(s *seen) string {
	var fields []string
	for name, values := range s.Header {
		fields = append(fields, name+": "+strings.Join(values, ", "))
	}
	sort.Strings(fields)
	return fmt.Sprintf("%s %s\n%s\n\n%s\n", s.Method, s.URL, strings.Join(fields, "\n"), s.body)
}

func (v *vendor) transcript() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Join(v.log, "\n")
}

// says returns the same to everybody.
func says(body string) func(*seen) reply { return func(*seen) reply { return reply{body: body} } }

// when returns only requests that are as they must be, and an error of RFC 6749
// to the others.
func when(right func(*seen) bool, body string) func(*seen) reply {
	return func(s *seen) reply {
		if !right(s) {
			return reply{status: 400, body: `{"error":"invalid_request"}`}
		}
		return reply{body: body}
	}
}

// start is the time at which each row is played (testing/synctest).
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

const token = `{"access_token":"at-1","token_type":"Bearer","expires_in":3600,"refresh_token":"rt-1"}`

// quirk is one row of the table of quirks, with a vendor that has it.
type quirk struct {
	row        string // number in the table, and what it is
	definition string
	client     *connection.Client
	params     map[string]string
	scopes     []string // asked for
	vendor     map[string]func(*seen) reply

	// What happens: the person comes back with callback; or typed is exchanged;
	// or old is refreshed. Without any the sign-in is begun alone.
	callback string
	typed    connection.Credentials
	old      connection.Credentials
	conn     *connection.Connection

	address     []string // parts of the address that the person is sent to
	notAddress  []string
	sends       []string // parts of what the vendor is sent
	notSends    []string
	credentials connection.Credentials // a subset; "" must be missing
	learned     map[string]string
	granted     []string
	lives       time.Duration // 0: no end is known
	identity    connection.Identity
	fails       string // code of a problem, or class and code of a failed refresh
	silent      bool   // the vendor is sent nothing
}

var operators = &connection.Client{App: "app", ID: "cid", Secret: "s3cret/+:&x"}

func (q *quirk) run(t *testing.T) {
	t.Helper()
	v := &vendor{t: t, handlers: q.vendor}
	c := oauthclient.New(v, nil)
	a, s := define(t, q.definition)
	client := q.client
	if client == nil && s.NeedsClient() {
		client = operators
	}
	g, err := q.play(t, c, a, s, client)
	if got := outcome(err); got != q.fails {
		t.Fatalf("the outcome is %q (%v), want %q; the vendor was sent:\n%s", got, err, q.fails, v.transcript())
	}
	sent := v.transcript()
	if q.silent && sent != "" {
		t.Errorf("the vendor was sent:\n%s", sent)
	}
	holds(t, "what the vendor was sent", sent, q.sends, q.notSends)
	if err == nil && g != nil {
		q.check(t, g)
	}
}

func holds(t *testing.T, what, text string, parts, notParts []string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
	for _, part := range notParts {
		if strings.Contains(text, part) {
			t.Errorf("%s holds %q:\n%s", what, part, text)
		}
	}
}

func (q *quirk) play(t *testing.T, c *oauthclient.Client, a *app.App, s *app.Scheme,
	client *connection.Client,
) (*connection.Grant, error) {
	t.Helper()
	switch {
	case q.old != nil:
		conn := q.conn
		if conn == nil {
			conn = &connection.Connection{Params: q.params}
		}
		return c.Refresh(t.Context(), a, s, client, conn, q.old)
	case q.typed != nil:
		return c.Exchange(t.Context(), a, s, client, q.params, q.typed)
	}
	attempt := newAttempt()
	attempt.Scopes = q.scopes
	address, err := c.Start(t.Context(), a, s, client, q.params, attempt)
	if err != nil {
		return nil, err
	}
	if _, err := url.Parse(address); err != nil {
		t.Errorf("Begin answers no address: %v", err)
	}
	holds(t, "the address", address, q.address, q.notAddress)
	if q.callback == "" {
		return nil, nil
	}
	callback, err := url.ParseQuery(q.callback)
	if err != nil {
		t.Fatal(err)
	}
	return c.Finish(t.Context(), a, s, client, q.params, attempt, callback)
}

// outcome is the code of a problem, or what a refresh failed with.
func outcome(err error) string {
	if code := problemCode(err); err == nil || code != "" {
		return code
	}
	failed, ok := err.(*connection.RefreshError) //nolint:errorlint // Refresh answers it as it is
	if !ok {
		return "error: " + err.Error()
	}
	return strings.TrimSpace(string(failed.Class) + " " + failed.Code)
}

func (q *quirk) check(t *testing.T, g *connection.Grant) {
	t.Helper()
	for name, want := range q.credentials {
		if got := g.Credentials[name]; got != want {
			t.Errorf("credential %s = %q, want %q", name, got, want)
		}
	}
	if q.learned != nil {
		if diff := cmp.Diff(q.learned, g.Params); diff != "" {
			t.Errorf("params (-want +got):\n%s", diff)
		}
	}
	if q.granted != nil {
		if diff := cmp.Diff(q.granted, g.Scopes); diff != "" {
			t.Errorf("scopes (-want +got):\n%s", diff)
		}
	}
	if q.identity != (connection.Identity{}) && q.identity != g.Identity {
		t.Errorf("identity = %+v, want %+v", g.Identity, q.identity)
	}
	want := time.Time{}
	if q.lives != 0 {
		want = start.Add(q.lives)
	}
	if !g.ExpiresAt.Equal(want) {
		t.Errorf("the token ends at %v, want %v", g.ExpiresAt, want)
	}
}

func runQuirks(t *testing.T, rows []quirk) {
	t.Helper()
	for _, q := range rows {
		t.Run(q.row, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, q.run)
		})
	}
}
