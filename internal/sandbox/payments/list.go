package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
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
func decodeAny(r row) (any, error) {
	switch r.kind {
	case KindProduct:
		return decode[Product](r)
	case KindPrice:
		return decode[Price](r)
	case KindSession:
		return decode[Session](r)
	case KindIntent:
		return decode[PaymentIntent](r)
	case KindCharge:
		return decode[Charge](r)
	case KindRefund:
		return decode[Refund](r)
	case KindCustomer:
		return decode[Customer](r)
	case KindSubscription:
		return decode[Subscription](r)
	case KindInvoice:
		return decode[Invoice](r)
	case KindEvent:
		return decode[Event](r)
	case KindEndpoint:
		return decode[Endpoint](r)
	case KindShippingRate:
		return decode[ShippingRate](r)
	default:
		return nil, fmt.Errorf("nothing of kind %s is shown", r.kind)
	}
}

// Get answers a pointer to the object of the kind, or a NoSuch error that
// blames param.
func (v View) Get(ctx context.Context, kind, id, param string) (any, error) {
	r, err := getRow(ctx, v.q, kind, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, NoSuch(kind, id, param)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", kind, id, err)
	}
	o, err := decodeAny(r)
	if e, ok := o.(*Event); ok && err == nil {
		e.Pending, err = countPending(ctx, v.q, e.ID)
	}
	return o, err
}

// List answers one page of objects of the kind and whether there are more.
func (v View) List(ctx context.Context, kind string, q Query) (page []any, more bool, err error) {
	f := rowFilter{
		kind: kind, status: q.Status, link: q.Link, since: q.Since * 1000, until: q.Until * 1000,
		oldestFirst: q.EndingBefore != "", limit: MaxLimit + 1,
	}
	if f.after, err = v.seqOf(ctx, kind, q.StartingAfter, "starting_after"); err != nil {
		return nil, false, err
	}
	if f.before, err = v.seqOf(ctx, kind, q.EndingBefore, "ending_before"); err != nil {
		return nil, false, err
	}
	for len(page) <= q.Limit {
		rows, err := listRows(ctx, v.q, f)
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
			if f.oldestFirst {
				f.before = r.seq
			} else {
				f.after = r.seq
			}
		}
		if len(rows) < f.limit {
			break
		}
	}
	if more = len(page) > q.Limit; more {
		page = page[:q.Limit]
	}
	if f.oldestFirst {
		slices.Reverse(page)
	}
	return page, more, nil
}

func (v View) seqOf(ctx context.Context, kind, id, param string) (int64, error) {
	if id == "" {
		return 0, nil
	}
	r, err := getRow(ctx, v.q, kind, id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, NoSuch(kind, id, param)
	}
	if err != nil {
		return 0, fmt.Errorf("reading the bound of a page: %w", err)
	}
	return r.seq, nil
}
