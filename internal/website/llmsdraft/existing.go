package llmsdraft

import (
	"cmp"
	"context"
	"net/url"

	"ace/internal/protocol/llmstxt"
	"ace/internal/website/crawl"
)

// Existing is the llms.txt that the website has.
type Existing struct {
	URL string `json:"url"`
	// State is present, missing, soft_404 (a page instead of a file), or
	// unreadable.
	State     string             `json:"state"`
	MediaType string             `json:"media_type,omitempty"`
	Level     int                `json:"level"` // see llmstxt.Report
	Findings  []llmstxt.Finding  `json:"findings"`
	Links     int                `json:"links"`
	InDraft   int                `json:"links_in_draft"`
	NotIn     []ExistingOmission `json:"links_not_in_draft"`
}

// ExistingOmission is a link that the website's file has and the draft has not.
type ExistingOmission struct {
	URL    string `json:"url"`
	Reason string `json:"reason,omitempty"` // why, where it is known
}

// maxExisting bounds the file that is read.
const maxExisting = 300_000

// readExisting reads the llms.txt of the folder that is drafted.
func (w *work) readExisting(ctx context.Context) error {
	at := w.site.Origin.JoinPath(w.folder, "llms.txt")
	res, err := w.site.Fetch(ctx, crawl.Request{
		URL: at.String(), Accept: "text/markdown, text/plain;q=0.9, */*;q=0.1",
		DecodedLimit: maxExisting,
	})
	if err != nil {
		return err
	}
	e := Existing{
		URL: at.String(), State: "missing", MediaType: res.MediaType(), Findings: []llmstxt.Finding{},
		NotIn: []ExistingOmission{},
	}
	defer func() { w.existing = e }()
	switch {
	case res.Failure != "":
		e.State = "unreadable"
		return nil
	case res.Status != 200:
		e.MediaType = ""
		return nil
	}
	report := llmstxt.Check(res.Body, at)
	e.Level, e.Findings = report.Level, report.Findings
	if report.Level == 0 || e.MediaType == "text/html" || e.MediaType == "application/xhtml+xml" {
		e.State = "soft_404"
		return nil
	}
	e.State = "present"
	if e.MediaType != "text/plain" && e.MediaType != "text/markdown" {
		e.Findings = append(e.Findings, llmstxt.Finding{
			Code:     "media_type",
			Severity: llmstxt.Warning,
			Text: "The file is served as " + cmp.Or(
				e.MediaType,
				"nothing in particular",
			) + "; serve it as text/plain or text/markdown.",
		})
	}
	for _, l := range llmstxt.Parse(res.Body).Links() {
		u, err := at.Parse(l.URL)
		if err != nil || e.Links >= 1000 {
			continue
		}
		e.Links++
		w.add(u)
		e.NotIn = append(e.NotIn, ExistingOmission{URL: clipped(u.String())})
	}
	return nil
}

// compareExisting reports what became of the links of the website's own file.
func (w *work) compareExisting(chosen []*page) {
	in := map[string]bool{}
	for _, p := range chosen {
		in[p.key] = true
	}
	all := w.existing.NotIn
	w.existing.NotIn = []ExistingOmission{}
	for _, o := range all {
		u, err := url.Parse(o.URL)
		if err != nil {
			continue
		}
		p := w.byKey[keyOf(u)]
		own := p != nil && u.Host == w.site.Origin.Host
		switch {
		case own && in[p.key]:
			w.existing.InDraft++
			continue
		case own:
			o.Reason = inWords[p.reason]
		case u.Host != w.site.Origin.Host:
			o.Reason = "is on another host"
		}
		if len(w.existing.NotIn) < 50 {
			w.existing.NotIn = append(w.existing.NotIn, o)
		}
	}
}
