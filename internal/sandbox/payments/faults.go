package payments

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"ace/internal/sandbox/object"
	"ace/internal/sandbox/rowstore"
)

// Faults are what a test asked to go wrong. They are kept with everything
// else, so that they outlive a restart and count exactly.
type Faults struct {
	Webhooks WebhookFaults `json:"webhooks"`
	API      []APIFault    `json:"api"`
}

// WebhookFaults bend the next deliveries. Each counts deliveries, one per
// event and endpoint.
type WebhookFaults struct {
	Drop      int `json:"drop,omitempty"`      // the next n are never sent
	Duplicate int `json:"duplicate,omitempty"` // the next n are sent twice
	// DelaySeconds holds every delivery back by this much of the sandbox's
	// clock, until the faults are taken away.
	DelaySeconds int `json:"delay_seconds,omitempty"`
	// Reorder holds the next n back until there are n, then sends the newest
	// first.
	Reorder int `json:"reorder,omitempty"`
}

// bend changes a delivery. Changed says that a count went down, release that
// everything held is to be sent.
func (f *WebhookFaults) bend(d *delivery) (changed, release bool) {
	switch {
	case f.Drop > 0:
		f.Drop--
		d.state, d.nextAt = stateDropped, 0
		return true, false
	case f.Reorder > 0:
		f.Reorder--
		d.state, d.nextAt = stateHeld, 0
		return true, f.Reorder == 0
	}
	if f.Duplicate > 0 {
		f.Duplicate--
		d.copies, changed = 2, true
	}
	d.nextAt += int64(f.DelaySeconds) * 1000
	return changed, false
}

// Modes of an APIFault.
const (
	Fault500                = "500"                  // refused before anything is done
	Fault500AfterCommit     = "500_after_commit"     // done, and 500 sent; an idempotency key replays the 500
	FaultTimeout            = "timeout"              // nothing is done and no response
	FaultTimeoutAfterCommit = "timeout_after_commit" // done, and no response
	FaultLatency            = "latency"              // a late response
	Fault429                = "429"                  // refused with too many requests
)

// APIFault makes the next calls of a path go wrong.
type APIFault struct {
	Path      string `json:"path"`             // prefix, for example /v1/checkout/sessions
	Method    string `json:"method,omitempty"` // empty: all
	Mode      string `json:"mode"`
	Count     int    `json:"count"`                // how many calls; zero: one
	LatencyMS int    `json:"latency_ms,omitempty"` // with the mode latency
}

// maxLatency bounds the latency fault: one minute.
const maxLatency = 60_000

func (f *APIFault) check() error {
	if f.Mode == "" && f.LatencyMS > 0 {
		f.Mode = FaultLatency
	}
	modes := []string{Fault500, Fault500AfterCommit, FaultTimeout, FaultTimeoutAfterCommit, FaultLatency, Fault429}
	if !slices.Contains(modes, f.Mode) {
		return object.Invalid("api[mode]", "", "The mode of a fault is one of %s.", strings.Join(modes, ", "))
	}
	if !strings.HasPrefix(f.Path, "/v1") {
		return object.Invalid("api[path]", "", "The path of a fault starts with /v1.")
	}
	if f.Count == 0 {
		f.Count = 1
	}
	if f.Count < 0 || f.LatencyMS < 0 || f.LatencyMS > maxLatency {
		return object.Invalid("api", "", "A count is positive and a latency at most %d milliseconds.", maxLatency)
	}
	return nil
}

// SetFaults adds to the faults that are set: webhook faults replace those
// that are named, API faults are added behind the others.
func (p *Processor) SetFaults(ctx context.Context, add Faults) (*Faults, error) {
	w := add.Webhooks
	if w.Drop < 0 || w.Duplicate < 0 || w.DelaySeconds < 0 || w.Reorder < 0 {
		return nil, object.Invalid("webhooks", "", "Counts and seconds are not negative.")
	}
	for i := range add.API {
		if err := add.API[i].check(); err != nil {
			return nil, err
		}
	}
	var faults Faults
	err := p.db.Tx(ctx, func(tx *sql.Tx) error {
		faults = Faults{}
		if err := rowstore.Setting(ctx, tx, settingFaults, &faults); err != nil {
			return err
		}
		for _, field := range []struct {
			to *int
			v  int
		}{
			{&faults.Webhooks.Drop, w.Drop},
			{&faults.Webhooks.Duplicate, w.Duplicate},
			{&faults.Webhooks.DelaySeconds, w.DelaySeconds},
			{&faults.Webhooks.Reorder, w.Reorder},
		} {
			if field.v > 0 {
				*field.to = field.v
			}
		}
		faults.API = append(faults.API, add.API...)
		return rowstore.PutSetting(ctx, tx, settingFaults, faults)
	})
	if err != nil {
		return nil, fmt.Errorf("setting faults: %w", err)
	}
	return &faults, nil
}

// ClearFaults takes all faults away and sends what was held back.
func (p *Processor) ClearFaults(ctx context.Context) error {
	return p.Write(ctx, Origin{}, func(ctx context.Context, tx *Tx) error {
		if err := rowstore.PutSetting(ctx, tx.tx, settingFaults, Faults{}); err != nil {
			return err
		}
		return releaseHeld(ctx, tx.tx, tx.now.UnixMilli())
	})
}

// TakeFault returns the fault that the call of method and path runs into, and
// counts it; nil: none.
func (p *Processor) TakeFault(ctx context.Context, method, path string) (*APIFault, error) {
	var faults Faults
	if err := rowstore.Setting(ctx, p.db.Reader(), settingFaults, &faults); err != nil ||
		faults.find(method, path) < 0 {
		return nil, err
	}
	var found *APIFault
	err := p.db.Tx(ctx, func(tx *sql.Tx) error {
		faults, found = Faults{}, nil
		if err := rowstore.Setting(ctx, tx, settingFaults, &faults); err != nil {
			return err
		}
		i := faults.find(method, path)
		if i < 0 {
			return nil
		}
		taken := faults.API[i]
		found = &taken
		if faults.API[i].Count--; faults.API[i].Count == 0 {
			faults.API = slices.Delete(faults.API, i, i+1)
		}
		return rowstore.PutSetting(ctx, tx, settingFaults, faults)
	})
	if err != nil {
		return nil, fmt.Errorf("taking a fault: %w", err)
	}
	return found, nil
}

func (f *Faults) find(method, path string) int {
	return slices.IndexFunc(f.API, func(a APIFault) bool {
		return strings.HasPrefix(path, a.Path) && (a.Method == "" || strings.EqualFold(a.Method, method))
	})
}
