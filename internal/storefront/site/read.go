package site

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"ace/internal/foundation/htmltext"
	"ace/internal/foundation/problem"
)

// MaxRead is how many characters one read returns at most, and by default.
const MaxRead = 40_000

// Forms of a page.
const (
	Markdown = "markdown"
	Text     = "text"
)

// ReadQuery asks for a window of one page: by path or by address.
type ReadQuery struct {
	Path, URL string
	Format    string // Markdown or Text; empty: Markdown
	Offset    int    // characters to skip
	Limit     int    // characters to return at most; 0: MaxRead
}

// Reading is a window of one page. Windows that follow one another make up the
// whole page.
type Reading struct {
	Path, URL, Canonical, Title, Lang string
	Format, Content                   string
	Offset, Returned, Total           int // characters
	Truncated                         bool
	NextOffset                        int // where the next window begins, if Truncated
	Modified                          time.Time
}

// Read returns a window of a page. Beside what Page returns, it returns
// path_required, path_or_url, invalid_path, invalid_url, invalid_format,
// invalid_offset and invalid_limit (Invalid), path_outside_site and other_host
// (Forbidden).
func (s *Service) Read(ctx context.Context, q ReadQuery) (*Reading, error) {
	path, err := s.asked(q)
	if err != nil {
		return nil, err
	}
	page, err := s.Page(ctx, path)
	if err != nil {
		return nil, err
	}
	r := &Reading{
		Path: page.Path, URL: s.Address(page.Path), Canonical: page.Canonical, Title: page.Title, Lang: page.Lang,
		Format: q.Format, Offset: q.Offset, Modified: page.Modified,
	}
	content := page.Markdown
	if q.Format == Text {
		if content, err = s.text(page); err != nil {
			return nil, err
		}
	} else {
		r.Format = Markdown
	}
	return r, r.cut(content, q.Limit)
}

// asked validates a query and returns its path.
func (s *Service) asked(q ReadQuery) (string, error) {
	invalid := func(code, at, detail string) error { return problem.New(problem.Invalid, code, detail).At(at) }
	switch {
	case q.Path == "" && q.URL == "":
		return "", invalid("path_required", "path", "Name the page: path=/docs, or url with its whole address.")
	case q.Path != "" && q.URL != "":
		return "", invalid("path_or_url", "url", "Give path or url, not both.")
	case q.Format != "" && q.Format != Markdown && q.Format != Text:
		return "", invalid("invalid_format", "format", "format is markdown or text.")
	case q.Offset < 0:
		return "", invalid("invalid_offset", "offset",
			"offset is a number of characters from 0; take it from next_offset.")
	case q.Limit < 0 || q.Limit > MaxRead:
		return "", invalid("invalid_limit", "limit",
			fmt.Sprintf("limit is a number of characters from 1 to %d.", MaxRead))
	}
	raw := q.Path
	if q.URL != "" {
		var err error
		if raw, err = pathOf(q.URL, s.hosts); err != nil {
			return "", err
		}
	} else if strings.Contains(raw, "://") || strings.HasPrefix(raw, "//") {
		return "", invalid("invalid_path", "path",
			"path is only the path of a page, such as /docs. Give whole addresses as url.")
	}
	return CleanPath(raw)
}

// text is the page without markup.
func (s *Service) text(page *Page) (string, error) {
	html, err := page.whole()
	if err != nil {
		return "", err
	}
	base, err := url.Parse(page.Canonical)
	if err != nil {
		base = s.base
	}
	d, err := htmltext.Parse(strings.NewReader(html), base,
		&htmltext.Options{WholeBody: true, MaxBytes: 64 << 20, ContentType: "text/html; charset=utf-8"})
	if err != nil {
		return "", fmt.Errorf("reading the page %s as text: %w", page.Path, err)
	}
	return d.Text(), nil
}

// cut takes the window out of the content, ending at the end of a block if one
// lies near.
func (r *Reading) cut(content string, limit int) error {
	if limit == 0 {
		limit = MaxRead
	}
	r.Total = utf8.RuneCountInString(content)
	if r.Offset > r.Total || r.Offset == r.Total && r.Offset > 0 {
		return problem.New(problem.Invalid, "invalid_offset",
			fmt.Sprintf(
				"The page has %d characters: offset must be smaller. Take it from next_offset, or leave it out.",
				r.Total)).At("offset")
	}
	content = content[bytesOf(content, r.Offset):]
	if end := bytesOf(content, limit); end < len(content) {
		content = content[:blockEnd(content[:end], limit)]
		r.Truncated = true
	}
	r.Content, r.Returned = content, utf8.RuneCountInString(content)
	if r.Truncated {
		r.NextOffset = r.Offset + r.Returned
	}
	return nil
}

// bytesOf is the length of the first n characters.
func bytesOf(s string, n int) int {
	if n <= 0 {
		return 0
	}
	for at := range s {
		if n == 0 {
			return at
		}
		n--
	}
	return len(s)
}

// blockEnd is the end of the last block in a window, if it lies in the last
// twentieth of it; otherwise the window is used whole.
func blockEnd(window string, limit int) int {
	if at := strings.LastIndex(window, "\n\n"); at >= 0 && utf8.RuneCountInString(window[at+2:]) <= limit/20 {
		return at + 2
	}
	return len(window)
}
