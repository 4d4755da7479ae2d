package site_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"ace/internal/storefront/site"
)

// big is a source of n pages with the paths of a shop and its manuals.
type big int

func (b big) List(context.Context) ([]site.Entry, error) {
	kinds := []string{"lamps", "tables", "chairs", "shelves", "sofas", "carpets", "curtains", "mirrors"}
	traits := []string{
		"oak", "walnut", "steel", "glass", "linen", "cotton", "marble", "bamboo", "leather", "brass",
		"copper", "velvet",
	}
	entries := make([]site.Entry, b)
	for i := range entries {
		entries[i] = site.Entry{Path: fmt.Sprintf("/products/%s/%s-%s-%s-%d", kinds[i%8], traits[i/8%12],
			traits[i/96%12], kinds[i%8][:4], i)}
	}
	return entries, nil
}

func (big) Read(context.Context, string) (*site.Page, error) { return nil, context.Canceled }

// cpu is how long this thread has worked: what a search costs, whatever else
// the machine does meanwhile.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	const thisThread = 1
	var u syscall.Rusage
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkSearch100k asks a site of 100,000 pages for words that most of them
// hold, misspelt ones and beginnings, and reports the slowest hundredth in wall
// time and in processor time.
func BenchmarkSearch100k(b *testing.B) {
	s := site.New(address(b), []site.Source{big(100_000)}, slog.New(slog.DiscardHandler), nil)
	if err := s.Refresh(b.Context()); err != nil {
		b.Fatal(err)
	}
	queries := []string{
		"products", "oak lamps", "walnt table", "products steel glass sofa", "le", "brass copper 4711",
		"mirors velvet", "p", "products lamps oak walnut steel glass linen cotton marble",
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took, worked []time.Duration
	for i := 0; b.Loop(); i++ {
		start, before := time.Now(), cpu(b)
		found, err := s.Search(b.Context(), site.Query{Words: queries[i%len(queries)]})
		took, worked = append(took, time.Since(start)), append(worked, cpu(b)-before)
		if err != nil || queries[i%len(queries)] != "p" && len(found.Results) == 0 {
			b.Fatal(queries[i%len(queries)], found, err)
		}
	}
	for name, times := range map[string][]time.Duration{"": took, "cpu-": worked} {
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2].Microseconds()), name+"p50-µs")
		b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), name+"p99-µs")
	}
}

// BenchmarkRefresh100k says what a change of such a site costs.
func BenchmarkRefresh100k(b *testing.B) {
	for b.Loop() {
		s := site.New(address(b), []site.Source{big(100_000)}, slog.New(slog.DiscardHandler), nil)
		if err := s.Refresh(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
