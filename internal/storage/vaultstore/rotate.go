package vaultstore

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
)

// Rotate adds a key, which becomes the primary as soon as every replica knows
// it. While an earlier rotation has texts left to re-encrypt, that one continues
// instead, unless force is set.
func (v *Vault) Rotate(ctx context.Context, force bool) error {
	if !force {
		left, err := v.left(ctx)
		if err != nil || left > 0 {
			return err
		}
	}
	err := v.change(ctx, nil, func(_ *keyset, r *seal.Keyring) (bool, error) {
		if r.In(seal.Pending) != "" {
			return false, nil
		}
		r.Add(time.Now())
		return true, nil
	})
	if err != nil {
		return err
	}
	v.step("rotate_added")
	return v.promote(ctx)
}

// promote makes the pending key the primary one, unless a replica does not know
// it yet.
func (v *Vault) promote(ctx context.Context) error {
	waiting, err := v.waiting(ctx)
	if err != nil || len(waiting) > 0 {
		return err
	}
	return v.change(ctx, nil, func(_ *keyset, r *seal.Keyring) (bool, error) { return r.Promote(), nil })
}

// waiting returns the replicas that do not use the newest revision yet.
func (v *Vault) waiting(ctx context.Context) ([]string, error) {
	k, err := v.keyset(ctx)
	if err != nil {
		return nil, err
	}
	if k == nil {
		return nil, errGone
	}
	return v.behind(ctx, k.revision)
}

// Rewrap wraps the keyset with the key that is set now.
func (v *Vault) Rewrap(ctx context.Context) error {
	return v.change(ctx, v.o.KEK, func(*keyset, *seal.Keyring) (bool, error) { return true, nil })
}

// Enable lets a disabled key open again, until what it has sealed is sealed
// again. Its problem is vault_key_not_found (NotFound).
func (v *Vault) Enable(ctx context.Context, id string) error {
	return v.change(ctx, nil, func(_ *keyset, r *seal.Keyring) (bool, error) {
		if r.Set(id, seal.Disabled, seal.Retiring) == 0 {
			return false, problem.New(problem.NotFound, "vault_key_not_found",
				"There is no disabled key with this id. ace vault status lists the keys.")
		}
		return true, nil
	})
}

// Progress is what one call of Work has done.
type Progress struct {
	Resealed   int // texts re-encrypted
	Unreadable int // texts that no key opens
	Moved      int // texts that changed meanwhile; the next call sees to them
	Done       bool
}

// Work continues a rotation for about as long as budget: it promotes a key
// that every replica knows, re-encrypts texts, and disables keys that nothing
// needs any more. Done says that there is nothing to do now. Several processes
// may work at once.
func (v *Vault) Work(ctx context.Context, budget time.Duration) (Progress, error) {
	v.working.Lock()
	defer v.working.Unlock()
	var p Progress
	end := time.Now().Add(budget)
	if err := v.refresh(ctx); err != nil {
		return p, err
	}
	k, now, err := v.current(ctx)
	if err != nil {
		return p, err
	}
	if now.keys.In(seal.Pending) != "" {
		if err := v.promote(ctx); err != nil {
			return p, err
		}
		v.step("promoted")
		if k, now, err = v.current(ctx); err != nil {
			return p, err
		}
	}
	if now.keys.In(seal.Retiring) == "" {
		p.Done = now.keys.In(seal.Pending) == ""
		return p, nil
	}
	whole := true
	for _, c := range Columns() {
		if whole, err = v.resealColumn(ctx, &c, end, &p); err != nil || !whole {
			break
		}
	}
	if err != nil || !whole || p.Moved > 0 {
		return p, err
	}
	done, err := v.retire(ctx, k, now.keys, p.Unreadable > 0)
	p.Done = done && now.keys.In(seal.Pending) == ""
	return p, err
}

// resealColumn re-encrypts the texts of a column, batch after batch. It returns
// false where the time was up before the end.
func (v *Vault) resealColumn(ctx context.Context, c *Column, end time.Time, p *Progress) (whole bool, err error) {
	var after []any
	for {
		if time.Now().After(end) {
			return false, nil
		}
		found, err := v.read(ctx, c, seal.Prefix(v.sealer.Primary()), after, c.batch())
		if err != nil || len(found) == 0 {
			return err == nil, err
		}
		after = found[len(found)-1].key
		var rows []sealed
		var texts []string
		for i := range found {
			text, err := v.sealer.Reseal(found[i].text, found[i].at)
			switch {
			case errors.Is(err, seal.ErrOpen):
				p.Unreadable++
			case err != nil:
				return false, err
			default:
				rows, texts = append(rows, found[i]), append(texts, text)
			}
		}
		if len(rows) == 0 {
			continue
		}
		v.step("batch_before")
		written, err := v.write(ctx, c, rows, texts)
		if err != nil {
			return false, err
		}
		v.step("batch_after")
		p.Resealed += written
		p.Moved += len(rows) - written
	}
}

// retire disables older keys once nothing has been left under them for a
// while, and every replica uses the newest keyset: who has read an old text and
// writes it back has ended by then.
//
// unreadable says that some texts do not open: their keys stay for as long as
// they are there.
func (v *Vault) retire(ctx context.Context, k *keyset, keys *seal.Keyring, unreadable bool) (done bool, err error) {
	older := retiring(keys)
	left, err := v.leftUnder(ctx, older)
	if err != nil {
		return false, err
	}
	switch {
	case left > 0 && !k.idle.IsZero():
		return unreadable, v.markIdle(ctx, k.revision, time.Time{})
	case left > 0: // without unreadable ones, somebody has written one back a moment ago
		return unreadable, nil
	case k.idle.IsZero():
		return true, v.markIdle(ctx, k.revision, time.Now())
	case time.Since(k.idle) < v.o.Linger:
		return true, nil
	}
	behind, err := v.behind(ctx, k.revision)
	if err != nil || len(behind) > 0 {
		return true, err
	}
	v.step("disable")
	counted := k.revision
	return true, v.change(ctx, nil, func(k *keyset, r *seal.Keyring) (bool, error) {
		if k.revision != counted {
			return false, nil // the count was of another time
		}
		n := 0
		for _, id := range older {
			n += r.Set(id, seal.Retiring, seal.Disabled)
		}
		return n > 0, nil
	})
}

// left counts the texts that older keys still have to open.
func (v *Vault) left(ctx context.Context) (int, error) {
	_, now, err := v.current(ctx)
	if err != nil {
		return 0, err
	}
	return v.leftUnder(ctx, retiring(now.keys))
}

func retiring(keys *seal.Keyring) (ids []string) {
	for _, key := range keys.Keys() {
		if key.State == seal.Retiring {
			ids = append(ids, key.ID)
		}
	}
	return ids
}

func (v *Vault) leftUnder(ctx context.Context, older []string) (int, error) {
	sum := 0
	for _, c := range Columns() {
		counts, err := v.counts(ctx, &c)
		if err != nil {
			return 0, err
		}
		for id, n := range counts {
			if slices.Contains(older, id) {
				sum += n
			}
		}
	}
	return sum, nil
}

func slogError(err error) slog.Attr { return slog.Any("error", err) }
