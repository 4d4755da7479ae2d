package mixin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// name finds the metrics and records in an expression.
var name = regexp.MustCompile(`\bace[_:][a-z0-9_:]+`)

// existing returns the metrics of internal/server/metrics, which a test there
// compares with the program, by name as Prometheus stores them.
func existing(t *testing.T) map[string]bool {
	t.Helper()
	list, err := os.ReadFile(filepath.Join("..", "metrics", "testdata", "metrics.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		kind, rest, _ := strings.Cut(line, " ")
		metric, _, _ := strings.Cut(rest, "{")
		if kind == "histogram" {
			metric += "_bucket"
		}
		all[metric] = false
	}
	return all
}

// TestMetricsExist holds that each expression reads metrics and records that
// exist, and that each of those is read somewhere.
func TestMetricsExist(t *testing.T) {
	t.Parallel()
	used := existing(t)
	for _, r := range records() {
		used[r.name] = false
	}
	read := func(where, expr string) {
		for _, metric := range name.FindAllString(expr, -1) {
			if _, ok := used[metric]; !ok {
				t.Errorf("%s reads %s, which does not exist", where, metric)
			}
			used[metric] = true
		}
	}
	for _, r := range records() {
		read(r.name, r.expr)
	}
	for _, a := range alerts() {
		read(a.name, a.expr)
	}
	for _, r := range rows() {
		for _, p := range r.panels {
			for _, q := range p.queries {
				read(p.title, q.expr)
			}
		}
	}
	for metric, ok := range used {
		if !ok {
			t.Errorf("nothing reads %s", metric)
		}
	}
}

// TestRunbooks holds that each alert says everything that a person needs at
// night, under a heading of its own, and that its severity is one of three.
func TestRunbooks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(Runbooks)))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, a := range alerts() {
		switch {
		case seen[a.name]:
			t.Errorf("%s is there twice", a.name)
		case !slices.Contains([]string{"page", "ticket", "info"}, a.severity):
			t.Errorf("%s has the severity %q", a.name, a.severity)
		case a.summary == "" || a.meaning == "" || a.effect == "" || len(a.look) == 0 ||
			len(a.repair) == 0 || a.never == "":
			t.Errorf("%s lacks a part of its runbook: %+v", a.name, a)
		case !strings.Contains(string(page), "\n## "+a.name+"\n"):
			t.Errorf("%s has no section in %s", a.name, Runbooks)
		}
		seen[a.name] = true
	}
	if len(seen) < 15 {
		t.Errorf("%d alerts", len(seen))
	}
}

// TestDashboard holds what Grafana needs: seven rows, panels that do not overlap
// and fit the grid, and a query in each.
func TestDashboard(t *testing.T) {
	t.Parallel()
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(files["deploy/observability/dashboard.json"], &board); err != nil {
		t.Fatal(err)
	}
	taken, heads, titles := map[[2]int]string{}, 0, map[string]bool{}
	for _, p := range board.Panels {
		if p.Type == "row" {
			heads++
		} else if len(p.Targets) == 0 || p.Targets[0].Expr == "" || p.Targets[0].LegendFormat == "" {
			t.Errorf("%s shows nothing", p.Title)
		}
		if titles[p.Title] {
			t.Errorf("%s is there twice", p.Title)
		}
		titles[p.Title] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= columns {
					t.Fatalf("%s is over %s or beyond the grid at %d, %d", p.Title, other, x, y)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
	}
	if heads != 7 {
		t.Errorf("%d rows, want 7", heads)
	}
}
