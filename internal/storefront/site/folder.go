package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"sync"
	"text/template"
	"time"

	"ace/internal/foundation/htmltext"
	"ace/internal/foundation/markdown"
	"ace/internal/foundation/problem"
)

// Limits of a folder.
const (
	maxFile  = 2 << 20 // bytes of one Markdown file
	maxFiles = 200_000
)

// Vars are what a page with "template: true" in its head may name.
type Vars struct {
	Name, Operator, Address, Contact, BaseURL string
	Terms, Privacy, Refunds                   string // addresses of the policies
	Sandbox                                   bool   // nothing here moves real money
}

// Folder is a source of Markdown files: index.md is the first page of its
// folder, docs/setup.md is /docs/setup. Names that begin with a dot or an
// underscore are left out. A file that holds nothing hides the page of that
// path in the sources after it.
//
//	---
//	title: Set up          default: the first heading
//	description: …         default: the first paragraph
//	updated: 2026-01-31    default: when the file changed, where that is known
//	private: true          neither listed nor read
//	nav: 2  foot: 1        place in the menus
//	label: Set-up          name in the menus; default: the title
//	list: offers           append the offers (or the services) to the page
//	template: true         names such as {{.Name}} are filled in
//	---
type Folder struct {
	files fs.FS
	base  *url.URL
	vars  Vars

	mu       sync.Mutex
	pages    map[string]file  // by path of the page
	rendered map[string]*Page // the ones that were read since the listing changed
}

// maxRendered is how many pages are kept ready.
const maxRendered = 128

// file is what is kept of a file between two listings.
type file struct {
	name    string
	changed time.Time
	size    int64
	entry   Entry
	empty   bool
}

// NewFolder returns a source over files, whose pages are under base.
func NewFolder(files fs.FS, base *url.URL, vars Vars) *Folder {
	return &Folder{files: files, base: base, vars: vars, rendered: map[string]*Page{}}
}

// List walks the folder. Files that did not change are not read again. A file
// that cannot be used fails the listing, which names it and how to fix it.
func (f *Folder) List(ctx context.Context) ([]Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pages := map[string]file{}
	var faults []error
	err := fs.WalkDir(f.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if hiddenName(d.Name()) && name != "." {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() || path.Ext(name) != ".md" {
			return nil
		}
		if len(pages) >= maxFiles {
			return fmt.Errorf("the folder holds more than %d pages", maxFiles)
		}
		stored, err := f.look(name, d)
		if err != nil {
			faults = append(faults, err)
			return nil
		}
		if _, twice := pages[stored.entry.Path]; !twice {
			pages[stored.entry.Path] = stored
		}
		return nil
	})
	if err := errors.Join(append(faults, err)...); err != nil {
		return nil, fmt.Errorf("reading the folder of pages: %w", err)
	}
	f.pages = pages
	entries := make([]Entry, 0, len(pages))
	for _, p := range pages {
		entries = append(entries, p.entry)
	}
	return entries, nil
}

func hiddenName(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// pagePath turns the name of a file into the path of its page.
func pagePath(name string) string {
	p := "/" + strings.TrimSuffix(name, ".md")
	if folder, ok := strings.CutSuffix(p, "/index"); ok {
		p = folder
	}
	if p == "" {
		return "/"
	}
	return p
}

func (f *Folder) look(name string, d fs.DirEntry) (file, error) {
	info, err := d.Info()
	if err != nil {
		return file{}, fmt.Errorf("%s: %w", name, err)
	}
	at := pagePath(name)
	if old, ok := f.pages[at]; ok && old.name == name && old.size == info.Size() && old.changed.Equal(info.ModTime()) {
		return old, nil
	}
	delete(f.rendered, at)
	page, empty, err := f.load(name)
	if err != nil {
		return file{}, fmt.Errorf("%s: %w", name, err)
	}
	page.Absent = empty
	return file{name: name, changed: info.ModTime(), size: info.Size(), entry: page.Entry, empty: empty}, nil
}

// Read returns the page with its HTML.
func (f *Folder) Read(_ context.Context, at string) (*Page, error) {
	f.mu.Lock()
	stored, ok := f.pages[at]
	ready := f.rendered[at]
	f.mu.Unlock()
	switch {
	case !ok || stored.empty:
		return nil, notFound()
	case ready != nil:
		return ready, nil
	}
	page, _, err := f.load(stored.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound() // removed since the listing
	}
	if err != nil {
		return nil, fmt.Errorf("reading the page %s: %w", at, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.rendered) >= maxRendered {
		clear(f.rendered)
	}
	if f.pages[at] == stored { // not if a listing came between
		f.rendered[at] = page
	}
	return page, nil
}

func (f *Folder) load(name string) (page *Page, empty bool, err error) {
	text, changed, err := f.open(name)
	if err != nil {
		return nil, false, err
	}
	m, text, err := parseMatter(text)
	if err != nil {
		return nil, false, err
	}
	if m.template {
		if text, err = fill(text, f.vars); err != nil {
			return nil, false, err
		}
		if m.description, err = fill(m.description, f.vars); err != nil {
			return nil, false, err
		}
		if m.title, err = fill(m.title, f.vars); err != nil {
			return nil, false, err
		}
	}
	at := pagePath(name)
	page = &Page{Lang: m.lang, Entry: Entry{
		Path: at, Title: m.title, Description: m.description, Modified: m.updated, Private: m.private, Nav: m.nav,
		Foot: m.foot, Label: m.label,
	}}
	if page.Modified.IsZero() {
		page.Modified = changed
	}
	if m.list != "" {
		page.Modified = time.Time{} // it changes with the offers, at an unknown time
		page.list = m.list
	}
	if strings.TrimSpace(text) == "" {
		return page, true, nil
	}
	return page, false, page.setText(text, f.linkFrom(name, at))
}

// linkFrom resolves links as they are in a file: beside the file, to other
// files or to their pages.
func (f *Folder) linkFrom(name, at string) func(*url.URL) *url.URL {
	base := f.base.JoinPath(EscapePath(at))
	if path.Base(name) == "index.md" && at != "/" {
		base = base.JoinPath("/")
	}
	return func(to *url.URL) *url.URL {
		u := base.ResolveReference(to)
		if to.Host == "" && to.Scheme == "" && !strings.HasPrefix(to.Path, "/") {
			if bare, ok := strings.CutSuffix(u.Path, ".md"); ok { // the file; its page is meant
				u.Path, u.RawPath = cmp.Or(strings.TrimSuffix(bare, "/index"), "/"), ""
			}
		}
		return u
	}
}

func (f *Folder) open(name string) (text string, changed time.Time, err error) {
	r, err := f.files.Open(name)
	if err != nil {
		return "", changed, err
	}
	defer func() { _ = r.Close() }() // nothing was written
	info, err := r.Stat()
	if err != nil {
		return "", changed, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return "", changed, err
	}
	if len(data) > maxFile {
		return "", changed, fmt.Errorf("the file is larger than %d bytes: split it", maxFile)
	}
	return strings.ToValidUTF8(string(data), "\ufffd"), info.ModTime(), nil
}

// fill puts the settings into a text.
func fill(text string, vars Vars) (string, error) {
	t, err := template.New("page").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, vars); err != nil {
		return "", err
	}
	return b.String(), nil
}

// SetText sets Markdown and HTML of the page, whose relative links are at an
// address, and derives title and description where they are empty.
func (p *Page) SetText(text string, at *url.URL) error {
	return p.setText(text, func(to *url.URL) *url.URL { return at.ResolveReference(to) })
}

func (p *Page) setText(text string, link func(*url.URL) *url.URL) error {
	text = strings.TrimSpace(text) + "\n"
	if !strings.HasPrefix(text, "# ") {
		if p.Title == "" {
			p.Title = strings.Trim(path.Base(p.Path), "/")
		}
		text = "# " + escape(p.Title) + "\n\n" + text
	}
	p.Markdown = markdown.Rewrite(text, link)
	html, err := markdown.HTML(p.Markdown)
	if err != nil {
		return err
	}
	p.HTML = html
	if p.Title != "" && p.Description != "" {
		return nil
	}
	d, err := htmltext.Parse(strings.NewReader(html), nil,
		&htmltext.Options{WholeBody: true, MaxBytes: 8 * maxFile, ContentType: "text/html; charset=utf-8"})
	if err != nil {
		return fmt.Errorf("reading a rendered page: %w", err)
	}
	if p.Title == "" {
		p.Title = d.Title
	}
	if p.Description == "" {
		p.Description = shorten(d.Opening(), maxOpening)
	}
	return nil
}

// maxOpening is the length of a description that was not written by hand.
const maxOpening = 200

func shorten(s string, most int) string {
	if len([]rune(s)) <= most {
		return s
	}
	cut := string([]rune(s)[:most-1])
	if at := strings.LastIndexByte(cut, ' '); at > 0 {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " ,.;:") + "…"
}

func notFound() error {
	return problem.New(problem.NotFound, "page_not_found",
		"There is no such page. Find pages with /agent/search, or read /sitemap.xml.").At("path")
}
