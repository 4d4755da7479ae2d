package connection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/audit"
)

// renew renews credentials of the version that was read, once for all callers
// on all replicas, and returns what is kept afterwards: the new version, or the
// old one with why it could not be renewed. The call to the vendor continues when
// its caller leaves: what it returns may be good only once.
func (s *Service) renew(ctx context.Context, k *storedCredentials) (*storedCredentials, error) {
	flight := k.c.AccountID + "/" + k.c.ID + "/" + strconv.FormatInt(k.c.Version, 10)
	done := s.renewal.DoChan(flight, func() (any, error) {
		return s.renewAlone(context.WithoutCancel(ctx), k)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-done:
		if result.Err != nil {
			return nil, result.Err
		}
		return result.Val.(*storedCredentials), nil
	}
}

// renewAlone takes the lease, or waits for who holds it.
func (s *Service) renewAlone(ctx context.Context, k *storedCredentials) (*storedCredentials, error) {
	start := time.Now()
	for {
		at := time.Now()
		lease, err := s.Store.TakeLease(ctx, Lease{
			AccountID: k.c.AccountID, ConnectionID: k.c.ID, Version: k.c.Version, Failed: k.c.RefreshFailed,
			Owner: s.options.Replica, Until: at.Add(leaseFor),
		})
		if err != nil {
			return nil, fmt.Errorf("taking the lease of %s: %w", k.c.ID, err)
		}
		if lease != nil {
			return s.renewUnder(ctx, k, lease)
		}
		there, err := s.load(ctx, k.c.AccountID, k.c.ID)
		if err != nil {
			return nil, err
		}
		// The holder of the lease ended it, with success or not: either way its
		// outcome is returned.
		ended := there.c.Version != k.c.Version || there.c.RefreshTriedAt.After(k.c.RefreshTriedAt) ||
			there.allowed() != nil
		if ended || at.Sub(start) > waitFor {
			return there, nil
		}
		time.Sleep(lookEvery)
	}
}

// renewUnder calls the vendor while the lease is held.
func (s *Service) renewUnder(ctx context.Context, k *storedCredentials, lease *Lease) (*storedCredentials, error) {
	s.options.Step("lease taken")
	start := time.Now()
	grant, err := s.callVendor(ctx, k, lease, k.in.Credentials)
	if over(err) && lease.Crashed {
		grant, err = s.callWithPrevious(ctx, k, lease, grant, err)
	}
	s.options.Step("vendor answered")
	if s.options.Observer != nil {
		class := RefreshClass("")
		if err != nil {
			class = classify(err).Class
		}
		s.options.Observer.Refreshed(k.c.App, class, time.Since(start))
	}
	if err != nil {
		return s.failRenewal(ctx, k, lease, err)
	}
	return s.keepRenewal(ctx, k, lease, grant)
}

func (s *Service) callVendor(
	ctx context.Context,
	k *storedCredentials,
	lease *Lease,
	credentials Credentials,
) (*Grant, error) {
	until := time.Now().Add(callTimeout)
	if last := lease.Until.Add(-5 * time.Second); last.Before(until) {
		until = last
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	copied := *k.c
	copied.Params = maps.Clone(k.c.Params)
	return s.Authorizer.Refresh(ctx, k.app, k.scheme, k.client, &copied, maps.Clone(credentials))
}

// callWithPrevious tries the refresh token before the last: the process that
// held the lease died, and it may have died between writing and notifying.
func (s *Service) callWithPrevious(ctx context.Context, k *storedCredentials, lease *Lease, grant *Grant,
	err error,
) (*Grant, error) {
	previous := k.in.Credentials[previousRefresh]
	if previous == "" || previous == k.in.Credentials[refreshToken] || !k.in.PreviousUntil.After(time.Now()) {
		return grant, err
	}
	credentials := maps.Clone(k.in.Credentials)
	credentials[refreshToken] = previous
	return s.callVendor(ctx, k, lease, credentials)
}

func over(err error) bool {
	refused, ok := errors.AsType[*RefreshError](err)
	return ok && refused.Class == GrantOver
}

// keepRenewal writes a renewed grant. The vendor may have ended the old one:
// writing is tried for as long as the lease lasts.
func (s *Service) keepRenewal(
	ctx context.Context,
	k *storedCredentials,
	lease *Lease,
	grant *Grant,
) (*storedCredentials, error) {
	next := k.renewed(grant)
	secret, err := s.seal(next.c, next.in)
	if err != nil {
		return nil, err
	}
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		saved, err := s.Store.KeepRefresh(ctx, next.c, secret, lease, audit.Entry{})
		switch {
		case err == nil && saved:
			return next, nil
		case err == nil: // the lease is another's, or the person connected again
			return s.load(ctx, k.c.AccountID, k.c.ID)
		case time.Now().Add(wait).After(lease.Until):
			return nil, fmt.Errorf("keeping the renewed credentials of %s: %w", k.c.ID, err)
		}
		time.Sleep(wait)
	}
}

// renewed is the connection with a renewed grant.
func (k *storedCredentials) renewed(grant *Grant) *storedCredentials {
	next, c := *k, *k.c
	next.c = &c
	next.in = &contents{
		Credentials: maps.Clone(k.in.Credentials), PreviousUntil: k.in.PreviousUntil,
		Issuer: k.in.Issuer,
	}
	credentials := next.in.Credentials
	old := credentials[refreshToken]
	maps.Copy(credentials, grant.Credentials)
	if credentials[refreshToken] != old && old != "" {
		credentials[previousRefresh], next.in.PreviousUntil = old, time.Now().Add(keepPrevious)
	} else if !next.in.PreviousUntil.After(time.Now()) {
		delete(credentials, previousRefresh)
		next.in.PreviousUntil = time.Time{}
	}
	if len(grant.Params) > 0 {
		c.Params = maps.Clone(k.c.Params)
		if c.Params == nil {
			c.Params = map[string]string{}
		}
		maps.Copy(c.Params, grant.Params)
	}
	if grant.Scopes != nil {
		c.Scopes = grant.Scopes
	}
	c.Identity = c.Identity.Fill(grant.Identity)
	if c.Status == Failing {
		c.Status, c.Reason = Active, ""
	}
	c.TokenExpiresAt, c.RefreshedAt = grant.ExpiresAt, now()
	c.RefreshFailed, c.RefreshClass, c.RefreshTriedAt = 0, "", time.Time{}
	schedule(&c, k.scheme, credentials)
	return &next
}

// failRenewal records a refresh that failed by what it means, and frees the
// lease. An expired grant ends the connection only if nobody has stored
// another meanwhile: the fencing number shows that.
func (s *Service) failRenewal(
	ctx context.Context,
	k *storedCredentials,
	lease *Lease,
	cause error,
) (*storedCredentials, error) {
	refused := classify(cause)
	next, c := *k, *k.c
	next.c = &c
	c.RefreshFailed++
	c.RefreshClass, c.RefreshTriedAt = refused.Class, now()
	c.NextRefreshAt = c.RefreshTriedAt.Add(max(backoff(refused.Class, c.RefreshFailed),
		min(refused.After, mostBackoff)))
	entry := audit.Entry{}
	ended := refused.Class == GrantOver || refused.Class == Unknown && c.RefreshFailed >= unknownTries
	switch {
	case ended:
		c.Status, c.Reason, c.NextRefreshAt = NeedsReconnect, ReasonInvalidGrant, time.Time{}
		entry = audit.New(c.AccountID, audit.System(), "connection.needs_reconnect", c.ID,
			map[string]string{"reason": c.Reason, "error": refused.Code})
	case !living(&c, c.RefreshTriedAt):
		c.Status, c.Reason = Failing, reasonOf(refused.Class)
	}
	if refused.Class == ClientBroken {
		s.options.Log.ErrorContext(ctx, "the vendor refuses an OAuth client", "app", c.App, "code", refused.Code)
		if err := s.Clients.MarkBroken(ctx, k.client); err != nil {
			return nil, err
		}
	} else {
		s.options.Log.WarnContext(ctx, "renewing credentials", "connection_id", c.ID, "app", c.App, "class",
			string(refused.Class), "status", refused.Status, "code", refused.Code, "failed", c.RefreshFailed)
	}
	saved, err := s.Store.EndLease(ctx, &c, lease, entry)
	if err != nil {
		return nil, fmt.Errorf("recording a refresh that failed: %w", err)
	}
	if !saved {
		return s.load(ctx, c.AccountID, c.ID)
	}
	return &next, nil
}

// classify is what an error of a refresh means. What is no word of the vendor's
// is no reason to give the connection up.
func classify(err error) *RefreshError {
	if refused, ok := errors.AsType[*RefreshError](err); ok {
		return refused
	}
	code := "internal"
	if p, ok := problem.From(err); ok {
		code = p.Code
	}
	return &RefreshError{Class: Temporary, Code: code}
}

func reasonOf(class RefreshClass) string {
	switch class {
	case ClientBroken:
		return ReasonClient
	case Temporary:
		return ReasonUnavailable
	case Unknown, GrantOver:
	}
	return ReasonCheckFailed
}
