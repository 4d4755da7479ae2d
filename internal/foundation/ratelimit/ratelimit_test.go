package ratelimit_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/ratelimit"

	"github.com/google/go-cmp/cmp"
)

func perSecond() ratelimit.Policy {
	return ratelimit.Policy{Name: "client", Quantity: 1, Window: time.Second, Burst: 5}
}

func take(t *testing.T, l ratelimit.Limiter, key string, cost int) ratelimit.Result {
	t.Helper()
	r, err := l.Allow(t.Context(), key, cost)
	if err != nil {
		t.Fatal(err)
	}
	r.Policy = ratelimit.Policy{}
	return r
}

func TestGCRA(t *testing.T) {
	t.Parallel()
	type step struct {
		wait time.Duration
		key  string
		cost int
		want ratelimit.Result
	}
	yes := func(remaining int, reset time.Duration) ratelimit.Result {
		return ratelimit.Result{Allowed: true, Remaining: remaining, Reset: reset}
	}
	tests := []struct {
		name  string
		steps []step
	}{
		{"burst, then one a second", []step{
			{0, "a", 1, yes(4, time.Second)},
			{0, "a", 4, yes(0, time.Second)},
			{0, "a", 1, ratelimit.Result{RetryAfter: time.Second, Reset: time.Second}},
			{
				300 * time.Millisecond, "a",
				1,
				ratelimit.Result{RetryAfter: 700 * time.Millisecond, Reset: 700 * time.Millisecond},
			},
			{700 * time.Millisecond, "a", 1, yes(0, time.Second)},
			{5 * time.Second, "a", 0, yes(5, 0)},
		}},
		{"refusals cost nothing", []step{
			{0, "a", 5, yes(0, time.Second)},
			{0, "a", 1, ratelimit.Result{RetryAfter: time.Second, Reset: time.Second}},
			{0, "a", 1, ratelimit.Result{RetryAfter: time.Second, Reset: time.Second}},
			{time.Second, "a", 1, yes(0, time.Second)},
		}},
		{"all or nothing", []step{
			{0, "a", 3, yes(2, time.Second)},
			{0, "a", 3, ratelimit.Result{RetryAfter: time.Second, Remaining: 2, Reset: time.Second}},
			{0, "a", 2, yes(0, time.Second)},
		}},
		{"clients are apart", []step{
			{0, "a", 5, yes(0, time.Second)},
			{0, "b", 5, yes(0, time.Second)},
		}},
		{"more than the burst", []step{
			{0, "a", 6, ratelimit.Result{TooCostly: true, Remaining: 5}},
			{0, "a", 1 << 62, ratelimit.Result{TooCostly: true, Remaining: 5}},
			{0, "a", -1, ratelimit.Result{TooCostly: true, Remaining: 5}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := ratelimit.NewTable(&ratelimit.TableOptions{Slots: 64}).Limiter(perSecond())
				for i, s := range tt.steps {
					time.Sleep(s.wait)
					if diff := cmp.Diff(s.want, take(t, l, s.key, s.cost)); diff != "" {
						t.Errorf("step %d (-want +got):\n%s", i, diff)
					}
				}
			})
		})
	}
}

func TestWindowIsExact(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := ratelimit.NewWindow(ratelimit.Policy{Name: "default", Quantity: 120, Window: time.Minute}, nil)
		var taken []time.Time
		rnd := rand.New(rand.NewPCG(1, 2))
		for range 5000 {
			time.Sleep(time.Duration(rnd.IntN(900)) * time.Millisecond)
			cost := 1 + rnd.IntN(4)
			r := take(t, l, "key", cost)
			inside := 0
			for _, at := range taken {
				if time.Since(at) < time.Minute {
					inside++
				}
			}
			if want := inside+cost <= 120; r.Allowed != want {
				t.Fatalf("with %d units in the window, Take(%d) allowed = %v, want %v", inside, cost, r.Allowed, want)
			}
			if r.Allowed {
				for range cost {
					taken = append(taken, time.Now())
				}
				inside += cost
			}
			if r.Remaining != 120-inside {
				t.Fatalf("Remaining = %d, want %d", r.Remaining, 120-inside)
			}
			if !r.Allowed {
				time.Sleep(r.RetryAfter - time.Millisecond)
				if take(t, l, "key", cost).Allowed {
					t.Fatal("allowed a millisecond before RetryAfter")
				}
				time.Sleep(time.Millisecond)
				if again := take(t, l, "key", 0); again.Remaining < cost {
					t.Fatalf("after RetryAfter %d units are left, want %d", again.Remaining, cost)
				}
			}
		}
	})
}

func TestWindowSurvivesLongSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := ratelimit.NewWindow(ratelimit.Policy{Name: "default", Quantity: 2, Window: time.Minute}, nil)
		take(t, l, "key", 2)
		time.Sleep(1<<32*time.Millisecond + 5*time.Second) // the offsets have wrapped
		if r := take(t, l, "key", 2); !r.Allowed {
			t.Errorf("Take after 50 days = %+v, want it allowed", r)
		}
		if r := take(t, l, "key", 3); !r.TooCostly {
			t.Errorf("Take(3) of 2 = %+v, want TooCostly", r)
		}
	})
}

func TestWindowBoundsItsKeys(t *testing.T) {
	t.Parallel()
	l := ratelimit.NewWindow(ratelimit.Policy{Name: "default", Quantity: 4, Window: time.Hour},
		&ratelimit.WindowOptions{MaxKeys: 640})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 200_000 {
		take(t, l, strconv.Itoa(i), 1)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("200,000 keys left %d bytes behind, want the bound of 640 keys to hold", grown)
	}
	runtime.KeepAlive(l)
}

// A flood of addresses neither grows the table nor frees a client that is
// being limited.
func TestTableUnderFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: millions of addresses take seconds")
	}
	table := ratelimit.NewTable(&ratelimit.TableOptions{Slots: 1 << 16})
	l := table.Limiter(ratelimit.Policy{Name: "client", Quantity: 1, Window: time.Hour, Burst: 5})
	if r := take(t, l, "greedy", 5); !r.Allowed {
		t.Fatalf("Take = %+v, want it allowed", r)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var addr [16]byte
	for i := range 2_000_000 {
		binary.BigEndian.PutUint64(addr[:], uint64(i)*0x9E3779B97F4A7C15)
		if r, _ := l.Allow(context.Background(), ratelimit.ClientKey(netip.AddrFrom16(addr)), 1); !r.Allowed {
			t.Fatalf("new address %d was refused", i)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("the heap grew by %d bytes under 2,000,000 addresses, want none", grown)
	}
	if r := take(t, l, "greedy", 1); r.Allowed {
		t.Error("the flood freed a client that was being limited")
	}
	if table.Crowded() == 0 {
		t.Error("Crowded() = 0 after a flood, want it to tell")
	}
}

func TestConcurrentTakesAreExact(t *testing.T) {
	t.Parallel()
	limiters := map[string]ratelimit.Limiter{
		"gcra": ratelimit.NewTable(&ratelimit.TableOptions{Slots: 8}).Limiter(ratelimit.Policy{
			Name:     "c",
			Quantity: 100, Window: 24 * time.Hour,
		}),
		"window": ratelimit.NewWindow(ratelimit.Policy{Name: "c", Quantity: 100, Window: 24 * time.Hour}, nil),
	}
	for name, l := range limiters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var allowed atomic.Int32
			var group sync.WaitGroup
			for range 8 {
				group.Go(func() {
					for range 50 {
						if r, _ := l.Allow(context.Background(), "one", 1); r.Allowed {
							allowed.Add(1)
						}
					}
				})
			}
			group.Wait()
			if n := allowed.Load(); n != 100 {
				t.Errorf("400 concurrent takes allowed %d, want 100", n)
			}
		})
	}
}

func TestPoliciesShareATable(t *testing.T) {
	t.Parallel()
	table := ratelimit.NewTable(&ratelimit.TableOptions{Slots: 1024})
	one, two := table.Limiter(perSecond()), table.Limiter(perSecond())
	take(t, one, "a", 5)
	if r := take(t, two, "a", 5); !r.Allowed {
		t.Errorf("Take of another policy = %+v, want it allowed", r)
	}
}

func TestWriteHeaders(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	ratelimit.WriteHeaders(h,
		ratelimit.Result{Policy: perSecond(), Allowed: true, Remaining: 3, Reset: 300 * time.Millisecond},
		ratelimit.Result{},
		ratelimit.Result{
			Policy: ratelimit.Policy{Name: "default", Quantity: 120, Window: time.Minute}, Remaining: 0,
			Reset: 2100 * time.Millisecond,
		},
	)
	want := http.Header{}
	want.Set("RateLimit-Policy", `"client";q=5;w=5, "default";q=120;w=60`)
	want.Set("RateLimit", `"client";r=3;t=1, "default";r=0;t=3`)
	if diff := cmp.Diff(want, h); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func TestProblem(t *testing.T) {
	t.Parallel()
	p := ratelimit.Problem(ratelimit.Result{Policy: perSecond(), RetryAfter: 10 * time.Millisecond})
	if p.Code != "rate_limited" || p.Detail != "At most one request per second is allowed. Retry after 1 second." ||
		p.RetryAfter != time.Second {
		t.Errorf("Problem = %+v", p)
	}
	p = ratelimit.Problem(ratelimit.Result{Policy: perSecond(), TooCostly: true})
	if p.Code != "cost_too_high" {
		t.Errorf("Problem of a cost over the burst = %+v", p)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	good := perSecond()
	tests := []struct {
		name   string
		change func(*ratelimit.Policy)
		ok     bool
	}{
		{"good", func(*ratelimit.Policy) {}, true},
		{"quote in the name", func(p *ratelimit.Policy) { p.Name = `a"b` }, false},
		{"no name", func(p *ratelimit.Policy) { p.Name = "" }, false},
		{"no quantity", func(p *ratelimit.Policy) { p.Quantity = 0 }, false},
		{"no window", func(p *ratelimit.Policy) { p.Window = 0 }, false},
		{"window of days", func(p *ratelimit.Policy) { p.Window = 48 * time.Hour }, false},
		{"negative burst", func(p *ratelimit.Policy) { p.Burst = -1 }, false},
	}
	for _, tt := range tests {
		p := good
		tt.change(&p)
		if err := p.Validate(); (err == nil) != tt.ok {
			t.Errorf("%s: Validate() = %v, want ok %v", tt.name, err, tt.ok)
		}
	}
}

func TestClientKey(t *testing.T) {
	t.Parallel()
	key := func(s string) string { return ratelimit.ClientKey(netip.MustParseAddr(s)) }
	if key("192.0.2.1") == key("192.0.2.2") || key("192.0.2.1") != key("::ffff:192.0.2.1") {
		t.Error("IPv4 addresses are not one client each")
	}
	if key("2001:db8::1") != key("2001:db8::ffff") || key("2001:db8::1") == key("2001:db8:0:1::1") {
		t.Error("IPv6 clients are not one per /64")
	}
}

func BenchmarkGCRA(b *testing.B) {
	l := ratelimit.NewTable(nil).Limiter(perSecond())
	keys := make([]string, 1<<20)
	for i := range keys {
		var k [8]byte
		binary.BigEndian.PutUint64(k[:], rand.Uint64())
		keys[i] = string(k[:])
	}
	b.Run("one client", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = l.Allow(context.Background(), "client", 1)
		}
	})
	b.Run("million clients", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			i := rand.Uint32()
			for pb.Next() {
				i = i*1664525 + 1013904223
				_, _ = l.Allow(context.Background(), keys[i>>12], 1)
			}
		})
	})
}

func BenchmarkWindow(b *testing.B) {
	l := ratelimit.NewWindow(ratelimit.Policy{Name: "default", Quantity: 120, Window: time.Minute}, nil)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = l.Allow(context.Background(), "key_0123456789", 1)
	}
}

func BenchmarkWriteHeaders(b *testing.B) {
	h := http.Header{}
	r := ratelimit.Result{Policy: perSecond(), Remaining: 3, Reset: time.Second}
	b.ReportAllocs()
	for b.Loop() {
		ratelimit.WriteHeaders(h, r)
	}
}
