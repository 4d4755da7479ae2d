package llmstxt

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// File is an llms.txt.
type File struct {
	Title    string
	Summary  string // the block quote, on one line
	Details  string // Markdown between the summary and the first section
	Sections []Section
	found    []Finding
}

// Section is a list of links below a heading.
type Section struct {
	Name  string
	Line  int // of the heading; counts from 1
	Links []Link
}

// Link is a link of a section.
type Link struct {
	Name, URL, Notes string
	Line             int
}

// Optional reports whether a reader may skip the section.
func (s *Section) Optional() bool { return strings.EqualFold(s.Name, "optional") }

// Links returns all links in order.
func (f *File) Links() []Link {
	var all []Link
	for _, s := range f.Sections {
		all = append(all, s.Links...)
	}
	return all
}

// String returns the file as Markdown. In names, notes and URLs it replaces characters that would
// end a link early or start a new line.
func (f *File) String() string {
	var b strings.Builder
	b.WriteString("# " + oneLine(f.Title) + "\n")
	if f.Summary != "" {
		b.WriteString("\n> " + oneLine(f.Summary) + "\n")
	}
	if details := strings.TrimSpace(f.Details); details != "" {
		b.WriteString("\n" + details + "\n")
	}
	for _, s := range f.Sections {
		b.WriteString("\n## " + oneLine(s.Name) + "\n\n")
		for _, l := range s.Links {
			b.WriteString("- [" + brackets.Replace(oneLine(l.Name)) + "](" + addresses.Replace(l.URL) + ")")
			if notes := oneLine(l.Notes); notes != "" {
				b.WriteString(": " + notes)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

var (
	brackets  = replacer{"[", "(", "]", ")", "\\", "/"}
	addresses = replacer{
		" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\n", "", "\r", "", "\t", "%09",
		"\\", "%5C",
	}
)

// replacer lists pairs of old and new strings.
type replacer []string

// Replace replaces all pairs of the list.
func (r replacer) Replace(s string) string { return strings.NewReplacer(r...).Replace(s) }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// parser is the state of Parse.
type parser struct {
	file    *File
	line    int
	fence   string // the opening fence of a code block
	titled  bool
	quoting bool // inside the summary
	details []string
}

// Parse parses any text. Invalid lines become findings, which Check reports.
func Parse(text []byte) *File {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\ufffd"))
	}
	plain := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\r", "\n")
	p := &parser{file: &File{}}
	for line := range strings.SplitSeq(plain, "\n") {
		p.line++
		p.parseLine(strings.TrimRight(line, " \t"))
	}
	p.file.Details = strings.TrimSpace(strings.Join(p.details, "\n"))
	return p.file
}

func (p *parser) parseLine(line string) {
	trimmed := strings.TrimLeft(line, " ")
	if p.inFence(trimmed) {
		p.text(line)
		return
	}
	level, heading := headingOf(line)
	switch {
	case level == 1 && !p.titled:
		p.titled, p.quoting, p.file.Title = true, true, heading
		if heading == "" {
			p.report(Error, "no_title", "The first heading is empty: use the name of the site.")
		}
	case level == 1:
		p.report(Warning, "second_title", "There is a second heading of the first level; a file has one.")
		p.quoting = false
	case level == 2:
		p.quoting = false
		p.file.Sections = append(p.file.Sections, Section{Name: heading, Line: p.line})
	case level > 2 && len(p.file.Sections) == 0:
		p.report(Warning, "heading_in_details",
			"Between the summary and the first section only paragraphs and lists are allowed, no headings.")
		p.text(line)
	case level > 2:
		p.report(Warning, "deep_heading", "Sections use headings of the second level only.")
	case trimmed == "":
		p.text("")
	case p.quoting && strings.HasPrefix(trimmed, ">"):
		p.file.Summary = strings.TrimSpace(p.file.Summary + " " + oneLine(strings.TrimPrefix(trimmed, ">")))
	case len(p.file.Sections) > 0:
		p.item(trimmed)
	default:
		if !p.titled {
			p.report(Warning, "text_before_title", "The file must start with its title; this text is before it.")
		}
		p.quoting = false
		p.text(line)
	}
}

// inFence tracks code blocks, which contain no headings and links.
func (p *parser) inFence(line string) bool {
	for _, fence := range []string{"```", "~~~"} {
		if !strings.HasPrefix(line, fence) {
			continue
		}
		switch p.fence {
		case "":
			p.fence, p.quoting = fence, false
		case fence:
			p.fence = ""
		}
		return true
	}
	return p.fence != ""
}

// text adds a line to the details.
func (p *parser) text(line string) {
	if len(p.file.Sections) == 0 && p.titled {
		p.details = append(p.details, line)
	}
}

func (p *parser) report(s Severity, code, text string) {
	if len(p.file.found) < maxFindings {
		p.file.found = append(p.file.found, Finding{Code: code, Severity: s, Line: p.line, Text: text})
	}
}

// item parses a line of a section.
func (p *parser) item(line string) {
	section := &p.file.Sections[len(p.file.Sections)-1]
	rest, isItem := bullet(line)
	if !isItem {
		p.report(Warning, "text_in_section", "Sections are lists of links; this line is not a link.")
		return
	}
	link, after, ok := linkOf(rest)
	if !ok {
		p.report(Warning, "item_format", "An item has the form - [name](URL): notes.")
		return
	}
	link.Line = p.line
	notes, colon := strings.CutPrefix(strings.TrimSpace(after), ":")
	if !colon && notes != "" {
		p.report(Warning, "item_format", "Notes must follow the link after a colon.")
		notes = strings.TrimLeft(notes, "-–— ")
	}
	link.Notes = oneLine(notes)
	section.Links = append(section.Links, link)
}

func bullet(line string) (rest string, ok bool) {
	if len(line) < 2 || !strings.ContainsRune("-*+", rune(line[0])) || line[1] != ' ' && line[1] != '\t' {
		return "", false
	}
	return strings.TrimSpace(line[2:]), true
}

func headingOf(line string) (level int, text string) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if indent > 3 {
		return 0, ""
	}
	line = line[indent:]
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || level < len(line) && line[level] != ' ' && line[level] != '\t' {
		return 0, ""
	}
	text = strings.TrimSpace(line[level:])
	if closed := strings.TrimRight(text, "#"); closed == "" || strings.HasSuffix(closed, " ") {
		text = strings.TrimSpace(closed)
	}
	return level, oneLine(text)
}

// linkOf parses [name](address "title") at the start of a text.
func linkOf(s string) (l Link, after string, ok bool) {
	name, rest, ok := bracketed(s, '[', ']')
	if !ok {
		return l, "", false
	}
	inside, after, ok := bracketed(rest, '(', ')')
	if !ok {
		return l, "", false
	}
	inside = strings.TrimSpace(inside)
	if pointed, rest, ok := strings.Cut(strings.TrimPrefix(inside, "<"), ">"); ok && strings.HasPrefix(inside, "<") {
		inside = pointed + rest
	}
	address, _, _ := strings.Cut(inside, " ") // a title in quotes may follow
	return Link{Name: oneLine(unescape(name)), URL: unescape(address)}, after, true
}

// bracketed reads up to the closing bracket that matches the first one.
func bracketed(s string, open, closing byte) (inside, rest string, ok bool) {
	if s == "" || s[0] != open {
		return "", s, false
	}
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case open:
			depth++
		case closing:
			if depth--; depth == 0 {
				return s[1:i], s[i+1:], true
			}
		}
	}
	return "", s, false
}

// unescape removes backslash escapes of punctuation.
func unescape(s string) string {
	if !strings.Contains(s, "\\") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_{}[]()#+-.!|<>~", s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
