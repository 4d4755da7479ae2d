package x402facilitator

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"ace/internal/protocol/x402"
	"ace/internal/storefront/paidservice"
)

// Pool is a first facilitator and others that replace it. It is safe for
// concurrent use.
//
// A payment moves on to the next one only while it is certain that none has done
// anything with it. That would not be needed to keep it from being charged
// twice, which the token prevents; it keeps the first response meaningful.
type Pool struct {
	members []*Remote
	log     *slog.Logger

	mu    sync.Mutex
	kinds map[*Remote]x402.SupportedResponse // what each said last; none: not asked yet
}

// NewPool returns the facilitators in the order in which they are asked. A
// nil logger logs nothing.
func NewPool(log *slog.Logger, first *Remote, others ...*Remote) *Pool {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Pool{members: append([]*Remote{first}, others...), log: log, kinds: map[*Remote]x402.SupportedResponse{}}
}

// settling lists the facilitators that settle on a network, or may: those that
// have not said yet.
func (p *Pool) settling(terms x402.PaymentRequirements) []*Remote {
	p.mu.Lock()
	defer p.mu.Unlock()
	able := slices.Clone(p.members)
	able = slices.DeleteFunc(able, func(f *Remote) bool {
		said, asked := p.kinds[f]
		return asked && !said.Supports(terms.Scheme, terms.Network)
	})
	if len(able) == 0 {
		return p.members[:1]
	}
	return able
}

// Verify asks the facilitators in turn until one responds.
func (p *Pool) Verify(ctx context.Context, payment *x402.PaymentPayload,
	terms x402.PaymentRequirements,
) (x402.VerifyResponse, error) {
	var errs []error
	for _, f := range p.settling(terms) {
		answer, err := f.Verify(ctx, payment, terms)
		if err == nil {
			return answer, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
		p.log.WarnContext(ctx, "x402 facilitator did not verify", slog.String("facilitator", f.host),
			slog.Any("error", err))
	}
	return x402.VerifyResponse{}, errors.Join(errs...)
}

// Settle asks the facilitators in turn until one did something or may have. A
// refusal is final, but for one that says that nothing was sent.
func (p *Pool) Settle(ctx context.Context, payment *x402.PaymentPayload,
	terms x402.PaymentRequirements,
) (x402.SettleResponse, error) {
	var answer x402.SettleResponse
	var err error
	for i, f := range p.settling(terms) {
		if i > 0 {
			p.log.WarnContext(ctx, "x402 payment goes to the next facilitator", slog.String("facilitator", f.host),
				slog.String("reason", string(answer.ErrorReason)), slog.Any("error", err))
		}
		answer, err = f.Settle(ctx, payment, terms)
		untouched := errors.Is(err, paidservice.ErrNotSent) || err == nil && answer.Class(terms) == x402.Transient
		if !untouched || ctx.Err() != nil {
			break
		}
	}
	return answer, err
}

// Supported asks all facilitators and returns what any of them settles. It
// fails where none responds.
func (p *Pool) Supported(ctx context.Context) (x402.SupportedResponse, error) {
	answers := make([]x402.SupportedResponse, len(p.members))
	errs := make([]error, len(p.members))
	var asked sync.WaitGroup
	for i, f := range p.members {
		asked.Go(func() { answers[i], errs[i] = f.Supported(ctx) })
	}
	asked.Wait()
	var all x402.SupportedResponse
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, f := range p.members {
		if errs[i] != nil {
			continue // what it said before stays
		}
		p.kinds[f] = answers[i]
		all.Kinds = append(all.Kinds, answers[i].Kinds...)
		all.Extensions = append(all.Extensions, answers[i].Extensions...)
	}
	if slices.Contains(errs, nil) {
		return all, nil
	}
	return x402.SupportedResponse{}, errors.Join(errs...)
}
