// Package vaultstore keeps the keys that secrets are sealed with, and seals
// again what older keys have sealed.
//
//	key-encryption key (kek.Key) -- wraps --> keys of data keys, one row of keyset
//	                                             |
//	Open: unwrap, check the canary ----------> seal.Box of this process
//	Rotate:  keys + pending key ---> every replica has read it ---> primary
//	Work:    column by column, compare-and-set ---> nothing under older keys for
//	         an hour, counted ---> older keys disabled
//	Rewrap:  the same keys under another key-encryption key
//
// Each step is one row written with compare-and-set on its revision, so that a
// process may die between any two and another continues. Replicas report in
// keyset_replica which revision they use; a step that they must know of first
// waits for them.
package vaultstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ace/internal/foundation/seal"
	"ace/internal/foundation/seal/kek"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/typeid"
)

// Options say where keys come from.
type Options struct {
	KEK kek.Key
	Old kek.Key // the one before, while the keyset moves; nil: none
	// Master are the bytes of the master key file, nil where there is none: what
	// was sealed before there was a keyset was sealed with a key that follows
	// from them.
	Master []byte
	Log    *slog.Logger
	// Step, if set, is called between two durable steps. Tests end there.
	Step func(name string)
	// Linger is how long nothing must be left under older keys before they are
	// disabled. Zero: an hour, longer than any request or cookie holds what it
	// has read.
	Linger time.Duration
}

// Vault is the keyset of a database, as one process uses it. It is safe for
// concurrent use.
type Vault struct {
	db     *sqldb.DB
	o      Options
	self   string // id of this replica
	sealer *seal.Sealer

	working sync.Mutex // one pass of re-sealing at a time

	mu            sync.Mutex
	used          used
	trouble       string // why a newer keyset cannot be used; empty: all is well
	loggedTrouble string // the trouble that was logged
}

// used is the keyset in memory. It is never changed.
type used struct {
	revision int64
	keys     *seal.Keyring
	key      kek.Key // that it is wrapped by
}

const (
	beatEvery = 10 * time.Second
	// gone is how long a replica is waited for that says nothing any more.
	gone   = 2 * time.Minute
	linger = time.Hour
)

// Open returns the vault of a migrated database. The first one makes the keyset.
// Its errors say what to do.
func Open(ctx context.Context, db *sqldb.DB, o *Options) (*Vault, error) {
	v := &Vault{db: db, o: *o, self: typeid.New("rep")}
	if v.o.Linger == 0 {
		v.o.Linger = linger
	}
	if v.o.Log == nil {
		v.o.Log = slog.New(slog.DiscardHandler)
	}
	if err := v.open(ctx); err != nil {
		return nil, err
	}
	if err := v.beat(ctx); err != nil {
		return nil, err
	}
	return v, nil
}

func (v *Vault) open(ctx context.Context) error {
	row, err := v.keyset(ctx)
	if err == nil && row == nil {
		row, err = v.first(ctx)
	}
	if err != nil {
		return err
	}
	now, err := v.load(ctx, row)
	if err != nil {
		return err
	}
	if v.sealer, err = seal.NewBox(now.keys); err != nil {
		return err
	}
	v.use(now)
	v.sealer.OnUnknown(v.reread)
	return nil
}

// Sealer seals and opens for this process.
func (v *Vault) Sealer() *seal.Sealer { return v.sealer }

// Close takes this replica from the list of those that are waited for.
func (v *Vault) Close(ctx context.Context) error { return v.leave(ctx) }

// first makes the keyset of a database that has none. Of several replicas one
// is first, and all use its keyset.
func (v *Vault) first(ctx context.Context) (*keyset, error) {
	keys, err := v.firstKeys(ctx)
	if err != nil {
		return nil, err
	}
	made := &keyset{revision: 1}
	if err := v.fill(ctx, made, keys, v.o.KEK); err != nil {
		return nil, err
	}
	v.step("keyset_made")
	if err := v.insert(ctx, made); err != nil {
		return nil, err
	}
	return v.keyset(ctx)
}

// firstKeys is a random key where nothing is sealed yet. Otherwise the key that
// sealed it stays the primary until the first rotation: replicas of before
// there were keysets can then still read everything.
func (v *Vault) firstKeys(ctx context.Context) (*seal.Keyring, error) {
	samples, err := v.samples(ctx)
	if err != nil {
		return nil, err
	}
	if len(samples) == 0 {
		var digest []byte
		if v.o.Master != nil {
			if digest, err = seal.DigestKey(v.o.Master); err != nil {
				return nil, err
			}
		}
		return seal.NewRing(digest, time.Now()), nil
	}
	for _, s := range samples {
		if id, ok := seal.KeyOf(s.text); ok && id != seal.LegacyID {
			return nil,
				errors.New(
					"the database holds secrets whose keyset is gone: restore the table keyset from a backup of the " +
						"database")
		}
	}
	if v.o.Master == nil {
		return nil,
			errors.New(
				"the database holds secrets that were sealed with a master key file, which is not there: put it " +
					"back, or name it in ACE_MASTER_KEY_FILE; it is needed once, to take its key into the keyset")
	}
	keys, err := seal.LegacyRing(v.o.Master)
	if err != nil {
		return nil, err
	}
	sealer, err := seal.NewBox(keys)
	if err != nil {
		return nil, err
	}
	for _, s := range samples {
		if _, err := sealer.Open(s.text, s.at); err == nil {
			return keys, nil
		}
	}
	return nil,
		errors.New(
			"the master key file does not open what is sealed in this database: put back the file that was used with " +
				"it, or name it in ACE_MASTER_KEY_FILE")
}

// canaryAt is where the canary is kept: a digest under a fixed label, so that
// it proves the data key and the digest key.
func canaryAt() seal.Place { return seal.Place{Table: "keyset", Column: "canary", Row: keysetID} }

func checkCanary(sealer *seal.Sealer, k *keyset) error {
	plain, err := sealer.Open(k.canary, canaryAt())
	if err != nil || string(plain) != sealer.MAC("canary") {
		return errors.New(
			"the canary of the keyset does not open: the table keyset was changed or comes from another database; " +
				"restore it from the backup that the rest of the database is from")
	}
	return nil
}

// fill writes a keys into a row, wrapped by key.
func (v *Vault) fill(ctx context.Context, k *keyset, keys *seal.Keyring, key kek.Key) error {
	secrets, err := keys.Secrets()
	if err != nil {
		return err
	}
	wrapped, err := key.Wrap(ctx, secrets)
	if err != nil {
		return fmt.Errorf("wrapping the keyset: %w", err)
	}
	// What cannot be unwrapped again would lose every secret: look before it
	// takes the place of what can.
	if back, err := key.Unwrap(ctx, wrapped); err != nil || string(back) != string(secrets) {
		return fmt.Errorf("%s wraps the keyset, but does not unwrap it again, so nothing was changed: %w", key.Name(),
			errors.Join(err, kek.ErrAway))
	}
	sealer, err := seal.NewBox(keys)
	if err != nil {
		return err
	}
	if k.canary, err = sealer.Seal([]byte(sealer.MAC("canary")), canaryAt()); err != nil {
		return err
	}
	k.wrapped, k.kek, k.primary, k.updated = wrapped, key.Name(), sealer.Primary(), time.Now()
	return nil
}

// load opens the keys of a row and proves it on the canary. The keys in memory
// serves as long as it is the same: then no service is asked.
func (v *Vault) load(ctx context.Context, k *keyset) (used, error) {
	if now := v.using(); now.keys != nil && now.revision == k.revision {
		return now, nil
	}
	keys, key, err := v.unwrap(ctx, k)
	if err != nil {
		return used{}, err
	}
	sealer, err := seal.NewBox(keys)
	if err != nil {
		return used{}, err
	}
	return used{k.revision, keys, key}, checkCanary(sealer, k)
}

// unwrap returns the keys of a row, and which key opened it.
func (v *Vault) unwrap(ctx context.Context, k *keyset) (*seal.Keyring, kek.Key, error) {
	keys := []kek.Key{v.o.KEK}
	if v.o.Old != nil {
		keys = append(keys, v.o.Old)
		if v.o.Old.Name() == k.kek {
			keys[0], keys[1] = keys[1], keys[0]
		}
	}
	var away error
	for _, key := range keys {
		secrets, err := key.Unwrap(ctx, k.wrapped)
		if err == nil {
			keys, err := seal.ParseRing(secrets)
			return keys, key, err
		}
		if !errors.Is(err, kek.ErrWrong) && away == nil {
			away = err
		}
	}
	if away != nil {
		return nil, nil, fmt.Errorf("the keyset cannot be opened: %w", away)
	}
	return nil, nil,
		fmt.Errorf(
			"the keyset was wrapped by %q and does not open with %q: set ACE_KEK_URL (or ACE_MASTER_KEY_FILE) to the "+
				"key that it was wrapped by; if the key is being changed, name that one in ACE_KEK_OLD_URL and run "+
				"ace vault rewrap: %w",
			k.kek, v.o.KEK.Name(), kek.ErrWrong)
}

// rereadWithin bounds the reading of the keys for a caller that waits.
const rereadWithin = 15 * time.Second

// reread is what the sealer calls for an unknown key: another replica has started to
// use it before this one looked.
func (v *Vault) reread() (*seal.Keyring, error) {
	ctx, cancel := context.WithTimeout(context.Background(), rereadWithin)
	defer cancel()
	now, err := v.newest(ctx)
	if err != nil {
		return nil, err
	}
	if err := v.sealer.Replace(now.keys); err != nil {
		return nil, err
	}
	v.use(now)
	return now.keys, nil
}

// newest reads the keyset of the database.
func (v *Vault) newest(ctx context.Context) (used, error) {
	k, err := v.keyset(ctx)
	if err == nil && k == nil {
		err = errGone
	}
	if err != nil {
		return used{}, err
	}
	return v.load(ctx, k)
}

var errGone = errors.New(
	"the keyset is gone from the database: restore the table keyset from a backup before this process ends, or its " +
		"secrets are lost")

func (v *Vault) step(name string) {
	if v.o.Step != nil {
		v.o.Step(name)
	}
}
