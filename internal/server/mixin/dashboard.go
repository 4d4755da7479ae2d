package mixin

// panel is one graph: at most three expressions of the same unit.
type panel struct {
	title, unit string
	queries     []query
}

// query is an expression and the text of its line in the legend.
type query struct{ expr, legend string }

// row is a line of panels with a title.
type row struct {
	title  string
	panels []panel
}

// rows returns the seven rows of the dashboard, as an operator reads them: is the
// level held, what comes in, is money safe, then where it hurts.
func rows() []row {
	return []row{
		{"Budget", []panel{
			{"Share of the failures that 30 days allow, over 3 days", "percentunit", []query{
				{`ace:http_budget:spent_ratio3d`, "{{host}}"},
			}},
			{"Failed requests", "percentunit", []query{
				{`ace:http_errors:ratio_rate5m`, "{{host}} 5m"}, {`ace:http_errors:ratio_rate6h`, "{{host}} 6h"},
			}},
			{"Ready replicas", "short", []query{
				{`sum(ace_ready)`, "ready"}, {`count by (version) (ace_build_info)`, "{{version}}"},
			}},
		}},
		{"Traffic", []panel{
			{"Requests a second", "reqps", []query{
				{`sum by (host, code) (rate(ace_http_requests_total[5m]))`, "{{host}} {{code}}"},
			}},
			{"Duration of requests, long polls included", "s", []query{
				{`ace:http_request_seconds:p50_5m`, "{{host}} p50"},
				{`ace:http_request_seconds:p99_5m`, "{{host}} p99"},
			}},
			{"Problems by code", "reqps", []query{
				{`topk(10, sum by (host, code) (rate(ace_problems_total[5m])))`, "{{host}} {{code}}"},
			}},
			{"Requests being served, panics", "short", []query{
				{`sum by (host) (ace_http_in_flight)`, "{{host}}"},
				{`sum by (host) (increase(ace_http_panics_total[5m]))`, "{{host}} panics"},
			}},
			{"Decisions of limits", "reqps", []query{
				{`sum by (policy, decision) (rate(ace_ratelimit_decisions_total[5m]))`, "{{policy}} {{decision}}"},
			}},
		}},
		{
			"Money",
			[]panel{
				{"Orders an hour", "short", []query{
					{`sum by (status, live) (increase(ace_orders_total[1h]))`, "{{status}} live={{live}}"},
				}},
				{"Checkout sessions an hour, by new state", "short", []query{
					{`sum by (to) (increase(ace_checkout_moves_total[1h]))`, "{{to}}"},
				}},
				{"Calls of the processor", "reqps", []query{
					{`sum by (operation, outcome) (rate(ace_processor_calls_total[5m]))`, "{{operation}} " +
						"{{outcome}}"},
				}},
				{
					"Duration of calls of the processor",
					"s",
					[]query{
						{
							`ace:processor_seconds:p50_5m`,
							"{{operation}} p50",
						},
						{`ace:processor_seconds:p99_5m`, "{{operation}} p99"},
					},
				},
				{"Orders that wait for a person", "short", []query{
					{`max by (status) (ace_cluster_orders_attention)`, "{{status}}"},
				}},
				{"Since payments were compared", "s", []query{{`max(ace_cluster_sweep_age_seconds)`, "sweep"}}},
			},
		},
		{"Tools and apps", []panel{
			{"Runs", "reqps", []query{
				{`sum by (outcome, mode) (rate(ace_runs_total[5m]))`, "{{outcome}} {{mode}}"},
			}},
			{"Failed runs by app", "reqps", []query{
				{`topk(10, sum by (app) (rate(ace_runs_total{outcome="failed"}[5m])))`, "{{app}}"},
			}},
			{"Duration of runs", "s", []query{
				{`ace:run_seconds:p50_5m`, "p50"}, {`ace:run_seconds:p99_5m`, "p99"},
			}},
			{"Calls of other servers", "reqps", []query{
				{`sum by (purpose, outcome) (rate(ace_outbound_calls_total[5m]))`, "{{purpose}} {{outcome}}"},
				{`sum by (purpose, reason) (rate(ace_egress_denied_total[5m]))`, "{{purpose}} denied: {{reason}}"},
			}},
			{"Duration of calls of other servers", "s", []query{
				{`ace:outbound_seconds:p50_5m`, "{{purpose}} " +
					"p50"}, {`ace:outbound_seconds:p99_5m`, "{{purpose}} p99"},
			}},
			{"Renewals of credentials", "reqps", []query{
				{`sum by (class) (rate(ace_refreshes_total[5m]))`, "{{class}}"},
			}},
			{"Duration of renewals", "s", []query{
				{`ace:refresh_seconds:p50_5m`, "p50"}, {`ace:refresh_seconds:p99_5m`, "p99"},
			}},
		}},
		{"Triggers and jobs", []panel{
			{"Deliveries", "reqps", []query{
				{`sum by (attempt, outcome) (rate(ace_deliveries_total[5m]))`, "attempt {{attempt}} {{outcome}}"},
			}},
			{"Duration of deliveries", "s", []query{
				{`ace:delivery_seconds:p50_5m`, "p50"}, {`ace:delivery_seconds:p99_5m`, "p99"},
			}},
			{"Waiting deliveries", "short", []query{{`max(ace_cluster_deliveries_pending)`, "pending"}}},
			{"Lateness", "s", []query{
				{`max by (lane) (ace_cluster_job_oldest_due_seconds)`, "{{lane}}"},
				{`max(ace_cluster_delivery_oldest_due_seconds)`, "deliveries of triggers"},
			}},
			{"Jobs", "short", []query{
				{`max by (lane, state) (ace_cluster_jobs)`, "{{lane}} {{state}}"},
				{`max by (kind) (ace_cluster_jobs_parked)`, "parked: {{kind}}"},
				{`sum by (lane) (ace_lane_busy)`, "{{lane}} busy"},
			}},
			{"Jobs a second", "ops", []query{
				{`sum by (kind, outcome) (rate(ace_jobs_total[5m]))`, "{{kind}} {{outcome}}"},
			}},
			{"Duration of jobs", "s", []query{
				{`ace:job_seconds:p50_5m`, "{{kind}} p50"}, {`ace:job_seconds:p99_5m`, "{{kind}} p99"},
			}},
		}},
		{"Database", []panel{
			{"Connections", "short", []query{
				{`sum by (pool, state) (ace_db_pool_conns)`, "{{pool}} {{state}}"},
				{`sum by (pool) (ace_db_pool_max_conns)`, "{{pool}} most"},
			}},
			{"Waits for a connection", "ops", []query{
				{`sum by (pool) (rate(ace_db_pool_waits_total[5m]))`, "{{pool}}"},
			}},
			{"Time waited for connections, per second", "s", []query{
				{`sum by (pool) (rate(ace_db_pool_wait_seconds_total[5m]))`, "{{pool}}"},
			}},
			{"Counts read", "short", []query{{`max(ace_cluster_up)`, "read"}}},
		}},
		{
			"Process",
			[]panel{
				{
					"Processor time",
					"short",
					[]query{{`rate(process_cpu_seconds_total{job=~".*ace.*"}[5m])`, "{{instance}}"}},
				},
				{"Memory", "bytes", []query{{`process_resident_memory_bytes{job=~".*ace.*"}`, "{{instance}}"}}},
				{"Goroutines", "short", []query{{`go_goroutines{job=~".*ace.*"}`, "{{instance}}"}}},
				{
					"Protections that are off, vault",
					"short",
					[]query{
						{
							`max by (what) (ace_config_relaxed)`,
							"{{what}}",
						},
						{`max by (instance) (ace_vault_trouble)`, "vault {{instance}}"},
					},
				},
			},
		},
	}
}

// The grid of Grafana has 24 columns.
const (
	columns     = 24
	panelWidth  = 8
	panelHeight = 7
)

type object = map[string]any

// board returns the dashboard in Grafana's format, schema 39.
func board() object {
	source := object{"type": "prometheus", "uid": "${datasource}"}
	var panels []object
	id, y := 0, 0
	add := func(p object, x, width, height int) {
		id++
		p["id"], p["gridPos"] = id, object{"x": x, "y": y, "w": width, "h": height}
		panels = append(panels, p)
	}
	for _, r := range rows() {
		add(object{"type": "row", "title": r.title, "collapsed": false, "panels": []object{}}, 0, columns, 1)
		y++
		for i, p := range r.panels {
			x := i * panelWidth % columns
			if i > 0 && x == 0 {
				y += panelHeight
			}
			var targets []object
			for n, q := range p.queries {
				targets = append(targets, object{
					"refId": string(rune('A' + n)), "expr": q.expr, "legendFormat": q.legend, "datasource": source,
				})
			}
			add(object{
				"type": "timeseries", "title": p.title, "datasource": source, "targets": targets,
				"fieldConfig": object{"defaults": object{"unit": p.unit, "min": 0}, "overrides": []object{}},
				"options":     object{"tooltip": object{"mode": "multi", "sort": "desc"}},
			}, x, panelWidth, panelHeight)
		}
		y += panelHeight
	}
	return object{
		"title": "ACE", "uid": "ace", "schemaVersion": 39, "editable": false, "refresh": "30s",
		"description": written, "tags": []string{"ace"}, "timezone": "utc",
		"time": object{"from": "now-6h", "to": "now"}, "panels": panels,
		"templating": object{"list": []object{{
			"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source",
		}}},
	}
}
