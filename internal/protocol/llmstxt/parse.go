package llmstxt

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// File is an llms.txt.
type File struct {
	Title    string
	Summary  string // of the block quote, on one line
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

// Link is one item of a section.
type Link struct {
	Name, URL, Notes string
	Line             int
}

// Optional reports whether a reader may leave the section out.
func (s *Section) Optional() bool { return strings.EqualFold(s.Name, "optional") }

// Links are all links in their order.
func (f *File) Links() []Link {
	var all []Link
	for _, s := range f.Sections {
		all = append(all, s.Links...)
	}
	return all
}

// String writes the file. Names, notes and addresses are made to fit: what
// would end a link early or begin a line is replaced.
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
	addresses = replacer{" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", "\n", "", "\r", "", "\t", "%09", "\\", "%5C"}
)

// replacer lists what is replaced by what.
type replacer []string

// Replace replaces what the list names.
func (r replacer) Replace(s string) string { return strings.NewReplacer(r...).Replace(s) }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// reading is the state of Parse.
type reading struct {
	file    *File
	line    int
	fence   string // the fence that a code block began with
	titled  bool
	quoting bool // the lines of the summary go on
	details []string
}

// Parse reads a file of any kind. Lines that do not fit are findings, which
// Check reports.
func Parse(text []byte) *File {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\ufffd"))
	}
	plain := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", "\n"), "\r", "\n")
	r := &reading{file: &File{}}
	for line := range strings.SplitSeq(plain, "\n") {
		r.line++
		r.take(strings.TrimRight(line, " \t"))
	}
	r.file.Details = strings.TrimSpace(strings.Join(r.details, "\n"))
	return r.file
}

func (r *reading) take(line string) {
	trimmed := strings.TrimLeft(line, " ")
	if r.inFence(trimmed) {
		r.text(line)
		return
	}
	level, heading := headingOf(line)
	switch {
	case level == 1 && !r.titled:
		r.titled, r.quoting, r.file.Title = true, true, heading
		if heading == "" {
			r.mark(Error, "no_title", "The first heading says nothing: give the name of the site.")
		}
	case level == 1:
		r.mark(Warning, "second_title", "There is a second heading of the first level; a file has one.")
		r.quoting = false
	case level == 2:
		r.quoting = false
		r.file.Sections = append(r.file.Sections, Section{Name: heading, Line: r.line})
	case level > 2 && len(r.file.Sections) == 0:
		r.mark(Warning, "heading_in_details", "Between the summary and the first section there are paragraphs and lists, no headings.")
		r.text(line)
	case level > 2:
		r.mark(Warning, "deep_heading", "Sections have headings of the second level only.")
	case trimmed == "":
		r.text("")
	case r.quoting && strings.HasPrefix(trimmed, ">"):
		r.file.Summary = strings.TrimSpace(r.file.Summary + " " + oneLine(strings.TrimPrefix(trimmed, ">")))
	case len(r.file.Sections) > 0:
		r.item(trimmed)
	default:
		if !r.titled {
			r.mark(Warning, "text_before_title", "The file begins with its title; this stands before it.")
		}
		r.quoting = false
		r.text(line)
	}
}

// inFence follows code blocks, in which nothing is a heading or a link.
func (r *reading) inFence(line string) bool {
	for _, fence := range []string{"```", "~~~"} {
		if !strings.HasPrefix(line, fence) {
			continue
		}
		switch r.fence {
		case "":
			r.fence, r.quoting = fence, false
		case fence:
			r.fence = ""
		}
		return true
	}
	return r.fence != ""
}

// text keeps a line of the details.
func (r *reading) text(line string) {
	if len(r.file.Sections) == 0 && r.titled {
		r.details = append(r.details, line)
	}
}

func (r *reading) mark(s Severity, code, text string) {
	if len(r.file.found) < maxFindings {
		r.file.found = append(r.file.found, Finding{Code: code, Severity: s, Line: r.line, Text: text})
	}
}

// item reads a line of a section.
func (r *reading) item(line string) {
	section := &r.file.Sections[len(r.file.Sections)-1]
	rest, isItem := bullet(line)
	if !isItem {
		r.mark(Warning, "text_in_section", "Sections are lists of links; this line is none.")
		return
	}
	link, after, ok := linkOf(rest)
	if !ok {
		r.mark(Warning, "item_format", "An item has the form - [name](address): notes.")
		return
	}
	link.Line = r.line
	notes, colon := strings.CutPrefix(strings.TrimSpace(after), ":")
	if !colon && notes != "" {
		r.mark(Warning, "item_format", "Notes follow the link after a colon.")
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

// linkOf reads [name](address "title") at the start of a text.
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

// bracketed reads up to the closing bracket that belongs to the first one.
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

// unescape takes the backslash off punctuation.
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
