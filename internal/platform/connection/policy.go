package connection

import (
	"math/rand/v2"
	"time"

	"ace/internal/platform/app"
)

// Times of renewing. The call ends long before the lease does: what is left
// also covers clocks of replicas that differ.
const (
	callTimeout = 30 * time.Second
	leaseFor    = 60 * time.Second
	waitFor     = 35 * time.Second
	lookEvery   = 200 * time.Millisecond

	maxSkew  = 15 * time.Minute
	idleMost = 24 * time.Hour // grants that end when unused are used this often

	firstBackoff   = 30 * time.Second
	mostBackoff    = time.Hour
	unknownBackoff = 28 * time.Hour
	unknownTries   = 10
	// onDemand is how long after a failure a caller who has no living token may
	// try again.
	onDemand = time.Minute
	// restAfter is how old credentials must be before a 401 renews them: an app
	// that responds with 401 to everything does not use grants up.
	restAfter = time.Minute
)

func renewable(s *app.Scheme, c Credentials) bool { return s.Renewable(c[refreshToken] != "") }

// skew is how long before its end a token counts as over.
func skew(c *Connection, s *app.Scheme) time.Duration {
	if s.OAuth != nil && s.OAuth.Token.Expires.Skew > 0 {
		return time.Duration(s.OAuth.Token.Expires.Skew) * time.Second
	}
	return min(maxSkew, c.TokenExpiresAt.Sub(c.RefreshedAt)/10)
}

// fresh reports whether a token may be used without a thought.
func fresh(c *Connection, s *app.Scheme, at time.Time) bool {
	return c.TokenExpiresAt.IsZero() || c.TokenExpiresAt.Add(-skew(c, s)).After(at)
}

// living reports whether a token still works, if only for a moment.
func living(c *Connection, at time.Time) bool {
	return c.TokenExpiresAt.IsZero() || c.TokenExpiresAt.After(at)
}

// schedule sets when new credentials are renewed by themselves: at three
// quarters of their life, spread by a twentieth; refresh tokens at least once a
// day; nothing before the age that the app asks for.
func schedule(c *Connection, s *app.Scheme, credentials Credentials) {
	c.NextRefreshAt = time.Time{}
	if !renewable(s, credentials) || !s.Consents() {
		return
	}
	wait := idleMost
	if !c.TokenExpiresAt.IsZero() {
		wait = c.TokenExpiresAt.Sub(c.RefreshedAt) * 3 / 4
		if credentials[refreshToken] != "" {
			wait = min(wait, idleMost)
		}
	} else if credentials[refreshToken] == "" {
		return
	}
	wait += spread(wait / 20)
	if s.OAuth != nil {
		wait = max(wait, time.Duration(s.OAuth.Refresh.MinAge)*time.Second)
	}
	c.NextRefreshAt = c.RefreshedAt.Add(max(wait, firstBackoff)).Truncate(time.Millisecond)
}

// backoff is the wait after so many failures in a row. Refusals that nobody
// knows are tried ten times in about four days.
func backoff(class RefreshClass, failed int) time.Duration {
	wait, factor, most := firstBackoff, time.Duration(2), mostBackoff
	if class == Unknown {
		factor, most = 4, unknownBackoff
	}
	for range failed - 1 {
		if wait = min(wait*factor, most); wait == most {
			break
		}
	}
	return wait
}

// spread is a random part of d, so that what was made together is not renewed
// together.
func spread(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(rand.Int64N(2*int64(d)+1)) - d
}

// due reports whether a renewal may be tried now: not while one that failed is
// without a change. A caller without a living token waits a minute at most where
// the vendor was unavailable.
func due(c *Connection, at time.Time) bool {
	if c.RefreshFailed == 0 || !c.NextRefreshAt.After(at) {
		return true
	}
	return !living(c, at) && c.RefreshClass == Temporary && !c.RefreshTriedAt.Add(onDemand).After(at)
}
