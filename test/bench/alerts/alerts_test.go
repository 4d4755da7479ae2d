package alerts

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/util/teststorage"
)

const folder = "../../../deploy/observability"

// rules returns the rules of a file, which Prometheus accepts.
func rules(t *testing.T, file string) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(filepath.Join(folder, file), false, model.UTF8Validation,
		parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatalf("%s: %v", file, errs)
	}
	var all []rulefmt.Rule
	for _, g := range groups.Groups {
		all = append(all, g.Rules...)
	}
	return all
}

// recorded finds the names of recording rules in an expression.
var recorded = regexp.MustCompile(`\bace:[a-z0-9_:]+`)

// whole replaces recorded series by their expressions: without a server, nothing
// records them.
func whole(t *testing.T, expr string) string {
	t.Helper()
	records := map[string]string{}
	for _, r := range rules(t, "rules.yaml") {
		records[r.Record] = r.Expr
	}
	for recorded.MatchString(expr) {
		expr = recorded.ReplaceAllStringFunc(expr, func(name string) string {
			if records[name] == "" {
				t.Fatalf("nothing records %s", name)
			}
			return "(" + records[name] + ")"
		})
	}
	return expr
}

// holds reports whether a condition has results at a minute.
func holds(t *testing.T, engine *promql.Engine, series *teststorage.TestStorage, expr string, minute int) bool {
	t.Helper()
	at := time.Unix(0, 0).Add(time.Duration(minute) * time.Minute)
	q, err := engine.NewInstantQuery(t.Context(), series, nil, expr, at)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	v, err := q.Exec(t.Context()).Vector()
	if err != nil {
		t.Fatal(err)
	}
	return len(v) > 0
}

// TestAlerts lets each alert fire and clear. The minutes are those in which it
// first fires, evaluated each minute with its time to wait, and in which it is
// clear again; 0: it does not fire.
func TestAlerts(t *testing.T) {
	tests := []struct {
		name, alert, series string
		until               int // minutes
		fires, clears       int
	}{
		{"a host fails entirely for 20 of 100 minutes", "AceBudgetFast", `
			ace_http_requests_total{host="store",code="2xx"} 0+100x30 3000+0x20 3000+100x160
			ace_http_requests_total{host="store",code="5xx"} 0x30 0+100x20 2000+0x160`, 200, 34, 80},
		{"a failure among few requests", "AceBudgetFast", `
			ace_http_requests_total{host="store",code="2xx"} 0+1x200
			ace_http_requests_total{host="store",code="5xx"} 0x30 0+1x3 3+0x160`, 200, 0, 0},
		{"busy responses are failures", "AceBudgetFast", `
			ace_http_requests_total{host="store",code="2xx"} 0+100x100
			ace_http_requests_total{host="store",code="503"} 0+10x100`, 50, 3, 0},
		{"refusals of bad requests are no failures", "AceBudgetFast", `
			ace_http_requests_total{host="store",code="2xx"} 0+100x100
			ace_http_requests_total{host="store",code="4xx"} 0+100x100
			ace_http_requests_total{host="store",code="429"} 0+100x100`, 100, 0, 0},
		{"one of 1000 fails all the time", "AceBudgetSlow", `
			ace_http_requests_total{host="platform",code="2xx"} 0+999x600
			ace_http_requests_total{host="platform",code="5xx"} 0+1x600`, 120, 61, 0},
		{"one of 10000 fails all the time", "AceBudgetSlow", `
			ace_http_requests_total{host="platform",code="2xx"} 0+9999x600
			ace_http_requests_total{host="platform",code="5xx"} 0+1x600`, 120, 0, 0},
		{"a panic", "AcePanics", `ace_http_panics_total{host="store"} 0x10 1+0x60`, 60, 11, 25},
		{"no sweep for half an hour", "AceSweepStuck", `ace_cluster_sweep_age_seconds 0+60x40 0+0x20`, 60, 31, 41},
		{"the processor is unavailable", "AceProcessorDown", `
			ace_processor_calls_total{operation="read_page",outcome="ok"} 0+10x10 100+0x20 100+10x60
			ace_processor_calls_total{operation="read_page",outcome="unavailable"} 0x10 0+10x20 200+0x60`, 80, 23, 39},
		{"orders in review", "AceOrdersNeedPerson", `
			ace_cluster_orders_attention{status="review"} 0x5 2x40 0x20
			ace_cluster_orders_attention{status="refund_due"} 0x70`, 65, 36, 47},
		{"money is late", "AceMoneyLate", `
			ace_cluster_job_oldest_due_seconds{lane="money"} 0x5 180x20 0x20`, 45, 11, 27},
		{"other lanes may be late", "AceMoneyLate", `ace_cluster_job_oldest_due_seconds{lane="run"} 180x40`, 40, 0, 0},
		{"deliveries are late", "AceLaneLate", `
			ace_cluster_job_oldest_due_seconds{lane="deliver"} 0x5 400x20 0x20`, 45, 11, 27},
		{"runs are late by less than 15 minutes", "AceLaneLate", `
			ace_cluster_job_oldest_due_seconds{lane="run"} 400x40`, 40, 0, 0},
		{"runs are late", "AceLaneLate", `ace_cluster_job_oldest_due_seconds{lane="run"} 1000x40`, 40, 5, 0},
		{"a parked job", "AceJobsParked", `ace_cluster_jobs_parked{kind="order.event"} 1x20 0x20`, 40, 10, 21},
		{"deliveries of triggers are late", "AceDeliveriesLate", `
			ace_cluster_delivery_oldest_due_seconds 301x20 0x20`, 40, 10, 21},
		{"a vendor refuses the client", "AceOauthClientBroken", `
			ace_refreshes_total{app="github",class="ok"} 0+1x90
			ace_refreshes_total{app="github",class="client_broken"} 0x10 1+0x80`, 90, 16, 40},
		{"an app fails", "AceAppDown", `
			ace_runs_total{app="github",outcome="succeeded",mode="wait"} 0+1x100
			ace_runs_total{app="github",outcome="failed",mode="wait"} 0+3x40 120+0x60`, 100, 21, 50},
		{"an app with few runs fails", "AceAppDown", `
			ace_runs_total{app="github",outcome="failed",mode="wait"} 0+1x100`, 100, 0, 0},
		{"a replica is not ready", "AceNotReady", `ace_ready{instance="a"} 1x5 0x20 1x20
			ace_ready{instance="b"} 1x60`, 50, 11, 27},
		{"a rolling restart", "AceNotReady", `ace_ready{instance="a"} 1x5 0x3 1x20`, 25, 0, 0},
		{"no replica reads the counts", "AceCountsMissing", `ace_cluster_up{instance="a"} 0x20 1x20
			ace_cluster_up{instance="b"} 0x50`, 40, 5, 21},
		{"one replica reads the counts", "AceCountsMissing", `ace_cluster_up{instance="a"} 0x50
			ace_cluster_up{instance="b"} 1x50`, 40, 0, 0},
		{"connections are waited for", "AceDbPoolTight", `
			ace_db_pool_wait_seconds_total{instance="a",pool="read"} 0+60x60
			ace_db_pool_waits_total{instance="a",pool="read"} 0+120x60`, 60, 13, 0},
		{"connections are waited for shortly", "AceDbPoolTight", `
			ace_db_pool_wait_seconds_total{instance="a",pool="read"} 0+6x60
			ace_db_pool_waits_total{instance="a",pool="read"} 0+120x60`, 60, 0, 0},
		{"secrets cannot be opened", "AceVaultTrouble", `ace_vault_trouble{instance="a"} 0x5 1x10 0x10`, 25, 8, 17},
		{"a protection is off", "AceRelaxed", `
			ace_config_relaxed{what="egress"} 0x3 1x5 0x10
			ace_config_relaxed{what="dev_tls"} 0x10`, 15, 4, 10},
		{"two versions", "AceVersionSkew", `
			ace_build_info{instance="a",version="v1"} 1x120
			ace_build_info{instance="b",version="v2"} 1x90 _x30`, 120, 60, 95},
		{"one version", "AceVersionSkew", `
			ace_build_info{instance="a",version="v1"} 1x120
			ace_build_info{instance="b",version="v1"} 1x120`, 120, 0, 0},
	}
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	all, tested := map[string]rulefmt.Rule{}, map[string]bool{}
	for _, r := range rules(t, "alerts.yaml") {
		all[r.Alert] = r
	}
	for _, tt := range tests {
		t.Run(tt.alert+": "+tt.name, func(t *testing.T) {
			rule, ok := all[tt.alert]
			if !ok {
				t.Fatal("no such alert")
			}
			tested[tt.alert] = true
			series := promqltest.LoadedStorage(t, "load 1m\n"+strings.ReplaceAll(strings.TrimLeft(tt.series, "\n"), "\t", "  "))
			expr := whole(t, rule.Expr)
			wait, since, fired, cleared := int(time.Duration(rule.For)/time.Minute), -1, 0, 0
			for minute := 0; minute <= tt.until; minute++ {
				if !holds(t, engine, series, expr, minute) {
					if since = -1; fired > 0 && cleared == 0 {
						cleared = minute
					}
					continue
				}
				if since < 0 {
					since = minute
				}
				if minute-since >= wait && fired == 0 {
					fired = minute
				}
			}
			if fired != tt.fires || cleared != tt.clears {
				t.Errorf("fires in minute %d and clears in %d, want %d and %d (0: never)", fired, cleared, tt.fires, tt.clears)
			}
		})
	}
	for name := range all {
		if !tested[name] {
			t.Errorf("no test lets %s fire", name)
		}
	}
}

// TestDashboard parses every expression of the dashboard.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(folder, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, p := range board.Panels {
		for _, q := range p.Targets {
			count++
			if _, err := parser.NewParser(parser.Options{}).ParseExpr(whole(t, q.Expr)); err != nil {
				t.Errorf("%s: %v", p.Title, err)
			}
		}
	}
	if count < 40 {
		t.Errorf("%d expressions: the test reads the wrong file", count)
	}
}
