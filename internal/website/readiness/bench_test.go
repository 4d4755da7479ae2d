package readiness_test

import (
	"testing"

	"ace/internal/website/crawl"
	"ace/internal/website/crawl/crawltest"
	"ace/internal/website/readiness"
)

// BenchmarkAudit is the computing that one audit of seven pages takes; the
// network and the pauses between requests are left out.
func BenchmarkAudit(b *testing.B) {
	fetcher := crawltest.New(cleanWeb(b).full())
	auditor := readiness.New(fetcher, &readiness.Options{Crawl: &crawl.Options{Interval: -1}})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := auditor.Run(b.Context(), readiness.Request{URL: base}, nil); err != nil {
			b.Fatal(err)
		}
	}
}
