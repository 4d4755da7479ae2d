package mixin

import (
	"fmt"
	"strconv"
)

// The service level of each host: 99.95 % of its requests in 30 days are not our
// failure. Requests with 503, which are refused because the process is busy or
// stops, count as failures.
const (
	budget   = 0.0005
	failures = `code=~"5xx|503"`
)

// records returns the recording rules.
func records() []record {
	var all []record
	for _, w := range []string{"5m", "30m", "1h", "6h", "3d"} {
		// A host without failures has no series of them: its ratio is 0 all the same.
		all = append(all, record{"ace:http_errors:ratio_rate" + w, fmt.Sprintf(`(
  sum by (host) (rate(ace_http_requests_total{%[1]s}[%[2]s]))
  or
  sum by (host) (rate(ace_http_requests_total[%[2]s])) * 0
) / (sum by (host) (rate(ace_http_requests_total[%[2]s])) > 0)`, failures, w)})
	}
	for _, w := range []string{"5m", "30m", "6h"} { // the short windows of alerts
		all = append(all, record{
			"ace:http_requests:increase" + w,
			fmt.Sprintf(`sum by (host) (increase(ace_http_requests_total[%s]))`, w),
		})
	}
	for _, h := range []struct{ metric, by string }{
		{"http_request_seconds", "host"},
		{"outbound_seconds", "purpose"},
		{"processor_seconds", "operation"},
		{"job_seconds", "kind"},
		{"run_seconds", ""},
		{"refresh_seconds", ""},
		{"delivery_seconds", ""},
	} {
		by := "le"
		if h.by != "" {
			by += ", " + h.by
		}
		for _, q := range []int{50, 99} {
			all = append(all, record{
				"ace:" + h.metric + ":p" + strconv.Itoa(q) + "_5m",
				fmt.Sprintf(`histogram_quantile(0.%d, sum by (%s) (rate(ace_%s_bucket[5m])))`, q, by, h.metric),
			})
		}
	}
	return append(all, record{
		"ace:http_budget:spent_ratio3d",
		fmt.Sprintf(`ace:http_errors:ratio_rate3d / %v`, budget),
	})
}

// burn is the condition that a host fails faster than rate times its budget in
// both windows, with enough requests in the short one to say so.
func burn(rate float64, long, short string) string {
	limit := strconv.FormatFloat(rate*budget, 'g', -1, 64)
	return fmt.Sprintf(`(
  ace:http_errors:ratio_rate%[1]s > %[3]s
  and ace:http_errors:ratio_rate%[2]s > %[3]s
  and ace:http_requests:increase%[2]s >= 100
)`, long, short, limit)
}
