package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/ratelimit/redislimit/redistest"
	"ace/test/harness"
)

// status makes a call that the limit counts and returns its status.
func (w *world) status(path string) (int, http.Header) {
	w.t.Helper()
	res, err := http.Get(w.store + path)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode, res.Header
}

const limitedPath = "/agent/commerce/products"

// hammer calls the stores in turn and returns how many calls were served. It
// fails on anything but a response or a refusal that says to wait for a second,
// or for wait.
func hammer(t *testing.T, calls int, wait string, stores ...*world) int {
	t.Helper()
	served := 0
	for i := range calls {
		code, h := stores[i%len(stores)].status(limitedPath)
		switch {
		case code == http.StatusOK:
			served++
		case code != http.StatusTooManyRequests || h.Get("Retry-After") != "1" && h.Get("Retry-After") != wait:
			t.Fatalf("call %d = %d with Retry-After %q", i, code, h.Get("Retry-After"))
		}
	}
	return served
}

// The running store serves one call a second with a burst: five, or one where
// that is asked for.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	for _, burst := range []int{1, 5} {
		w := start(t, "ACE_RATE_LIMIT=on", "ACE_RATE_BURST_API="+string(rune('0'+burst)))
		began := time.Now()
		served := hammer(t, 40, "1", w)
		if most := burst + int(time.Since(began)/time.Second) + 1; served < burst || served > most {
			t.Errorf("burst %d: %d of 40 calls served in %s, want from %d to %d", burst, served, time.Since(began),
				burst, most)
		}
	}
}

// Two replicas that share a Redis keep one limit. When it is killed each goes
// on with its own part, and says so once.
func TestReplicasShareTheLimit(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	key := harness.DataDir(t) + "/master.key" // the same on every replica: keys in Redis depend on it
	settings := []string{"ACE_RATE_LIMIT=on", "ACE_REDIS_URL=" + redis.URL, "ACE_MASTER_KEY_FILE=" + key}
	one := start(t, settings...)
	two := start(t, settings...)
	began := time.Now()
	served := hammer(t, 40, "1", one, two)
	if most := 5 + int(time.Since(began)/time.Second) + 1; served < 5 || served > most {
		t.Errorf("two replicas served %d of 40 calls in %s, want from 5 to %d", served, time.Since(began), most)
	}

	redis.Kill()
	time.Sleep(1100 * time.Millisecond) // the refusals that are remembered end
	began = time.Now()
	served = hammer(t, 60, "2", one, two)
	if most := 2 * (5 + int(time.Since(began)/time.Second) + 1); served < 2 || served > most {
		t.Errorf("without Redis two replicas served %d of 60 calls in %s, want from 2 to %d", served, time.Since(began),
			most)
	}
	for _, w := range []*world{one, two} {
		if n := strings.Count(w.process.Output(), "redis is unavailable"); n != 1 {
			t.Errorf("%d lines say that Redis is unavailable, want 1:\n%s", n, w.process.Output())
		}
	}
}
