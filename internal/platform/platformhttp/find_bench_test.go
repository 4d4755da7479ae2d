package platformhttp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"ace/catalog"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/platform/apikey"
	"ace/internal/platform/library"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/findhttp"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/toolindex"
)

// BenchmarkFindTools measures POST /tools/find over all curated apps, without a
// socket, and the search alone, in processor time.
//
//	go test -run '^$' -bench FindTools ./internal/platform/platformhttp
func BenchmarkFindTools(b *testing.B) {
	apps, err := library.Read(catalog.Files, "curated", nil)
	if err != nil {
		b.Fatal(err)
	}
	shelf, err := library.New(apps, nil)
	if err != nil {
		b.Fatal(err)
	}
	mux := httpserver.NewMux(nil)
	handler := &findhttp.Handler{BaseURL: base, Operations: operation.New(operation.Ports{Library: shelf}, base)}
	handler.Describe(openapi.New(mux, "Test", "1", nil), "/api/v1", "key")
	const task = "send an email to my boss about the meeting tomorrow"
	ctx := gate.With(
		b.Context(),
		&gate.Caller{Account: "acc_1", Key: &apikey.Key{AccountID: "acc_1", Permissions: apikey.Read}},
	)
	work := func() time.Duration {
		var used syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
			b.Fatal(err)
		}
		return time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	b.Run("request", func(b *testing.B) {
		before := work()
		for b.Loop() {
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/v1/tools/find",
				strings.NewReader(`{"task":"`+task+`"}`))
			r.Header.Set("Content-Type", "application/json")
			got := httptest.NewRecorder()
			mux.ServeHTTP(got, r)
			if got.Code != http.StatusOK {
				b.Fatalf("%d %s", got.Code, got.Body)
			}
		}
		b.ReportMetric(float64(work()-before)/float64(b.N), "cpu-ns/op")
	})
	b.Run("search", func(b *testing.B) {
		before := work()
		for b.Loop() {
			shelf.Shared().Index.Find(toolindex.Query{Task: task, Limit: 8})
		}
		b.ReportMetric(float64(work()-before)/float64(b.N), "cpu-ns/op")
	})
}
