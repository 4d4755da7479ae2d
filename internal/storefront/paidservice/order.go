package paidservice

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Order is one authorization to pay and the run that it pays for.
type Order struct {
	ID           string // "svo_…"; knowing it is the permission to read
	Service      string
	PriceVersion int64
	Auth         Authorization
	Fingerprint  string // of service and arguments; see Fingerprint
	State        State
	Version      int64 // grows with each change
	Transport    Transport
	Arguments    json.RawMessage
	// Payload is the sealed payment: its holder can move the money. It is
	// emptied once that is done or can no longer be.
	Payload      string
	SignatureSum string // distinguishes a repeated payment from one with the same nonce
	Head         int64  // block from which a proof has to look; 0: unknown
	Lease        Lease
	Progress     Progress
	RunAttempts  int
	// SettleAttempts counts calls of the facilitator to settle, and DoubtAt is
	// when one of them first ended without a known outcome. Zero: all outcomes are known.
	SettleAttempts int
	DoubtAt        time.Time
	ResultID       string // sealed work; may be shared with a superseded order
	ResultSum      string // SHA-256 of it
	Tx             string
	Settlement     json.RawMessage // x402.SettleResponse
	Reason         string          // why it was released or is unpaid
	Detail         string          // the same for the caller, where there is more to say
	Attention      string          // why the operator has to look; empty: not needed
	// SupersededBy is the order that took over the sealed work or the alias.
	SupersededBy string

	CreatedAt, UpdatedAt, SealedAt, SettledAt, DeliveredAt, FinalAt time.Time
}

// Authorization names a payment as the token contract does: an asset accepts a
// nonce of a payer once. Network and addresses are lower case.
type Authorization struct {
	Network, Asset, Payer, Nonce string
	PayTo, Amount                string // Amount in atomic units
	ValidBefore                  int64  // Unix seconds; the token takes it only before
}

// Expired reports whether no new block can take the authorization.
func (a Authorization) Expired(now time.Time) bool { return now.Unix() >= a.ValidBefore }

// Lease says who works on an order and until when no other process may.
type Lease struct {
	Owner string
	Until time.Time
}

// Progress says how far a run is.
type Progress struct {
	Phase       string // for example "crawling"
	Done, Total int    // pages; Total 0: not known yet
}

// Transport is the door that an order came through.
type Transport string

// The transports.
const (
	HTTP Transport = "http"
	MCP  Transport = "mcp"
)

// State is the state of an order.
type State string

// The states; doc.go draws them.
const (
	Reserved  State = "reserved"  // bound to a request, not verified yet
	Running   State = "running"   // the work continues
	Ran       State = "ran"       // the work is sealed, nothing is charged
	Settling  State = "settling"  // the facilitator is being asked for the money
	Unknown   State = "unknown"   // its outcome is unknown
	Unpaid    State = "unpaid"    // the money did not come; the work stays sealed
	Released  State = "released"  // nothing runs and nothing is charged
	Settled   State = "settled"   // the money is here
	Delivered State = "delivered" // and the work was returned
	Final     State = "final"     // and no reorganization takes the money back
	Reorged   State = "reorged"   // the chain has dropped the payment
	Loss      State = "loss"      // and it cannot be repeated
)

// moves holds every allowed change of state. From reserved an order goes
// straight to settling if its work is sealed already.
var moves = map[State][]State{
	Reserved:  {Running, Settling, Released},
	Running:   {Ran, Released},
	Ran:       {Settling, Released},
	Settling:  {Settled, Unpaid, Unknown},
	Unknown:   {Settled, Unpaid, Settling},
	Unpaid:    {Settling},
	Released:  {Reserved},
	Settled:   {Delivered, Reorged},
	Delivered: {Final, Reorged},
	Reorged:   {Settling, Loss},
}

// Moves returns where an order may go from a state.
func (s State) Moves() []State { return slices.Clone(moves[s]) }

// Paid reports whether the money is here: the states in which work leaves.
func (s State) Paid() bool { return s == Settled || s == Delivered || s == Final }

// MayBePaid reports whether the authorization may have been spent, so that
// the payer must not be asked to sign another.
func (s State) MayBePaid() bool {
	return s.Paid() || s == Settling || s == Unknown || s == Reorged
}

// Working reports whether somebody holds or held a lease on the order.
func (s State) Working() bool { return s == Reserved || s == Running || s == Settling }

// Dead reports whether nothing runs and nothing was charged: another
// payment may take the order's place.
func (s State) Dead() bool { return s == Released || s == Unpaid }

func (o *Order) move(to State, now time.Time) error {
	if !slices.Contains(moves[o.State], to) {
		return fmt.Errorf("order %s cannot move from %s to %s", o.ID, o.State, to)
	}
	if to == Settling && o.ResultID == "" {
		return fmt.Errorf("order %s cannot be settled before its work is sealed", o.ID)
	}
	o.State, o.UpdatedAt = to, now
	return nil
}

// Sealed reports whether there is work that waits to be paid or is.
func (o *Order) Sealed() bool { return o.ResultID != "" }

// leased reports whether somebody may still be at work.
func (o *Order) leased(now time.Time) bool { return o.State.Working() && o.Lease.Until.After(now) }

func (o *Order) clone() *Order {
	c := *o
	c.Arguments, c.Settlement = slices.Clone(o.Arguments), slices.Clone(o.Settlement)
	return &c
}
