package httpserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"

	"github.com/google/go-cmp/cmp"
)

// serve sends one request through the usual chain and returns what came back
// and the log lines it left.
func serve(t *testing.T, h http.Handler, r *http.Request) (*httptest.ResponseRecorder, []map[string]any) {
	t.Helper()
	var logged bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&logged, nil))
	w := httptest.NewRecorder()
	httpserver.Chain(h,
		httpserver.Instrument(log, "store", &httpserver.InstrumentOptions{ProblemBase: "https://store.example"}),
		httpserver.ClientAddress(proxies(httpserver.HeaderXForwardedFor)),
	).ServeHTTP(w, r)
	var lines []map[string]any
	dec := json.NewDecoder(&logged)
	for {
		var line map[string]any
		if err := dec.Decode(&line); errors.Is(err, io.EOF) {
			return w, lines
		} else if err != nil {
			t.Fatal(err)
		}
		delete(line, "time")
		lines = append(lines, line)
	}
}

func TestAccessLine(t *testing.T) {
	t.Parallel()
	mux := httpserver.NewMux(nil)
	mux.HandleFunc("POST /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		httpserver.NoteOperation(r.Context(), "orders/refund")
		httpserver.NoteProblem(r.Context(), "sold_out")
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, "12345")
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/orders/7?token=secret",
		strings.NewReader("body-secret"))
	r.Header.Set("Authorization", "Bearer secret")
	r.Header.Set("X-Request-Id", "caller-0001")
	r.RemoteAddr = "192.0.2.9:4000"
	w, lines := serve(t, mux, r)
	if len(lines) != 1 {
		t.Fatalf("%d log lines, want exactly 1: %v", len(lines), lines)
	}
	if _, ok := lines[0]["duration_ms"].(float64); !ok {
		t.Errorf("duration_ms = %v, want a number", lines[0]["duration_ms"])
	}
	delete(lines[0], "duration_ms")
	want := map[string]any{
		"level": "INFO", "msg": "request", "host": "store", "request_id": "caller-0001", "method": "POST",
		"route": "POST /orders/{id}", "path": "/orders/{id}", "status": 409.0, "bytes": 5.0,
		"client": "192.0.2.9", "operation": "orders/refund", "problem": "sold_out",
	}
	if diff := cmp.Diff(want, lines[0]); diff != "" {
		t.Errorf("access line (-want +got):\n%s", diff)
	}
	if got := w.Header().Get("X-Request-Id"); got != "caller-0001" {
		t.Errorf("X-Request-Id = %q, want the caller's", got)
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"kept", "4bf92f35-77b3", "4bf92f35-77b3"},
		{"too short", "abc", ""},
		{"spaces", "has some spaces", ""},
		{"line break", "abcdefgh\nInjected: 1", ""},
		{"too long", strings.Repeat("a", 129), ""},
		{"none", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.Header["X-Request-Id"] = []string{tt.in}
			var inside string
			w, _ := serve(t,
				http.HandlerFunc(func(_ http.ResponseWriter,
					r *http.Request,
				) {
					inside = httpserver.RequestID(r.Context())
				}), r)
			got := w.Header().Get("X-Request-Id")
			if got != inside {
				t.Errorf("answered %q but RequestID = %q", got, inside)
			}
			if made := strings.HasPrefix(got, "req_"); tt.want != "" && got != tt.want || tt.want == "" && !made {
				t.Errorf("request id for %q = %q, want %q or a new one", tt.in, got, tt.want)
			}
		})
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	t.Run("before the answer", func(t *testing.T) {
		t.Parallel()
		w, lines := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("boom") }),
			httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x", nil))
		if w.Code != 500 || w.Header().Get("Content-Type") != "application/problem+json" ||
			strings.Contains(w.Body.String(), "boom") {
			t.Errorf("answer = %d %s, want a silent problem", w.Code, w.Body)
		}
		if len(lines) != 2 || lines[0]["panic"] != "boom" || !strings.Contains(lines[0]["stack"].(string),
			"instrument_test.go") || lines[1]["problem"] != "internal_error" {
			t.Errorf("log = %v, want one stack and one access line", lines)
		}
	})
	aborts := map[string]http.HandlerFunc{
		"ErrAbortHandler": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"after the header": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "half an ans")
			panic("boom")
		},
	}
	for name, h := range aborts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got, _ := recover().(error); !errors.Is(got, http.ErrAbortHandler) {
					t.Errorf("recovered %v, want ErrAbortHandler to pass", got)
				}
			}()
			serve(t, h, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		})
	}
}

func TestWriteProblem(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		err       error
		status    int
		body      string
		wantRetry string
		wantLogs  int
	}{
		{
			"problem with items",
			problem.New(problem.Invalid, "offer_required", "Name the offer to buy.").At("/offer_id").Advise(
				"fix_arguments"),
			400,
			`{"type":"https://store.example/problems/offer-required","title":"Invalid request","status":400,` +
				`"detail":"Name the offer to buy.","instance":"/a%20b","code":"offer_required",` +
				`"errors":[{"pointer":"/offer_id","code":"offer_required","detail":"Name the offer to buy."}],` +
				`"next_action":"fix_arguments","request_id":"caller-0001"}`,
			"",
			1,
		},
		{
			"retry is rounded up",
			problem.New(problem.RateLimited, "rate_limited", "Wait.").After(1100 * time.Millisecond),
			429,
			`{"type":"https://store.example/problems/rate-limited","title":"Too many requests","status":429,` +
				`"detail":"Wait.","instance":"/a%20b","code":"rate_limited","next_action":"retry_later",` +
				`"request_id":"caller-0001","retry_after_seconds":2}`,
			"2",
			1,
		},
		{
			"internal fault is logged, not shown",
			errors.New("password=hunter2"),
			500,
			`{"type":"https://store.example/problems/internal-error","title":"Internal error","status":500,` +
				`"detail":"Something went wrong on our side. It has been logged; ` +
				`please try again.","instance":"/a%20b","code":"internal_error","next_action":"none",` +
				`"request_id":"caller-0001"}`,
			"",
			2,
		},
		{
			"oversized body",
			&http.MaxBytesError{Limit: 10},
			413,
			`{"type":"https://store.example/problems/request-too-large","title":"Too large","status":413,` +
				`"detail":"The request body is larger than 10 bytes. Send less.","instance":"/a%20b",` +
				`"code":"request_too_large","next_action":"fix_arguments","request_id":"caller-0001"}`,
			"",
			1,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/a%20b?q=secret", nil)
			r.Header.Set("Request-Id", "caller-0001")
			w, lines := serve(t,
				http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					httpserver.WriteProblem(w,
						r, tt.err)
				}), r)
			if w.Code != tt.status || strings.TrimSpace(w.Body.String()) != tt.body {
				t.Errorf("answer = %d %s\nwant %d %s", w.Code, w.Body, tt.status, tt.body)
			}
			if got := w.Header().Get("Retry-After"); got != tt.wantRetry {
				t.Errorf("Retry-After = %q, want %q", got, tt.wantRetry)
			}
			if len(lines) != tt.wantLogs {
				t.Errorf("%d log lines, want %d: %v", len(lines), tt.wantLogs, lines)
			}
		})
	}
}

func TestMuxErrors(t *testing.T) {
	t.Parallel()
	mux := httpserver.NewMux(nil)
	mux.HandleFunc("GET /things/{id}",
		func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "own text", http.StatusNotFound) })
	mux.HandleFunc("POST /acp/sessions", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /tree/", func(http.ResponseWriter, *http.Request) {})
	mux.ErrorsUnder("/acp/", func(w http.ResponseWriter, r *http.Request, err error) {
		p := httpserver.ProblemOf(r.Context(), err)
		w.WriteHeader(p.Kind.Status())
		_, _ = io.WriteString(w, "acp "+p.Code)
	})
	tests := []struct {
		method, path string
		status       int
		body, allow  string
	}{
		{"GET", "/nothing", 404, `"code":"not_found"`, ""},
		{"DELETE", "/things/1", 405, `"code":"method_not_allowed"`, "GET, HEAD"},
		{"GET", "/things/1", 404, "own text", ""},
		{"GET", "/acp/none", 404, "acp not_found", ""},
		{"GET", "/acp/sessions", 405, "acp method_not_allowed", "POST"},
		{"GET", "/tree", 307, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.method+tt.path, func(t *testing.T) {
			t.Parallel()
			w, lines := serve(t, mux, httptest.NewRequestWithContext(t.Context(), tt.method, tt.path, nil))
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.body) ||
				w.Header().Get("Allow") != tt.allow {
				t.Errorf("%s %s = %d Allow %q %s, want %d %q %s", tt.method, tt.path, w.Code, w.Header().Get("Allow"),
					w.Body, tt.status, tt.allow, tt.body)
			}
			if len(lines) != 1 {
				t.Errorf("%d log lines, want 1", len(lines))
			}
		})
	}
}

func proxies(header string) *httpserver.Proxies {
	return &httpserver.Proxies{Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Header: header}
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	const xff, forwarded = httpserver.HeaderXForwardedFor, httpserver.HeaderForwarded
	tests := []struct{ name, header, remote, xff, forwarded, want string }{
		{"direct", xff, "203.0.113.5:1", "", "", "203.0.113.5"},
		{"untrusted peer cannot choose", xff, "203.0.113.5:1", "198.51.100.1", "", "203.0.113.5"},
		{"rightmost untrusted hop", xff, "10.0.0.1:1", "198.51.100.9, 198.51.100.1, 10.0.0.2", "", "198.51.100.1"},
		{"all trusted", xff, "10.0.0.1:1", "10.0.0.3,10.0.0.2", "", "10.0.0.3"},
		{"the proxy's own request", xff, "10.0.0.1:1", "", "", "10.0.0.1"},
		{"malformed hop", xff, "10.0.0.1:1", "198.51.100.1, nonsense", "", ""},
		{"malformed hop behind a proxy", xff, "10.0.0.1:1", "nonsense, 10.0.0.2", "", ""},
		{"empty hop", xff, "10.0.0.1:1", "198.51.100.1,", "", ""},
		{"empty header", xff, "10.0.0.1:1", " ", "", ""},
		{"nonsense left of the client does not matter", xff, "10.0.0.1:1", "evil, 198.51.100.1", "", "198.51.100.1"},
		{"with port", xff, "10.0.0.1:1", "198.51.100.1:443", "", "198.51.100.1"},
		{"IPv6 with port", xff, "10.0.0.1:1", "[2001:db8::1]:443", "", "2001:db8::1"},
		{"mapped peer", xff, "[::ffff:203.0.113.5]:1", "", "", "203.0.113.5"},
		{"zone is dropped", xff, "[fe80::1%eth0]:1", "", "", "fe80::1"},
		{"Forwarded", forwarded, "10.0.0.1:1", "", `for="[2001:db8::1]:4711";proto=https, for=10.0.0.2`, "2001:db8::1"},
		{"Forwarded obfuscated", forwarded, "10.0.0.1:1", "", "for=_hidden", ""},
		{"Forwarded without for", forwarded, "10.0.0.1:1", "", "proto=https", ""},
		{"headers agree", xff, "10.0.0.1:1", "198.51.100.1", "for=198.51.100.1", "198.51.100.1"},
		{"headers disagree", xff, "10.0.0.1:1", "198.51.100.1", "for=198.51.100.2", ""},
		{"headers disagree, the other one is written", forwarded, "10.0.0.1:1", "198.51.100.1", "for=198.51.100.2", ""},
		{"the other header is malformed", xff, "10.0.0.1:1", "198.51.100.1", "for=_hidden", ""},
		{"only the other header", xff, "10.0.0.1:1", "", "for=198.51.100.2", ""},
		{"only the other header, the client's", forwarded, "10.0.0.1:1", "198.51.100.2", "", ""},
		{"no peer", xff, "@", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			r.RemoteAddr = tt.remote
			if tt.xff != "" {
				r.Header.Set("X-Forwarded-For", tt.xff)
			}
			if tt.forwarded != "" {
				r.Header.Set("Forwarded", tt.forwarded)
			}
			var got netip.Addr
			h := httpserver.ClientAddress(proxies(tt.header))(http.HandlerFunc(
				func(_ http.ResponseWriter, r *http.Request) { got = httpserver.ClientIP(r.Context()) }))
			h.ServeHTTP(httptest.NewRecorder(), r)
			want, _ := netip.ParseAddr(tt.want)
			if got != want {
				t.Errorf("ClientIP = %v, want %v", got, want)
			}
		})
	}
}

func TestSecurePages(t *testing.T) {
	t.Parallel()
	h := httpserver.SecurePages(httpserver.PagePolicy{HTTPSOnly: true})(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	w, _ := serve(t, h, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	for name, want := range map[string]string{
		"Content-Security-Policy": "frame-ancestors 'none'", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Strict-Transport-Security": "max-age=", "X-Frame-Options": "DENY",
	} {
		if got := w.Header().Get(name); !strings.Contains(got, want) {
			t.Errorf("%s = %q, want %q in it", name, got, want)
		}
	}
}
