package sandbox

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/foundation/sqldb"
)

func TestCheckAddress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url     string
		allowed bool
		ok      bool
	}{
		{"", false, true},
		{"http://127.0.0.1:8082", false, true},
		{"http://[::1]:8082", false, true},
		{"http://localhost:8082/", false, true},
		{"https://pay.localhost:8443", false, true},
		{"https://pay.example.com", false, false},
		{"https://pay.example.com", true, true},
		{"http://192.168.1.4:8082", false, false},
		{"http://localhost.example.com", false, false},
		{"http://127.0.0.1.nip.example", false, false},
		{"http://0.0.0.0:8082", false, false},
		{"pay.example.com", true, false},
		{"ftp://127.0.0.1", false, false},
	}
	for _, tt := range tests {
		if err := CheckAddress(tt.url, tt.allowed); (err == nil) != tt.ok {
			t.Errorf("CheckAddress(%q, %v) = %v, want ok %v", tt.url, tt.allowed, err, tt.ok)
		}
	}
}

func TestRefusesPublicAddress(t *testing.T) {
	t.Parallel()
	db, err := sqldb.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "sandbox.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	_, err = New(t.Context(), db, &Options{BaseURL: "https://shop.example.com"})
	if !errors.Is(err, ErrPublic) || !strings.Contains(err.Error(), "ACE_SANDBOX") {
		t.Errorf("New on a public address = %v, want a refusal that names ACE_SANDBOX", err)
	}
	if _, err := New(t.Context(),
		db, &Options{Webhooks: []Webhook{{URL: "http://127.0.0.1:1/", Secret: "secret"}}}); err == nil {
		t.Error("New with a webhook secret of another shape worked, want a refusal")
	}
}
