package toolhttp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
)

// cpu is the time that this process, the app and the caller included, has
// worked so far.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkRun measures what a run costs over calling the app directly: the same
// call of the same app, over sockets, by itself and through the platform with
// its key, checks, connection and record of the run.
//
//	go test -run '^$' -bench Run ./internal/platform/platformhttp/toolhttp
func BenchmarkRun(b *testing.B) {
	w := setup(b)
	platform := httptest.NewServer(w.handler)
	b.Cleanup(platform.Close)
	key := w.key(nil)
	calls := []struct{ name, url, body, bearer string }{
		{"direct read", w.provider.server.URL + "/search?n=3", "", "token-secret-1"},
		{"direct write", w.provider.server.URL + "/tickets", `{"title":"a"}`, "token-secret-1"},
		{"run read", platform.URL + "/api/v1/tools/desk__search/run", `{"arguments":{}}`, key},
		{"run write", platform.URL + "/api/v1/tools/desk__create/run", `{"arguments":{"title":"a"}}`, key},
		{"run dry", platform.URL + "/api/v1/tools/desk__create/run", `{"arguments":{"title":"a"},"dry_run":true}`, key},
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	send := func(b *testing.B, url, body, bearer string) {
		b.Helper()
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		req, err := http.NewRequestWithContext(b.Context(), method, url, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+bearer)
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode > 299 {
			b.Fatalf("%s answers %s", url, res.Status)
		}
	}
	for _, c := range calls {
		b.Run(c.name, func(b *testing.B) {
			before := cpu(b)
			for b.Loop() {
				send(b, c.url, c.body, c.bearer)
			}
			b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
		})
		b.Run(c.name+" parallel", func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					send(b, c.url, c.body, c.bearer)
				}
			})
		})
	}
}
