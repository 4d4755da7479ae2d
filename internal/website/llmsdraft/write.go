package llmsdraft

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"ace/internal/protocol/llmstxt"
)

// Limits of the twins that come with a draft, in bytes.
const (
	maxTwin  = 100_000
	maxTwins = 1_000_000
	maxFull  = 500_000 // of llms-full.txt
)

// draft writes the result.
func (w *work) draft() *Draft {
	chosen := flat(w.sections)
	w.nameAll(chosen)
	w.describeAll(chosen)
	w.compareExisting(chosen)
	file := w.file()
	text := file.String()
	for len(text) > llmstxt.MaxSize && w.shorten() { // long names or addresses
		file = w.file()
		text = file.String()
	}
	at, err := url.Parse(w.existing.URL)
	if err != nil {
		at = w.site.Origin
	}
	d := &Draft{
		Version: "1",
		Target: Target{
			Input: w.site.Input, Origin: strings.TrimSuffix(w.site.Origin.String(), "/"),
			FinalURL: w.home.url.String(), Language: w.lang,
		},
		LLMSTxt: text, Sections: []Section{}, Omitted: []Omission{}, NeedsInput: []Need{}, Existing: w.existing,
		Twins:      w.twins,
		Validation: llmstxt.Check([]byte(text), at),
	}
	if w.folder != "/" {
		d.Target.Folder = w.folder
	}
	for _, s := range w.sections {
		out := Section{Name: s.name, Links: []Link{}}
		for _, p := range s.pages {
			out.Links = append(out.Links, Link{
				Name: p.name, URL: p.url.String(), Notes: p.notes,
				NotesFrom: p.notesFrom, Score: p.score, Checked: p.checked,
			})
		}
		d.Sections = append(d.Sections, out)
	}
	w.omissions(d)
	w.needs(d)
	w.count(d)
	d.Warnings = append([]Warning{}, w.warnings...)
	d.files = w.files(d, file)
	return d
}

func (w *work) file() *llmstxt.File {
	f := &llmstxt.File{Title: w.name, Summary: w.summary, Details: w.details}
	for _, s := range w.sections {
		section := llmstxt.Section{Name: s.name}
		for _, p := range s.pages {
			section.Links = append(section.Links, llmstxt.Link{Name: p.name, URL: p.url.String(), Notes: p.notes})
		}
		f.Sections = append(f.Sections, section)
	}
	return f
}

// shorten takes the last link away that is not the only one.
func (w *work) shorten() bool {
	for i := len(w.sections) - 1; i >= 0; i-- {
		s := &w.sections[i]
		if len(s.pages) > 1 {
			w.drop(s.pages[len(s.pages)-1], Full, "the file is as large as readers take")
			s.pages = s.pages[:len(s.pages)-1]
			return true
		}
	}
	return false
}

func (w *work) omissions(d *Draft) {
	d.Stats.Omitted = map[string]int{}
	chosen := map[*page]bool{w.home: true}
	for _, p := range flat(w.sections) {
		chosen[p] = true
	}
	for _, p := range w.pages {
		if chosen[p] {
			continue
		}
		if p.reason == "" {
			p.reason = Beyond
		}
		d.Stats.Omitted[string(p.reason)]++
		d.Omitted = append(d.Omitted, Omission{URL: p.url.String(), Reason: p.reason, Detail: p.detail})
	}
	for reason, n := range w.dropped {
		d.Stats.Omitted[string(reason)] += n
	}
	slices.SortStableFunc(d.Omitted,
		func(a, b Omission) int { return cmp.Or(certain(a)-certain(b), strings.Compare(a.URL, b.URL)) })
	if len(d.Omitted) > maxOmitted {
		d.Omitted = d.Omitted[:maxOmitted]
	}
}

// certain puts reasons first that say something about a page.
func certain(o Omission) int {
	switch o.Reason {
	case Full, Parameters, OtherFolder:
		return 1
	case Beyond:
		return 2
	default:
		return 0
	}
}

// needs lists what is missing on the site.
func (w *work) needs(d *Draft) {
	need := func(path, reason string) { d.NeedsInput = append(d.NeedsInput, Need{Path: path, Reason: reason}) }
	if w.named == "host" {
		need("title", "The site does not say what it is called; the draft uses its host.")
	}
	if w.summary == "" {
		need("summary", "No page says in a sentence what the site is for. Write one or two sentences.")
	}
	need("when_to_use", "Say when an agent should use this site, and when not: only you know.")
	if !strings.Contains(w.details, "- Contact: ") {
		need("contact", "No mail address or telephone number was found.")
	}
	for _, p := range flat(w.sections) {
		if p.notes == "" && len(d.NeedsInput) < 50 {
			reason := "The page has no description that fits, and no first sentence: add a meta description."
			if !p.read {
				reason = "The page was not read: describe it in a few words."
			}
			need(p.url.String(), reason)
		}
	}
}

func (w *work) count(d *Draft) {
	s := &d.Stats
	s.Addresses = len(w.pages) + w.dropped[Beyond]
	s.Read, s.Requests, s.Bytes, s.Sections, s.Size = w.read, w.site.Requests(), w.site.Bytes(), len(w.sections), len(
		d.LLMSTxt)
	for _, p := range flat(w.sections) {
		s.Links++
		if p.notes != "" {
			s.WithNotes++
		}
		if !p.read {
			s.Unverified++
		}
	}
	if unread := s.Unverified; unread > 0 {
		w.warn("not_read",
			"", itoa(unread)+" of "+itoa(s.Links)+" links lead to pages that were not read: look at their names.")
	}
}

// files are what a buyer can use at once.
func (w *work) files(d *Draft, file *llmstxt.File) []File {
	files := []File{{Name: "llms.txt", MediaType: "text/plain; charset=utf-8", Data: []byte(d.LLMSTxt)}}
	if len(w.found) > 0 && !slices.ContainsFunc(w.twins.Checked, func(t Twin) bool { return t.State != "found" }) {
		for i := range file.Sections {
			for j := range file.Sections[i].Links {
				l := &file.Sections[i].Links[j]
				if twin := w.found[l.URL]; twin != "" {
					l.URL = twin
				}
			}
		}
		files = append(files,
			File{Name: "llms-twins.txt", MediaType: "text/plain; charset=utf-8", Data: []byte(file.String())})
	}
	files = append(files,
		File{Name: "report.md", MediaType: "text/markdown; charset=utf-8", Data: []byte(d.Markdown())})
	if full := w.full(d); full != "" {
		files = append(files,
			File{Name: "llms-full.txt", MediaType: "text/plain; charset=utf-8", Data: []byte(full)})
	}
	left := maxTwins
	for _, p := range flat(w.sections) {
		if !p.read || w.found[p.url.String()] != "" || p.hidden {
			continue
		}
		text := strings.TrimSpace(p.doc.Markdown())
		if text == "" || len(text) > maxTwin || len(text) > left {
			continue
		}
		left -= len(text)
		if !strings.HasPrefix(text, "# ") {
			text = "# " + p.name + "\n\n" + text
		}
		files = append(files,
			File{Name: w.twinName(p, files), MediaType: "text/markdown; charset=utf-8", Data: []byte(text + "\n")})
	}
	return files
}

// full is the draft with the text of the pages that were read behind it, the
// first ones first, as many whole pages as fit into maxFull.
func (w *work) full(d *Draft) string {
	var b strings.Builder
	b.WriteString(d.LLMSTxt)
	pages := 0
	for _, p := range flat(w.sections) {
		text := ""
		if p.read && !p.hidden && !givesOrders(p.text) {
			text = strings.TrimSpace(p.doc.Markdown())
		}
		part := "\n---\n\nSource: " + p.url.String() + "\n\n" + text + "\n"
		if text == "" || b.Len()+len(part) > maxFull {
			continue
		}
		b.WriteString(part)
		pages++
	}
	if pages == 0 {
		return ""
	}
	return b.String()
}

// twinName is the place of a twin among the files: its path on the site.
func (w *work) twinName(p *page, others []File) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./", r) {
			return r
		}
		return '_'
	}, strings.TrimPrefix(p.url.Path, "/"))
	if name == "" || strings.HasSuffix(name, "/") {
		name += "index.html"
	}
	name = "twins/" + strings.ReplaceAll(strings.ReplaceAll(name, "..", "_"), "//", "/")
	if len(name) > 180 {
		name = name[:180]
	}
	for slices.ContainsFunc(others, func(f File) bool { return f.Name == name+".md" }) {
		name += "_"
	}
	return name + ".md"
}
