package llmsdraft

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Markdown is the report for people: the draft, what to do with it, and what
// was found on the way.
func (d *Draft) Markdown() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	say("# llms.txt draft for %s\n\n", d.Target.FinalURL)
	say("%s in %s, %s, chosen among %s. ", some(d.Stats.Links, "link"), some(d.Stats.Sections, "section"),
		size(d.Stats.Size), some(d.Stats.Addresses, "address"))
	say("Pages read: %d, with %s. ", d.Stats.Read, some(d.Stats.Requests, "request"))
	if d.Validation.Valid() {
		say("The draft passes all checks without an error (level %d of 4).\n\n", d.Validation.Level)
	} else {
		say("The draft has faults that need a person: see Checks.\n\n")
	}
	say("## What to do\n\n1. Read the draft below and change what you know better; nothing in it was invented.\n2. "+
		"Add what only you know: see Your words.\n3. Serve it at %s as `text/plain; charset=utf-8`, and look at it "+
		"again when pages come or go.\n\n", d.Existing.URL)
	say("## The draft\n\n~~~~markdown\n%s~~~~\n\n", d.LLMSTxt)
	d.sayNeeds(say)
	d.sayExisting(say)
	d.sayTwins(say)
	d.sayWarnings(say)
	d.sayOmitted(say)
	if len(d.Validation.Findings) > 0 {
		say("## Checks\n\n")
		for _, f := range d.Validation.Findings {
			say("- line %d, %s: %s\n", f.Line, f.Severity, f.Text)
		}
		say("\n")
	}
	say("## How this was made\n\nPages come from the sitemaps, the navigation and the links of the pages that were "+
		"read. A page scores by the links to it, its place in the navigation, its depth, and whether it has a "+
		"description, a heading and text. Sections are named by the navigation, or else by the folders of the "+
		"addresses; a section has at most %d links, and there are at most %d sections. Names and notes are the words "+
		"of the pages. The same website gives the same draft.\n", maxPerSection, maxSections)
	return b.String()
}

type sayer = func(format string, args ...any)

func (d *Draft) sayNeeds(say sayer) {
	say("## Your words\n\n")
	for _, n := range d.NeedsInput {
		say("- **%s**: %s\n", n.Path, n.Reason)
	}
	say("\n")
}

func (d *Draft) sayExisting(say sayer) {
	say("## The file that is there\n\n")
	switch e := d.Existing; e.State {
	case "present":
		say("%s is there, at level %d of 4, with %d links, of which the draft has %d.\n\n", e.URL, e.Level, e.Links,
			e.InDraft)
		for _, f := range e.Findings {
			say("- line %d, %s: %s\n", f.Line, f.Severity, f.Text)
		}
		for _, o := range e.NotIn {
			if o.Reason != "" {
				say("- not in the draft: %s %s\n", o.URL, o.Reason)
			} else {
				say("- not in the draft: %s\n", o.URL)
			}
		}
		if len(e.Findings)+len(e.NotIn) > 0 {
			say("\n")
		}
	case "soft_404":
		say("%s answers 200 with a page instead of a file. Readers take it for an llms.txt that cannot be read: "+
			"answer 404, or serve the file.\n\n", e.URL)
	case "unreadable":
		say("%s could not be read.\n\n", e.URL)
	default:
		say("There is none at %s.\n\n", e.URL)
	}
}

func (d *Draft) sayTwins(say sayer) {
	say("## Markdown twins\n\n")
	for _, t := range d.Twins.Checked {
		say("- %s: %s\n", t.Address, strings.ReplaceAll(t.State, "_", " "))
	}
	if len(d.Twins.Checked) > 0 {
		say("\n")
	}
	for _, a := range d.Twins.Advice {
		say("%s\n\n", strings.NewReplacer("<", "`<", ">", ">`").Replace(a))
	}
}

func (d *Draft) sayWarnings(say sayer) {
	if len(d.Warnings) == 0 {
		return
	}
	say("## What the site should fix\n\n")
	for _, w := range d.Warnings {
		if w.URL != "" {
			say("- %s: %s\n", w.URL, w.Text)
		} else {
			say("- %s\n", w.Text)
		}
	}
	say("\n")
}

func (d *Draft) sayOmitted(say sayer) {
	if len(d.Omitted) == 0 {
		return
	}
	say("## What was left out\n\n| Reason | Pages |\n| --- | --- |\n")
	for _, reason := range slices.Sorted(maps.Keys(d.Stats.Omitted)) {
		say("| %s | %d |\n", inWords[Reason(reason)], d.Stats.Omitted[reason])
	}
	say("\n")
	for _, o := range d.Omitted[:min(len(d.Omitted), 40)] {
		detail := ""
		if o.Detail != "" {
			detail = " (" + plain(o.Detail) + ")"
		}
		say("- %s %s%s\n", o.URL, inWords[o.Reason], detail)
	}
	if more := len(d.Omitted) - 40; more > 0 {
		say("- and %d more, listed in the JSON of this result\n", more)
	}
	say("\n")
}

// some is a number with its noun.
func some(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"):
		return itoa(n) + " " + noun + "es"
	}
	return itoa(n) + " " + noun + "s"
}

func size(bytes int) string {
	if bytes < 10_000 {
		return itoa(bytes) + " bytes"
	}
	return itoa(bytes/1000) + " kB"
}
