package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"ace/internal/sandbox/object"
	"ace/internal/sandbox/rowstore"
)

// Page sizes of lists.
const (
	DefaultLimit = 10
	MaxLimit     = 100
)

// Query chooses a page of objects of one kind, newest first.
type Query struct {
	Limit         int    // 1 to MaxLimit
	StartingAfter string // id of the last object of the page before
	EndingBefore  string // id of the first object of the page after
	Status        string // empty: all
	Link          string // the object that they belong to; empty: all
	Since, Until  int64  // created, in seconds: at or after Since, before Until; zero: no bound
	Match         func(o any) bool
}

// decodeAny reads an object of whatever kind the row holds.
func decodeAny(r rowstore.Row) (any, error) {
	switch r.Kind {
	case object.KindProduct:
		return decode[object.Product](r)
	case object.KindPrice:
		return decode[object.Price](r)
	case object.KindSession:
		return decode[object.Session](r)
	case object.KindIntent:
		return decode[object.PaymentIntent](r)
	case object.KindCharge:
		return decode[object.Charge](r)
	case object.KindRefund:
		return decode[object.Refund](r)
	case object.KindCustomer:
		return decode[object.Customer](r)
	case object.KindSubscription:
		return decode[object.Subscription](r)
	case object.KindInvoice:
		return decode[object.Invoice](r)
	case object.KindEvent:
		return decode[object.Event](r)
	case object.KindEndpoint:
		return decode[object.Endpoint](r)
	case object.KindShippingRate:
		return decode[object.ShippingRate](r)
	default:
		return nil, fmt.Errorf("nothing of kind %s is shown", r.Kind)
	}
}

// Get returns a pointer to the object of the kind, or a NoSuch error that
// blames param.
func (v View) Get(ctx context.Context, kind, id, param string) (any, error) {
	r, err := rowstore.Get(ctx, v.q, kind, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, object.NoSuch(kind, id, param)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", kind, id, err)
	}
	o, err := decodeAny(r)
	if e, ok := o.(*object.Event); ok && err == nil {
		e.Pending, err = countPending(ctx, v.q, e.ID)
	}
	return o, err
}

// List returns one page of objects of the kind and whether there are more.
func (v View) List(ctx context.Context, kind string, q Query) (page []any, more bool, err error) {
	f := rowstore.Filter{
		Kind: kind, Status: q.Status, Link: q.Link, Since: q.Since * 1000, Until: q.Until * 1000,
		OldestFirst: q.EndingBefore != "", Limit: MaxLimit + 1,
	}
	if f.After, err = v.seqOf(ctx, kind, q.StartingAfter, "starting_after"); err != nil {
		return nil, false, err
	}
	if f.Before, err = v.seqOf(ctx, kind, q.EndingBefore, "ending_before"); err != nil {
		return nil, false, err
	}
	for len(page) <= q.Limit {
		rows, err := rowstore.List(ctx, v.q, f)
		if err != nil {
			return nil, false, err
		}
		for _, r := range rows {
			o, err := decodeAny(r)
			if err != nil {
				return nil, false, err
			}
			if q.Match == nil || q.Match(o) {
				page = append(page, o)
			}
			if f.OldestFirst {
				f.Before = r.Seq
			} else {
				f.After = r.Seq
			}
		}
		if len(rows) < f.Limit {
			break
		}
	}
	if more = len(page) > q.Limit; more {
		page = page[:q.Limit]
	}
	if f.OldestFirst {
		slices.Reverse(page)
	}
	return page, more, nil
}

func (v View) seqOf(ctx context.Context, kind, id, param string) (int64, error) {
	if id == "" {
		return 0, nil
	}
	r, err := rowstore.Get(ctx, v.q, kind, id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, object.NoSuch(kind, id, param)
	}
	if err != nil {
		return 0, fmt.Errorf("reading the bound of a page: %w", err)
	}
	return r.Seq, nil
}
