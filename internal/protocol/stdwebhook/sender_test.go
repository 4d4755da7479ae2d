package stdwebhook_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/stdwebhook"
)

// client is an HTTPClient of a function.
type client func(*http.Request) (*http.Response, error)

func (c client) Do(r *http.Request) (*http.Response, error) { return c(r) }

func message(url string, secrets ...stdwebhook.Secret) stdwebhook.Message {
	return stdwebhook.Message{URL: url, ID: "msg_1", Body: []byte(`{"type":"a"}`), Secrets: secrets}
}

func TestSend(t *testing.T) {
	t.Parallel()
	older, newer := stdwebhook.NewSecret(), stdwebhook.NewSecret()
	tests := []struct {
		name     string
		status   int
		body     string
		wantErr  string
		response string
		gone     bool
	}{
		{"accepted", 204, "", "", "", false},
		{"accepted with text", 200, "fine", "", "fine", false},
		{"failed", 500, "out of order", "500", "out of order", false},
		{"gone", 410, "", "410", "", true},
		{"redirected", 302, "", "302", "", false},
		{"not UTF-8", 200, "a\xffb", "", "a\uFFFDb", false},
		{"long", 200, strings.Repeat("é", 600) + "end", "", strings.Repeat("é", 512), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			posts := 0
			receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				posts++
				body, _ := io.ReadAll(r.Body)
				for _, secret := range []stdwebhook.Secret{older, newer} { // either, while they overlap
					d, err := stdwebhook.Verify(r.Header, []stdwebhook.Secret{secret}, body, time.Now())
					if err != nil || d.ID != "msg_1" {
						t.Errorf("Verify = %+v, %v", d, err)
					}
				}
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer receiver.Close()
			guard := egress.New(&egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
			sender := stdwebhook.NewSender(guard.Client(egress.Webhook()), nil)
			a := sender.Send(t.Context(), message(receiver.URL+"/in?token=sesame", newer, older))
			if a.Status != tt.status || a.Response != tt.response || a.Gone() != tt.gone || posts != 1 {
				t.Errorf("attempt = %+v after %d posts", a, posts)
			}
			if (a.Err == nil) != (tt.wantErr == "") || a.Err != nil && !strings.Contains(a.Err.Error(), tt.wantErr) {
				t.Errorf("error = %v, want %q", a.Err, tt.wantErr)
			}
		})
	}
}

// The URL holds a secret of the receiver: no error shows it.
func TestSendHidesTheURL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, url string
		client    stdwebhook.HTTPClient
		code      string
	}{
		{"nobody there", "http://127.0.0.1:1/sesame", http.DefaultClient, ""},
		{
			"internal network", "https://127.0.0.1/sesame", egress.New(nil).Client(egress.Webhook()),
			"target_not_allowed",
		},
		{"unreadable", "http://[sesame", http.DefaultClient, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := stdwebhook.NewSender(tt.client, nil).Send(t.Context(), message(tt.url, stdwebhook.NewSecret()))
			if a.Err == nil || a.Status != 0 || strings.Contains(a.Err.Error(), "sesame") {
				t.Errorf("attempt = %+v", a)
			}
			if p, ok := problem.From(a.Err); tt.code != "" && (!ok || p.Code != tt.code) {
				t.Errorf("error = %v, want %s", a.Err, tt.code)
			}
		})
	}
	if a := stdwebhook.NewSender(http.DefaultClient, nil).
		Send(t.Context(), message("http://127.0.0.1:1")); !errors.Is(
		a.Err,
		stdwebhook.ErrSecret,
	) {
		t.Errorf("without a secret: %v", a.Err)
	}
}

// drip is a body that sends a byte in each second until the request ends.
type drip struct{ ctx context.Context }

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second / 2):
		return copy(p, "x"), nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func (d drip) Close() error { return nil }

func TestSendInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hanging := client(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		start := time.Now()
		a := stdwebhook.NewSender(hanging, nil).Send(t.Context(), message("https://a.example", stdwebhook.NewSecret()))
		if !errors.Is(a.Err, context.DeadlineExceeded) || a.Duration != 15*time.Second || !a.At.Equal(start) {
			t.Errorf("a receiver that hangs: %+v", a)
		}
		dripping := client(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: drip{r.Context()}}, nil
		})
		start = time.Now()
		a = stdwebhook.NewSender(dripping, nil).Send(t.Context(), message("https://a.example", stdwebhook.NewSecret()))
		if took := time.Since(start); a.Err != nil || a.Status != 200 || a.Duration != 0 || took > 2*time.Second {
			t.Errorf("a receiver that drips: %+v after %s", a, took)
		}
	})
}
