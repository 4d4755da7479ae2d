package vaultstore_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/storage/platformstore"
	"ace/internal/storage/row"
	"ace/internal/storage/vaultstore"
)

// Every text of every column is re-encrypted and opens where it stood, and
// nowhere else.
func TestRotate(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		v := open(t, db, vaultstore.Options{})
		all := sow(t, db, v.Sealer(), 60, "a") // more than a batch
		other := sow(t, db, v.Sealer(), 1, "b")
		old, mac := v.Sealer().Primary(), v.Sealer().MAC("x")
		rotate(t, v)
		if p := finish(t, v); p.Resealed != len(all)+len(other) || p.Unreadable != 0 {
			t.Errorf("%d re-encrypted, %d unreadable; want %d, 0", p.Resealed, p.Unreadable, len(all)+len(other))
		}
		primary := v.Sealer().Primary()
		if primary == old || v.Sealer().MAC("x") != mac {
			t.Errorf(
				"primary %s as before: %t; digests changed: %t",
				primary,
				primary == old,
				v.Sealer().MAC("x") != mac,
			)
		}
		reap(t, db, v.Sealer(), append(all, other...), primary)
		s := status(t, v)
		if s.Left != 0 || s.Stuck != 0 || s.Values != len(all)+len(other) || len(s.Keys) != 2 ||
			s.Keys[0].Values != 0 || s.Keys[1].Values != s.Values {
			t.Errorf("status %+v", s)
		}
		columns := map[string]secret{}
		for _, s := range all {
			columns[s.table+"."+s.column] = s
		}
		if len(columns) != len(vaultstore.Columns()) {
			t.Errorf("the test knows %d columns, there are %d", len(columns), len(vaultstore.Columns()))
		}
		for _, mine := range columns { // swapped with another row, column or account
			text := get(t, db, mine)
			for _, s := range append(append([]secret(nil), all[:9]...), other...) {
				if s.at == mine.at {
					continue
				}
				if _, err := v.Sealer().Open(text, s.at); !errors.Is(err, seal.ErrOpen) {
					t.Errorf("a text of %v opens at %v: %v", mine.at, s.at, err)
				}
			}
		}
		// A text that was moved before the rotation is not made good by it.
		moved, home := get(t, db, all[0]), all[10]
		set(t, db, home, moved)
		if err := v.Rotate(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		if p := finish(t, v); p.Unreadable != 1 || get(t, db, home) != moved {
			t.Errorf("%d unreadable, changed: %t; want 1, false", p.Unreadable, get(t, db, home) != moved)
		}
	})
}

// died is what a process ends with in tests.
type died struct{ at string }

// lived runs fn and reports whether it came to its end.
func lived(fn func()) (ok bool, at string) {
	defer func() {
		if r := recover(); r != nil {
			d, mine := r.(died)
			if !mine {
				panic(r)
			}
			at = d.at
		}
	}()
	fn()
	return true, ""
}

// After a crash between any two steps, the next process continues: every text opens at
// every moment, and in the end the rotation is whole.
func TestRotateSurvivesEveryCrash(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		all := sow(t, db, open(t, db, vaultstore.Options{}).Sealer(), 3, "a")
		seen := map[string]bool{}
		for last := 1; ; last++ {
			left := last
			dying := open(t, db, vaultstore.Options{Linger: time.Nanosecond, Step: func(name string) {
				if left--; left == 0 {
					panic(died{name})
				}
			}})
			write(t, db, "DELETE FROM keyset_replica") // those that died are not waited for
			before := dying.Sealer().Primary()
			ok, at := lived(func() {
				rotate(t, dying)
				finish(t, dying)
				finish(t, dying)
			})
			seen[at] = true
			next := open(t, db, vaultstore.Options{Linger: time.Nanosecond})
			write(t, db, "DELETE FROM keyset_replica")
			reap(t, db, next.Sealer(), all, "")
			rotate(t, next)
			finish(t, next)
			finish(t, next)
			reap(t, db, next.Sealer(), all, next.Sealer().Primary())
			if s := status(t, next); next.Sealer().Primary() == before || s.Phase != vaultstore.Rested ||
				s.Left+s.Stuck != 0 {
				t.Fatalf("after a crash at %s: primary changed: %t, %s, left %d, stuck %d",
					at, next.Sealer().Primary() != before, s.Phase, s.Left, s.Stuck)
			}
			if ok {
				break
			}
		}
		for _, step := range []string{
			"keyset_before", "keyset_after", "rotate_added", "batch_before", "batch_after",
			"disable",
		} {
			if !seen[step] {
				t.Errorf("no process died at %s", step)
			}
		}
	})
}

// The first keyset is made once, wherever the first process dies.
func TestFirstKeysetSurvivesACrash(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		ok, at := lived(func() { open(t, db, vaultstore.Options{Step: func(name string) { panic(died{name}) }}) })
		if ok || at != "keyset_made" {
			t.Fatalf("lived %t, died at %q", ok, at)
		}
		var boxes [6]*seal.Sealer
		var wg sync.WaitGroup
		for i := range boxes {
			wg.Go(func() {
				if v, err := tryOpen(t, db, vaultstore.Options{}); err == nil {
					boxes[i] = v.Sealer()
				} else {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, box := range boxes {
			if box == nil || box.Primary() != boxes[0].Primary() || box.MAC("x") != boxes[0].MAC("x") {
				t.Fatal("processes that start together use different keys")
			}
		}
	})
}

// A replica that has not read the new key holds the rotation up; one that says
// nothing for long does not, and opens what it finds all the same.
func TestRotateWaitsForReplicas(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		one, two := open(t, db, vaultstore.Options{}), open(t, db, vaultstore.Options{})
		all := sow(t, db, one.Sealer(), 1, "a")
		old := one.Sealer().Primary()
		rotate(t, one)
		if db.Shared() {
			if _, err := one.Work(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
			if s := status(t, one); s.Phase != vaultstore.Announcing || len(s.WaitingFor) != 1 ||
				one.Sealer().Primary() != old {
				t.Fatalf("phase %s, waiting for %v, promoted: %t; want announcing, one, false", s.Phase, s.WaitingFor,
					one.Sealer().Primary() != old)
			}
			two.Refresh(t.Context())
		}
		finish(t, one)
		if s := status(t, one); len(s.WaitingFor) > 0 && s.Phase == vaultstore.Announcing ||
			one.Sealer().Primary() == old {
			t.Errorf("phase %s, waiting for %v", s.Phase, s.WaitingFor)
		}
		if two.Sealer().Primary() != old {
			t.Error("the second replica was notified already")
		}
		reap(t, db, two.Sealer(), all, one.Sealer().Primary()) // without a restart
		more := sow(t, db, two.Sealer(), 1, "b")
		two.Refresh(t.Context())
		if two.Sealer().Primary() != one.Sealer().Primary() {
			t.Error("the second replica seals with an older key after it has looked")
		}
		reap(t, db, one.Sealer(), more, "")

		if err := two.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		finish(t, one)
		rotate(t, one) // nobody is waited for
		finish(t, one)
		reap(t, db, two.Sealer(), append(all, more...), one.Sealer().Primary()) // two was only slow
	})
}

// Writers go on while two replicas rotate: each raises a number in its row, as
// a token is refreshed, under a compare-and-set on the row's version. No number
// is lost and none fails to open, although workers die at random.
func TestRotateWhileWritersWork(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		const rows, rounds = 6, 20
		replicas := []*vaultstore.Vault{open(t, db, vaultstore.Options{}), open(t, db, vaultstore.Options{})}
		insert(t, db, "account", map[string]any{"id": "acc"})
		place := func(id string) seal.Place {
			return seal.Place{Table: "connection", Column: "secret", Row: id, Account: "acc"}
		}
		for i := range rows {
			id := fmt.Sprint("con_", i)
			text, err := replicas[0].Sealer().Seal([]byte("0"), place(id))
			if err != nil {
				t.Fatal(err)
			}
			insert(t, db, "connection",
				map[string]any{"id": id, "account_id": "acc", "secret": text, "version": int64(1)})
		}
		var raised [rows]atomic.Int64
		var writers, helpers sync.WaitGroup
		over := make(chan struct{})
		var primaries atomic.Int64 // that were seen
		for w := range 4 {
			box := replicas[w%2].Sealer()
			writers.Go(func() {
				for n := 0; n < rounds || primaries.Load() < 3; n++ {
					i := rand.IntN(rows)
					id := fmt.Sprint("con_", i)
					saved, err := raise(t, db, box, id, place(id))
					if err != nil {
						t.Errorf("%s: %v", id, err)
						return
					}
					if saved {
						raised[i].Add(1)
					}
				}
			})
		}
		for _, v := range replicas {
			helpers.Go(func() { // looks now and then, as Run does
				for {
					select {
					case <-over:
						return
					case <-time.After(time.Duration(rand.IntN(20)) * time.Millisecond):
						v.Refresh(t.Context())
					}
				}
			})
		}
		helpers.Go(func() { rotateOverAndOver(t, db, &primaries, over) })
		writers.Wait()
		close(over)
		helpers.Wait()
		end := open(t, db, vaultstore.Options{})
		write(t, db, "DELETE FROM keyset_replica")
		rotate(t, end)
		finish(t, end)
		for i := range rows {
			id := fmt.Sprint("con_", i)
			var text string
			if err := db.Reader().QueryRowContext(t.Context(), "SELECT secret FROM connection WHERE id = $1",
				id).Scan(&text); err != nil {
				t.Fatal(err)
			}
			got, err := replicas[0].Sealer().Open(text, place(id))
			if want := strconv.FormatInt(raised[i].Load(), 10); err != nil || string(got) != want {
				t.Errorf("%s = %q, %v, want %s", id, got, err, want)
			}
		}
		if s := status(t, end); s.Left+s.Stuck != 0 || len(s.Keys) < 3 {
			t.Errorf("left %d, stuck %d, %d keys; want 0, 0, at least 3", s.Left, s.Stuck, len(s.Keys))
		}
	})
}

// A token that is refreshed while a rotation passes by is kept, whichever of the
// two writes first: the vendor takes the old one no more.
func TestRefreshDuringRotation(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *sqldb.DB) {
		v := open(t, db, vaultstore.Options{})
		insert(t, db, "account", map[string]any{"id": "acc"})
		at := seal.Place{Table: "connection", Column: "secret", Row: "con", Account: "acc"}
		sealed := func(token string) string {
			text, err := v.Sealer().Seal([]byte(token), at)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		insert(t, db, "connection", map[string]any{
			"id": "con", "account_id": "acc", "secret": sealed("first"), "version": int64(1), "status": "active",
			"params": "{}", "identity": "{}", "scopes": "[]",
		})
		store := platformstore.Connections{Store: platformstore.New(db, nil)}
		for _, during := range []string{"before the lease", "under the lease", "between sealing and writing"} {
			pass := func(when string) {
				if when == during {
					rotate(t, v)
					finish(t, v)
				}
			}
			kept, err := store.Secret(t.Context(), "acc", "con")
			if err != nil {
				t.Fatal(err)
			}
			pass("before the lease")
			lease, err := store.TakeLease(t.Context(), connection.Lease{
				AccountID: "acc", ConnectionID: "con", Version: kept.Connection.Version, Owner: "me",
				Until: time.Now().Add(time.Minute),
			})
			if err != nil || lease == nil {
				t.Fatalf("%s: TakeLease = %v, %v", during, lease, err)
			}
			pass("under the lease")
			text := sealed(during)
			pass("between sealing and writing")
			saved, err := store.KeepRefresh(t.Context(), kept.Connection, text, lease, audit.Entry{})
			if err != nil || !saved {
				t.Fatalf("%s: KeepRefresh = %t, %v, want true", during, saved, err)
			}
			finish(t, v)
			reap(t, db, v.Sealer(), []secret{{"connection", "secret", "id = 'con'", at, during}}, v.Sealer().Primary())
		}
	})
}

// rotateOverAndOver begins rotations whose workers die at random, and counts
// the primary keys that it sees.
func rotateOverAndOver(t *testing.T, db *sqldb.DB, primaries *atomic.Int64, over <-chan struct{}) {
	seen := map[string]bool{}
	for {
		v, err := tryOpen(t, db, vaultstore.Options{Step: func(name string) {
			if rand.IntN(12) == 0 {
				panic(died{name})
			}
		}})
		if err != nil {
			t.Error(err)
			primaries.Store(3) // the writers may end
			return
		}
		lived(func() {
			err = v.Rotate(t.Context(), true)
			for range 5 {
				if err == nil {
					_, err = v.Work(t.Context(), 20*time.Millisecond)
				}
			}
		})
		if err := errors.Join(err, v.Close(t.Context())); err != nil {
			t.Error(err)
		}
		seen[v.Sealer().Primary()] = true
		primaries.Store(int64(len(seen)))
		select {
		case <-over:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// raise reads a row, opens it, and writes the next number if the row is still
// of the version that was read.
func raise(t *testing.T, db *sqldb.DB, box *seal.Sealer, id string, at seal.Place) (saved bool, err error) {
	t.Helper()
	var text string
	var version int64
	if err := db.Reader().QueryRowContext(t.Context(), "SELECT secret, version FROM connection WHERE id = $1",
		id).Scan(&text, &version); err != nil {
		return false, err
	}
	plain, err := box.Open(text, at)
	if err != nil {
		return false, err
	}
	n, err := strconv.Atoi(string(plain))
	if err != nil {
		return false, err
	}
	next, err := box.Seal([]byte(strconv.Itoa(n+1)), at)
	if err != nil {
		return false, err
	}
	err = db.Tx(t.Context(), func(tx *sql.Tx) error {
		changed, err := row.Exec(t.Context(), tx,
			"UPDATE connection SET secret = $1, version = version + 1 WHERE id = $2 AND version = $3", next,
			id, version)
		saved = changed == 1
		return err
	})
	return saved, err
}

func BenchmarkReseal(b *testing.B) {
	for name, dsn := range engines(b) {
		b.Run(name, func(b *testing.B) {
			db := migrated(b, dsn)
			v := open(b, db, vaultstore.Options{})
			all := sow(b, db, v.Sealer(), 100, "a")
			for b.Loop() {
				rotate(b, v)
				finish(b, v)
			}
			b.ReportMetric(float64(len(all)*b.N)/b.Elapsed().Seconds(), "values/s")
		})
	}
}
