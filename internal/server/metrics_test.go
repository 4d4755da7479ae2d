package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/config"
)

// TestMetricsOfAServer reads the metrics of a server at work, with and without
// the token of profiles, which they do not need.
func TestMetricsOfAServer(t *testing.T) {
	t.Parallel()
	h := newHostWith(t, Options{}, func(c *config.Settings) { c.RateLimit = "on" })
	admin, err := h.admin()
	if err != nil {
		t.Fatal(err)
	}
	ann := h.party(t, "ann")
	ann.must(http.StatusOK, http.MethodGet, "/me", "")
	ann.must(http.StatusNotFound, http.MethodGet, "/runs/run_unknown", "")
	w := httptest.NewRecorder()
	admin.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`ace_http_requests_total{code="2xx",host="platform",method="GET",route="/api/v1/me"} 1`,
		`ace_http_requests_total{code="4xx",host="platform",method="GET",route="/api/v1/runs/{id}"} 1`,
		`ace_problems_total{code="run_not_found",host="platform"} 1`,
		`ace_ratelimit_decisions_total{decision="allowed",policy="`,
		`ace_config_relaxed{what="rate_limit"} 0`,
		`ace_cluster_jobs{lane="house",state="waiting"}`,
		`ace_cluster_up 1`, `ace_ready `, `ace_vault_trouble 0`, `ace_db_pool_max_conns{pool="write"} 1`,
	} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("GET /metrics = %d without %s", w.Code, want)
		}
	}
	if text := w.Body.String(); strings.Contains(text, ann.secret) || strings.Contains(text, ann.account.ID) {
		t.Error("the metrics name an account or its key")
	}
	if t.Failed() {
		for line := range strings.SplitSeq(w.Body.String(), "\n") {
			if strings.HasPrefix(line, "ace_") && !strings.Contains(line, "_bucket") {
				t.Log(line)
			}
		}
	}
}
