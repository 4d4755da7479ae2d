package payments

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// record is an object that can be stored: a pointer to one of the structs in
// objects.go and money_objects.go.
type record interface {
	// row answers what the object is searched by; doc and seq are filled by
	// whoever stores it.
	row() row
	// hidden answers a pointer to what the API never shows, or nil.
	hidden() any
}

func activity(active bool) string {
	if active {
		return "active"
	}
	return "inactive"
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (o *Product) row() row { return row{id: o.ID, kind: KindProduct, status: activity(o.Active)} }
func (o *Price) row() row {
	return row{id: o.ID, kind: KindPrice, status: activity(o.Active), link: o.Product, uniqueKey: text(o.LookupKey)}
}

func (o *Session) row() row {
	r := row{id: o.ID, kind: KindSession, status: o.Status, link: text(o.ClientReferenceID)}
	if o.Status == SessionOpen {
		r.dueAt = o.ExpiresAt * 1000
	}
	return r
}

func (o *PaymentIntent) row() row {
	return row{id: o.ID, kind: KindIntent, status: o.Status, link: text(o.Customer), uniqueKey: o.private.For}
}

func (o *Charge) row() row {
	return row{id: o.ID, kind: KindCharge, status: o.Status, uniqueKey: o.PaymentIntent}
}

func (o *Refund) row() row   { return row{id: o.ID, kind: KindRefund, status: o.Status, link: o.Charge} }
func (o *Customer) row() row { return row{id: o.ID, kind: KindCustomer, status: "active"} }
func (o *Subscription) row() row {
	r := row{id: o.ID, kind: KindSubscription, status: o.Status, link: o.Customer}
	if o.Status == SubTrialing || o.Status == SubActive {
		r.dueAt = o.periodEnd() * 1000
	}
	return r
}

func (o *Invoice) row() row {
	return row{id: o.ID, kind: KindInvoice, status: o.Status, link: o.Parent.Details.Subscription}
}
func (o *Event) row() row { return row{id: o.ID, kind: KindEvent, status: o.Type} }
func (o *Endpoint) row() row {
	return row{id: o.ID, kind: KindEndpoint, status: o.Status}
}

func (o *ShippingRate) row() row {
	return row{id: o.ID, kind: KindShippingRate, status: activity(o.Active)}
}

func (o *Product) hidden() any       { return nil }
func (o *Price) hidden() any         { return nil }
func (o *Session) hidden() any       { return &o.private }
func (o *PaymentIntent) hidden() any { return &o.private }
func (o *Charge) hidden() any        { return nil }
func (o *Refund) hidden() any        { return nil }
func (o *Customer) hidden() any      { return nil }
func (o *Subscription) hidden() any  { return &o.private }
func (o *Invoice) hidden() any       { return nil }
func (o *Event) hidden() any         { return nil }
func (o *Endpoint) hidden() any      { return &o.private }
func (o *ShippingRate) hidden() any  { return nil }

func encode(o record) (row, error) {
	r := o.row()
	doc, err := json.Marshal(o)
	if err != nil {
		return row{}, fmt.Errorf("writing %s %s: %w", r.kind, r.id, err)
	}
	r.doc, r.private = string(doc), "{}"
	if h := o.hidden(); h != nil {
		private, err := json.Marshal(h)
		if err != nil {
			return row{}, fmt.Errorf("writing %s %s: %w", r.kind, r.id, err)
		}
		r.private = string(private)
	}
	return r, nil
}

// recordPtr is a pointer to T that is a record.
type recordPtr[T any] interface {
	*T
	record
}

func decode[T any, P recordPtr[T]](r row) (*T, error) {
	o := new(T)
	if err := json.Unmarshal([]byte(r.doc), o); err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", r.kind, r.id, err)
	}
	if h := P(o).hidden(); h != nil {
		if err := json.Unmarshal([]byte(r.private), h); err != nil {
			return nil, fmt.Errorf("reading %s %s: %w", r.kind, r.id, err)
		}
	}
	return o, nil
}

// load reads one object. A missing one is a NoSuch error that blames param.
func load[T any, P recordPtr[T]](ctx context.Context, v View, id, param string) (*T, error) {
	kind := P(new(T)).row().kind
	r, err := getRow(ctx, v.q, kind, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, NoSuch(kind, id, param)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", kind, id, err)
	}
	return decode[T, P](r)
}

func (tx *Tx) insert(ctx context.Context, o record) error {
	r, err := encode(o)
	if err != nil {
		return err
	}
	r.seq, r.created = tx.p.nextSeq(), tx.now.UnixMilli()
	return insertRow(ctx, tx.tx, r)
}

func (tx *Tx) update(ctx context.Context, o record) error {
	r, err := encode(o)
	if err != nil {
		return err
	}
	return updateRow(ctx, tx.tx, r)
}

// nextSeq numbers rows in the order of their making. It starts above what is
// stored, so that a clock that jumped back does not reorder lists.
func (p *Processor) nextSeq() int64 {
	for {
		last := p.seq.Load()
		next := max(last+1, time.Now().UnixMicro())
		if p.seq.CompareAndSwap(last, next) {
			return next
		}
	}
}
