package payments

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"ace/internal/sandbox/object"
	"ace/internal/sandbox/rowstore"
)

// record is an object that can be stored: a pointer to one of the structs in
// objects.go and money_objects.go.
type record interface {
	// Index returns what the object is searched by.
	Index() object.Index
	// Hidden returns a pointer to what the API never shows, or nil.
	Hidden() any
}

func encode(o record) (rowstore.Row, error) {
	i := o.Index()
	r := rowstore.Row{Id: i.ID, Kind: i.Kind, Status: i.Status, Link: i.Link, UniqueKey: i.UniqueKey, DueAt: i.DueAt}
	doc, err := json.Marshal(o)
	if err != nil {
		return rowstore.Row{}, fmt.Errorf("writing %s %s: %w", r.Kind, r.Id, err)
	}
	r.Doc, r.Private = string(doc), "{}"
	if h := o.Hidden(); h != nil {
		private, err := json.Marshal(h)
		if err != nil {
			return rowstore.Row{}, fmt.Errorf("writing %s %s: %w", r.Kind, r.Id, err)
		}
		r.Private = string(private)
	}
	return r, nil
}

// recordPtr is a pointer to T that is a record.
type recordPtr[T any] interface {
	*T
	record
}

func decode[T any, P recordPtr[T]](r rowstore.Row) (*T, error) {
	o := new(T)
	if err := json.Unmarshal([]byte(r.Doc), o); err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", r.Kind, r.Id, err)
	}
	if h := P(o).Hidden(); h != nil {
		if err := json.Unmarshal([]byte(r.Private), h); err != nil {
			return nil, fmt.Errorf("reading %s %s: %w", r.Kind, r.Id, err)
		}
	}
	return o, nil
}

// load reads one object. A missing one is a NoSuch error that blames param.
func load[T any, P recordPtr[T]](ctx context.Context, v View, id, param string) (*T, error) {
	kind := P(new(T)).Index().Kind
	r, err := rowstore.Get(ctx, v.q, kind, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, object.NoSuch(kind, id, param)
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
	r.Seq, r.Created = tx.p.nextSeq(), tx.now.UnixMilli()
	return rowstore.Insert(ctx, tx.tx, r)
}

func (tx *Tx) update(ctx context.Context, o record) error {
	r, err := encode(o)
	if err != nil {
		return err
	}
	return rowstore.Update(ctx, tx.tx, r)
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
