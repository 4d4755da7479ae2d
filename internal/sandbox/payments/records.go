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
	// Index answers what the object is searched by.
	Index() Index
	// Hidden answers a pointer to what the API never shows, or nil.
	Hidden() any
}

func encode(o record) (row, error) {
	i := o.Index()
	r := row{id: i.ID, kind: i.Kind, status: i.Status, link: i.Link, uniqueKey: i.UniqueKey, dueAt: i.DueAt}
	doc, err := json.Marshal(o)
	if err != nil {
		return row{}, fmt.Errorf("writing %s %s: %w", r.kind, r.id, err)
	}
	r.doc, r.private = string(doc), "{}"
	if h := o.Hidden(); h != nil {
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
	if h := P(o).Hidden(); h != nil {
		if err := json.Unmarshal([]byte(r.private), h); err != nil {
			return nil, fmt.Errorf("reading %s %s: %w", r.kind, r.id, err)
		}
	}
	return o, nil
}

// load reads one object. A missing one is a NoSuch error that blames param.
func load[T any, P recordPtr[T]](ctx context.Context, v View, id, param string) (*T, error) {
	kind := P(new(T)).Index().Kind
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
