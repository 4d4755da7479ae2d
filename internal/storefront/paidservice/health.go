package paidservice

import (
	"context"
	"sync"
	"time"

	"ace/internal/protocol/x402"
)

// health is whether payments can be settled, as last seen.
type health struct {
	mu    sync.Mutex
	state healthState
}

type healthState struct {
	ok     bool
	reason string // why not
}

func (h *health) get() healthState {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state == (healthState{}) {
		return healthState{reason: FacilitatorAway}
	}
	return h.state
}

func (h *health) set(s healthState) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed, h.state = h.state != s, s
	return changed
}

// Watch looks every minute, and more often while something is missing, whether
// the facilitator settles on the networks and whether the tokens are what they
// should be. Lists show what it found. It returns when ctx ends.
func (s *Service) Watch(ctx context.Context) {
	if s.facilitator == nil || len(s.book.networks) == 0 {
		return
	}
	pause := time.Second
	for {
		state := s.look(ctx)
		if ctx.Err() != nil {
			return
		}
		if s.health.set(state) {
			s.log.InfoContext(ctx, "paid services", "available", state.ok, "reason", state.reason)
		}
		if state.ok {
			pause = time.Minute
		} else {
			pause = min(time.Minute, max(time.Second, pause)*2)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// look asks the facilitator and the chains once.
func (s *Service) look(ctx context.Context) healthState {
	bound, cancel := context.WithTimeout(ctx, s.opts.VerifyTimeout)
	defer cancel()
	supported, err := s.facilitator.Supported(bound)
	if err != nil {
		s.log.DebugContext(ctx, "asking the facilitator what it settles", "error", err)
		return healthState{reason: FacilitatorAway}
	}
	for _, n := range s.book.networks {
		if !supported.Supports(x402.SchemeExact, n.ID) {
			s.log.WarnContext(ctx, "the facilitator does not settle on a network", "network", n.ID)
			return healthState{reason: NotSupported}
		}
		if s.prover == nil {
			continue
		}
		terms := x402.PaymentRequirements{
			Network: n.ID, Asset: n.Asset,
			Extra: map[string]any{"name": n.Name, "version": n.Version},
		}
		if err := s.prover.CheckAsset(bound, terms, n.Decimals); err != nil {
			s.log.WarnContext(ctx, "the token on the chain is not the one of the settings", "network", n.ID, "asset",
				n.Asset, "error", err)
			return healthState{reason: AssetDiffers}
		}
	}
	return healthState{ok: true}
}
