package connection

import (
	"context"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/audit"
)

// Session returns a session of an account; connect_session_not_found (NotFound)
// otherwise.
func (s *Service) Session(ctx context.Context, accountID, id string) (*Session, error) {
	return s.Store.Session(ctx, accountID, id)
}

const (
	maxWait   = 30 * time.Second
	waitEvery = 500 * time.Millisecond
)

// Wait returns a session as soon as it has ended, or its state after wait, at
// most 30 s.
func (s *Service) Wait(ctx context.Context, accountID, id string, wait time.Duration) (*Session, error) {
	deadline := time.Now().Add(min(wait, maxWait))
	for {
		session, err := s.Store.Session(ctx, accountID, id)
		if err != nil {
			return nil, err
		}
		at := time.Now()
		if session.StatusAt(at).Over() || !at.Add(waitEvery).Before(deadline) {
			return session, nil
		}
		select {
		case <-ctx.Done():
			return session, nil // the caller left, or time is up: this is its state
		case <-time.After(waitEvery):
		}
	}
}

// Cancel ends an unused session; one that has ended stays as it is.
func (s *Service) Cancel(ctx context.Context, by audit.Actor, accountID, id string) error {
	for {
		session, err := s.Store.Session(ctx, accountID, id)
		if err != nil || session.StatusAt(time.Now()).Over() {
			return err
		}
		session.end(SessionCanceled, "canceled", "The link was canceled by its caller.")
		saved, err := s.Store.SaveSession(ctx, session, audit.New(accountID, by, "connect.cancelled", id, nil))
		if err != nil || saved {
			return err
		}
	}
}

// Kinds of the service's jobs. The ref of the first two is JobRef; the last is a
// single row that is scheduled at the start.
const (
	JobRefresh  = "connection_refresh"
	JobFarewell = "connection_farewell"
	JobPrune    = "connection_prune"
	JobNotify   = "connect_notify" // its ref is JobRef of a session
)

// JobRef names a connection in a job.
func JobRef(accountID, id string) string { return accountID + "/" + id }

const (
	pruneEvery   = time.Hour
	keepRevoked  = 30 * 24 * time.Hour
	farewellMost = 12
)

// Handlers are the jobs that renew credentials before they end, end grants at
// vendors, and forget what is over.
func (s *Service) Handlers() map[string]jobs.Handler {
	all := map[string]jobs.Handler{
		JobRefresh: {Run: s.refreshJob, Backoff: []time.Duration{time.Minute}},
		JobFarewell: {Run: s.farewellJob, Backoff: []time.Duration{
			10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour,
			12 * time.Hour,
		}},
		JobPrune: {Run: func(ctx context.Context, _ jobs.Job) error {
			at := now()
			more, err := s.Store.PruneSessions(ctx, at.Add(-keepSessions), at.Add(-keepRevoked))
			switch {
			case err != nil:
				return err
			case more:
				return jobs.Later(at)
			}
			return jobs.Later(at.Add(pruneEvery))
		}},
	}
	if s.Notices != nil {
		all[JobNotify] = s.Notices.Handler()
	}
	return all
}

// refreshJob renews the credentials of one connection that is due. The claim has
// moved NextRefreshAt to the end of its lease; whatever ends the refresh moves it
// on.
func (s *Service) refreshJob(ctx context.Context, job jobs.Job) error {
	accountID, id := splitRef(job.Ref)
	k, err := s.load(ctx, accountID, id)
	if problem.Is(err, "connection_not_found") {
		return nil
	}
	if _, refused := problem.From(err); err != nil && refused {
		return jobs.Later(time.Now().Add(mostBackoff)) // the operator may set a client, or bring the right key
	}
	if err != nil {
		return err
	}
	if !k.c.NextRefreshAt.Equal(job.LeaseUntil) || !k.renewable() {
		return nil // somebody was first, or connecting again has made it one that is not renewed
	}
	if k.allowed() == nil {
		if k, err = s.renew(ctx, k); err != nil {
			return err
		}
	}
	if k.allowed() != nil {
		return jobs.Later(time.Now()) // due as soon as it is enabled
	}
	if k.c.NextRefreshAt.IsZero() {
		return nil
	}
	return jobs.Later(time.Now().Add(max(time.Second, time.Until(k.c.NextRefreshAt))))
}

func (s *Service) farewellJob(ctx context.Context, job jobs.Job) error {
	accountID, id := splitRef(job.Ref)
	sealed, err := s.Store.Farewell(ctx, accountID, id)
	if err != nil || sealed == nil {
		return err
	}
	entry := audit.New(accountID, audit.System(), "connection.ended_at_vendor", id,
		map[string]string{"app": sealed.Connection.App})
	if err := s.endAtVendor(ctx, sealed); err != nil {
		if job.Tries+1 < farewellMost {
			return err
		}
		entry.Action = "connection.not_ended_at_vendor"
		s.options.Log.ErrorContext(ctx, "ending a grant at its vendor", "connection_id", id, "app",
			sealed.Connection.App, "tries", job.Tries+1, "error", err)
	}
	return s.Store.EndFarewell(ctx, accountID, id, entry)
}

func splitRef(ref string) (accountID, id string) {
	for i := range ref {
		if ref[i] == '/' {
			return ref[:i], ref[i+1:]
		}
	}
	return "", ref
}
