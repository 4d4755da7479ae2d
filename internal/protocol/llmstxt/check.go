package llmstxt

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"ace/internal/foundation/excerpt"
)

// Limits of a file that all known readers accept.
const (
	MaxSize  = 50_000 // bytes
	MaxLinks = 100
	MaxNotes = 160 // characters
	MinSize  = 50  // characters; shorter ones are not useful

	hugeSize    = 256_000 // bytes; some readers truncate here
	maxFindings = 200
)

// Severity is the severity of a finding.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Finding is an error or a recommendation.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Line     int      `json:"line,omitempty"` // counts from 1; 0: the whole file
	Text     string   `json:"text"`
}

// Report is the result of Check.
type Report struct {
	// Level is 0 for a file that is not Markdown, 1 without a title, 2 with a title, 3 with a title
	// and a summary, 4 with sections of links as well.
	Level    int       `json:"level"`
	Findings []Finding `json:"findings"`
}

// Valid reports whether there are no errors.
func (r *Report) Valid() bool {
	return !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity == Error })
}

// Check validates a file at the URL base; nil base skips the checks that depend on it. It makes no
// requests: the caller checks whether links work.
func Check(text []byte, base *url.URL) *Report {
	r := &Report{Findings: []Finding{}}
	if !r.bytes(text) {
		return r
	}
	f := Parse(text)
	r.Findings = append(r.Findings, f.found...)
	r.structure(f, text)
	r.sections(f)
	r.links(f, base)
	r.Level = level(f)
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return a.Line - b.Line })
	if len(r.Findings) > maxFindings {
		r.Findings = r.Findings[:maxFindings]
	}
	return r
}

func (r *Report) add(s Severity, code string, line int, text string, args ...any) {
	r.Findings = append(r.Findings, Finding{Code: code, Severity: s, Line: line, Text: fmt.Sprintf(text, args...)})
}

// bytes reports whether the text can be parsed.
func (r *Report) bytes(text []byte) bool {
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	switch {
	case len(trimmed) == 0:
		r.add(Error, "empty", 0, "The file is empty.")
		return false
	case looksHTML(trimmed):
		r.add(Error, "html",
			0, "This is an HTML page, not Markdown. Serve the file itself as text/plain or text/markdown.")
		return false
	case bytes.IndexByte(text, 0) >= 0:
		r.add(Error, "binary", 0, "The file contains NUL bytes: it is not text.")
		return false
	}
	if len(trimmed) < len(text) && bytes.HasPrefix(text, []byte("\ufeff")) {
		r.add(Warning, "bom",
			1, "The file begins with a byte order mark; some readers parse it as part of the title.")
	}
	if bytes.IndexByte(text, '\r') >= 0 {
		r.add(Warning, "line_ends", 0, "Lines end with CR LF; LF alone is read by all readers.")
	}
	if !utf8.Valid(text) {
		r.add(Error, "not_utf8", 0, "The file is not UTF-8.")
	}
	switch {
	case len(text) > hugeSize:
		r.add(Error, "too_large", 0, "The file has %d bytes; readers truncate it. Use at most %d.", len(text), MaxSize)
	case len(text) > MaxSize:
		r.add(Warning, "large", 0, "The file has %d bytes; use at most %d.", len(text), MaxSize)
	case utf8.RuneCount(trimmed) < MinSize:
		r.add(
			Warning,
			"too_short",
			0,
			"The file has %d characters; checkers expect at least %d.",
			utf8.RuneCount(trimmed),
			MinSize,
		)
	}
	return true
}

func looksHTML(text []byte) bool {
	head := strings.ToLower(string(text[:min(len(text), 512)]))
	return strings.HasPrefix(head, "<!doctype") || strings.HasPrefix(head, "<html") || strings.HasPrefix(head,
		"<?xml") ||
		strings.HasPrefix(head, "<head") || strings.HasPrefix(head, "<body") || strings.HasPrefix(head, "<h1")
}

func (r *Report) structure(f *File, text []byte) {
	if f.Title == "" && !slices.ContainsFunc(f.found, func(x Finding) bool { return x.Code == "no_title" }) {
		r.add(Error, "no_title", 0, "There is no title: start with a line # and the name of the site.")
	}
	if f.Summary == "" {
		r.add(Warning, "no_summary", 0, "There is no summary: add a line > with one or two sentences below the title.")
	}
	line := 0
	for part := range bytes.Lines(text) {
		line++
		if tag := tagIn(string(part)); tag != "" {
			r.add(Warning, "html_inside", line, "The text contains HTML (%s); use Markdown.", tag)
			break
		}
	}
}

// tagIn returns the first part of a line that readers could parse as a tag.
func tagIn(line string) string {
	for rest := line; ; {
		i := strings.IndexByte(rest, '<')
		if i < 0 || i+1 >= len(rest) {
			return ""
		}
		rest = rest[i+1:]
		end := strings.IndexByte(rest, '>')
		if end < 0 {
			return ""
		}
		name := strings.ToLower(strings.Trim(rest[:end], "/ "))
		name, _, _ = strings.Cut(name, " ")
		if slices.Contains([]string{
			"a", "b", "br", "body", "div", "em", "head", "html", "i", "iframe", "img", "li",
			"link", "meta", "p", "script", "span", "strong", "style", "table", "ul",
		}, name) {
			return "<" + name + ">"
		}
	}
}

func (r *Report) sections(f *File) {
	if len(f.Sections) == 0 {
		r.add(Error, "no_sections", 0, "There is no section: add ## headings with lists of links below.")
	}
	seen := map[string]bool{}
	for i := range f.Sections {
		s := &f.Sections[i]
		name := strings.ToLower(s.Name)
		switch {
		case s.Name == "":
			r.add(Warning, "no_section_name", s.Line, "The section has no name.")
		case seen[name]:
			r.add(Warning, "same_section", s.Line, "There already is a section %q.", excerpt.Chars(s.Name, maxQuoted))
		}
		seen[name] = true
		if len(s.Links) == 0 {
			r.add(Warning, "empty_section", s.Line, "The section %q has no links.", excerpt.Chars(s.Name, maxQuoted))
		}
		if s.Optional() && i < len(f.Sections)-1 {
			r.add(Warning, "optional_not_last", s.Line, "The section Optional must be the last one.")
		}
	}
}

func (r *Report) links(f *File, base *url.URL) {
	links := f.Links()
	if len(f.Sections) > 0 && len(links) == 0 {
		r.add(Error, "no_links", 0, "The file has no links.")
	}
	if len(links) > MaxLinks {
		r.add(Warning, "many_links", 0, "There are %d links; at most %d are recommended.", len(links), MaxLinks)
	}
	seen := map[string]int{}
	foreign := 0
	for _, l := range links {
		u := r.address(&l)
		if u == nil {
			continue
		}
		u.Fragment = ""
		if first := seen[u.String()]; first > 0 {
			r.add(Warning, "same_link", l.Line, "Line %d already has this URL.", first)
		} else {
			seen[u.String()] = l.Line
		}
		if base != nil && !strings.EqualFold(u.Host, base.Host) {
			foreign++
		}
		r.words(&l)
	}
	if foreign*2 > len(links) {
		r.add(Warning, "foreign_links", 0, "%d of %d links lead to other sites.", foreign, len(links))
	}
}

// address returns an absolute web URL, or nil after reporting a finding.
func (r *Report) address(l *Link) *url.URL {
	u, err := url.Parse(l.URL)
	switch {
	case l.URL == "" || err != nil || strings.ContainsFunc(l.URL, func(c rune) bool { return c <= ' ' }):
		r.add(Error, "bad_link", l.Line, "This is not a URL: %q.", excerpt.Chars(l.URL, maxQuoted))
	case u.Scheme == "" && u.Host == "":
		r.add(Error, "relative_link", l.Line, "The URL %q is relative; readers cannot resolve it.",
			excerpt.Chars(l.URL, maxQuoted))
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil:
		r.add(Error, "bad_link", l.Line, "This is not a web URL: %q.", excerpt.Chars(l.URL, maxQuoted))
	default:
		return u
	}
	return nil
}

func (r *Report) words(l *Link) {
	switch name := strings.ToLower(l.Name); {
	case name == "":
		r.add(Error, "no_name", l.Line, "The link has no name.")
	case strings.Contains(name, "://") || strings.HasPrefix(name, "www."):
		r.add(Warning, "name_is_address", l.Line, "The name of the link is a URL: describe the page.")
	}
	if n := utf8.RuneCountInString(l.Notes); n > MaxNotes {
		r.add(Warning, "long_notes", l.Line, "The notes have %d characters; use at most %d.", n, MaxNotes)
	}
}

func level(f *File) int {
	switch {
	case f.Title == "":
		return 1
	case f.Summary == "":
		return 2
	case len(f.Links()) == 0:
		return 3
	}
	return 4
}

// maxQuoted is how many characters of a file a finding quotes.
const maxQuoted = 79
