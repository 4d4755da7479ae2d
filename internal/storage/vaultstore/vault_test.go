package vaultstore_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/seal/kek"
	"ace/internal/foundation/seal/kek/transittest"
	"ace/internal/foundation/sqldb"
	"ace/internal/storage/vaultstore"
)

// A new database gets a random key, one for all who open it; digests follow
// from the master key, so that processes with databases of their own agree.
func TestNewDatabase(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		if used, err := vaultstore.Used(t.Context(), db); err != nil || used {
			t.Errorf("Used = %t, %v, want false", used, err)
		}
		one, two := open(t, db, vaultstore.Options{}), open(t, db, vaultstore.Options{})
		if used, err := vaultstore.Used(t.Context(), db); err != nil || !used {
			t.Errorf("Used = %t, %v, want true", used, err)
		}
		all := sow(t, db, one.Sealer(), 1, "a")
		reap(t, db, two.Sealer(), all, one.Sealer().Primary())
		before, err := seal.New(master(1))
		if err != nil {
			t.Fatal(err)
		}
		if one.Sealer().Primary() == seal.LegacyID || one.Sealer().MAC("x") != before.MAC("x") {
			t.Errorf("primary %s, digests follow from the master key: %t", one.Sealer().Primary(),
				one.Sealer().MAC("x") == before.MAC("x"))
		}
		if s := status(t, one); s.Phase != vaultstore.Rested || !s.Settled || s.Values != len(all) ||
			s.Left+s.Stuck != 0 {
			t.Errorf("status %+v", s)
		}
	})
}

// A database of before there were keysets goes on: its texts open, new ones
// open in old builds, digests stay; a rotation takes it to a random key.
func TestOldDatabase(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		before, err := seal.New(master(1))
		if err != nil {
			t.Fatal(err)
		}
		all := sow(t, db, before, 2, "a")
		for name, tt := range map[string]struct {
			o    vaultstore.Options
			want string
		}{
			"another file": {vaultstore.Options{KEK: local(t, 2), Master: master(2)}, "does not open what is sealed"},
			"no file":      {vaultstore.Options{KEK: local(t, 2)}, "ACE_MASTER_KEY_FILE"},
		} {
			if _, err := tryOpen(t, db, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: Open = %v, want text with %q", name, err, tt.want)
			}
		}
		v := open(t, db, vaultstore.Options{})
		reap(t, db, v.Sealer(), all, seal.LegacyID)
		more := sow(t, db, v.Sealer(), 1, "b")
		reap(t, db, before, more, seal.LegacyID)
		mac := before.MAC("x")
		rotate(t, v)
		finish(t, v)
		reap(t, db, v.Sealer(), append(all, more...), v.Sealer().Primary())
		if v.Sealer().Primary() == seal.LegacyID || v.Sealer().MAC("x") != mac {
			t.Errorf(
				"after a rotation: primary %s, digests changed: %t",
				v.Sealer().Primary(),
				v.Sealer().MAC("x") != mac,
			)
		}
		write(t, db, "DELETE FROM keyset")
		if _, err := tryOpen(t, db, vaultstore.Options{}); err == nil || !strings.Contains(err.Error(),
			"restore the table keyset") {
			t.Errorf("without its keyset: Open = %v", err)
		}
	})
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		v := open(t, db, vaultstore.Options{})
		_, err := tryOpen(t, db, vaultstore.Options{KEK: local(t, 2)})
		if !errors.Is(err, kek.ErrWrong) || !strings.Contains(err.Error(), "ACE_KEK_URL") ||
			!strings.Contains(err.Error(), local(t, 1).Name()) {
			t.Errorf("another key: Open = %v, want ErrWrong with the setting and the name of the right key", err)
		}
		// A canary of elsewhere: the keyset opens, and does not fit the database.
		text, err := v.Sealer().Seal([]byte("x"), seal.Place{Table: "keyset", Column: "canary", Row: "data"})
		if err != nil {
			t.Fatal(err)
		}
		write(t, db, "UPDATE keyset SET canary = $1", text)
		if _, err := tryOpen(t, db, vaultstore.Options{}); err == nil || !strings.Contains(err.Error(), "canary") ||
			!strings.Contains(err.Error(), "backup") {
			t.Errorf("another canary: Open = %v", err)
		}
	})
}

// The keyset moves from a file to a service and back, and its keys with it.
func TestRewrap(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		all := sow(t, db, open(t, db, vaultstore.Options{}).Sealer(), 1, "a")
		kms := transittest.Start(t)
		service, file := transit(t, kms), local(t, 1)
		if _, err := tryOpen(t, db, vaultstore.Options{KEK: service}); err == nil || !strings.Contains(err.Error(),
			"ace vault rewrap") {
			t.Errorf("with the new key alone: Open = %v", err)
		}
		moving := open(t, db, vaultstore.Options{KEK: service, Old: file})
		if s := status(t, moving); s.Settled {
			t.Error("settled before rewrap")
		}
		kms.Refuse(http.StatusServiceUnavailable, "Vault is sealed")
		if err := moving.Rewrap(t.Context()); !errors.Is(err, kek.ErrAway) {
			t.Errorf("while the service is unavailable: Rewrap = %v, want ErrAway", err)
		}
		open(t, db, vaultstore.Options{}) // nothing has changed
		kms.Fail(nil)
		if err := moving.Rewrap(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := status(t, moving); !s.Settled || s.KEK != service.Name() {
			t.Errorf("after rewrap: settled %t, %s", s.Settled, s.KEK)
		}
		if _, err := tryOpen(t, db, vaultstore.Options{}); !errors.Is(err, kek.ErrWrong) {
			t.Errorf("with the old key after rewrap: Open = %v, want ErrWrong", err)
		}
		reap(t, db, open(t, db, vaultstore.Options{KEK: service}).Sealer(), all, "")
		back := open(t, db, vaultstore.Options{KEK: file, Old: service})
		if err := back.Rewrap(t.Context()); err != nil {
			t.Fatal(err)
		}
		reap(t, db, open(t, db, vaultstore.Options{}).Sealer(), all, "")
	})
}

func transit(t testing.TB, s *transittest.Server) kek.Key {
	t.Helper()
	key, err := kek.Open(s.Address(), &kek.Options{
		Setting: "ACE_KEK_URL", TokenName: "ACE_KEK_TOKEN_FILE", TokenFile: transittest.TokenFile(t),
		Client: func(*url.URL) *http.Client { return s.Client() },
	})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// A service that is unavailable at the start refuses the start; later it is not
// missed: what is sealed opens, and the vault works from memory.
func TestServiceAway(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		kms := transittest.Start(t)
		var log bytes.Buffer
		o := vaultstore.Options{KEK: transit(t, kms), Log: slog.New(slog.NewJSONHandler(&log, nil))}
		v, other := open(t, db, o), open(t, db, o)
		all := sow(t, db, v.Sealer(), 2, "a")
		primary := v.Sealer().Primary()

		kms.Refuse(http.StatusForbidden, "permission denied")
		_, err := tryOpen(t, db, o)
		if !errors.Is(err, kek.ErrAway) || !strings.Contains(err.Error(), "ACE_KEK_URL") ||
			!strings.Contains(err.Error(), "ACE_KEK_TOKEN_FILE") {
			t.Errorf("unavailable at the start: Open = %v, want ErrAway with setting and fix", err)
		}
		calls := len(kms.Calls())
		reap(t, db, v.Sealer(), all, primary)
		v.Refresh(t.Context())
		finish(t, v)
		if s := status(t, v); s.Trouble != "" || s.Phase != vaultstore.Rested || len(kms.Calls()) != calls {
			t.Errorf("status %+v after %d calls, want no call and no trouble", s, len(kms.Calls())-calls)
		}
		if err := v.Rotate(t.Context(), false); !errors.Is(err, kek.ErrAway) {
			t.Errorf("Rotate = %v, want ErrAway", err)
		}
		if s := status(t, v); len(s.Keys) != 1 {
			t.Errorf("a rotation that failed left %d keys, want 1", len(s.Keys))
		}

		// Another replica rotates, and this one cannot read the new keyset.
		kms.Fail(nil)
		rotate(t, other)
		if db.Shared() { // waits for this replica, which says nothing for long
			write(t, db, "UPDATE keyset_replica SET seen_at = 1")
			rotate(t, other)
		}
		finish(t, other)
		kms.Refuse(http.StatusServiceUnavailable, "Vault is sealed")
		s := all[0]
		if _, err := v.Sealer().Open(get(t, db, s), s.at); err == nil || errors.Is(err, seal.ErrOpen) {
			t.Errorf("a text of a key that cannot be read: %v, want an error that is not ErrOpen", err)
		}
		v.Refresh(t.Context())
		v.Refresh(t.Context())
		if v.Trouble() == "" {
			t.Error("no trouble although this replica cannot open what others seal")
		}
		if n := strings.Count(log.String(), "the keyset cannot be read"); n != 1 {
			t.Errorf("%d lines about it, want 1", n)
		}
		if strings.Contains(log.String(), transittest.Token) || strings.Contains(v.Trouble(), transittest.Token) {
			t.Error("the log or the trouble holds the token")
		}
		kms.Fail(nil)
		v.Refresh(t.Context())
		if v.Trouble() != "" {
			t.Errorf("trouble %q after the service is back", v.Trouble())
		}
		reap(t, db, v.Sealer(), all, other.Sealer().Primary())
	})
}

// A removed keyset is reported, and the keys in memory go on.
func TestKeysetGone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		v := open(t, db, vaultstore.Options{})
		all := sow(t, db, v.Sealer(), 1, "a")
		write(t, db, "DELETE FROM keyset")
		v.Refresh(t.Context())
		if !strings.Contains(v.Trouble(), "restore the table keyset") {
			t.Errorf("Trouble = %q", v.Trouble())
		}
		reap(t, db, v.Sealer(), all, "")
		if _, err := v.Status(t.Context()); err == nil {
			t.Error("Status of a keyset that is gone works")
		}
	})
}

// A key is disabled only when nothing has been left under it for the whole
// time, and what turns up later is not lost.
func TestOlderKeysEnd(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		v := open(t, db, vaultstore.Options{})
		all := sow(t, db, v.Sealer(), 1, "a")
		old, held := v.Sealer().Primary(), get(t, db, all[0])
		rotate(t, v)
		finish(t, v)
		if s := status(t, v); s.Phase != vaultstore.Lingering || s.DisableAfter.Before(time.Now().Add(50*time.Minute)) {
			t.Errorf("phase %s, disabled after %s, want lingering for an hour", s.Phase, s.DisableAfter)
		}
		// A request that had read the old text writes it back.
		set(t, db, all[0], held)
		if p := finish(t, v); p.Resealed != 1 {
			t.Errorf("%d re-encrypted after a text came back, want 1", p.Resealed)
		}
		impatient := open(t, db, vaultstore.Options{Linger: time.Nanosecond})
		finish(t, impatient)
		finish(t, impatient)
		if s := status(t, impatient); s.Phase != vaultstore.Rested || s.Keys[0].State != seal.Disabled {
			t.Errorf("phase %s, first key %s, want rested, disabled", s.Phase, s.Keys[0].State)
		}
		if impatient.Sealer().Knows(old) {
			t.Error("a disabled key still opens")
		}
		set(t, db, all[0], held)
		if s := status(t, impatient); s.Stuck != 1 {
			t.Errorf("%d texts under disabled keys, want 1", s.Stuck)
		}
		if err := impatient.Enable(t.Context(), "00000000"); !problem.Is(err, "vault_key_not_found") {
			t.Errorf("Enable of a made-up key = %v", err)
		}
		if err := impatient.Enable(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		finish(t, impatient)
		reap(t, db, impatient.Sealer(), all, impatient.Sealer().Primary())
	})
}

// A text that no key opens stays as it is, and its key, too.
func TestDamagedTextStays(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		v := open(t, db, vaultstore.Options{Linger: time.Nanosecond})
		all := sow(t, db, v.Sealer(), 1, "a")
		damaged := get(t, db, all[2])
		end := "AA"
		if strings.HasSuffix(damaged, end) {
			end = "BB"
		}
		damaged = damaged[:len(damaged)-2] + end
		set(t, db, all[2], damaged)
		rotate(t, v)
		for range 3 {
			if p := finish(t, v); p.Unreadable != 1 {
				t.Errorf("%d unreadable, want 1", p.Unreadable)
			}
		}
		if got := get(t, db, all[2]); got != damaged {
			t.Error("the damaged text was changed")
		}
		if s := status(t, v); s.Left != 1 || s.Phase != vaultstore.Resealing || s.Keys[0].State != seal.Retiring {
			t.Errorf("left %d, %s, first key %s; want 1, resealing, retiring", s.Left, s.Phase, s.Keys[0].State)
		}
		before := len(status(t, v).Keys)
		rotate(t, v) // goes on with the one that is under way
		if after := len(status(t, v).Keys); after != before {
			t.Errorf("%d keys, want %d", after, before)
		}
		if err := v.Rotate(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if after := len(status(t, v).Keys); after != before+1 {
			t.Errorf("%d keys after a forced rotation, want %d", after, before+1)
		}
	})
}
