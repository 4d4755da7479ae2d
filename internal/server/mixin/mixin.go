// Package mixin is what an operator gives to Prometheus and Grafana: recording
// rules, alerts with a runbook for each, and one dashboard. It is written down
// once, here; go run ./internal/tools/docs makes the files of it:
//
//	records() ──────> deploy/observability/rules.yaml
//	alerts()  ──┬───> deploy/observability/alerts.yaml
//	            └───> docs/runbooks.md
//	rows()    ──────> deploy/observability/dashboard.json
//
// The tests here hold every expression against the metrics that exist;
// test/bench/alerts evaluates the files with the engine of Prometheus.
package mixin

import (
	"encoding/json"
	"fmt"
	"strings"
)

// record is a recording rule: a series that is computed once and read often.
type record struct{ name, expr string }

// alert is a condition that somebody must know of, and what to do then.
type alert struct {
	name     string // in CamelCase, beginning with Ace
	severity string // page: now, at night as well; ticket: on a working day; info: nobody is called
	expr     string
	wait     string // how long the condition must hold, such as 5m
	summary  string // one sentence, may use {{ $labels.x }}

	// The runbook, in Markdown.
	meaning string   // what is wrong
	effect  string   // what users notice
	look    []string // where to look first
	repair  []string // what to do
	never   string   // what makes it worse
}

// Runbooks is the page of runbooks, relative to the root of the repository.
const Runbooks = "docs/runbooks.md"

// written is the first line of each file.
const written = "Written by go run ./internal/tools/docs from internal/server/mixin: change it there."

// Files returns each file with its path relative to the root of the repository.
func Files() (map[string][]byte, error) {
	dashboard, err := json.MarshalIndent(board(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the dashboard: %w", err)
	}
	return map[string][]byte{
		"deploy/observability/rules.yaml":     rulesFile(),
		"deploy/observability/alerts.yaml":    alertsFile(),
		"deploy/observability/dashboard.json": append(dashboard, '\n'),
		Runbooks:                              runbooks(),
	}, nil
}

func rulesFile() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\ngroups:\n  - name: ace-records\n    interval: 30s\n    rules:\n", written)
	for _, r := range records() {
		fmt.Fprintf(&b, "      - record: %s\n        expr: |-\n%s", r.name, block(r.expr, 10))
	}
	return []byte(b.String())
}

func alertsFile() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\ngroups:\n  - name: ace-alerts\n    rules:\n", written)
	for _, a := range alerts() {
		fmt.Fprintf(&b, "      - alert: %s\n        expr: |-\n%s", a.name, block(a.expr, 10))
		if a.wait != "" {
			fmt.Fprintf(&b, "        for: %s\n", a.wait)
		}
		fmt.Fprintf(&b, "        labels:\n          severity: %s\n        annotations:\n", a.severity)
		fmt.Fprintf(&b, "          summary: %q\n          runbook_url: "+
			"%s#%s\n", a.summary, runbookURL, anchor(a.name))
	}
	return []byte(b.String())
}

// runbookURL is a path within the repository: where it is published is up to the
// operator, who replaces it.
const runbookURL = Runbooks

// anchor is the fragment of a heading on the page.
func anchor(name string) string { return strings.ToLower(name) }

// block indents the lines of an expression.
func block(text string, by int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.Repeat(" ", by) + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

func runbooks() []byte {
	var b strings.Builder
	b.WriteString("# Runbooks\n\n<!-- " + written + " -->\n\nOne section for each alert of " +
		"[alerts.yaml](../deploy/observability/alerts.yaml). `page` is for now, `ticket` for the next working " +
		"day, `info` for " +
		"nobody.\nThe metrics are described in [operations.md](operations.md#metrics).\n\n| Alert | Severity | " +
		"Holds for | Meaning |\n" +
		"| --- | --- | --- | --- |\n")
	for _, a := range alerts() {
		wait := a.wait
		if wait == "" {
			wait = "at once"
		}
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", a.name, anchor(a.name), a.severity, wait, a.meaning)
	}
	for _, a := range alerts() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n**Users notice:** %s\n\n**Look first:**\n\n", a.name, a.meaning, a.effect)
		for _, step := range a.look {
			fmt.Fprintf(&b, "- %s\n", step)
		}
		b.WriteString("\n**Repair:**\n\n")
		for i, step := range a.repair {
			fmt.Fprintf(&b, "%d. %s\n", i+1, step)
		}
		fmt.Fprintf(&b, "\n**Never:** %s\n\n```promql\n%s\n```\n", a.never, a.expr)
	}
	return []byte(b.String())
}
