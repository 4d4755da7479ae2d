package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"ace/internal/server/definitions"
)

// catalogCmd is what operators and authors do with definitions of apps.
type catalogCmd struct {
	Lint   catalogLintCmd   `cmd:"" help:"Check definitions of apps; prints each fault with its file and place."`
	Report catalogReportCmd `cmd:"" help:"Count what the catalogue holds."`
}

type catalogLintCmd struct {
	operating `embed:""`
	Paths     []string `arg:"" optional:"" name:"path" help:"Definitions, or folders of them. Default: those that are shipped and the folder of ACE_CATALOG_DIR."`
}

// linted is what "ace catalog lint --json" prints.
type linted struct {
	Definitions int                `json:"definitions"`
	Faults      definitions.Faults `json:"faults"`
}

// Run checks definitions. Faults make the command fail.
func (c *catalogLintCmd) Run(w *world) error {
	read, faults, err := definitions.Lint(definitions.Options{Dir: c.CatalogDir, Private: len(c.EgressAllow) > 0},
		c.Paths...)
	if err != nil {
		return err
	}
	result := linted{read, faults}
	if faults == nil {
		result.Faults = definitions.Faults{}
	}
	if err := c.print(w, result, func(out io.Writer) {
		for _, f := range faults {
			_, _ = fmt.Fprintln(out, f)
		}
		if len(faults) == 0 {
			_, _ = fmt.Fprintf(out, "No faults in %s.\n", count(read, "definition"))
		}
	}); err != nil {
		return err
	}
	if len(faults) > 0 {
		return fmt.Errorf("%s in %s", count(len(faults), "fault"), count(read, "definition"))
	}
	return nil
}

type catalogReportCmd struct {
	operating `embed:""`
}

// Run counts what the catalog holds, with the folder of the operator.
func (c *catalogReportCmd) Run(w *world) error {
	set, err := definitions.Load(definitions.Options{Dir: c.CatalogDir, Private: len(c.EgressAllow) > 0})
	if err != nil {
		return err
	}
	r := set.Report()
	return c.print(w, r, func(out io.Writer) {
		_, _ = fmt.Fprintf(out, "Apps\t%d\n", r.Apps)
		if r.Own > 0 {
			_, _ = fmt.Fprintf(out, "  from %s\t%d\n", c.CatalogDir, r.Own)
		}
		_, _ = fmt.Fprintf(
			out,
			"  that can be connected\t%d\n  only with an OAuth client of the operator\t%d\n",
			r.Available,
			r.NeedClient,
		)
		_, _ = fmt.Fprintf(out, "  that return whose account it is\t%d\n  with tools of their own\t%d\n", r.Whoami,
			r.WithTools)
		_, _ = fmt.Fprintf(out, "Tools\t%d\nTriggers\t%d\n", r.Tools, r.Triggers)
		counts(out, "Tier", r.Tiers)
		counts(out, "Authentication", r.Auth)
		counts(out, "Facts of apps without tools of their own, checked in", r.Verified)
		_, _ = fmt.Fprintf(out, "Facts checked\t%s to %s\n", r.Checked.Oldest, r.Checked.Newest)
	})
}

// counts prints a table of counts, the largest first.
func counts(out io.Writer, title string, of map[string]int) {
	_, _ = fmt.Fprintln(out, title)
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		if of[a] != of[b] {
			return of[b] - of[a]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		_, _ = fmt.Fprintf(out, "  %s\t%d\n", name, of[name])
	}
}

// count is a number with its noun: 1 fault, 2 faults.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
