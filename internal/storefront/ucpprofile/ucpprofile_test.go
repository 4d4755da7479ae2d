package ucpprofile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
)

// web responds to requests without a network. It counts them by address.
type web struct {
	mu     sync.Mutex
	reads  map[string]int
	answer func(r *http.Request) (*http.Response, error)
}

func newWeb(answer func(r *http.Request) (*http.Response, error)) *web {
	return &web{reads: map[string]int{}, answer: answer}
}

// RoundTrip implements http.RoundTripper.
func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.reads[r.URL.String()]++
	w.mu.Unlock()
	return w.answer(r)
}

func (w *web) readsOf(address string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reads[address]
}

func (w *web) client() *http.Client {
	return &http.Client{
		Transport:     w,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

const validProfile = `{"ucp":{"version":"2026-08-25","services":{},"payment_handlers":{},` +
	`"capabilities":{"dev.ucp.shopping.checkout":[{"version":"2026-08-25"}]}}}`

func respond(status int, body string, headers ...string) (*http.Response, error) {
	h := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer func(*http.Request) (*http.Response, error)
		code   string
	}{
		{"good", func(*http.Request) (*http.Response, error) { return respond(200, validProfile) }, ""},
		{"redirect", func(*http.Request) (*http.Response, error) {
			return respond(302, "", "Location",
				"https://b.example")
		}, "profile_unreachable"},
		{
			"missing",
			func(*http.Request) (*http.Response, error) { return respond(404, validProfile) },
			"profile_unreachable",
		},
		{
			"no answer", func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") },
			"profile_unreachable",
		},
		{
			"not JSON", func(*http.Request) (*http.Response, error) { return respond(200, "<html>") },
			"profile_malformed",
		},
		{"too large", func(*http.Request) (*http.Response, error) {
			return respond(200, `{"x":"`+strings.Repeat("x", ucp.MaxProfileBytes)+`"}`)
		}, "profile_malformed"},
		{
			"never",
			func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() },
			"profile_unreachable",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWeb(tt.answer)
				r := New(w.client(), nil)
				for range 3 {
					profile, err := r.Profile(t.Context(), "https://a.example/ucp")
					if tt.code != "" && !problem.Is(err, tt.code) || tt.code == "" &&
						(err != nil || profile.Version != ucp.Newest) {
						t.Errorf("Profile = %+v, %v, want %q", profile, err, tt.code)
					}
				}
				if n := w.readsOf("https://a.example/ucp"); n != 1 {
					t.Errorf("%d fetches for three calls, want 1: bad answers are kept too", n)
				}
			})
		})
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		cacheControl string
		want         time.Duration
	}{
		{"", time.Minute},
		{"no-store", time.Minute},
		{"max-age=5", time.Minute},
		{"public, max-age=600", 10 * time.Minute},
		{`Max-Age="600"`, 10 * time.Minute},
		{"max-age=999999999", time.Hour},
		{"max-age=-1", time.Minute},
		{"max-age=x", time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.cacheControl, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const address = "https://a.example/ucp"
				w := newWeb(func(*http.Request) (*http.Response, error) {
					return respond(200, validProfile, "Cache-Control", tt.cacheControl)
				})
				r := New(w.client(), nil)
				read := func() {
					if _, err := r.Profile(t.Context(), address); err != nil {
						t.Fatal(err)
					}
				}
				read()
				time.Sleep(tt.want - time.Second)
				read()
				if n := w.readsOf(address); n != 1 {
					t.Errorf("read again before %s", tt.want)
				}
				time.Sleep(time.Second)
				read()
				if n := w.readsOf(address); n != 2 {
					t.Errorf("not read again after %s", tt.want)
				}
			})
		})
	}
}

// TestNewer reads again what is older than a minute, and nothing newer.
func TestNewer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const address = "https://a.example/ucp"
		w := newWeb(func(*http.Request) (*http.Response, error) {
			return respond(200, validProfile, "Cache-Control", "max-age=3600")
		})
		r := New(w.client(), nil)
		for _, step := range []struct {
			after time.Duration
			reads int
		}{{0, 1}, {30 * time.Second, 1}, {31 * time.Second, 2}, {time.Second, 2}} {
			time.Sleep(step.after)
			if _, err := r.Newer(t.Context(), address); err != nil || w.readsOf(address) != step.reads {
				t.Errorf("Newer: %v after %d fetches, want %d", err, w.readsOf(address), step.reads)
			}
		}
	})
}

func TestOneFetchForMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(func(*http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return respond(200, validProfile)
		})
		r := New(w.client(), nil)
		impatient, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := r.Profile(impatient, "https://a.example/ucp"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Profile for a caller who left = %v", err)
			}
		})
		for range 20 {
			all.Go(func() {
				if _, err := r.Profile(t.Context(), "https://a.example/ucp"); err != nil {
					t.Errorf("Profile = %v, want what the first caller asked for", err)
				}
			})
		}
		all.Wait()
		if n := w.readsOf("https://a.example/ucp"); n != 1 {
			t.Errorf("%d fetches, want 1", n)
		}
	})
}

// TestBudget spends the fetches of all platforms together. What is kept is
// still answered.
func TestBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(func(*http.Request) (*http.Response, error) {
			return respond(200, validProfile, "Cache-Control", "max-age=3600")
		})
		r := New(w.client(), &Options{PerMinute: 3})
		read := func(i int) error {
			_, err := r.Profile(t.Context(), fmt.Sprintf("https://p%d.example/ucp", i))
			return err
		}
		for i := range 3 {
			if err := read(i); err != nil {
				t.Fatal(err)
			}
		}
		err := read(3)
		if p, _ := problem.From(err); p.Code != "profile_busy" || p.Kind != problem.Unavailable || p.RetryAfter == 0 {
			t.Errorf("the fourth profile in a minute = %v, want profile_busy", err)
		}
		if err := read(0); err != nil {
			t.Errorf("a kept profile = %v", err)
		}
		time.Sleep(20 * time.Second)
		if err := read(3); err != nil {
			t.Errorf("a third of a minute later = %v", err)
		}
		if err := read(4); !problem.Is(err, "profile_busy") {
			t.Errorf("one more = %v, want profile_busy", err)
		}
	})
}

// TestSize forgets what was not used for longest.
func TestSize(t *testing.T) {
	t.Parallel()
	w := newWeb(func(*http.Request) (*http.Response, error) {
		return respond(200, validProfile, "Cache-Control", "max-age=3600")
	})
	r := New(w.client(), &Options{Size: 2})
	for _, name := range []string{"a", "b", "a", "c", "a", "b"} {
		if _, err := r.Profile(t.Context(), "https://"+name+".example/"); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]int{"a": 1, "b": 2, "c": 1} {
		if n := w.readsOf("https://" + name + ".example/"); n != want {
			t.Errorf("%s was fetched %d times, want %d", name, n, want)
		}
	}
	if len(r.byURL) != 2 || r.recent.Len() != 2 {
		t.Errorf("%d and %d profiles are kept, want 2", len(r.byURL), r.recent.Len())
	}
}

// TestForbiddenAddress names addresses that the guard does not let through.
func TestForbiddenAddress(t *testing.T) {
	t.Parallel()
	r := New(egress.New(nil).Client(egress.UCPProfile()), nil)
	for _, address := range []string{
		"https://127.0.0.1/ucp", "https://169.254.169.254/latest", "https://[::1]:443/",
		"https://p.example:25/",
	} {
		_, err := r.Profile(t.Context(), address)
		if p, _ := problem.From(err); p.Code != "profile_unreachable" || !strings.Contains(p.Detail, "may not call") {
			t.Errorf("Profile(%s) = %v, want a refusal that says nothing about the network", address, err)
		}
	}
}

func TestUnusableAddress(t *testing.T) {
	t.Parallel()
	r := New(http.DefaultClient, nil)
	if _, err := r.Profile(t.Context(), "https://a b/%zz"); !problem.Is(err, "profile_unreachable") {
		t.Errorf("Profile = %v, want profile_unreachable", err)
	}
}
