package seal_test

import (
	"bytes"
	"errors"
	"testing"

	"ace/internal/foundation/seal"
)

func newBox(t *testing.T) *seal.Sealer {
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
		"other key":           func() ([]byte, error) { return other.Open(text, here) },
		"cut":                 func() ([]byte, error) { return box.Open(text[:len(text)-4], here) },
		"not sealed":          func() ([]byte, error) { return box.Open("sesame", here) },
		"empty":               func() ([]byte, error) { return box.Open("", here) },
		"no body":             func() ([]byte, error) { return box.Open("v1.", here) },
		"key not of the ring": func() ([]byte, error) { return box.Open("v2.01234567."+text[3:], here) },
		"no key id":           func() ([]byte, error) { return box.Open("v2.0123456z."+text[3:], here) },
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
		"parts moved": box.MAC("idempotency", []byte("a"), []byte("bc")), "other label": box.MAC("client", []byte("ab"),
			[]byte("c")),
	} {
		if a == b {
			t.Errorf("%s: the digests are equal", name)
		}
	}
	if again := box.MAC("idempotency", []byte("ab"), []byte("c")); a != again || len(a) != 43 {
		t.Errorf("MAC = %q then %q, want the same 43 characters", a, again)
	}
}
