package llmsdraft

import (
	"cmp"
	"context"

	"ace/internal/protocol/llmstxt"
	"ace/internal/website/crawl"
)

// Limits of a draft.
const (
	DefaultPages = 25 // that are read

	maxWeighed    = 200 // addresses that are compared
	maxSections   = 8
	maxPerSection = 12
	maxOptional   = 15
	minLanguage   = 5   // pages that another language needs for a section of its own
	maxOmitted    = 200 // entries of Draft.Omitted; Stats counts all
	maxChecks     = 12  // links that were not read and are asked for by HEAD
	maxTwinChecks = 6
)

// Options are the parts of a service that have defaults.
type Options struct {
	// Crawl holds the limits of the crawl: pace, requests, bytes, time.
	Crawl *crawl.Options
	// Pages bounds the pages that are read. 0, or more than it: DefaultPages.
	Pages int
}

// Service drafts. It is safe for concurrent use.
type Service struct {
	fetcher crawl.Fetcher
	o       Options
}

// New returns a service that reads websites with fetcher.
func New(fetcher crawl.Fetcher, o *Options) *Service {
	s := &Service{fetcher: fetcher}
	if o != nil {
		s.o = *o
	}
	s.o.Pages = min(cmp.Or(max(s.o.Pages, 0), DefaultPages), DefaultPages)
	return s
}

// Request is what a caller asks for.
type Request struct {
	// URL is an address of the website, with or without its scheme. One that
	// ends in a folder, such as https://example.com/docs/, is drafted alone.
	URL string `json:"url"`
}

// Check refuses an address that can never be drafted: invalid_url (Invalid).
func (r Request) Check() error {
	_, _, err := crawl.ParseTarget(r.URL)
	return err
}

// Draft is the result.
type Draft struct {
	Version    string          `json:"report_version"`
	Target     Target          `json:"target"`
	LLMSTxt    string          `json:"llms_txt"`
	Stats      Stats           `json:"stats"`
	Sections   []Section       `json:"sections"`
	Omitted    []Omission      `json:"omitted"`
	Warnings   []Warning       `json:"warnings"`
	NeedsInput []Need          `json:"needs_input"`
	Validation *llmstxt.Report `json:"validation"`
	Existing   Existing        `json:"existing"`
	Twins      Twins           `json:"twins"`

	files []File
}

// Target is the website.
type Target struct {
	Input    string `json:"input"`
	Origin   string `json:"origin"`
	FinalURL string `json:"final_url"`
	Folder   string `json:"folder,omitempty"` // that was drafted alone
	Language string `json:"language,omitempty"`
}

// Stats counts the work.
type Stats struct {
	Addresses  int            `json:"addresses"` // that sitemaps and links name
	Read       int            `json:"read"`      // pages
	Requests   int            `json:"requests"`
	Bytes      int64          `json:"bytes"`
	Links      int            `json:"links"` // in the draft
	Sections   int            `json:"sections"`
	Size       int            `json:"size"` // of the draft, in bytes
	Omitted    map[string]int `json:"omitted"`
	WithNotes  int            `json:"links_with_notes"`
	Unverified int            `json:"links_not_read"`
}

// Section is a part of the draft.
type Section struct {
	Name  string `json:"name"`
	Links []Link `json:"links"`
}

// Link is one link of the draft, and why it is what it is.
type Link struct {
	Name      string  `json:"name"`
	URL       string  `json:"url"`
	Notes     string  `json:"notes,omitempty"`
	NotesFrom string  `json:"notes_from,omitempty"` // meta, og or text
	Score     float64 `json:"score"`
	Checked   string  `json:"checked"` // read, head, or no
}

// Omission is an address that the draft leaves out.
type Omission struct {
	URL    string `json:"url"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// Warning is something that the owner of the site should look at.
type Warning struct {
	Code string `json:"code"`
	URL  string `json:"url,omitempty"`
	Text string `json:"text"`
}

// Need is something that only a person can add.
type Need struct {
	Path   string `json:"path"` // place in the draft: title, summary, an address, …
	Reason string `json:"reason"`
}

// File is a file that is ready to be used.
type File struct {
	Name, MediaType string
	Data            []byte
}

// Files returns llms.txt, the report for people, and a Markdown twin for each
// page of the draft that has none. Names are unique.
func (d *Draft) Files() []File { return d.files }

// Run drafts an llms.txt. It returns the problems of crawl.Open, and
// site_excludes_crawler or site_not_readable (Unprocessable) where there is
// nothing to draft from. What else is wrong with the website is in the
// draft. progress may be nil.
func (s *Service) Run(ctx context.Context, r Request, progress crawl.Progress) (*Draft, error) {
	if progress == nil {
		progress = func(string, int, int) {}
	}
	progress("open", 0, 0)
	site, err := crawl.Open(ctx, s.fetcher, r.URL, s.o.Crawl)
	if err != nil {
		return nil, err
	}
	if err := site.CheckReadable(homeOf(site)...); err != nil {
		return nil, err
	}
	w := &work{
		site: site, progress: progress, limit: s.o.Pages, byKey: map[string]*page{}, stated: map[string]bool{},
		dropped: map[Reason]int{},
	}
	for _, step := range []func(context.Context) error{
		w.look, w.collect, w.readPages, w.settle, w.verify,
		w.lookForTwins,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	progress("write", w.read, w.read)
	return w.draft(), nil
}

// homeOf is the page that a draft starts from: without it there is no draft.
func homeOf(site *crawl.Site) []*crawl.Page {
	if site.Home == nil {
		return nil
	}
	return []*crawl.Page{site.Home}
}
