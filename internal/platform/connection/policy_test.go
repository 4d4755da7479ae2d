package connection

import (
	"strings"
	"testing"
	"time"

	"ace/internal/platform/app"
)

func TestSkew(t *testing.T) {
	t.Parallel()
	own := &app.Scheme{OAuth: &app.OAuth{Token: app.Token{Expires: app.Expires{Skew: 30}}}}
	tests := []struct {
		name   string
		life   time.Duration
		scheme *app.Scheme
		want   time.Duration
	}{
		{"an hour", time.Hour, &app.Scheme{}, 6 * time.Minute},
		{"a day", 24 * time.Hour, &app.Scheme{}, 15 * time.Minute},
		{"five minutes", 5 * time.Minute, &app.Scheme{}, 30 * time.Second},
		{"the app's own", 10 * time.Minute, own, 30 * time.Second},
	}
	for _, tt := range tests {
		c := &Connection{RefreshedAt: time.Now()}
		c.TokenExpiresAt = c.RefreshedAt.Add(tt.life)
		if got := skew(c, tt.scheme); got != tt.want {
			t.Errorf("%s: skew = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	var known, unknown time.Duration
	for failed := 1; failed < unknownTries; failed++ {
		unknown += backoff(Unknown, failed)
	}
	for failed, want := range map[int]time.Duration{
		1: 30 * time.Second, 2: time.Minute, 4: 4 * time.Minute,
		8: time.Hour, 1000: time.Hour,
	} {
		if known = backoff(Temporary, failed); known != want {
			t.Errorf("after %d failures: %v, want %v", failed, known, want)
		}
	}
	if unknown < 94*time.Hour || unknown > 97*time.Hour {
		t.Errorf("ten unknown refusals are spread over %v, want four days", unknown)
	}
}

func TestSchedule(t *testing.T) {
	t.Parallel()
	oauth := func(kind string, minAge int) *app.Scheme {
		return &app.Scheme{Type: app.TypeOAuth2, OAuth: &app.OAuth{Refresh: app.Refresh{Kind: kind, MinAge: minAge}}}
	}
	token := Credentials{refreshToken: "r"}
	tests := []struct {
		name        string
		scheme      *app.Scheme
		credentials Credentials
		life        time.Duration // 0: no end
		from, to    time.Duration // 0: not by itself
	}{
		{"an hour", oauth("", 0), token, time.Hour, 42 * time.Minute, 48 * time.Minute},
		{"a month", oauth("", 0), token, 30 * 24 * time.Hour, 22 * time.Hour, 26 * time.Hour},
		{"without an end", oauth("", 0), token, 0, 22 * time.Hour, 26 * time.Hour},
		{"without a refresh token", oauth("", 0), nil, time.Hour, 0, 0},
		{
			"token for token, sixty days", oauth(app.RefreshExchange, 0), nil, 60 * 24 * time.Hour, 42 * 24 * time.Hour,
			48 * 24 * time.Hour,
		},
		{"not before its age", oauth(app.RefreshExchange, 86400), nil, 25 * time.Hour, 24 * time.Hour, 24 * time.Hour},
		{"a few seconds", oauth("", 0), token, 10 * time.Second, 30 * time.Second, 30 * time.Second},
		{"client credentials", &app.Scheme{Type: app.TypeClient}, nil, time.Hour, 0, 0},
		{"a key", &app.Scheme{Type: app.TypeKey}, nil, 0, 0, 0},
	}
	for _, tt := range tests {
		for range 50 {
			c := &Connection{RefreshedAt: now()}
			if tt.life > 0 {
				c.TokenExpiresAt = c.RefreshedAt.Add(tt.life)
			}
			schedule(c, tt.scheme, tt.credentials)
			wait := c.NextRefreshAt.Sub(c.RefreshedAt)
			if tt.to == 0 && !c.NextRefreshAt.IsZero() || tt.to > 0 && (wait < tt.from || wait > tt.to) {
				t.Fatalf("%s: renewed by itself after %v, want %v to %v", tt.name, wait, tt.from, tt.to)
			}
		}
	}
}

func TestSessionMoves(t *testing.T) {
	t.Parallel()
	all := []SessionStatus{
		SessionPending, SessionOpened, SessionConnected, SessionFailed, SessionExpired,
		SessionCanceled,
	}
	allowed := map[SessionStatus]string{
		SessionPending: "opened canceled failed", SessionOpened: "connected canceled failed",
		SessionConnected: "canceled",
	}
	for _, from := range all {
		for _, to := range all {
			if got, want := from.mayBecome(to), strings.Contains(allowed[from], string(to)); got != want {
				t.Errorf("%s may become %s: %v, want %v", from, to, got, want)
			}
		}
		if got, want := from.Over(), from != SessionPending && from != SessionOpened; got != want {
			t.Errorf("%s is over: %v", from, got)
		}
	}
}
