// Command mutants changes one line at a time and runs the tests, to find
// behaviour that no test notices:
//
//	go run ./internal/tools/mutants -seed 1 -n 300 ./internal/foundation/... ./internal/storefront/checkout
//
//	packages ── parse ──> places that a mutant can change ── seed ──> n of them
//	                                                                     |
//	     survivors, rate per area <── tests of dependents <── own tests <┘  (go test -overlay)
//
// No file of the tree is touched: a mutant exists in an overlay alone. A mutant
// that does not compile is none, and another is drawn. A mutant is noticed when
// a test fails or does not end in time. Those that change nothing which can be
// observed are listed, each with its reason, in the file of -equivalent.
//
// The exit code is 1 where fewer than -least of the mutants were noticed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	os.Exit(code)
}

// options are the command line.
type options struct {
	seed       uint64
	n          int
	workers    int
	dependents int
	timeout    time.Duration
	least      float64
	equivalent string
	kind       string
	list       bool
	packages   []string
}

func parse(args []string, out io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("mutants", flag.ContinueOnError)
	f.SetOutput(out)
	f.Uint64Var(&o.seed, "seed", 1, "which mutants are drawn; the same seed draws the same ones")
	f.IntVar(&o.n, "n", 300, "how many mutants are tried")
	f.IntVar(&o.workers, "workers", 2, "how many are tried at once")
	f.IntVar(&o.dependents, "dependents", 4, "at most so many packages that import the changed one are tested, too")
	f.DurationVar(&o.timeout, "timeout", 3*time.Minute, "a test run that takes longer has noticed the mutant")
	f.Float64Var(&o.least, "least", 0.9, "share of the mutants that tests must notice")
	f.StringVar(&o.equivalent, "equivalent", "internal/tools/mutants/equivalent.txt",
		"file of mutants that change nothing observable")
	f.StringVar(&o.kind, "kind", "", "only this kind of change, for example \"caller may cancel\"")
	f.BoolVar(&o.list, "list", false, "print the mutants that would be tried, and stop")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if o.packages = f.Args(); len(o.packages) == 0 {
		return nil, errors.New("no packages to change are named (for example ./internal/foundation/...)")
	}
	if o.n < 1 || o.workers < 1 {
		return nil, errors.New("-n and -workers are at least 1")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) (int, error) {
	o, err := parse(args, out)
	if err != nil {
		return 2, err
	}
	packages, err := load(ctx, o.packages)
	if err != nil {
		return 2, err
	}
	known, err := readEquivalents(o.equivalent)
	if err != nil {
		return 2, err
	}
	drawn, err := draw(packages.named, o.seed, func(m *mutant) bool {
		return known[m.key()] == "" && (o.kind == "" || o.kind == m.kind)
	})
	if err != nil {
		return 2, err
	}
	if o.list {
		for _, m := range drawn[:min(o.n, len(drawn))] {
			_, _ = fmt.Fprintln(out, m)
		}
		return 0, nil
	}
	scratch, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return 2, fmt.Errorf("making a folder for overlays: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	t := &trial{options: o, packages: packages, scratch: scratch, out: out}
	results := t.all(ctx, drawn)
	if err := ctx.Err(); err != nil {
		return 2, fmt.Errorf("stopped after %d mutants: %w", len(results), err)
	}
	rate := summarize(out, o.seed, results)
	if rate < o.least {
		return 1, nil
	}
	return 0, nil
}
