package paidservice

import (
	"context"
	"fmt"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/protocol/x402"
)

// storedWork reads the sealed work of an order and makes sure that it is what was
// sealed. The work is not shown.
func (s *Service) storedWork(ctx context.Context, o *Order) (*Work, error) {
	w, err := s.results.Work(ctx, o.ResultID)
	if err != nil {
		return nil, err
	}
	if sum := workSum(w); sum != o.ResultSum {
		return nil, fmt.Errorf("the work of order %s has changed since it was sealed", o.ID)
	}
	return w, nil
}

// deliver returns the work of a paid order.
func (s *Service) deliver(ctx context.Context, o *Order) (*Outcome, error) {
	if !o.State.Paid() {
		return nil, fmt.Errorf("order %s is %s: its work stays sealed", o.ID, o.State)
	}
	w, err := s.storedWork(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.State == Settled {
		next := o.clone()
		if err := next.move(Delivered, now()); err != nil {
			return nil, err
		}
		next.DeliveredAt = next.UpdatedAt
		if err := s.save(ctx, o, Change{Order: next, Evidence: "delivered"}, nil); err != nil {
			return nil, err
		}
		o = next
		s.opts.Step("delivered")
	}
	return &Outcome{Status: StatusPaid, Order: o, Work: w, Settlement: settlement(o)}, nil
}

// View is an order as its holder sees it.
type View struct {
	Order      *Order
	Definition Definition
	Work       *Work                // if it is paid
	Settlement *x402.SettleResponse // if it is paid
}

// Charged reports whether the money is here; unknown says that it may be.
func (v *View) Charged() (charged, unknown bool) {
	return v.Order.State.Paid(), v.Order.State.MayBePaid() && !v.Order.State.Paid()
}

// Order returns an order by its id, with its work if that is paid. It moves no
// money. The problems are service_order_not_found and service_result_expired.
func (s *Service) Order(ctx context.Context, id string) (*View, error) {
	o, err := s.byID(ctx, id)
	if err != nil {
		return nil, err
	}
	d, err := s.book.find(o.Service)
	if err != nil {
		return nil, err
	}
	v := &View{Order: o, Definition: *d}
	if !o.State.Paid() {
		return v, nil
	}
	out, err := s.deliver(ctx, o)
	if err != nil {
		return nil, err
	}
	v.Order, v.Work, v.Settlement = out.Order, out.Work, out.Settlement
	return v, nil
}

// File returns one file of a paid order. The problems are
// service_order_not_found, service_not_paid (Conflict), service_file_not_found
// and service_result_expired.
func (s *Service) File(ctx context.Context, id, name string) (*File, error) {
	o, err := s.byID(ctx, id)
	if err != nil {
		return nil, err
	}
	if !o.State.Paid() {
		return nil, problem.New(problem.Conflict, "service_not_paid",
			"The files of this order are handed out once it is paid. Read the order for its state.")
	}
	return s.results.File(ctx, o.ResultID, name)
}

// byID returns an order, or the one that took its place.
func (s *Service) byID(ctx context.Context, id string) (*Order, error) {
	if !typeid.Valid("svo", id) {
		return nil, problem.New(problem.NotFound, codeOrderNotFound,
			"No such order of a paid service. Ids are given by the answer to the paid call.")
	}
	o, err := s.store.Order(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.follow(ctx, o)
}
