package vaultstore

import (
	"context"
	"time"

	"ace/internal/foundation/seal"
)

// Status is the vault as operators see it. Nothing in it is secret.
type Status struct {
	KEK      string    `json:"kek"`      // what wraps the keyset
	Settled  bool      `json:"settled"`  // the keyset is wrapped by the key that is set
	Revision int64     `json:"revision"` // of the keyset
	Changed  time.Time `json:"changed_at"`
	Phase    Phase     `json:"phase"`
	// DisableAfter is when older keys are disabled if nothing turns up under
	// them; zero: not known yet.
	DisableAfter time.Time     `json:"disable_after,omitzero"`
	WaitingFor   []string      `json:"waiting_for,omitempty"` // replicas that do not know the newest keyset
	Trouble      string        `json:"trouble,omitempty"`
	Keys         []KeyCount    `json:"keys"`
	Columns      []ColumnCount `json:"columns"`
	Values       int           `json:"values"`
	Left         int           `json:"left"`  // texts under older keys that open them
	Stuck        int           `json:"stuck"` // texts under keys that are disabled or not known
}

// Phase says what a rotation is at.
type Phase string

// Phases, in their order.
const (
	Announcing Phase = "announcing" // replicas read the new key
	Resealing  Phase = "resealing"
	Lingering  Phase = "lingering" // nothing is left; older keys are disabled soon
	Rested     Phase = "rested"
)

// KeyCount is a key, and how many texts it has sealed.
type KeyCount struct {
	seal.KeyInfo
	Values int `json:"values"`
}

// ColumnCount is a column, and how many of its texts the primary key has not
// sealed.
type ColumnCount struct {
	Table  string `json:"table"`
	Column string `json:"column"`
	Values int    `json:"values"`
	Left   int    `json:"left"`
}

// Status reads the keyset and counts every sealed text.
func (v *Vault) Status(ctx context.Context) (*Status, error) {
	k, now, err := v.current(ctx)
	if err != nil {
		return nil, err
	}
	keys := now.keys
	s := &Status{
		KEK: k.kek, Settled: k.kek == v.o.KEK.Name(), Revision: k.revision, Changed: k.updated,
		Trouble: v.Trouble(),
	}
	if s.WaitingFor, err = v.behind(ctx, k.revision); err != nil {
		return nil, err
	}
	sums := map[string]int{}
	primary := keys.In(seal.Primary)
	for _, c := range Columns() {
		counts, err := v.counts(ctx, &c)
		if err != nil {
			return nil, err
		}
		one := ColumnCount{Table: c.Table, Column: c.Column}
		for id, n := range counts {
			sums[id] += n
			one.Values += n
			if id != primary {
				one.Left += n
			}
		}
		s.Values += one.Values
		s.Columns = append(s.Columns, one)
	}
	s.Stuck = s.Values
	for _, info := range keys.Keys() {
		n := sums[info.ID]
		s.Keys = append(s.Keys, KeyCount{info, n})
		if info.State != seal.Disabled {
			s.Stuck -= n
		}
		if info.State == seal.Retiring {
			s.Left += n
		}
	}
	s.Phase = phase(keys, s.Left)
	if s.Phase == Lingering && !k.idle.IsZero() {
		s.DisableAfter = k.idle.Add(v.o.Linger)
	}
	return s, nil
}

func phase(keys *seal.Keyring, left int) Phase {
	switch {
	case keys.In(seal.Pending) != "":
		return Announcing
	case left > 0:
		return Resealing
	case keys.In(seal.Retiring) != "":
		return Lingering
	}
	return Rested
}
