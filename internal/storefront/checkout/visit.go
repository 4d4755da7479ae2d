package checkout

import (
	"context"
	"time"

	"ace/internal/foundation/typeid"
)

// Visit returns the session behind a buyer's link, as the processor sees it
// now. An open session whose offer can no longer be had is canceled first, so
// so that a buyer does not pay for a deleted session. It returns checkout_not_found (NotFound).
func (s *Service) Visit(ctx context.Context, token string) (*Session, error) {
	session, err := s.byToken(ctx, token)
	if err != nil {
		return nil, err
	}
	session = s.refreshed(ctx, session)
	if session.State != Open || !s.gone(ctx, session) {
		return session, nil
	}
	ended, err := s.end(ctx, session.ID, EndingSoldOut, "")
	if ended == nil {
		// The processor is unavailable: the buyer must not reach the page.
		return nil, err
	}
	return ended, nil
}

// Returned returns the session of a buyer who comes back from the hosted
// page. It asks the processor in any case, since the webhook may be late.
func (s *Service) Returned(ctx context.Context, token string) (*Session, error) {
	session, err := s.byToken(ctx, token)
	if err != nil {
		return nil, err
	}
	if !session.State.Ended() {
		s.recent.forget(session.ID)
	}
	return s.refreshed(ctx, session), nil
}

func (s *Service) byToken(ctx context.Context, token string) (*Session, error) {
	if !typeid.Valid("c", token) {
		return nil, errNotFound()
	}
	return s.store.SessionByToken(ctx, token)
}

// gone reports whether the operator has taken the offer from sale. Units that
// the session holds are its own.
func (s *Service) gone(ctx context.Context, session *Session) bool {
	snapshot, err := s.catalog.Snapshot(ctx)
	if err != nil || snapshot.Stale {
		return false
	}
	quote := session.Quote()
	o, err := snapshot.Find(quote.Offer.ID)
	if err != nil {
		return true
	}
	return !o.Availability(snapshot.Taken[o.ID]-quote.Quantity, time.Now()).Available()
}
