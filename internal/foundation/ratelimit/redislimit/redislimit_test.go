package redislimit_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ace/internal/foundation/ratelimit"
	"ace/internal/foundation/ratelimit/redislimit"
	"ace/internal/foundation/ratelimit/redislimit/redistest"
)

func perSecond() ratelimit.Policy {
	return ratelimit.Policy{Name: "client", Quantity: 1, Window: time.Second, Burst: 5}
}

// lines is a log that may be read while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), text)
}

// replica is one process's view of a Redis. A slow test machine must not look
// like a Redis that is unavailable, so the timeout is long unless a test sets it.
func replica(t *testing.T, r *redistest.Server, log *lines, o *redislimit.Options) *redislimit.Store {
	t.Helper()
	if o == nil {
		o = &redislimit.Options{Timeout: 2 * time.Second}
	}
	o.Slots = 1 << 10
	s, err := redislimit.Open(r.URL, slog.New(slog.NewTextHandler(log, nil)), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func take(t *testing.T, l ratelimit.Limiter, key string, cost int) ratelimit.Result {
	t.Helper()
	r, err := l.Allow(t.Context(), key, cost)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// between fails unless d is above low and not above high: the clock of Redis is
// no clock that a test can hold.
func between(t *testing.T, what string, d, low, high time.Duration) {
	t.Helper()
	if d <= low || d > high {
		t.Errorf("%s = %s, want more than %s and at most %s", what, d, low, high)
	}
}

func TestReplicasShareOneQuota(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	log := &lines{}
	slow := ratelimit.Policy{Name: "client", Quantity: 1, Window: time.Hour, Burst: 100}
	var limiters []ratelimit.Limiter
	for range 3 {
		limiters = append(limiters, replica(t, server, log, nil).GCRA(slow))
	}
	var allowed atomic.Int64
	var group sync.WaitGroup
	for i := range 30 {
		group.Go(func() {
			for range 20 {
				if take(t, limiters[i%3], "a", 1).Allowed {
					allowed.Add(1)
				}
			}
		})
	}
	group.Wait()
	if allowed.Load() != 100 {
		t.Errorf("three replicas allowed %d units, want exactly 100", allowed.Load())
	}
	if r := take(t, limiters[0], "b", 1); !r.Allowed || r.Remaining != 99 {
		t.Errorf("Take of another client = %+v, want allowed", r)
	}
}

func TestGCRA(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	l := replica(t, server, &lines{}, nil).GCRA(ratelimit.Policy{
		Name: "client", Quantity: 1, Window: time.Hour,
		Burst: 5,
	})
	r := take(t, l, "a", 2)
	if !r.Allowed || r.Remaining != 3 || r.Policy.Name != "client" {
		t.Errorf("Take(2) = %+v, want 3 left", r)
	}
	between(t, "Reset", r.Reset, time.Hour-time.Minute, time.Hour)
	if r = take(t, l, "a", 4); r.Allowed || r.Remaining != 3 || r.TooCostly {
		t.Errorf("Take(4) = %+v, want refused with 3 left", r)
	}
	between(t, "RetryAfter", r.RetryAfter, time.Hour-time.Minute, time.Hour)
	if r = take(t, l, "a", 3); !r.Allowed || r.Remaining != 0 {
		t.Errorf("Take(3) = %+v, want allowed", r)
	}
	if r = take(t, l, "a", 1); r.Allowed {
		t.Errorf("Take(1) = %+v, want refused", r)
	}
	if r = take(t, l, "a", 0); !r.Allowed || r.Remaining != 0 {
		t.Errorf("Take(0) = %+v, want the state", r)
	}
	for _, cost := range []int{6, -1, 1 << 40} {
		if r = take(t, l, "b", cost); r.Allowed || !r.TooCostly || r.Remaining != 5 {
			t.Errorf("Take(%d) = %+v, want too costly", cost, r)
		}
	}
}

func TestGCRAComesBack(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	l := replica(t, server, &lines{}, nil).GCRA(ratelimit.Policy{
		Name: "fast", Quantity: 1,
		Window: 300 * time.Millisecond, Burst: 1,
	})
	take(t, l, "a", 1)
	r := take(t, l, "a", 1)
	if r.Allowed {
		t.Skip("left out: this machine took 300 ms for one question")
	}
	time.Sleep(r.RetryAfter)
	if again := take(t, l, "a", 1); !again.Allowed {
		t.Errorf("Take after RetryAfter %s = %+v, want allowed", r.RetryAfter, again)
	}
}

func TestRefund(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	l := replica(t, server, &lines{}, nil).GCRA(ratelimit.Policy{
		Name: "client", Quantity: 1, Window: time.Hour,
		Burst: 3,
	})
	take(t, l, "a", 3)
	if take(t, l, "a", 1).Allowed {
		t.Fatal("Take(1) of an empty quota is allowed")
	}
	if r, err := l.Refund(t.Context(), "a", 1); err != nil || r.Remaining != 1 {
		t.Errorf("Refund(1) = %+v, %v, want 1 left", r, err)
	}
	if r := take(t, l, "a", 1); !r.Allowed {
		t.Errorf("Take(1) after it = %+v, want allowed: the refusal must be forgotten", r)
	}
	if r, err := l.Refund(t.Context(), "a", 1<<40); err != nil || r.Remaining != 3 {
		t.Errorf("Refund of more than the burst = %+v, %v, want 3 left", r, err)
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := replica(t, server, &lines{}, nil)
	l := s.Window(ratelimit.Policy{Name: "keys", Quantity: 120, Window: time.Hour, Burst: 7})
	rnd := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	used := 0
	for used < 120 {
		cost := 1 + rnd.IntN(30)
		r := take(t, l, "k", cost)
		if want := used+cost <= 120; r.Allowed != want {
			t.Fatalf("with %d taken, Take(%d) = %+v, want allowed %t", used, cost, r, want)
		}
		if r.Allowed {
			used += cost
		} else {
			between(t, "RetryAfter", r.RetryAfter, time.Hour-time.Minute, time.Hour)
		}
		if r.Remaining != 120-used {
			t.Fatalf("Remaining = %d, want %d", r.Remaining, 120-used)
		}
	}
	short := s.Window(ratelimit.Policy{Name: "short", Quantity: 2, Window: 300 * time.Millisecond})
	take(t, short, "k", 1)
	time.Sleep(100 * time.Millisecond)
	take(t, short, "k", 1)
	if r := take(t, short, "k", 1); !r.Allowed {
		between(t, "RetryAfter", r.RetryAfter, 0, 200*time.Millisecond)
		time.Sleep(r.RetryAfter)
		if again := take(t, short, "k", 1); !again.Allowed {
			t.Errorf("Take after RetryAfter = %+v, want allowed", again)
		}
	}
}

// A clock that was set back blocks for one empty quota at most, and frees
// nobody: the state in Redis is put into the future to look like that.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := replica(t, server, &lines{},
		&redislimit.Options{Timeout: 2 * time.Second, Digest: func(key string) string { return key }})
	settings, err := redis.ParseURL(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	raw := redis.NewClient(settings)
	t.Cleanup(func() { _ = raw.Close() })
	future := fmt.Sprint(time.Now().Add(time.Hour).UnixMicro())
	if err := raw.Set(t.Context(), "ace:limit:client:a", future, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := raw.LPush(t.Context(), "ace:limit:keys:a", future, future).Err(); err != nil {
		t.Fatal(err)
	}
	r := take(t, s.GCRA(perSecond()), "a", 1)
	if r.Allowed {
		t.Errorf("GCRA.Take = %+v, want refused", r)
	}
	between(t, "RetryAfter of GCRA", r.RetryAfter, 0, time.Second)
	r = take(t, s.Window(ratelimit.Policy{Name: "keys", Quantity: 2, Window: time.Minute}), "a", 1)
	if r.Allowed {
		t.Errorf("Window.Take = %+v, want refused", r)
	}
	between(t, "RetryAfter of Window", r.RetryAfter, 0, time.Minute)
}

// What is in Redis says neither address nor agent, and goes by itself.
func TestKeysInRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := replica(t, server, &lines{}, nil)
	take(t, s.GCRA(perSecond()), "ip:203.0.113.7", 1)
	take(t, s.Window(ratelimit.Policy{Name: "keys", Quantity: 2, Window: time.Minute}), "key-of-somebody", 1)
	settings, _ := redis.ParseURL(server.URL)
	raw := redis.NewClient(settings)
	t.Cleanup(func() { _ = raw.Close() })
	names, err := raw.Keys(t.Context(), "*").Result()
	if err != nil || len(names) != 2 {
		t.Fatalf("KEYS = %v, %v, want 2", names, err)
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "ace:limit:") || strings.Contains(name, "203.0.113") || strings.Contains(name,
			"somebody") {
			t.Errorf("the key %q tells too much", name)
		}
		if life := raw.PTTL(t.Context(), name).Val(); life <= 0 || life > time.Minute {
			t.Errorf("%s lives for %s", name, life)
		}
	}
}

// A client that is refused is refused again without Redis being asked.
func TestRefusalsAreKeptHere(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	log := &lines{}
	l := replica(t, server, log, nil).GCRA(ratelimit.Policy{Name: "client", Quantity: 1, Window: time.Hour, Burst: 1})
	take(t, l, "a", 1)
	first := take(t, l, "a", 1)
	server.Kill()
	for range 1000 {
		if r := take(t, l, "a", 1); r.Allowed || r.RetryAfter > first.RetryAfter || r.RetryAfter <= 0 {
			t.Fatalf("Take = %+v, want the refusal again", r)
		}
	}
	if log.count("redis is unavailable") != 0 {
		t.Error("Redis was asked for a client that was refused a moment ago")
	}
}

// Redis crashes in the middle: the limit stays shut, at the replica's part of
// the quota, is logged once, and is shared again when Redis is back.
func TestRedisGoesAndComesBack(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	log := &lines{}
	var stores []*redislimit.Store
	ctx, stop := context.WithCancel(t.Context())
	var runs sync.WaitGroup
	defer runs.Wait()
	defer stop()
	for range 2 {
		s := replica(t, server, log, nil)
		stores = append(stores, s)
		runs.Go(func() { s.Run(ctx) })
	}
	eventually(t, "both replicas know of each other", func() bool {
		for _, s := range stores {
			take(t, s.GCRA(perSecond()), "warm", 0)
		}
		return stores[0].Replicas()+stores[1].Replicas() >= 3 // the first one learns of the second at its next beat
	})
	policy := ratelimit.Policy{Name: "client", Quantity: 1, Window: time.Hour, Burst: 10}
	limiters := []ratelimit.Refunder{stores[0].GCRA(policy), stores[1].GCRA(policy)}
	two := 1
	if stores[0].Replicas() == 2 {
		two = 0
	}
	if r := take(t, limiters[two], "a", 1); r.Remaining != 9 {
		t.Fatalf("Take = %+v, want 9 left", r)
	}

	server.Kill()
	allowed := 0
	for range 50 {
		if take(t, limiters[two], "a", 1).Allowed {
			allowed++
		}
	}
	if allowed != 5 {
		t.Errorf("one of two replicas allowed %d units while Redis was unavailable, want 5 of 10", allowed)
	}
	if r := take(t, limiters[two], "b", 10); !r.Allowed || r.Remaining != 0 || r.Policy.Burst != 10 {
		t.Errorf("Take of the whole burst = %+v, want allowed", r)
	}
	if r, err := limiters[two].Refund(t.Context(), "b", 1); err != nil || r.Remaining != 1 {
		t.Errorf("Refund without Redis = %+v, %v, want 1 left", r, err)
	}
	if !stores[two].Away() || log.count("redis is unavailable") == 0 || log.count("redis is back") != 0 {
		t.Errorf("Away() = %t, log:\n%s", stores[two].Away(), log.buf.String())
	}

	server.Run()
	eventually(t, "Redis is used again", func() bool { return !stores[0].Away() && !stores[1].Away() })
	if n := log.count("redis is back"); n == 0 || n > 2 {
		t.Errorf("%d lines that Redis is back, want one for each replica", n)
	}
	if r := take(t, limiters[two], "a", 1); !r.Allowed || r.Remaining != 9 {
		t.Errorf("Take with a new Redis = %+v, want 9 left", r)
	}
}

// A Redis that hangs costs a request the timeout, and the requests after it
// nothing.
func TestRedisHangs(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	log := &lines{}
	l := replica(t, server, log, &redislimit.Options{Timeout: 100 * time.Millisecond}).GCRA(
		ratelimit.Policy{Name: "client", Quantity: 1, Window: time.Hour, Burst: 3})
	eventually(t, "Redis answers", func() bool { r := take(t, l, "warm", 0); return r.Allowed })
	server.Freeze()
	defer server.Thaw()
	allowed := 0
	for range 100 {
		if take(t, l, "a", 1).Allowed {
			allowed++
		}
	}
	if allowed != 3 || log.count("redis is unavailable") != 1 {
		t.Errorf("%d allowed, log %q, want 3 and one line", allowed, log.buf.String())
	}
}

// A caller that has gone away is counted all the same and says nothing about Redis.
func TestCanceledRequest(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	log := &lines{}
	l := replica(t, server, log, nil).GCRA(ratelimit.Policy{Name: "client", Quantity: 1, Window: time.Hour, Burst: 3})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := l.Allow(ctx, "a", 1); err != nil || r.Remaining != 2 || log.count("away") != 0 {
		t.Errorf("Take = %+v, %v, want 2 left", r, err)
	}
}

// Without Redis from the start it is limited as on one replica.
func TestRedisNeverThere(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	server.Kill()
	log := &lines{}
	s := replica(t, server, log, nil)
	l := s.GCRA(ratelimit.Policy{Name: "client", Quantity: 1, Window: time.Hour, Burst: 5})
	allowed := 0
	for range 20 {
		if take(t, l, "a", 1).Allowed {
			allowed++
		}
	}
	window := s.Window(ratelimit.Policy{Name: "keys", Quantity: 2, Window: time.Hour})
	take(t, window, "a", 2)
	if r := take(t, window, "a", 1); allowed != 5 || r.Allowed || s.Replicas() != 1 {
		t.Errorf("%d allowed of one, %+v of the other, want 5 and a refusal", allowed, r)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "localhost:6379", "http://user:sesame@host", "redis://user:sesame@host:port"} {
		if _, err := redislimit.Open(address, slog.New(slog.DiscardHandler), nil); err == nil ||
			strings.Contains(err.Error(), "sesame") {
			t.Errorf("Open(%q) = %v, want an error without the address", address, err)
		}
	}
}

func TestPoliciesThatRedisCannotTell(t *testing.T) {
	t.Parallel()
	s, err := redislimit.Open("redis://127.0.0.1:1", slog.New(slog.DiscardHandler), &redislimit.Options{Slots: 8})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for _, p := range []ratelimit.Policy{
		{Name: "UPPER", Quantity: 1, Window: time.Second},
		{Name: "x", Quantity: 10_000, Window: time.Millisecond},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("GCRA(%+v) does not panic", p)
				}
			}()
			s.GCRA(p)
		}()
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 1500 {
		if ok() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

func BenchmarkTake(b *testing.B) {
	server := redistest.Start(b)
	s, err := redislimit.Open(server.URL, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	b.Run("allowed", func(b *testing.B) {
		l := s.GCRA(ratelimit.Policy{Name: "open", Quantity: 1_000_000, Window: time.Second})
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_, _ = l.Allow(b.Context(), "a", 1)
			}
		})
	})
	b.Run("refused", func(b *testing.B) {
		l := s.GCRA(ratelimit.Policy{Name: "shut", Quantity: 1, Window: time.Hour})
		b.ReportAllocs()
		for b.Loop() {
			_, _ = l.Allow(b.Context(), "a", 1)
		}
	})
}
