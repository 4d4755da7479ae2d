package metrics

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/ratelimit"
	"ace/internal/foundation/sqldb"
	"ace/internal/platform/connection"
	"ace/internal/platform/tool"
	"ace/internal/platform/trigger"
	"ace/internal/storage"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/order"
)

// sources are those of a server at work.
func sources() Sources {
	return Sources{
		Ready: func(context.Context) error { return nil },
		Vault: func() string { return "" },
		Pools: func() map[string]sqldb.Pool { return map[string]sqldb.Pool{"write": {Most: 1}, "read": {Most: 4}} },
		Levels: func(context.Context) (*storage.Levels, error) {
			return &storage.Levels{Parked: map[string]int{"k": 1}, SweptUntil: time.Now()}, nil
		},
		Relaxed: map[string]bool{"rate_limit": false},
	}
}

// scrape returns what Prometheus reads.
func scrape(t *testing.T, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("GET /metrics = %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// work lets one of everything happen. s chooses whatever a stranger may choose.
func work(m *Metrics, s string) {
	m.RequestStarted("store")
	m.RequestEnded("store", httpserver.RequestEnd{
		Method: s, Route: "GET /" + s, Status: 404, Problem: s, Elapsed: time.Second, Panicked: true,
	})
	m.JobStarted(jobs.LaneMoney)
	m.JobEnded(jobs.LaneMoney, s, jobs.OutcomeDone, time.Second)
	m.Called(egress.Call{Purpose: "webhook", Status: 200, Elapsed: time.Second})
	m.Denied(context.Background(), egress.Denial{Purpose: "webhook", Host: s, Reason: egress.ReasonAddress})
	for _, app := range []string{s, "x-" + s} {
		m.RunEnded(&tool.Run{App: app, Tool: s, KeyID: s, AccountID: s, EndUser: s, Status: tool.Succeeded})
		m.Refreshed(app, connection.GrantOver, time.Second)
	}
	m.Attempted(1, trigger.Delivered, time.Second)
	m.changed(checkout.Change{
		Session:  &checkout.Session{ID: s, State: checkout.Completed},
		Evidence: s, Order: &order.Order{ID: s, Status: order.Confirmed, Paid: order.Paid{Currency: s}},
	})
	(&countedProcessor{metrics: m}).called("read_page", time.Now(), nil)
	_, _ = m.Limiter("client", ratelimit.Unlimited{}).Allow(context.Background(), s, 1)
}

// TestEveryMetric holds names, types, labels and help of all metrics against a
// list that people read: dashboards and rules of others depend on it.
func TestEveryMetric(t *testing.T) {
	t.Parallel()
	m := New(Build{"v1", "abc", "go1"})
	h := m.Handler(sources())
	work(m, "one")
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "ace_") {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		got = append(got, fmt.Sprintf("%s %s{%s}", strings.ToLower(f.GetType().String()), f.GetName(),
			strings.Join(labels, ",")))
	}
	slices.Sort(got)
	want, err := os.ReadFile("testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), strings.Join(got, "\n")+"\n"); diff != "" {
		t.Errorf("metrics differ from testdata/metrics.txt (-want +got):\n%s", diff)
	}
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	if text := scrape(t, h); !strings.Contains(text, `ace_build_info{go="go1",revision="abc",version="v1"} 1`) {
		t.Errorf("the build is not in:\n%.2000s", text)
	}
}

// TestStrangersAddNoSeries lets strangers choose a value of their own for each of
// the dozen things that one may choose: more than a million values.
func TestStrangersAddNoSeries(t *testing.T) {
	t.Parallel()
	strangers, most := 100_000, 15_000
	if testing.Short() {
		strangers = 20_000
	}
	m := New(Build{})
	m.Handler(sources())
	for i := range strangers {
		work(m, fmt.Sprint("s", i))
	}
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	series, all := 0, 0.0
	for _, f := range families {
		for _, one := range f.GetMetric() {
			series++
			if h := one.GetHistogram(); h != nil {
				series += len(h.GetBucket()) + 2
			}
			if f.GetName() == "ace_http_requests_total" {
				all += one.GetCounter().GetValue()
			}
		}
	}
	if series > most || all != float64(strangers) {
		t.Errorf("%d series count %v requests, want at most %d that count %d", series, all, most, strangers)
	}
	for _, label := range []string{`app="connector"`, `app="other"`, `route="other"`, `method="other"`} {
		if !strings.Contains(scrape(t, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})), label) {
			t.Errorf("no series has %s", label)
		}
	}
}

// TestOutcomes names the outcome of each way that a call may end.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	refused := egress.New(nil).Check(egress.Webhook(), "http://127.0.0.1/")
	tests := []struct {
		want string
		call egress.Call
	}{
		{"ok", egress.Call{Status: 204}},
		{"ok", egress.Call{Status: 302}},
		{"throttled", egress.Call{Status: 429}},
		{"refused_4xx", egress.Call{Status: 404}},
		{"error_5xx", egress.Call{Status: 503}},
		{"policy", egress.Call{Err: refused}},
		{"timeout", egress.Call{Err: problem.New(problem.Timeout, "target_timeout", "t")}},
		{"timeout", egress.Call{Err: context.DeadlineExceeded}},
		{"canceled", egress.Call{Err: context.Canceled}},
		{"dial", egress.Call{Err: problem.New(problem.Unavailable, "target_unreachable", "t")}},
		{"broken", egress.Call{Err: errors.New("x")}},
	}
	for _, tt := range tests {
		if got := callOutcome(tt.call); got != tt.want {
			t.Errorf("callOutcome(%+v) = %s, want %s", tt.call, got, tt.want)
		}
	}
	for status, want := range map[int]string{0: "none", 200: "2xx", 429: "429", 404: "4xx", 503: "503", 500: "5xx"} {
		if got := codeLabel(status); got != want {
			t.Errorf("codeLabel(%d) = %s, want %s", status, got, want)
		}
	}
}

// TestLimiterKeepsItsKind holds that a limiter which gives units back still does.
func TestLimiterKeepsItsKind(t *testing.T) {
	t.Parallel()
	m := New(Build{})
	policy := ratelimit.Policy{Name: "client", Quantity: 1, Window: time.Hour, Burst: 1}
	limiter := m.Limiter(policy.Name, ratelimit.NewTable(nil).Limiter(policy))
	allow := func(cost int) bool {
		r, err := limiter.Allow(t.Context(), "k", cost)
		if err != nil {
			t.Fatal(err)
		}
		return r.Allowed
	}
	if !allow(1) || allow(1) {
		t.Fatal("the limiter does not limit")
	}
	allow(0)
	if _, err := limiter.(ratelimit.Refunder).Refund(t.Context(), "k", 1); err != nil || !allow(1) {
		t.Errorf("a unit that was given back is not there: %v", err)
	}
	for decision, want := range map[string]float64{"allowed": 2, "refused": 1} {
		if got := testutil.ToFloat64(m.limits.WithLabelValues("client", decision)); got != want {
			t.Errorf("%v decisions %s, want %v", got, decision, want)
		}
	}
	if _, ok := m.Limiter("x", ratelimit.Unlimited{}).(ratelimit.Refunder); ok {
		t.Error("a limiter that gives nothing back says that it does")
	}
}

// TestDatabaseAway holds that a database that does not respond takes away its
// own metrics and no others, and is asked once per levelsFor.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	asked, s := 0, sources()
	s.Ready = func(context.Context) error { return errors.New("away") }
	s.Levels = func(context.Context) (*storage.Levels, error) { asked++; return nil, errors.New("away") }
	text := scrape(t, New(Build{}).Handler(s))
	for _, want := range []string{"ace_ready 0", "ace_cluster_up 0", "ace_db_pool_max_conns"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(text, "ace_cluster_jobs") || asked != 1 {
		t.Errorf("asked %d times; jobs are shown that were not counted", asked)
	}
	s = sources()
	levels := s.Levels
	asked = 0
	s.Levels = func(ctx context.Context) (*storage.Levels, error) { asked++; return levels(ctx) }
	r := newReader(s)
	for range 5 {
		if testutil.CollectAndCount(r, "ace_cluster_jobs") != 2*len(jobs.AllLanes()) {
			t.Error("not every lane is shown")
		}
	}
	if asked != 1 {
		t.Errorf("the database was asked %d times within %v, want once", asked, levelsFor)
	}
}
