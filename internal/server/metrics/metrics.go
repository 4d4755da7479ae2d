// Package metrics counts what a process does, for Prometheus. It implements the
// observers that other packages declare, so that those know no Prometheus.
//
//	httpserver, jobs, egress, tool, connection, trigger ── Observer ──┐
//	checkout.Processor, checkout.Store, ratelimit.Limiter ── wrapped ─┼──> Metrics ──> Handler
//	connection pools, storage.Levels, readiness ── read at a scrape ──┘
//
// No label takes a value that callers choose: each is a constant of the program,
// or passes through bounded, which admits a fixed number of values and calls
// the rest "other".
package metrics

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"ace/internal/foundation/sqldb"
	"ace/internal/storage"
)

// Most values of labels.
const (
	maxRoutes   = 400
	maxApps     = 200
	maxProblems = 300
	maxKinds    = 60
	maxEvidence = 30
)

// Metrics are the metrics of one process. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	routes, apps, codes, kinds, evidence bounded

	requests    *prometheus.CounterVec
	duration    *prometheus.HistogramVec
	inFlight    *prometheus.GaugeVec
	panics      *prometheus.CounterVec
	problems    *prometheus.CounterVec
	jobs        *prometheus.CounterVec
	jobSeconds  *prometheus.HistogramVec
	laneBusy    *prometheus.GaugeVec
	outbound    *prometheus.CounterVec
	outSeconds  *prometheus.HistogramVec
	denied      *prometheus.CounterVec
	runs        *prometheus.CounterVec
	runSeconds  prometheus.Histogram
	refreshes   *prometheus.CounterVec
	refreshTime prometheus.Histogram
	deliveries  *prometheus.CounterVec
	postSeconds prometheus.Histogram
	processor   *prometheus.CounterVec
	procSeconds *prometheus.HistogramVec
	moves       *prometheus.CounterVec
	orders      *prometheus.CounterVec
	limits      *prometheus.CounterVec
}

// Build is which program runs.
type Build struct{ Version, Revision, Go string }

// New returns the metrics of a process that was built so.
func New(b Build) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		routes:   bounded{most: maxRoutes}, apps: bounded{most: maxApps},
		codes: bounded{most: maxProblems}, kinds: bounded{most: maxKinds}, evidence: bounded{most: maxEvidence},
	}
	m.registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	build := m.gauge("build_info", "Which program runs; always 1.", "version", "revision", "go")
	build.WithLabelValues(b.Version, b.Revision, b.Go).Set(1)

	m.requests = m.counter("http_requests_total", "Requests that ended.", "host", "route", "method", "code")
	m.duration = m.histogram("http_request_seconds", "How long requests took, long polls included.", requestBuckets(),
		"host", "route")
	m.inFlight = m.gauge("http_in_flight", "Requests that are being served.", "host")
	m.panics = m.counter("http_panics_total", "Requests whose handler panicked.", "host")
	m.problems = m.counter("problems_total", "Failures, by the codes of docs/errors.md.", "host", "code")
	m.limits = m.counter("ratelimit_decisions_total", "Decisions of the request limits.", "policy", "decision")
	m.outbound = m.counter("outbound_calls_total", "Calls of servers elsewhere.", "purpose", "outcome")
	m.outSeconds = m.histogram("outbound_seconds", "How long calls took up to the header of the response.",
		outboundBuckets(), "purpose")
	m.denied = m.counter("egress_denied_total", "Calls that the rules for addresses refused.", "purpose", "reason")
	m.runs = m.counter("runs_total", "Runs of tools that ended.", "app", "outcome", "mode")
	m.runSeconds = m.histogram("run_seconds", "How long runs took.", outboundBuckets()).
		WithLabelValues().(prometheus.Histogram)
	m.refreshes = m.counter("refreshes_total", "Renewals of credentials at vendors.", "app", "class")
	m.refreshTime = m.histogram("refresh_seconds", "How long vendors took to renew credentials.", outboundBuckets()).
		WithLabelValues().(prometheus.Histogram)
	m.deliveries = m.counter("deliveries_total", "Attempts to deliver events of triggers.", "attempt", "outcome")
	m.postSeconds = m.histogram("delivery_seconds", "How long receivers of events took.", outboundBuckets()).
		WithLabelValues().(prometheus.Histogram)
	m.processor = m.counter("processor_calls_total", "Calls of the payment processor.", "operation", "outcome")
	m.procSeconds = m.histogram("processor_seconds", "How long the payment processor took.", outboundBuckets(),
		"operation")
	m.moves = m.counter("checkout_moves_total", "Changes of checkout sessions.", "to", "evidence")
	m.orders = m.counter("orders_total", "Orders that were created.", "status", "live")
	m.jobs = m.counter("jobs_total", "Jobs that ran.", "lane", "kind", "outcome")
	m.jobSeconds = m.histogram("job_seconds", "How long jobs ran.", outboundBuckets(), "kind")
	m.laneBusy = m.gauge("lane_busy", "Jobs that run in this process.", "lane")
	return m
}

// Sources are what is read at each scrape.
type Sources struct {
	Ready   func(ctx context.Context) error // nil: ready
	Vault   func() string                   // what is wrong with the vault; empty: nothing
	Pools   func() map[string]sqldb.Pool
	Levels  func(ctx context.Context) (*storage.Levels, error)
	Relaxed map[string]bool // protections, and whether settings switched them off
}

// Handler registers the sources and serves all metrics.
func (m *Metrics) Handler(s Sources) http.Handler {
	m.registry.MustRegister(newReader(s))
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: 4, Timeout: 10 * time.Second, EnableOpenMetrics: true,
		// One source that fails takes no other metric away.
		ErrorHandling: promhttp.ContinueOnError,
	})
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "ace", Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "ace", Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "ace", Name: name, Help: help, Buckets: buckets,
	}, labels)
	m.registry.MustRegister(v)
	return v
}

// requestBuckets are the limits of durations of requests, in seconds.
func requestBuckets() []float64 {
	return []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}
}

// outboundBuckets are the limits of durations of calls elsewhere, in seconds.
func outboundBuckets() []float64 { return []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120} }
