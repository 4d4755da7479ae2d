package storage_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"ace/internal/storage"
)

func TestSigningKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		const replicas = 8
		var made atomic.Int64
		got := make([]string, replicas)
		var start sync.WaitGroup
		for i := range replicas {
			start.Go(func() {
				key, err := s.SigningKey(t.Context(), "store-es256", func() ([]byte, error) {
					return fmt.Appendf(nil, "sealed %d", made.Add(1)), nil
				})
				if err != nil {
					t.Error(err)
				}
				got[i] = string(key)
			})
		}
		start.Wait()
		for i, key := range got {
			if key == "" || key != got[0] {
				t.Errorf("replica %d has key %q, replica 0 %q, want the same", i, key, got[0])
			}
		}
		again, err := s.SigningKey(t.Context(), "store-es256",
			func() ([]byte, error) { return nil, errors.New("not needed") })
		if err != nil || string(again) != got[0] {
			t.Errorf("later SigningKey = %q, %v, want %q", again, err, got[0])
		}
	})
}

func TestSigningKeysByName(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *storage.Store) {
		for _, name := range []string{"a", "b"} {
			key, err := s.SigningKey(t.Context(), name, func() ([]byte, error) { return []byte("key of " + name), nil })
			if err != nil || string(key) != "key of "+name {
				t.Errorf("SigningKey(%s) = %q, %v", name, key, err)
			}
		}
		broken := errors.New("no randomness")
		if _, err := s.SigningKey(t.Context(), "c", func() ([]byte, error) { return nil, broken }); !errors.Is(err,
			broken) {
			t.Errorf("SigningKey with a failing create: %v, want %v", err, broken)
		}
		if key, err := s.SigningKey(t.Context(), "c",
			func() ([]byte, error) { return []byte("second try"), nil }); err != nil || string(key) != "second try" {
			t.Errorf("SigningKey after a failure = %q, %v", key, err)
		}
	})
}
