// Package judge holds the checks of a website: what is measured on what was
// read, what it counts and what to do about it. It fetches nothing.
//
//	Audit   the pages and responses that were fetched
//	  |     facts: text, landmarks, structured data of a page, read once
//	Table   one row a check: id, weight, evidence, words, and a function
//	  |
//	Finding value 0 to 1, or NA, or Unknown; what was observed, with its line
//
// One file a category: access index render understanding content trust.
package judge

import (
	"fmt"
	"slices"
	"time"

	"ace/internal/website/crawl"
	"ace/internal/website/readiness/langid"
)

// Audit is everything that was fetched of a website.
type Audit struct {
	Site  *crawl.Site
	Pages []*crawl.Page // of the sample; never empty, the first is the one that was named
	Now   time.Time
	// Plain is the response of http://host/, not followed; nil: not asked.
	Plain *crawl.Response
	// Targets are responses for links, canonical addresses and entries of sitemaps
	// outside the sample, by address.
	Targets map[string]*crawl.Response
	// Validate judges structured data; nil: its syntax alone is judged.
	Validate Validator

	facts map[*crawl.Page]*facts
}

// New returns an audit of pages, of which there is one at least.
func New(site *crawl.Site, pages []*crawl.Page, now time.Time, validate Validator) *Audit {
	return &Audit{
		Site: site, Pages: pages, Now: now, Targets: map[string]*crawl.Response{}, Validate: validate,
		facts: map[*crawl.Page]*facts{},
	}
}

func detect(text string) string { return langid.Detect(text) }

// Home is the page that the customer named.
func (a *Audit) Home() *crawl.Page { return a.Pages[0] }

// Readable are the pages of the sample that can be judged by their content.
func (a *Audit) Readable() []*crawl.Page {
	return slices.DeleteFunc(slices.Clone(a.Pages), func(p *crawl.Page) bool { return !p.OK() })
}

// Address is the address of a path of the website.
func (a *Audit) Address(path string) string { return a.Site.Origin.JoinPath(path).String() }

// Status is the outcome of a check.
type Status string

// The outcomes. NA and Unknown do not count.
const (
	Pass    Status = "pass"
	Some    Status = "partial"
	Fail    Status = "fail"
	NA      Status = "na"
	Unknown Status = "unknown"
)

// Word is a status in words.
func (s Status) Word() string {
	switch s {
	case Some:
		return "partly"
	case NA:
		return "does not apply"
	case Unknown:
		return "not measured"
	default:
		return string(s)
	}
}

// Finding is the outcome of a check at one address.
type Finding struct {
	Value    float64 // 0 to 1
	State    Status  // NA or Unknown; empty: Value counts
	Observed string
	Place    crawl.Place
}

// At adds the place in the source.
func (f Finding) At(p crawl.Place) Finding {
	f.Place = p
	return f
}

// Status is the outcome: by the value, if that counts.
func (f Finding) Status() Status {
	switch {
	case f.State != "":
		return f.State
	case f.Value >= 0.995:
		return Pass
	case f.Value <= 0.005:
		return Fail
	}
	return Some
}

// Counts reports whether the value counts.
func (f Finding) Counts() bool { return f.State == "" }

// Measured is a finding with a value, held between 0 and 1.
func Measured(value float64, format string, args ...any) Finding {
	return Finding{Value: min(max(value, 0), 1), Observed: fmt.Sprintf(format, args...)}
}

// NotApplicable is the finding where there is nothing to measure.
func NotApplicable(format string, args ...any) Finding {
	return Finding{State: NA, Observed: fmt.Sprintf(format, args...)}
}

// Unmeasured is the finding where something kept us from measuring.
func Unmeasured(format string, args ...any) Finding {
	return Finding{State: Unknown, Observed: fmt.Sprintf(format, args...)}
}

// SiteFinding is the outcome of a check of the whole website.
type SiteFinding struct {
	Finding
	URL  string      // where it was found
	Rows []AtAddress // single findings; empty: this one
}

// AtAddress is a finding and where it was made.
type AtAddress struct {
	URL string
	Finding
}

// needsPage returns the finding for a page whose content cannot be judged. A
// page that fails has no content, which pageStatus reports; where no page has any,
// nothing is known.
func (a *Audit) needsPage(p *crawl.Page) (Finding, bool) {
	switch {
	case p.Challenge() != "":
		return Unmeasured("our client was refused: %s", p.Challenge()), true
	case p.OK():
		return Finding{}, false
	}
	why := fmt.Sprintf("the page answered %d", p.Response.Status)
	if p.Failure != "" {
		why = "the page " + p.Failure.String()
	}
	if p.Failure.Ours() || len(a.Readable()) == 0 {
		return Unmeasured("%s", why), true
	}
	return NotApplicable("%s", why), true
}
