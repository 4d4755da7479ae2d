package ratelimit

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/problem"
)

// Limiter decides whether a client may do something now. Implementations are
// safe for concurrent use and return within microseconds, or within ctx where
// they ask another process; the error is about that process, never about the
// client.
type Limiter interface {
	// Allow charges cost units of the client's quota, all or none. A cost of 0
	// takes nothing and reads the state.
	Allow(ctx context.Context, key string, cost int) (Result, error)
}

// Refunder is a Limiter that gives units back: for what turned out to cost
// nothing once it was done.
type Refunder interface {
	Limiter
	// Refund gives back cost units that were taken from the client, and returns
	// the state then. It never gives more than the burst.
	Refund(ctx context.Context, key string, cost int) (Result, error)
}

// Policy is one promise: Quantity units in Window, with at most Burst at once.
type Policy struct {
	Name     string        // as it is in header fields; lower-case letters, digits, - and _
	Quantity int           // units per window
	Window   time.Duration // at least a millisecond
	Burst    int           // units at once; 0: Quantity
}

// Validate reports what is wrong with a policy, in words for an operator.
func (p Policy) Validate() error {
	switch {
	case p.Name == "" || strings.Trim(p.Name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "":
		return fmt.Errorf("rate limit policy %q: the name must be lower-case letters, digits, - and _", p.Name)
	case p.Quantity < 1 || p.Quantity > 1_000_000:
		return fmt.Errorf("rate limit policy %s: the quantity must be from 1 to 1000000", p.Name)
	case p.Window < time.Millisecond || p.Window > 24*time.Hour:
		return fmt.Errorf("rate limit policy %s: the window must be from 1ms to 24h", p.Name)
	case p.Burst < 0 || p.Burst > 1_000_000:
		return fmt.Errorf("rate limit policy %s: the burst must be from 0 to 1000000", p.Name)
	case p.Window/time.Duration(p.Quantity) < 1:
		return fmt.Errorf("rate limit policy %s: the rate is too high", p.Name)
	}
	return nil
}

// Limit is the most units at once: Burst, or Quantity where that is 0.
func (p Policy) Limit() int {
	if p.Burst == 0 {
		return p.Quantity
	}
	return p.Burst
}

// headerWindow is the window that belongs to the burst as quota, so that quota
// over window is the sustained rate.
func (p Policy) headerWindow() time.Duration {
	return p.Window * time.Duration(p.Limit()) / time.Duration(p.Quantity)
}

// Result is what one call of Allow returns.
type Result struct {
	Policy     Policy // zero: nothing is limited
	Allowed    bool
	Remaining  int           // units left now
	Reset      time.Duration // until one more unit is there; 0 when all are
	RetryAfter time.Duration // when not allowed: until the same cost would be
	TooCostly  bool          // the cost is over the burst and never allowed
}

// WriteHeaders sets RateLimit-Policy and RateLimit for the results, in order.
// A result without a policy is left out.
func WriteHeaders(h http.Header, results ...Result) {
	policies, states := make([]byte, 0, 64), make([]byte, 0, 64)
	for _, r := range results {
		if r.Policy.Name == "" {
			continue
		}
		if len(policies) > 0 {
			policies, states = append(policies, ", "...), append(states, ", "...)
		}
		policies = field(policies, r.Policy.Name, ";q=", r.Policy.Limit(), ";w=", seconds(r.Policy.headerWindow()))
		states = field(states, r.Policy.Name, ";r=", max(r.Remaining, 0), ";t=", seconds(r.Reset))
	}
	if len(policies) > 0 {
		h["Ratelimit-Policy"] = []string{string(policies)}
		h["Ratelimit"] = []string{string(states)}
	}
}

func field(b []byte, name, one string, n int, two string, m int) []byte {
	b = append(b, '"')
	b = append(b, name...)
	b = append(b, '"')
	b = strconv.AppendInt(append(b, one...), int64(n), 10)
	return strconv.AppendInt(append(b, two...), int64(m), 10)
}

// seconds rounds up, so that a client that waits as asked is not too early.
func seconds(d time.Duration) int {
	return int((max(d, 0) + time.Second - 1) / time.Second)
}

// Problem is the refusal to show for a result that is not allowed: rate_limited
// with the time to wait, or cost_too_high when waiting does not help.
func Problem(r Result) *problem.Problem {
	if r.TooCostly {
		return problem.New(problem.RateLimited, "cost_too_high",
			fmt.Sprintf("This asks for more at once than the limit of %d ever allows. Send it in parts.",
				r.Policy.Limit())).
			After(r.RetryAfter).Advise("fix_arguments").Over(r.Policy.Name)
	}
	wait := max(seconds(r.RetryAfter), 1)
	unit := "seconds"
	if wait == 1 {
		unit = "second"
	}
	return problem.New(problem.RateLimited, "rate_limited",
		fmt.Sprintf("%s Retry after %d %s.", r.Policy.words(), wait, unit)).
		After(time.Duration(wait) * time.Second).Advise("retry_later").Over(r.Policy.Name)
}

// words says the sustained rate as people do.
func (p Policy) words() string {
	if time.Duration(p.Quantity)*time.Second == p.Window {
		return "At most one request per second is allowed."
	}
	if p.Window == time.Second {
		return fmt.Sprintf("At most %d requests per second are allowed.", p.Quantity)
	}
	return fmt.Sprintf("At most %d requests in %d seconds are allowed.", p.Quantity, seconds(p.Window))
}

// ClientKey is the key of an address: an IPv4 address alone, the /64 of an
// IPv6 address, because a subscriber owns all of that.
func ClientKey(a netip.Addr) string {
	a = a.Unmap()
	if a.Is4() {
		b := a.As4()
		return string(b[:])
	}
	b := a.As16()
	return string(b[:8])
}

// Unlimited is the limiter that is switched off. It sets no header fields.
type Unlimited struct{}

// Allow always allows.
func (Unlimited) Allow(context.Context, string, int) (Result, error) {
	return Result{Allowed: true}, nil
}
