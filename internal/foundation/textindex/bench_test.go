package textindex_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/textindex"
)

// BenchmarkSearch100k asks one question after another of 100,000 pages and
// reports the slowest hundredth. "hard" holds what costs most: words of every
// page, beginnings that fit thousands of words, typos.
func BenchmarkSearch100k(b *testing.B) {
	all := bigSite(100_000)
	x := paths(all...)
	usual := make([]string, 0, 2000)
	for i := range 1000 {
		words := textindex.Words(all[i*97])
		w := words[3]
		usual = append(usual, strings.Join(words[1:3], " "), words[0]+" "+w[:1]+w[2:])
	}
	hard := []string{
		"docs blog products help guides api news shop", "docs blog products help guides api news shop ba ko", "ba",
		"bako", "docs ba", "st",
		"prodcts guidse", "docs documentation products api helo nwes shpo", "products " + strings.Repeat("x", 200),
		"k d s",
	}
	for _, group := range []struct {
		name    string
		queries []string
	}{{"usual", usual}, {"hard", hard}} {
		b.Run(group.name, func(b *testing.B) {
			took := make([]time.Duration, 0, b.N)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				x.Search(group.queries[i%len(group.queries)], 10, nil)
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// BenchmarkSearch100kTwoAtOnce is the same with two callers, one per core.
func BenchmarkSearch100kTwoAtOnce(b *testing.B) {
	all := bigSite(100_000)
	x := paths(all...)
	took := make(chan []time.Duration, 64)
	b.SetParallelism(max(1, 2/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		var mine []time.Duration
		for i := 0; pb.Next(); i++ {
			words := textindex.Words(all[i*89%len(all)])
			start := time.Now()
			x.Search(words[0]+" "+words[2], 10, nil)
			mine = append(mine, time.Since(start))
		}
		took <- mine
	})
	close(took)
	var each []time.Duration
	for mine := range took {
		each = append(each, mine...)
	}
	slices.Sort(each)
	b.ReportMetric(float64(each[len(each)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkBuild100k says what a change of the site costs.
func BenchmarkBuild100k(b *testing.B) {
	all := bigSite(100_000)
	b.ReportAllocs()
	for b.Loop() {
		paths(all...)
	}
}
