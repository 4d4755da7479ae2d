package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// listed is what go list prints of a package.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	Imports         []string
	TestGoFiles     []string
	XTestGoFiles    []string
	TestImports     []string
	XTestImports    []string
	Module          *struct{ Dir string }
}

func (p *listed) tested() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// graph is the module's packages, the named ones among them, and who imports
// whom in code or tests.
type graph struct {
	named     []*listed
	all       map[string]*listed
	importers map[string][]string
}

func load(ctx context.Context, patterns []string) (*graph, error) {
	all, err := list(ctx, "./...")
	if err != nil {
		return nil, err
	}
	named, err := list(ctx, patterns...)
	if err != nil {
		return nil, err
	}
	g := &graph{named: named, all: map[string]*listed{}, importers: map[string][]string{}}
	for _, p := range all {
		g.all[p.ImportPath] = p
		of := map[string]bool{}
		for _, path := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			of[path] = true
		}
		for path := range of {
			g.importers[path] = append(g.importers[path], p.ImportPath)
		}
	}
	return g, nil
}

func list(ctx context.Context, patterns ...string) ([]*listed, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json"}, patterns...)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing packages: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	var found []*listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listed{}
		if err := decoder.Decode(p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the list of packages: %w", err)
		}
		if p.Module != nil {
			if p.Dir, err = filepath.Rel(p.Module.Dir, p.Dir); err != nil {
				return nil, fmt.Errorf("placing %s: %w", p.ImportPath, err)
			}
		}
		found = append(found, p)
	}
}

// tests are the packages whose tests may notice a change of a package: its own,
// then the nearest that import it, at most n of these. Suites that need other
// programs (test/...) are left to the full run.
func (g *graph) tests(pkg string, n int) []string {
	var order []string
	if g.all[pkg] != nil && g.all[pkg].tested() {
		order = append(order, pkg)
	}
	seen := map[string]bool{pkg: true}
	for level := []string{pkg}; len(level) > 0; {
		next := map[string]bool{}
		for _, at := range level {
			for _, by := range g.importers[at] {
				if !seen[by] {
					seen[by], next[by] = true, true
				}
			}
		}
		level = slices.Sorted(maps.Keys(next))
		for _, p := range level {
			if n > 0 && g.all[p].tested() && !strings.HasPrefix(g.all[p].Dir, "test/") {
				order = append(order, p)
				n--
			}
		}
	}
	return order
}
