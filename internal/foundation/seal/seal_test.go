package seal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"ace/internal/foundation/seal"
)

func newBox(t *testing.T) *seal.Box {
	t.Helper()
	box, err := seal.New(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return box
}

func TestSealedValueIsBoundToItsPlace(t *testing.T) {
	t.Parallel()
	box, here := newBox(t), seal.Place{Table: "connection", Column: "token", Row: "con_1", Account: "acc_1"}
	text, err := box.Seal([]byte("sesame"), here)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := box.Open(text, here); err != nil || string(got) != "sesame" {
		t.Errorf("Open = %q, %v, want sesame", got, err)
	}
	other, _ := seal.New(bytes.Repeat([]byte{8}, seal.KeySize))
	tests := map[string]func() ([]byte, error){
		"other row": func() ([]byte, error) {
			return box.Open(text, seal.Place{Table: "connection", Column: "token", Row: "con_2", Account: "acc_1"})
		},
		"other account": func() ([]byte, error) {
			return box.Open(text, seal.Place{Table: "connection", Column: "token", Row: "con_1", Account: "acc_2"})
		},
		"other key":  func() ([]byte, error) { return other.Open(text, here) },
		"cut":        func() ([]byte, error) { return box.Open(text[:len(text)-4], here) },
		"not sealed": func() ([]byte, error) { return box.Open("sesame", here) },
		"empty":      func() ([]byte, error) { return box.Open("", here) },
		"no body":    func() ([]byte, error) { return box.Open("v1.", here) },
	}
	for name, open := range tests {
		if got, err := open(); !errors.Is(err, seal.ErrOpen) || got != nil {
			t.Errorf("%s: Open = %q, %v, want ErrOpen", name, got, err)
		}
	}
}

func TestMACDelimitsItsParts(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	a := box.MAC("idempotency", []byte("ab"), []byte("c"))
	for name, b := range map[string]string{
		"parts moved": box.MAC("idempotency", []byte("a"), []byte("bc")), "other label": box.MAC("client", []byte("ab"), []byte("c")),
	} {
		if a == b {
			t.Errorf("%s: the digests are equal", name)
		}
	}
	if again := box.MAC("idempotency", []byte("ab"), []byte("c")); a != again || len(a) != 43 {
		t.Errorf("MAC = %q then %q, want the same 43 characters", a, again)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys", "master.key")
	var boxes [8]*seal.Box
	var wg sync.WaitGroup
	for i := range boxes {
		wg.Go(func() {
			box, err := seal.Load(path)
			if err != nil {
				t.Error(err)
			}
			boxes[i] = box
		})
	}
	wg.Wait()
	for _, box := range boxes {
		if box == nil || box.MAC("x") != boxes[0].MAC("x") {
			t.Fatal("processes that start together got different keys")
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode = %v, %v, want 0600", info.Mode(), err)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, n int, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct{ name, path, want string }{
		{"readable by others", write("open", seal.KeySize, 0o644), "chmod 600"},
		{"short", write("short", 5, 0o600), "32 bytes"},
		{"a folder", dir, "master key"},
	}
	for _, tt := range tests {
		if _, err := seal.Load(tt.path); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Load = %v, want text with %q", tt.name, err, tt.want)
		}
	}
}
