package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// What became of a mutant.
const (
	noticed  = "noticed"
	survived = "survived"
	none     = "does not compile"
)

type result struct {
	mutant *mutant
	state  string
	by     string // the package whose tests noticed it
}

// trial tries mutants.
type trial struct {
	*options
	packages *graph
	scratch  string

	mu  sync.Mutex
	out io.Writer
}

// all tries mutants in their order until n of them compiled, and returns these.
func (t *trial) all(ctx context.Context, drawn []*mutant) []result {
	var (
		results []result
		next    int
		wait    sync.WaitGroup
	)
	nextMutant := func() (int, *mutant) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if next >= len(drawn) || len(results) >= t.n || ctx.Err() != nil {
			return 0, nil
		}
		next++
		return next, drawn[next-1]
	}
	for range t.workers {
		wait.Go(func() {
			for {
				n, m := nextMutant()
				if m == nil {
					return
				}
				r, err := t.try(ctx, n, m)
				t.mu.Lock()
				switch {
				case ctx.Err() != nil:
				case err != nil:
					_, _ = fmt.Fprintf(t.out, "left out: %s: %v\n", m, err)
				case r.state != none && len(results) < t.n:
					results = append(results, r)
					_, _ = fmt.Fprintf(t.out, "%4d %-8s %s\n", len(results), r.state, m)
				}
				t.mu.Unlock()
			}
		})
	}
	wait.Wait()
	return results
}

// try compiles a mutant and runs the tests that may notice it.
func (t *trial) try(ctx context.Context, n int, m *mutant) (result, error) {
	source, err := os.ReadFile(m.path)
	if err != nil {
		return result{}, fmt.Errorf("reading the file: %w", err)
	}
	changed := slices.Concat(source[:m.from], []byte(m.text), source[m.to:])
	file := filepath.Join(t.scratch, strconv.Itoa(n)+".go")
	overlay := filepath.Join(t.scratch, strconv.Itoa(n)+".json")
	defer func() { _, _ = os.Remove(file), os.Remove(overlay) }()
	if err := os.WriteFile(file, changed, 0o600); err != nil {
		return result{}, fmt.Errorf("writing the mutant: %w", err)
	}
	absolute, err := filepath.Abs(m.path)
	if err != nil {
		return result{}, fmt.Errorf("placing the file: %w", err)
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {absolute: file}})
	if err != nil {
		return result{}, fmt.Errorf("writing the overlay: %w", err)
	}
	if err := os.WriteFile(overlay, text, 0o600); err != nil {
		return result{}, fmt.Errorf("writing the overlay: %w", err)
	}
	if !t.passes(ctx, "build", "-overlay", overlay, m.pkg) {
		return result{m, none, ""}, nil
	}
	for _, pkg := range t.packages.tests(m.pkg, t.dependents) {
		if !t.passes(ctx, "test", "-overlay", overlay, "-count=1", "-failfast", "-short", "-vet=off",
			"-timeout", t.timeout.String(), pkg) {
			return result{m, noticed, pkg}, nil
		}
	}
	return result{m, survived, ""}, nil
}

// passes runs the go command and reports whether it succeeds. Whatever it
// started ends with it.
func (t *trial) passes(ctx context.Context, args ...string) bool {
	ctx, cancel := context.WithTimeout(ctx, t.timeout+time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.Run() == nil
}

// area is the part of the tree that a package belongs to:
// internal/storefront/checkout.
func area(path string) string {
	parts := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	return strings.Join(parts[:min(3, len(parts))], "/")
}

// summarize prints the rate of each area and what survived, and returns the
// rate of all.
func summarize(out io.Writer, seed uint64, results []result) float64 {
	type count struct{ noticed, all int }
	areas := map[string]*count{}
	total := &count{}
	for _, r := range results {
		a := area(r.mutant.path)
		if areas[a] == nil {
			areas[a] = &count{}
		}
		for _, c := range []*count{areas[a], total} {
			c.all++
			if r.state == noticed {
				c.noticed++
			}
		}
	}
	if total.all == 0 {
		_, _ = fmt.Fprintln(out, "no mutant was tried")
		return 0
	}
	_, _ = fmt.Fprintf(out, "\nseed %d\n", seed)
	for _, a := range slices.Sorted(maps.Keys(areas)) {
		c := areas[a]
		_, _ = fmt.Fprintf(
			out,
			"%-50s %4d of %4d  %5.1f %%\n",
			a,
			c.noticed,
			c.all,
			100*float64(c.noticed)/float64(c.all),
		)
	}
	rate := float64(total.noticed) / float64(total.all)
	_, _ = fmt.Fprintf(out, "%-50s %4d of %4d  %5.1f %%\n", "all", total.noticed, total.all, 100*rate)
	for _, r := range results {
		if r.state == survived {
			_, _ = fmt.Fprintf(out, "survived: %s\n  %s\n", r.mutant, r.mutant.key())
		}
	}
	return rate
}
