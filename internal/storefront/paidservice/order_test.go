package paidservice_test

import (
	"slices"
	"testing"

	"ace/internal/storefront/paidservice"
)

type stateRow struct {
	state                        paidservice.State
	paid, mayBePaid, dead, works bool
}

// states are all there are, with what holds in each.
var states = []stateRow{
	{paidservice.Reserved, false, false, false, true},
	{paidservice.Running, false, false, false, true},
	{paidservice.Ran, false, false, false, false},
	{paidservice.Settling, false, true, false, true},
	{paidservice.Unknown, false, true, false, false},
	{paidservice.Unpaid, false, false, true, false},
	{paidservice.Released, false, false, true, false},
	{paidservice.Settled, true, true, false, false},
	{paidservice.Delivered, true, true, false, false},
	{paidservice.Final, true, true, false, false},
	{paidservice.Reorged, false, true, false, false},
	{paidservice.Loss, false, false, false, false},
}

func TestStates(t *testing.T) {
	t.Parallel()
	for _, tt := range states {
		if s := tt.state; s.Paid() != tt.paid || s.MayBePaid() != tt.mayBePaid || s.Dead() != tt.dead ||
			s.Working() != tt.works {
			t.Errorf("%s: paid %v, may be paid %v, dead %v, working %v, want %+v", s, s.Paid(), s.MayBePaid(), s.Dead(),
				s.Working(), tt)
		}
	}
}

// From where the money may have moved, no move leads to where another payment
// is asked for, except after the facilitator or the chain has said that it did
// not.
func TestMoves(t *testing.T) {
	t.Parallel()
	for _, tt := range states {
		for _, to := range tt.state.Moves() {
			if !slices.ContainsFunc(states, func(s stateRow) bool { return s.state == to }) {
				t.Errorf("%s leads to %s, which is no state", tt.state, to)
			}
			if to == paidservice.Released && tt.mayBePaid || to == paidservice.Running &&
				tt.state != paidservice.Reserved || to == paidservice.Delivered && tt.state != paidservice.Settled {
				t.Errorf("%s leads to %s", tt.state, to)
			}
		}
	}
}
