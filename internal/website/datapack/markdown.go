package datapack

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ace/internal/website/datapack/generate"
	"ace/internal/website/datapack/rules"
)

// Markdown is the pack for people: what was found, what to change, and the
// blocks to paste.
func (p *Pack) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Structured data pack for %s\n\n", plain(p.Target.Origin))
	if p.Reason != "" {
		fmt.Fprintf(&b, "%s\n\n", plain(p.Reason))
	}
	s := p.Summary
	fmt.Fprintf(&b,
		"%d of %d pages were read. They describe %d things, with %d errors and %d warnings. New data was written for "+
			"%d pages.\n\n", s.Read, s.Pages, s.Things, s.Errors, s.Warnings, s.Generated)
	fmt.Fprintf(&b,
		"Rich results that pages qualify for: %s now, %s with the new data. Google decides whether to show them.\n\n",
		names(s.Before), names(s.Eligible))
	b.WriteString("| Page | Type | Found | Errors | New data |\n| --- | --- | --- | --- | --- |\n")
	for _, page := range p.Pages {
		errors := 0
		for _, i := range page.Issues {
			if i.Severity == "error" {
				errors++
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %s |\n", plain(page.URL), or(page.Kind, plain(page.Failure)), page.Total,
			errors, or(page.Diff, "none"))
	}
	b.WriteString("\n## How to put it in\n\n")
	b.WriteString(
		"Put each block into the head of its page, once. *add*: the page has no JSON-LD. *merge*: the block says " +
			"what the page's blocks say, and more: put it in their place. *replace*: alike, and it repairs their " +
			"faults. *keep*: nothing to do. The diffs show the change line by line.\n")
	p.needs(&b)
	for _, page := range p.Pages {
		page.markdown(&b)
	}
	fmt.Fprintf(&b,
		"\n## Method\n\nVocabulary: schema.org %s (CC BY-SA 3.0, https://schema.org/docs/terms.html). Rich results: "+
			"the documentation of Google Search as of %s. Every fact comes from the page itself; what is missing was "+
			"left out. Scripts were not run.\n", p.Ruleset.SchemaOrg, p.Ruleset.FeaturesChecked)
	return b.String()
}

// needs lists what only the owner of the website can say.
func (p *Pack) needs(b *strings.Builder) {
	if len(p.Site.Needs) == 0 {
		return
	}
	b.WriteString("\n## Missing on all pages\n\n")
	for _, n := range p.Site.Needs {
		fmt.Fprintf(b, "- `%s`: %s\n", code(n.Path), plain(n.Reason))
	}
}

// maxListed bounds the issues of one page in Markdown; the JSON has them all.
const maxListed = 15

func (p *Page) markdown(b *strings.Builder) {
	if p.Failure != "" {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", plain(p.URL))
	if len(p.Issues) > 0 {
		b.WriteString("Issues:\n\n")
		for i, issue := range p.Issues {
			if i == maxListed {
				fmt.Fprintf(b, "- and %d more\n", len(p.Issues)-maxListed)
				break
			}
			b.WriteString(line(issue))
		}
		b.WriteByte('\n')
	}
	for _, need := range p.Needs {
		fmt.Fprintf(b, "- missing `%s`: %s\n", code(need.Path), plain(need.Reason))
	}
	for _, note := range p.Notes {
		fmt.Fprintf(b, "- note: %s\n", plain(note))
	}
	for _, m := range p.Mended {
		fmt.Fprintf(b, "- repaired: %s\n", plain(m))
	}
	if len(p.Needs)+len(p.Notes)+len(p.Mended) > 0 {
		b.WriteByte('\n')
	}
	if p.Diff == generate.NoChange {
		b.WriteString("The page's own data says all that was found. Nothing to do.\n")
		return
	}
	if p.Install != "" {
		fmt.Fprintf(b, "To %s:\n\n%s\n", p.Diff, fenced("html", p.Install))
	}
	p.origins(b)
}

// origins is the table of where the facts come from.
func (p *Page) origins(b *strings.Builder) {
	if len(p.Provenance) == 0 {
		return
	}
	b.WriteString("\n| Property | From | Text |\n| --- | --- | --- |\n")
	for _, key := range slices.Sorted(maps.Keys(p.Provenance)) {
		s := p.Provenance[key]
		at := s.Selector
		if s.Line > 0 {
			at += fmt.Sprintf(", line %d", s.Line)
		}
		fmt.Fprintf(b, "| `%s` | %s (`%s`) | %s |\n", code(key), plain(s.From), code(at), plain(s.Text))
	}
}

func line(i rules.Issue) string {
	at := i.Path
	if i.Line > 0 {
		at += fmt.Sprintf(", line %d", i.Line)
	}
	text := fmt.Sprintf("- %s %s (`%s`)", i.Code, plain(i.Message), code(at))
	if i.Fix != "" {
		text += fmt.Sprintf(" Write `%s`.", code(i.Fix))
	}
	return text + "\n"
}

// fenced puts a text into a fence that it cannot end.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
}

// plain writes a foreign text so that Markdown takes it for text on one line.
func plain(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	var b strings.Builder
	for _, c := range s {
		switch {
		case strings.ContainsRune("\\`*_[]<>|#~!&", c):
			b.WriteByte('\\')
			b.WriteRune(c)
		case c < ' ' || c == 0x7f || c >= 0x200b && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2066 &&
			c <= 0x2069:
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// code writes a foreign text for the inside of a code span in a table.
func code(s string) string {
	return strings.NewReplacer("`", "'", "|", "/", "\n", " ").Replace(strings.Join(strings.Fields(s), " "))
}

func names(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
