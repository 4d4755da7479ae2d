package seal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/seal"
)

var here = seal.Place{Table: "connection", Column: "secret", Row: "con_1", Account: "acc_1"}

func mustSeal(t *testing.T, box *seal.Sealer) string {
	t.Helper()
	text, err := box.Seal([]byte("sesame"), here)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func boxOf(t *testing.T, ring *seal.Keyring) *seal.Sealer {
	t.Helper()
	box, err := seal.NewBox(ring)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// What builds before the keyset have sealed opens, and what is sealed with
// their key opens with them: the text below was made by such a build.
func TestTextsOfBeforeOpen(t *testing.T) {
	t.Parallel()
	const before = "v1.iolwk1gqfIHZwXVnIhdlG12duQ9xNpayh++CknSy5MiOlg"
	box := newBox(t)
	if got, err := box.Open(before, here); err != nil || string(got) != "sesame" {
		t.Errorf("Open = %q, %v, want sesame", got, err)
	}
	if text := mustSeal(t, box); !strings.HasPrefix(text, "v1.") {
		t.Errorf("the key of before seals as %q, want v1.…", text)
	}
	if got, want := box.MAC("idempotency", []byte("ab")), "CX-nt7Otq9v2yBT0DeI0kHFmeR-jhLRghYmUKB8wryo"; got != want {
		t.Errorf("MAC = %s, want %s", got, want)
	}
}

// A key's life: each state seals and opens what it should.
func TestLifeOfAKey(t *testing.T) {
	t.Parallel()
	ring, err := seal.LegacyRing(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	old := boxOf(t, ring)
	first, mac := mustSeal(t, old), old.MAC("x")
	id := ring.Add(time.Now())
	steps := []struct {
		name    string
		do      func()
		primary string
		opens   []bool // what the old key has sealed, what the new key has
	}{
		{"pending", func() {}, seal.LegacyID, []bool{true, true}},
		{"promoted", func() { ring.Promote() }, id, []bool{true, true}},
		{"old one disabled", func() { ring.Set("", seal.Retiring, seal.Disabled) }, id, []bool{false, true}},
		{
			"old one enabled again", func() { ring.Set(seal.LegacyID, seal.Disabled, seal.Retiring) },
			id,
			[]bool{true, true},
		},
	}
	ahead := ring.Clone()
	ahead.Promote()
	texts := []string{first, mustSeal(t, boxOf(t, ahead))}
	for _, s := range steps {
		s.do()
		box := boxOf(t, ring)
		if box.Primary() != s.primary || box.MAC("x") != mac {
			t.Errorf("%s: primary %s, digests changed: %t; want %s, false", s.name, box.Primary(), box.MAC("x") != mac,
				s.primary)
		}
		if used, _ := seal.KeyOf(mustSeal(t, box)); used != s.primary {
			t.Errorf("%s: sealed with %s, want %s", s.name, used, s.primary)
		}
		for i, want := range s.opens {
			if _, err := box.Open(texts[i], here); (err == nil) != want || err != nil && !errors.Is(err, seal.ErrOpen) {
				t.Errorf("%s: text %d: %v, want opened = %t", s.name, i, err, want)
			}
		}
	}
	if ring.Promote() {
		t.Error("Promote without a pending key reports true")
	}
}

func TestResealKeepsThePlace(t *testing.T) {
	t.Parallel()
	ring := seal.NewRing(nil, time.Now())
	box := boxOf(t, ring)
	text := mustSeal(t, box)
	ring.Add(time.Now())
	ring.Promote()
	if err := box.Replace(ring); err != nil {
		t.Fatal(err)
	}
	again, err := box.Reseal(text, here)
	if err != nil || again == text {
		t.Fatalf("Reseal = %q, %v", again, err)
	}
	there := here
	for _, change := range []func(){
		func() { there.Row = "con_2" }, func() { there = here; there.Account = "acc_2" },
		func() { there = here; there.Column = "other" }, func() { there = here; there.Table = "farewell" },
	} {
		change()
		if got, err := box.Open(again, there); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("at %v: %q, %v, want ErrOpen", there, got, err)
		}
		if _, err := box.Reseal(text, there); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("Reseal at %v: %v, want ErrOpen", there, err)
		}
	}
	// Parts that hold what stands between parts elsewhere.
	a, b := seal.Place{Table: "t", Column: "c", Row: "a|b", Account: "x"}, seal.Place{
		Table: "t", Column: "c", Row: "a",
		Account: "b|x",
	}
	text, err = box.Seal([]byte("sesame"), a)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Open(text, b); !errors.Is(err, seal.ErrOpen) {
		t.Errorf("a place that reads alike: %v, want ErrOpen", err)
	}
}

// An unknown key makes the sealer re-read the keyring: once for all who wait, and not
// more than once a second, whatever ids callers make up.
func TestUnknownKeyReadsTheRing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ring := seal.NewRing(nil, time.Now())
		box := boxOf(t, ring)
		next := ring.Clone()
		next.Add(time.Now())
		next.Promote()
		text := mustSeal(t, boxOf(t, next))
		var reads atomic.Int64
		var away atomic.Bool
		box.OnUnknown(func() (*seal.Keyring, error) {
			reads.Add(1)
			if away.Load() {
				return nil, errors.New("away")
			}
			time.Sleep(50 * time.Millisecond)
			return next, nil
		})
		away.Store(true)
		if _, err := box.Open(text, here); err == nil || errors.Is(err, seal.ErrOpen) {
			t.Errorf("while the ring cannot be read: %v, want an error that is not ErrOpen", err)
		}
		away.Store(false)
		reads.Store(0)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if got, err := box.Open(text, here); err != nil || string(got) != "sesame" {
					t.Errorf("Open = %q, %v, want sesame", got, err)
				}
			})
		}
		wg.Wait()
		if n := reads.Load(); n != 1 {
			t.Errorf("20 callers read the ring %d times, want 1", n)
		}
		reads.Store(0)
		began := time.Now()
		for i := range 5 {
			if _, err := box.Open(fmt.Sprintf("v2.0000000%d.AAAA", i), here); !errors.Is(err, seal.ErrOpen) {
				t.Errorf("a made-up key: %v, want ErrOpen", err)
			}
		}
		if n, took := reads.Load(), time.Since(began); n != 5 || took < 4*time.Second {
			t.Errorf("5 made-up keys read the ring %d times within %s, want one a second", n, took)
		}
	})
}

func TestRingSurvivesWrapping(t *testing.T) {
	t.Parallel()
	ring := seal.NewRing(nil, time.Now())
	text := mustSeal(t, boxOf(t, ring))
	secrets, err := ring.Secrets()
	if err != nil {
		t.Fatal(err)
	}
	again, err := seal.ParseRing(secrets)
	if err != nil {
		t.Fatal(err)
	}
	box := boxOf(t, again)
	if got, err := box.Open(text, here); err != nil || string(got) != "sesame" {
		t.Errorf("Open = %q, %v, want sesame", got, err)
	}
	if box.MAC("x") != boxOf(t, ring).MAC("x") {
		t.Error("digests changed")
	}
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, seal.KeySize))
	for name, damaged := range map[string]string{
		"empty": "", "cut": string(secrets[:len(secrets)-9]), "no keys": `{"keys":[],"digest":"` + key + `"}`,
		"short key":    `{"keys":[{"id":"00000000","state":"primary","key":"c2VzYW1l"}],"digest":"` + key + `"}`,
		"short digest": `{"keys":[{"id":"00000000","state":"primary","key":"` + key + `"}],"digest":"c2VzYW1l"}`,
		"two primaries": `{"keys":[{"id":"00000000","state":"primary","key":"` + key +
			`"},{"id":"00000001","state":"primary","key":"` + key + `"}],"digest":"` + key + `"}`,
	} {
		if _, err := seal.ParseRing([]byte(damaged)); err == nil || strings.Contains(err.Error(), "c2VzYW1l") ||
			strings.Contains(err.Error(), key) {
			t.Errorf("%s: ParseRing = %v, want an error without keys", name, err)
		}
	}
}

// Whatever prints a box or a ring prints no key.
func TestNothingPrintsKeys(t *testing.T) {
	t.Parallel()
	master := bytes.Repeat([]byte("k3y!"), seal.KeySize/4)
	ring, err := seal.LegacyRing(master)
	if err != nil {
		t.Fatal(err)
	}
	box := boxOf(t, ring)
	secrets, err := ring.Secrets()
	if err != nil {
		t.Fatal(err)
	}
	var whole struct {
		Keys   []struct{ Key string }
		Digest string
	}
	if err := json.Unmarshal(secrets, &whole); err != nil || len(whole.Keys) != 1 {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, v := range []any{box, ring, *ring, struct{ B *seal.Sealer }{box}, map[string]any{"ring": ring}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		if text, err := json.Marshal(v); err == nil {
			out.Write(text)
		}
	}
	for _, key := range []string{whole.Keys[0].Key, whole.Digest, "k3y!"} {
		raw, _ := base64.StdEncoding.DecodeString(key)
		for _, form := range []string{key, string(raw), fmt.Sprintf("%x", raw), fmt.Sprint(raw)} {
			if form != "" && form != "[]" && strings.Contains(out.String(), form) {
				t.Errorf("a key was printed as %.40q", form)
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	box, err := seal.New(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"", "v1.", "v2.", "v2.01234567.", "v2.01234567.AAAA", "v1.AAAA", "v2.x.y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := box.Open(text, here); !errors.Is(err, seal.ErrOpen) || got != nil {
			t.Errorf("Open(%q) = %q, %v, want ErrOpen", text, got, err)
		}
		if id, ok := seal.KeyOf(text); ok && !strings.HasPrefix(text, seal.Prefix(id)) {
			t.Errorf("KeyOf(%q) = %q, which is not what it begins with", text, id)
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	box, err := seal.NewBox(seal.NewRing(nil, time.Now()))
	if err != nil {
		b.Fatal(err)
	}
	text, err := box.Seal(make([]byte, 2048), here)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := box.Open(text, here); err != nil {
			b.Fatal(err)
		}
	}
}
