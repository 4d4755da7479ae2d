package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"ace/internal/foundation/jobs"
	"ace/internal/storage"
	"ace/internal/storefront/order"
)

const (
	// levelsFor is how long counts of the database are shown before it is asked
	// again.
	levelsFor = 15 * time.Second
	// readWithin bounds what is read at one scrape.
	readWithin = 5 * time.Second
)

// reader reads the sources at each scrape.
type reader struct {
	sources Sources
	metrics map[string]*prometheus.Desc

	mu     sync.Mutex // one scrape asks the database, others wait for what it read
	levels *storage.Levels
	readAt time.Time
}

func newReader(s Sources) *reader {
	r := &reader{sources: s, metrics: map[string]*prometheus.Desc{}}
	for _, d := range []struct {
		name, help string
		labels     []string
	}{
		{"ready", "1 while the process should get requests.", nil},
		{"vault_trouble", "1 while the process cannot open what others seal.", nil},
		{"config_relaxed", "1 if settings switched a protection off.", []string{"what"}},
		{"db_pool_conns", "Connections to the database.", []string{"pool", "state"}},
		{"db_pool_max_conns", "Most connections of a pool.", []string{"pool"}},
		{"db_pool_waits_total", "How often a connection was waited for.", []string{"pool"}},
		{"db_pool_wait_seconds_total", "How long connections were waited for.", []string{"pool"}},
		{"cluster_up", "1 if the counts of the database were read; otherwise ace_cluster_* are missing.", nil},
		{"cluster_jobs", "Jobs in the database.", []string{"lane", "state"}},
		{"cluster_job_oldest_due_seconds", "Since when the earliest job is due.", []string{"lane"}},
		{"cluster_jobs_parked", "Jobs that failed for the last time.", []string{"kind"}},
		{"cluster_orders_attention", "Orders that wait for a person.", []string{"status"}},
		{"cluster_sweep_age_seconds", "Since when payments were not compared with the processor's list.", nil},
		{"cluster_deliveries_pending", "Events of triggers that wait for their delivery.", nil},
		{"cluster_delivery_oldest_due_seconds", "Since when the earliest delivery is due.", nil},
	} {
		r.metrics[d.name] = prometheus.NewDesc("ace_"+d.name, d.help, d.labels, nil)
	}
	return r
}

// Describe implements prometheus.Collector.
func (r *reader) Describe(out chan<- *prometheus.Desc) {
	for _, d := range r.metrics {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (r *reader) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readWithin)
	defer cancel()
	gauge := func(name string, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(r.metrics[name], prometheus.GaugeValue, value, labels...)
	}
	counter := func(name string, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(r.metrics[name], prometheus.CounterValue, value, labels...)
	}
	gauge("ready", number(r.sources.Ready(ctx) == nil))
	gauge("vault_trouble", number(r.sources.Vault() != ""))
	for what, on := range r.sources.Relaxed {
		gauge("config_relaxed", number(on), what)
	}
	for pool, s := range r.sources.Pools() {
		gauge("db_pool_conns", float64(s.Used), pool, "used")
		gauge("db_pool_conns", float64(s.Idle), pool, "idle")
		gauge("db_pool_max_conns", float64(s.Most), pool)
		counter("db_pool_waits_total", float64(s.Waits), pool)
		counter("db_pool_wait_seconds_total", s.Waited.Seconds(), pool)
	}
	levels := r.current(ctx)
	gauge("cluster_up", number(levels != nil))
	if levels == nil {
		return
	}
	for _, lane := range jobs.AllLanes() {
		l := levels.Lanes[lane] // a lane without jobs is shown as empty, so that rules see it
		gauge("cluster_jobs", float64(l.Waiting), string(lane), "waiting")
		gauge("cluster_jobs", float64(l.Running), string(lane), "running")
		gauge("cluster_job_oldest_due_seconds", l.Late.Seconds(), string(lane))
	}
	for kind, n := range levels.Parked {
		gauge("cluster_jobs_parked", float64(n), kind)
	}
	for _, status := range []order.Status{order.Review, order.RefundDue} {
		gauge("cluster_orders_attention", float64(levels.Attention[status]), string(status))
	}
	if !levels.SweptUntil.IsZero() {
		gauge("cluster_sweep_age_seconds", max(time.Since(levels.SweptUntil).Seconds(), 0))
	}
	gauge("cluster_deliveries_pending", float64(levels.Deliveries))
	gauge("cluster_delivery_oldest_due_seconds", levels.DeliveryLate.Seconds())
}

// current returns what waits in the database, at most levelsFor old, or nil if
// it cannot be read.
func (r *reader) current(ctx context.Context) *storage.Levels {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.levels != nil && time.Since(r.readAt) < levelsFor {
		return r.levels
	}
	levels, err := r.sources.Levels(ctx)
	if err != nil {
		levels = nil // cluster_up says so
	}
	r.levels, r.readAt = levels, time.Now()
	return levels
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
