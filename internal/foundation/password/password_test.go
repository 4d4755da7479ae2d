package password_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ace/internal/foundation/password"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	h := password.New()
	stored, err := h.Hash(t.Context(), "correct horse battery staple")
	if err != nil || !strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$") ||
		strings.Contains(stored, "horse") {
		t.Fatalf("Hash = %q, %v", stored, err)
	}
	again, err := h.Hash(t.Context(), "correct horse battery staple")
	if err != nil || again == stored {
		t.Errorf("two digests of one password are equal: the salt is missing")
	}
	tests := []struct {
		name, stored, password string
		want                   bool
	}{
		{"right", stored, "correct horse battery staple", true},
		{"wrong", stored, "correct horse battery stapler", false},
		{"empty", stored, "", false},
		{"nobody", "", "correct horse battery staple", false},
		{"nobody, empty", "", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := h.Verify(t.Context(), tt.stored, tt.password)
			if err != nil || got != tt.want {
				t.Errorf("Verify = %v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestVerifyRefusesWhatIsNoDigest(t *testing.T) {
	t.Parallel()
	h := password.New()
	for _, stored := range []string{
		"plain", "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ", "$argon2i$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$AAAA",
		"$argon2id$v=19$m=99999999,t=2,p=1$c2FsdHNhbHQ$AAAA", "$argon2id$v=19$m=19456,t=0,p=1$c2FsdHNhbHQ$AAAA",
		"$argon2id$v=19$m=19456,t=2,p=1$!$!",
	} {
		if ok, err := h.Verify(t.Context(), stored, "plain"); ok || err == nil {
			t.Errorf("Verify(%q) = %v, %v, want an error", stored, ok, err)
		}
	}
}

func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	h := password.New()
	// A free slot may still be taken; what waits must end.
	if _, err := h.Hash(ended, "x"); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Hash after the end = %v", err)
	}
}

func BenchmarkVerify(b *testing.B) {
	h := password.New()
	stored, err := h.Hash(b.Context(), "correct horse battery staple")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := h.Verify(b.Context(), stored, "wrong"); err != nil {
			b.Fatal(err)
		}
	}
}
