package vaultstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"ace/internal/foundation/seal"
	"ace/internal/foundation/seal/kek"
	"ace/internal/foundation/sqldb"
	"ace/internal/storage/row"
)

// keysetID is the id of the one row.
const keysetID = "data"

// keyset is the row of the keys.
type keyset struct {
	revision              int64
	wrapped, kek, primary string
	canary                string
	idle, updated         time.Time
}

// keyset returns nil where there is none yet.
func (v *Vault) keyset(ctx context.Context) (*keyset, error) {
	k, _, err := row.One(v.db.Reader().QueryRowContext(ctx,
		`SELECT revision, wrapped, kek, primary_id, canary, idle_since, updated_at FROM keyset WHERE id = $1`,
		keysetID),
		func(r row.Scanner) (*keyset, error) {
			k := &keyset{}
			var idle, updated int64
			if err := r.Scan(&k.revision, &k.wrapped, &k.kek, &k.primary, &k.canary, &idle, &updated); err != nil {
				return nil, fmt.Errorf("reading the keyset: %w", err)
			}
			k.idle, k.updated = row.Time(idle), row.Time(updated)
			return k, nil
		})
	return k, err
}

func (v *Vault) insert(ctx context.Context, k *keyset) error {
	return v.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(
			ctx,
			tx,
			`INSERT INTO keyset (id, revision, wrapped, kek, primary_id, canary, idle_since, updated_at) VALUES ($1,
				$2, $3, $4, $5, $6, 0, $7) ON CONFLICT (id) DO NOTHING`,
			keysetID,
			k.revision,
			k.wrapped,
			k.kek,
			k.primary,
			k.canary,
			row.Millis(k.updated),
		)
		return err
	})
}

// replace writes the row if it is still of the revision before.
func (v *Vault) replace(ctx context.Context, k *keyset) (replaced bool, err error) {
	err = v.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(
			ctx,
			tx,
			`UPDATE keyset SET revision = $2, wrapped = $3, kek = $4, primary_id = $5, canary = $6, idle_since = 0,
				updated_at = $7 WHERE id = $1 AND revision = $8`,
			keysetID,
			k.revision,
			k.wrapped,
			k.kek,
			k.primary,
			k.canary,
			row.Millis(k.updated),
			k.revision-1,
		)
		replaced = n > 0
		return err
	})
	return replaced, err
}

// markIdle notes since when nothing is left under older keys.
func (v *Vault) markIdle(ctx context.Context, revision int64, since time.Time) error {
	return v.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(ctx, tx, `UPDATE keyset SET idle_since = $3 WHERE id = $1 AND revision = $2`, keysetID,
			revision, row.Millis(since))
		return err
	})
}

// change lets fn change the keys of a row, until that is written without
// anybody in between. fn returns false to leave everything as it is. The new
// keys is in use here at once. with, if set, is the key that wraps it from now on.
func (v *Vault) change(ctx context.Context, with kek.Key, fn func(*keyset, *seal.Keyring) (bool, error)) error {
	for range 5 {
		k, now, err := v.current(ctx)
		if err != nil {
			return err
		}
		next := used{k.revision + 1, now.keys.Clone(), now.key}
		if changed, err := fn(k, next.keys); err != nil || !changed {
			return err
		}
		if with != nil {
			next.key = with
		}
		k.revision = next.revision
		if err := v.fill(ctx, k, next.keys, next.key); err != nil {
			return err
		}
		v.step("keyset_before")
		replaced, err := v.replace(ctx, k)
		if err != nil {
			return err
		}
		if replaced {
			v.step("keyset_after")
			if err := v.sealer.Replace(next.keys); err != nil {
				return err
			}
			v.use(next)
			return v.beat(ctx)
		}
	}
	return errors.New("other processes change the keyset all the time: try again")
}

// current reads the row and its keys.
func (v *Vault) current(ctx context.Context) (*keyset, used, error) {
	k, err := v.keyset(ctx)
	if err == nil && k == nil {
		err = errGone
	}
	if err != nil {
		return nil, used{}, err
	}
	now, err := v.load(ctx, k)
	return k, now, err
}

// use notes what the box uses now.
func (v *Vault) use(now used) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.used, v.trouble, v.loggedTrouble = now, "", ""
}

func (v *Vault) using() used {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.used
}

// beat reports to the others which revision this replica uses.
func (v *Vault) beat(ctx context.Context) error {
	if !v.db.Shared() { // there are no others
		return nil
	}
	return v.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(
			ctx,
			tx,
			`INSERT INTO keyset_replica (id, revision, seen_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO UPDATE SET
				revision = excluded.revision, seen_at = excluded.seen_at`,
			v.self,
			v.using().revision,
			row.Millis(time.Now()),
		)
		return err
	})
}

func (v *Vault) leave(ctx context.Context) error {
	if !v.db.Shared() {
		return nil
	}
	return v.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(ctx, tx, `DELETE FROM keyset_replica WHERE id = $1 OR seen_at < $2`, v.self,
			row.Millis(time.Now().Add(-24*time.Hour)))
		return err
	})
}

// behind returns the replicas that live and do not use a revision yet.
func (v *Vault) behind(ctx context.Context, revision int64) ([]string, error) {
	if !v.db.Shared() {
		return nil, nil
	}
	rows, err := v.db.Reader().QueryContext(ctx,
		`SELECT id FROM keyset_replica WHERE revision < $1 AND seen_at > $2 AND id <> $3 ORDER BY id`,
		revision, row.Millis(time.Now().Add(-gone)), v.self)
	return row.Collect(rows, err, func(r row.Scanner) (id string, err error) {
		if err := r.Scan(&id); err != nil {
			return "", fmt.Errorf("reading the replicas: %w", err)
		}
		return id, nil
	})
}

// Run keeps this replica's keys up to date and reports to the others that it is alive,
// until ctx ends.
func (v *Vault) Run(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			v.Refresh(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// Refresh reads the keyset if another replica has changed it. Where that cannot
// be done, the keys in memory go on, and Trouble may say so.
func (v *Vault) Refresh(ctx context.Context) {
	err := v.refresh(ctx)
	if beatErr := v.beat(ctx); err == nil {
		err = beatErr
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	v.mu.Lock()
	again := v.loggedTrouble == err.Error()
	v.loggedTrouble = err.Error()
	v.mu.Unlock()
	if !again {
		v.o.Log.ErrorContext(ctx, "the keyset cannot be read, the keys in memory go on", slogError(err))
	}
}

func (v *Vault) refresh(ctx context.Context) error {
	bound, cancel := context.WithTimeout(ctx, rereadWithin)
	defer cancel()
	k, err := v.keyset(bound)
	if err != nil {
		return err // the database is unavailable, which readiness reports by itself
	}
	if k == nil {
		v.worry(errGone)
		return errGone
	}
	now, err := v.load(bound, k)
	if err == nil {
		err = v.sealer.Replace(now.keys)
	}
	if err != nil {
		if !v.sealer.Knows(k.primary) {
			v.worry(err)
		}
		return err
	}
	v.use(now)
	return nil
}

func (v *Vault) worry(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.trouble = err.Error()
}

// Trouble says why this replica cannot open what others seal now; empty: it can.
// A replica with trouble should get no requests.
func (v *Vault) Trouble() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.trouble
}

// Used reports whether a database has a keyset or anything sealed in it: then a
// master key that is not there must not be made up.
func Used(ctx context.Context, db *sqldb.DB) (bool, error) {
	v := &Vault{db: db}
	k, err := v.keyset(ctx)
	if err != nil || k != nil {
		return k != nil, err
	}
	samples, err := v.samples(ctx)
	return len(samples) > 0, err
}
