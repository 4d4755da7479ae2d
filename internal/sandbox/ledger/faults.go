package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"ace/internal/sandbox/rowstore"
)

// Modes of a Fault. They are named as those of the payment processor.
const (
	Fault500                = "500"                  // nothing is done
	Fault500AfterCommit     = "500_after_commit"     // done, and 500 sent
	FaultTimeout            = "timeout"              // nothing is done and no response
	FaultTimeoutAfterCommit = "timeout_after_commit" // done, and no response
	FaultLatency            = "latency"              // a late response
	Fault429                = "429"                  // refused with too many requests
	// nothing is done; the response is settlement_pending with a transaction
	FaultPending            = "pending"
	FaultPendingAfterCommit = "pending_after_commit" // done, with the same response
)

var modes = []string{
	Fault500, Fault500AfterCommit, FaultTimeout, FaultTimeoutAfterCommit, FaultLatency, Fault429,
	FaultPending, FaultPendingAfterCommit,
}

// Fault makes the next calls of a path go wrong.
type Fault struct {
	Path      string `json:"path"` // /verify, /settle or /supported
	Mode      string `json:"mode"`
	Count     int    `json:"count"`                // how many calls; zero: one
	LatencyMS int    `json:"latency_ms,omitempty"` // of latency, and at most of timeouts
}

// maxLatency bounds a fault: one minute.
const maxLatency = 60_000

func (f *Fault) check() string {
	switch {
	case !slices.Contains([]string{"/verify", "/settle", "/supported"}, f.Path):
		return "The path of a fault is /verify, /settle or /supported."
	case !slices.Contains(modes, f.Mode):
		return "The mode of a fault is one of " + strings.Join(modes, ", ") + "."
	case strings.HasPrefix(f.Mode, FaultPending) && f.Path != "/settle":
		return "Only /settle can be pending."
	case f.Count < 0 || f.LatencyMS < 0 || f.LatencyMS > maxLatency:
		return fmt.Sprintf("A count is positive and a latency at most %d milliseconds.", maxLatency)
	}
	f.Count = max(1, f.Count)
	return ""
}

// afterCommit reports whether the call is carried out before it goes wrong.
func (f *Fault) afterCommit() bool { return f != nil && strings.HasSuffix(f.Mode, "_after_commit") }

const settingFaults = "x402_faults"

// SetFaults adds faults behind those that are set. They outlive a restart and
// count exactly.
func (l *Ledger) SetFaults(ctx context.Context, add []Fault) (all []Fault, err error) {
	err = l.db.Tx(ctx, func(tx *sql.Tx) error {
		all = nil
		if err := rowstore.Setting(ctx, tx, settingFaults, &all); err != nil {
			return err
		}
		all = append(all, add...)
		return rowstore.PutSetting(ctx, tx, settingFaults, all)
	})
	if err != nil {
		return nil, fmt.Errorf("setting faults: %w", err)
	}
	return all, nil
}

// ClearFaults takes all faults away.
func (l *Ledger) ClearFaults(ctx context.Context) error {
	return l.db.Tx(ctx, func(tx *sql.Tx) error { return rowstore.PutSetting(ctx, tx, settingFaults, []Fault{}) })
}

// takeFault returns the fault that a call of path runs into, and counts it;
// nil: none.
func (l *Ledger) takeFault(ctx context.Context, path string) (found *Fault, err error) {
	of := func(f Fault) bool { return f.Path == path }
	var faults []Fault
	if err := rowstore.Setting(ctx, l.db.Reader(), settingFaults, &faults); err != nil || !slices.ContainsFunc(faults,
		of) {
		return nil, err
	}
	err = l.db.Tx(ctx, func(tx *sql.Tx) error {
		faults, found = nil, nil
		if err := rowstore.Setting(ctx, tx, settingFaults, &faults); err != nil {
			return err
		}
		i := slices.IndexFunc(faults, of)
		if i < 0 {
			return nil
		}
		taken := faults[i]
		found = &taken
		if faults[i].Count--; faults[i].Count <= 0 {
			faults = slices.Delete(faults, i, i+1)
		}
		return rowstore.PutSetting(ctx, tx, settingFaults, faults)
	})
	if err != nil {
		return nil, fmt.Errorf("taking a fault: %w", err)
	}
	return found, nil
}
