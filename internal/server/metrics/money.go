package metrics

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/storefront/checkout"
)

// Processor returns p, whose calls are counted.
func (m *Metrics) Processor(p checkout.Processor) checkout.Processor { return &countedProcessor{m, p} }

type countedProcessor struct {
	metrics *Metrics
	checkout.Processor
}

// called counts one call that began at start.
func (p *countedProcessor) called(operation string, start time.Time, err error) {
	outcome := "error"
	switch {
	case err == nil:
		outcome = "ok"
	case errors.Is(err, checkout.ErrPageLost), errors.Is(err, checkout.ErrCursorLost):
		outcome = "lost"
	case problem.Is(err, "processor_refused"):
		outcome = "refused"
	case problem.Is(err, "processor_unavailable"):
		outcome = "unavailable"
	}
	p.metrics.processor.WithLabelValues(operation, outcome).Inc()
	p.metrics.procSeconds.WithLabelValues(operation).Observe(time.Since(start).Seconds())
}

// OpenPage implements checkout.Processor.
func (p *countedProcessor) OpenPage(ctx context.Context, req checkout.PageRequest) (checkout.PageFacts, error) {
	start := time.Now()
	facts, err := p.Processor.OpenPage(ctx, req)
	p.called("open_page", start, err)
	return facts, err
}

// ReadPage implements checkout.Processor.
func (p *countedProcessor) ReadPage(ctx context.Context, ref string) (checkout.PageFacts, error) {
	start := time.Now()
	facts, err := p.Processor.ReadPage(ctx, ref)
	p.called("read_page", start, err)
	return facts, err
}

// ClosePage implements checkout.Processor.
func (p *countedProcessor) ClosePage(ctx context.Context, ref string) (checkout.PageFacts, error) {
	start := time.Now()
	facts, err := p.Processor.ClosePage(ctx, ref)
	p.called("close_page", start, err)
	return facts, err
}

// ChangedPages implements checkout.Processor.
func (p *countedProcessor) ChangedPages(ctx context.Context, since time.Time, cursor string) (checkout.PageList,
	error,
) {
	start := time.Now()
	list, err := p.Processor.ChangedPages(ctx, since, cursor)
	p.called("changed_pages", start, err)
	return list, err
}

// Sessions returns s, whose changes of sessions and new orders are counted.
func (m *Metrics) Sessions(s checkout.Store) checkout.Store { return &countedSessions{m, s} }

type countedSessions struct {
	metrics *Metrics
	checkout.Store
}

// Save counts a change that was stored.
func (s *countedSessions) Save(ctx context.Context, c checkout.Change, check func(checkout.Holds) error) error {
	err := s.Store.Save(ctx, c, check)
	if err == nil {
		s.metrics.changed(c)
	}
	return err
}

// Insert counts a session that was stored.
func (s *countedSessions) Insert(ctx context.Context, c checkout.Change, check func(checkout.Holds) error) error {
	err := s.Store.Insert(ctx, c, check)
	if err == nil {
		s.metrics.changed(c)
	}
	return err
}

func (m *Metrics) changed(c checkout.Change) {
	evidence, _, _ := strings.Cut(c.Evidence, ":")
	m.moves.WithLabelValues(string(c.Session.State), m.evidence.value(evidence)).Inc()
	if o := c.Order; o != nil {
		m.orders.WithLabelValues(string(o.Status), strconv.FormatBool(o.Paid.Live)).Inc()
	}
}
