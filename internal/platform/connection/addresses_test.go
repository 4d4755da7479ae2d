package connection_test

import (
	"context"
	"testing"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/connection"
)

// listed lets browsers of the account be sent to these addresses alone.
type listed []string

func (l listed) RedirectURLs(_ context.Context, accountID string) ([]string, error) {
	if accountID != account {
		return nil, nil
	}
	return l, nil
}

// notices are sent nowhere inside.
type notices struct{}

func (notices) Allowed(address string) error {
	if address == "https://10.0.0.1/" {
		return problem.New(problem.Unprocessable, "target_not_allowed", "No.")
	}
	return nil
}
func (notices) Secret(string) string  { return "whsec_x" }
func (notices) Handler() jobs.Handler { return jobs.Handler{} }

func TestAddressesOfAWish(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.Landings, w.Notices = listed{"https://agent.example/cb"}, notices{}
	tests := []struct {
		name string
		wish connection.ConnectOptions
		code string
	}{
		{"on the list", connection.ConnectOptions{RedirectURL: "https://agent.example/cb/done?a=1"}, ""},
		{"elsewhere", connection.ConnectOptions{RedirectURL: "https://evil.example/cb"}, "invalid_request"},
		{"beside it", connection.ConnectOptions{RedirectURL: "https://agent.example/cbx"}, "invalid_request"},
		{"the page that says who is there, elsewhere", connection.ConnectOptions{
			Verify:    connection.VerifyCallback,
			VerifyURL: "https://evil.example/", EndUser: "ann",
		}, "invalid_request"},
		{"a notice", connection.ConnectOptions{NotifyURL: "https://hook.example/in"}, ""}, // notices are no browsers
		{"a notice inside", connection.ConnectOptions{NotifyURL: "https://10.0.0.1/"}, "webhook_url_not_allowed"},
		{"a notice over http", connection.ConnectOptions{NotifyURL: "http://hook.example/"}, "webhook_url_not_allowed"},
		{
			"a notice with a password",
			connection.ConnectOptions{NotifyURL: "https://u:p@hook.example/"},
			"webhook_url_not_allowed",
		},
	}
	for _, tt := range tests {
		_, err := w.Open(t.Context(), agent(), account, connection.Request{App: "notes", Options: tt.wish})
		if code(err) != tt.code {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.code)
		}
	}
	if _, err := w.Open(
		t.Context(),
		agent(),
		stranger,
		connection.Request{
			App:     "notes",
			Options: connection.ConnectOptions{RedirectURL: "https://evil.example/"},
		},
	); err != nil {
		t.Errorf("another account, which has no list: %v", err)
	}
	w.Landings = listed{}
	if _, err := w.Open(t.Context(), agent(), stranger, connection.Request{
		App: "notes",
		Options: connection.ConnectOptions{
			Verify: connection.VerifyCallback, VerifyURL: "https://agent.example/who", EndUser: "ann",
		},
	}); code(err) != "invalid_request" {
		t.Errorf("without a list somebody is asked about at any address: %v", err)
	}
	w.Notices = nil
	if _, err := w.Open(
		t.Context(),
		agent(),
		account,
		connection.Request{
			App:     "notes",
			Options: connection.ConnectOptions{NotifyURL: "https://hook.example/in"},
		},
	); code(err) !=
		"webhook_url_not_allowed" {
		t.Errorf("without a notice: %v", err)
	}
}
