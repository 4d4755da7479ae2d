package control_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/sandbox/control"
)

func TestRefusal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, from, header, value string
		ok                        bool
	}{
		{"this machine", "127.0.0.1:1", "", "", true},
		{"this machine, version 6", "[::1]:1", "", "", true},
		{"another machine", "192.0.2.1:1", "", "", false},
		{"no address", "@", "", "", false},
		{"a proxy here", "127.0.0.1:1", "X-Forwarded-For", "192.0.2.1", false},
		{"a page of this site", "127.0.0.1:1", "Sec-Fetch-Site", "same-origin", true},
		{"a page of another site", "127.0.0.1:1", "Sec-Fetch-Site", "cross-site", false},
		{"a page of another site in an old browser", "127.0.0.1:1", "Origin", "https://evil.example", false},
	}
	for _, tt := range tests {
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8082/_sandbox/faults", http.NoBody)
		r.RemoteAddr = tt.from
		if tt.header != "" {
			r.Header.Set(tt.header, tt.value)
		}
		if why := control.Refusal(r); (why == "") != tt.ok {
			t.Errorf("Refusal(%s) = %q, want ok %v", tt.name, why, tt.ok)
		}
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		control.Pause(ctx, time.Minute)
		if took := time.Since(start); took != time.Second {
			t.Errorf("a caller who leaves after a second waits %s", took)
		}
	})
}

func TestHang(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { control.Hang(w, r, time.Millisecond) }))
	t.Cleanup(s.Close)
	res, err := http.Post(s.URL, "application/json", http.NoBody)
	if err == nil {
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	if err == nil {
		t.Error("the answer came, want it broken off")
	}
}
