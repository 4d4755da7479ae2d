package egress_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
)

func TestBodies(t *testing.T) {
	t.Parallel()
	bomb := bytes.Repeat(gzipped(t, make([]byte, 1<<20)), 200) // 200 MiB in as many members
	medium := gzipped(t, make([]byte, 600<<10))                // under the decoded limit, over the ratio
	text := gzipped(t, []byte(strings.Repeat("some plain text ", 100)))
	mux := http.NewServeMux()
	send := func(path, encoding string, data []byte) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if encoding != "" {
				if r.Header.Get("Accept-Encoding") != "gzip" {
					http.Error(w, "gzip was not asked for", http.StatusBadRequest)
					return
				}
				w.Header().Set("Content-Encoding", encoding)
			}
			w.Header().Set("X-Length", fmt.Sprint(len(data)))
			_, _ = w.Write(data)
		})
	}
	send("/text", "gzip", text)
	send("/bomb", "gzip", bomb)
	send("/ratio", "gzip", medium)
	send("/declared", "", make([]byte, 65<<10))
	send("/fits", "", make([]byte, 64<<10))
	send("/not-gzip", "gzip", []byte("plain"))
	send("/cut-gzip", "gzip", text[:len(text)-12])
	mux.HandleFunc("/chunked", func(w http.ResponseWriter, _ *http.Request) {
		for range 100 {
			_, _ = w.Write(make([]byte, 1<<10))
			_ = http.NewResponseController(w).Flush()
		}
	})
	mux.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) {
		for i := range 100 {
			w.Header().Set(fmt.Sprintf("X-Flood-%d", i), strings.Repeat("a", 1<<10))
		}
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, ".")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	})
	live := httptest.NewServer(mux)
	t.Cleanup(live.Close)
	guard := egress.New(&egress.Options{Allow: loopback()})
	tests := []struct {
		path, want string
		length     int
	}{
		{path: "/text", length: 1600},
		{path: "/fits", length: 64 << 10},
		{path: "/bomb", want: "response_too_large"},
		{path: "/ratio", want: "response_too_large"},
		{path: "/declared", want: "response_too_large"},
		{path: "/chunked", want: "response_too_large"},
		{path: "/headers", want: "target_bad_answer"},
		{path: "/not-gzip", want: "target_bad_answer"},
		{path: "/cut-gzip", want: "target_bad_answer"},
		{path: "/slow", want: "target_timeout"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			p := open()
			if tt.path == "/slow" {
				p.Deadline = 200 * time.Millisecond
			}
			body, err := get(t, guard.Client(p), live.URL+tt.path)
			if tt.want == "" && (err != nil || len(body) != tt.length) || tt.want != "" && code(err) != tt.want {
				t.Errorf("GET %s = %d bytes, %v, want %d bytes %s", tt.path, len(body), err, tt.length, tt.want)
			}
		})
	}
}

func TestEventStreamsLiveByTheirPauses(t *testing.T) {
	t.Parallel()
	live := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 8 {
			_, _ = io.WriteString(w, "data: x\n\n")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(50 * time.Millisecond)
		}
		<-r.Context().Done()
	}))
	defer live.Close()
	p := open()
	p.Deadline, p.Idle = 200*time.Millisecond, 5*time.Second
	body, err := get(t, egress.New(&egress.Options{Allow: loopback()}).Client(p), live.URL)
	if strings.Count(body, "data: x") != 8 || code(err) != "target_timeout" {
		t.Errorf("stream = %q, %v, want 8 events past the deadline, then a timeout", body, err)
	}
}

func TestCallerCancels(t *testing.T) {
	t.Parallel()
	live := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer live.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, live.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := egress.New(&egress.Options{Allow: loopback()}).Client(open()).Do(req)
	if err == nil {
		_ = res.Body.Close()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Do = %v, want the caller's own deadline", err)
	}
}

// hop records what arrived at each path.
type hop struct{ method, auth, key, cookie, body string }

func TestRedirects(t *testing.T) {
	t.Parallel()
	seen := make(chan hop, 20)
	record := func(r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen <- hop{
			r.Method, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.Header.Get("Cookie"),
			string(body),
		}
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record(r)
		if back := r.URL.Query().Get("back"); back != "" {
			http.Redirect(w, r, back, http.StatusFound)
		}
	}))
	defer other.Close()
	mux := http.NewServeMux()
	live := httptest.NewServer(mux)
	defer live.Close()
	redirect := func(path, to string, status int) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, status) })
	}
	mux.HandleFunc("/end", func(_ http.ResponseWriter, r *http.Request) { record(r) })
	redirect("/same", "/end", 302)
	redirect("/keep", "/end", 307)
	redirect("/other", other.URL+"/x", 302)
	redirect("/other-keep", other.URL+"/x", 307)
	redirect("/there-and-back", other.URL+"/x?back="+url.QueryEscape(live.URL+"/end"), 302)
	redirect("/metadata", "http://169.254.169.254/latest", 302)
	redirect("/private", "http://10.0.0.1/", 302)
	redirect("/file", "file:///etc/passwd", 302)
	redirect("/userinfo", "http://a:b@127.0.0.1/", 302)
	redirect("/loop", "/loop", 302)
	const auth, key, cookie = "Bearer s3cret", "s3cret", "a=s3cret"
	tests := []struct {
		name, method, path string
		change             func(*egress.Purpose)
		reason             string
		want               hop
		status             int
	}{
		{name: "same origin keeps credentials", method: "GET", path: "/same", want: hop{"GET", auth, key, cookie, ""}},
		{name: "302 drops the body", method: "POST", path: "/same", want: hop{"GET", auth, key, cookie, ""}},
		{name: "307 keeps the body", method: "POST", path: "/keep", want: hop{"POST", auth, key, cookie, "body"}},
		{name: "other origin gets no credentials", method: "GET", path: "/other", want: hop{"GET", "", "", "", ""}},
		{name: "other origin gets no body", method: "POST", path: "/other-keep", reason: egress.ReasonRedirect},
		{
			name: "coming back brings no credentials back", method: "GET", path: "/there-and-back",
			want: hop{"GET", "", "", "", ""},
		},
		{name: "to metadata", method: "GET", path: "/metadata", reason: egress.ReasonAddress},
		{name: "to a private network", method: "GET", path: "/private", reason: egress.ReasonAddress},
		{name: "to a file", method: "GET", path: "/file", reason: egress.ReasonScheme},
		{name: "to user info", method: "GET", path: "/userinfo", reason: egress.ReasonURL},
		{name: "for ever", method: "GET", path: "/loop", reason: egress.ReasonRedirect},
		{
			name: "out of scope", method: "GET", path: "/other", reason: egress.ReasonRedirect,
			change: func(p *egress.Purpose) { p.Scope = egress.SameOrigin },
		},
		{
			name: "same site", method: "GET", path: "/other", want: hop{"GET", "", "", "", ""},
			change: func(p *egress.Purpose) { p.Scope = egress.SameSite },
		},
		{
			name: "none followed", method: "GET", path: "/same", status: 302,
			change: func(p *egress.Purpose) { p.Redirects = 0 },
		},
	}
	for _, tt := range tests { // one after the other: they share the record
		t.Run(tt.name, func(t *testing.T) {
			p := open()
			if tt.change != nil {
				tt.change(&p)
			}
			req, err := http.NewRequestWithContext(t.Context(), tt.method, live.URL+tt.path, strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", auth)
			req.Header.Set("X-Api-Key", key)
			req.Header.Set("Cookie", cookie)
			if tt.method == http.MethodGet {
				req.Body, req.GetBody, req.ContentLength = nil, nil, 0
			}
			res, err := egress.New(&egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}).
				Client(p).Do(req)
			var last hop
			for len(seen) > 0 {
				last = <-seen
			}
			if err != nil {
				if got := egress.Reason(err); got == "" || got != tt.reason {
					t.Errorf("%s %s = %v (%q), want reason %q", tt.method, tt.path, err, got, tt.reason)
				}
				return
			}
			_ = res.Body.Close()
			if tt.status != 0 && res.StatusCode != tt.status || tt.reason != "" || last != tt.want {
				t.Errorf("%s %s = %d, last hop %+v, want %d %+v %s", tt.method, tt.path, res.StatusCode, last,
					tt.status, tt.want, tt.reason)
			}
		})
	}
}

// What Check takes is an address with a plain host, and it takes it again.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		"https://example.com/", "http://127.0.0.1", "https://[::1]:443/", "https://user@h", "https://1.2.3.4.5",
		"https://xn--bcher-kva.example",
		"https://[fe80::1%25lo]/", "HTTPS://EXAMPLE.com:443", "https://a.b:65536", "https://ex\u00adample.com", "//x",
		"https://0x7f.0.0.1/",
	} {
		f.Add(seed)
	}
	guard := egress.New(nil)
	f.Fuzz(func(t *testing.T, address string) {
		err := guard.Check(egress.Webhook(), address)
		if err != nil {
			if _, ok := problem.From(err); !ok || egress.Reason(err) == "" {
				t.Errorf("Check(%q) = %v, want a problem with a reason", address, err)
			}
			return
		}
		u, err := url.Parse(address)
		if err != nil {
			t.Fatalf("Check took %q, which does not parse", address)
		}
		host := u.Hostname()
		if ip, err := netip.ParseAddr(host); err == nil &&
			(!ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback()) {
			t.Errorf("Check took the address %q", address)
		}
		if u.User != nil || u.Scheme != "https" || host == "" || strings.ContainsAny(host, "%@ \\") {
			t.Errorf("Check took %q", address)
		}
	})
}
