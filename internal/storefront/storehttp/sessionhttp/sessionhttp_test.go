package sessionhttp

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
)

func TestPreferredWait(t *testing.T) {
	t.Parallel()
	tests := []struct {
		prefer []string
		want   time.Duration
	}{
		{nil, 0},
		{[]string{"wait=25"}, 25 * time.Second},
		{[]string{"Wait = 7"}, 7 * time.Second},
		{[]string{`wait="9"`}, 9 * time.Second},
		{[]string{"respond-async, wait=10; x=1"}, 10 * time.Second},
		{[]string{"return=minimal", "wait=3"}, 3 * time.Second},
		{[]string{"wait=3, wait=9"}, 3 * time.Second},
		{[]string{"wait=3600"}, 25 * time.Second},
		{[]string{"wait=99999999999999999999"}, 0},
		{[]string{"wait=-1"}, 0},
		{[]string{"wait"}, 0},
		{[]string{"waiting=5"}, 0},
	}
	for _, tt := range tests {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header["Prefer"] = tt.prefer
		if got := preferredWait(r); got != tt.want {
			t.Errorf("preferredWait(%q) = %s, want %s", tt.prefer, got, tt.want)
		}
	}
}

func FuzzPreferredWait(f *testing.F) {
	for _, seed := range []string{
		"", "wait=25", `wait="9"`, "respond-async, wait=10; x=1", "wait=99999999999999999999",
		"wait==", ",;,=", "wait=\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header["Prefer"] = []string{header}
		if got := preferredWait(r); got < 0 || got > LongPoll || got%time.Second != 0 {
			t.Errorf("preferredWait(%q) = %s, want whole seconds up to %s", header, got, LongPoll)
		}
	})
}

func newDesk(t *testing.T) *Sessions {
	t.Helper()
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return &Sessions{
		MAC: box.MAC, Requests: idempotency.New(idempotency.NewMemory(), box.MAC),
		Log: slog.New(slog.DiscardHandler),
	}
}

// from returns a context of a request from an address.
func from(t *testing.T, address string) context.Context {
	t.Helper()
	var ctx context.Context
	h := httpserver.ClientAddress(nil)(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ctx = r.Context() }))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.RemoteAddr = address
	h.ServeHTTP(httptest.NewRecorder(), r)
	return ctx
}

func TestClientKey(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	tests := []struct {
		name, a, b string
		same       bool
	}{
		{"one address, two ports", "192.0.2.1:1000", "192.0.2.1:2000", true},
		{"neighbours", "192.0.2.1:1000", "192.0.2.2:1000", false},
		{"one IPv6 network", "[2001:db8::1]:1", "[2001:db8::ffff:1]:1", true},
		{"two IPv6 networks", "[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false},
		{"one address, two spellings", "192.0.2.1:1", "[::ffff:192.0.2.1]:1", true},
	}
	for _, tt := range tests {
		a, b := d.ClientKey(from(t, tt.a)), d.ClientKey(from(t, tt.b))
		if (a == b) != tt.same {
			t.Errorf("%s: ClientKey = %q and %q, want same %t", tt.name, a, b, tt.same)
		}
		if strings.Contains(a, "192.0.2") || a == "" {
			t.Errorf("%s: ClientKey = %q shows the address", tt.name, a)
		}
	}
	if d.ClientKey(t.Context()) == "" { // no address known
		t.Error("ClientKey without an address is empty")
	}
}

func TestOnce(t *testing.T) {
	t.Parallel()
	const here, there = "192.0.2.1:1", "198.51.100.1:1"
	tests := []struct {
		name, key, from, scope, body string
		status                       int
		passing                      bool
		// what a repetition from here with the same key and body meets: replay, again or code
		again string
	}{
		{"answer", "a-key-of-enough-length", here, "ucp POST /a", "{}", 201, false, "replay"},
		{"refusal", "a-key-of-enough-length", here, "ucp POST /a", "{}", 400, false, "replay"},
		{"fault", "a-key-of-enough-length", here, "ucp POST /a", "{}", 500, false, "anew"},
		{"passing refusal", "a-key-of-enough-length", here, "ucp POST /a", "{}", 409, true, "anew"},
		{"other body", "a-key-of-enough-length", here, "ucp POST /a", `{"a":1}`, 201, false, "idempotency_key_reused"},
		{"other scope", "a-key-of-enough-length", here, "acp POST /a", "{}", 201, false, "anew"},
		{"other place", "a-key-of-enough-length", there, "ucp POST /a", "{}", 201, false, "replay"},
		{"short key, same place", "k", here, "ucp POST /a", "{}", 201, false, "replay"},
		{"short key, other place", "k", there, "ucp POST /a", "{}", 201, false, "anew"},
		{"no key", "", here, "ucp POST /a", "{}", 201, false, "anew"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			var ids []string
			do := func(id string) Outcome {
				ids = append(ids, id)
				return Outcome{Answer: idempotency.Answer{Status: tt.status, Body: []byte(id)}, Passing: tt.passing}
			}
			first, replayed, err := d.Once(from(t, tt.from), tt.scope, tt.key, []byte(tt.body), do)
			if err != nil || replayed || first.Status != tt.status {
				t.Fatalf("Once = %+v, %t, %v", first, replayed, err)
			}
			second, replayed, err := d.Once(from(t, here), "ucp POST /a", tt.key, []byte("{}"), do)
			switch tt.again {
			case "replay":
				if err != nil || !replayed || string(second.Body) != string(first.Body) || len(ids) != 1 {
					t.Errorf("repetition = %s, %t, %v", second.Body, replayed, err)
				}
			case "anew":
				goesOn := tt.status >= 500 || tt.passing
				if err != nil || replayed || len(ids) != 2 || (ids[0] == ids[1]) != goesOn {
					t.Errorf("repetition = %v, %t, %v, want the same resource: %t", ids, replayed, err, goesOn)
				}
			default:
				if !problem.Is(err, tt.again) {
					t.Errorf("repetition = %v, want %s", err, tt.again)
				}
			}
		})
	}
}
