package sitehttp

import (
	"context"
	"net/http"
	"time"

	"ace/internal/foundation/openapi"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/discovery"
)

// SearchResults is the JSON of a search.
type SearchResults struct {
	Query      string         `json:"query" doc:"The words that were looked for."`
	Total      int            `json:"total" doc:"Pages found, on all pages of results."`
	Results    []SearchResult `json:"results" doc:"Best first: pages whose path holds every word come before others."`
	NextCursor *string        `json:"next_cursor" nullable:"true" doc:"Send it as cursor to read the next page of results; null on the last one."`
}

// SearchResult is one page that was found.
type SearchResult struct {
	URL         string  `json:"url" doc:"Address of the page. Give it, or path, to read the page."`
	Path        string  `json:"path"`
	Title       string  `json:"title,omitempty" doc:"Where it is known without reading the page."`
	Description string  `json:"description,omitempty"`
	LastMod     string  `json:"lastmod,omitempty" doc:"When the page last changed; absent if that is not known."`
	Score       float64 `json:"score" doc:"From 0 to 1; 1 holds every word in the last part of its path."`
}

// PageReading is the JSON of a read.
type PageReading struct {
	URL        string `json:"url"`
	Path       string `json:"path"`
	Canonical  string `json:"canonical" doc:"Where the page is at home."`
	Title      string `json:"title"`
	Lang       string `json:"lang" doc:"Language of the page (BCP 47)."`
	Format     string `json:"format" enum:"markdown,text"`
	Content    string `json:"content" doc:"The page, or the part of it that was asked for."`
	Offset     int    `json:"offset" doc:"Characters before this part."`
	Returned   int    `json:"returned" doc:"Characters in this part, at most 40,000."`
	Total      int    `json:"total" doc:"Characters of the whole page."`
	Truncated  bool   `json:"truncated" doc:"True if the page goes on after this part."`
	NextOffset *int   `json:"next_offset" doc:"Give it as offset to read on; null at the end." nullable:"true"`
	LastMod    string `json:"lastmod,omitempty" doc:"When the page last changed; absent if that is not known."`
}

// SiteInfo is the JSON of site.json.
type SiteInfo struct {
	Name         string            `json:"name"`
	URL          string            `json:"url"`
	Description  string            `json:"description,omitempty"`
	Languages    []string          `json:"languages"`
	Version      string            `json:"version" doc:"Version of the API."`
	UpdatedAt    string            `json:"updated_at,omitempty" format:"date-time" doc:"When a page last changed, as far as that is known."`
	Pages        int               `json:"pages" doc:"Public pages."`
	Operator     SiteOperator      `json:"operator"`
	Access       SiteAccess        `json:"access"`
	Capabilities []string          `json:"capabilities" doc:"What agents can do here."`
	Policies     map[string]string `json:"policies"`
	Links        map[string]string `json:"links" doc:"Every companion of the site, by what it is."`
}

// SiteOperator is who runs the store.
type SiteOperator struct {
	LegalName string `json:"legal_name"`
	Address   string `json:"address,omitempty"`
	Email     string `json:"email,omitempty"`
	Contact   string `json:"contact,omitempty" doc:"Page that says how to get in touch."`
}

// SiteAccess is what callers need.
type SiteAccess struct {
	Authentication string              `json:"authentication" enum:"none"`
	RateLimit      discovery.RateLimit `json:"rate_limit"`
	UserAgent      string              `json:"user_agent"`
	WebBotAuth     string              `json:"web_bot_auth" enum:"optional" doc:"Signed requests (RFC 9421) are verified; unsigned ones are served all the same."`
}

type searchInput struct {
	Q      string `query:"q" required:"true" doc:"Words that the path of the page holds. Plurals, beginnings of the last word and one wrong letter are forgiven." example:"refund policy"`
	Limit  int    `query:"limit" default:"10" minimum:"1" maximum:"50" doc:"Results per page."`
	Cursor string `query:"cursor" doc:"next_cursor of the page before."`
}

type readInput struct {
	Path   string `query:"path" doc:"Path of the page, such as /docs. Give path or url." example:"/docs"`
	URL    string `query:"url" doc:"Whole address of the page on this host. Give path or url."`
	Format string `query:"format" default:"markdown" enum:"markdown,text" doc:"Markdown, or text without markup."`
	Offset int    `query:"offset" default:"0" minimum:"0" doc:"Characters to skip: next_offset of the part before."`
	Limit  int    `query:"limit" default:"40000" minimum:"1" maximum:"40000" doc:"Characters to answer at most."`
}

// open are the headers of answers that any web page may read.
type open[T any] struct {
	Origin string `header:"Access-Control-Allow-Origin"`
	Cache  string `header:"Cache-Control"`
	Body   T
}

func openly[T any](body T) *open[T] {
	return &open[T]{Origin: "*", Cache: "public, max-age=60", Body: body}
}

// describe mounts and documents the calls about pages.
func (f *Handler) describe(api *openapi.API) {
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: "/agent/search", ID: "searchPages", Tags: []string{"site"},
		Summary: "Find pages by the words of their path",
		Description: "Looks at the paths of all public pages, the ones of the sitemap. Pages whose path holds every " +
			"word come first.",
	}, func(ctx context.Context, in *searchInput) (*open[*SearchResults], error) {
		found, err := f.Search(ctx, site.Query{Words: in.Q, Limit: in.Limit, Cursor: in.Cursor})
		return openly(found), err
	})
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: "/agent/read", ID: "readPage", Tags: []string{"site"},
		Summary: "Read one page as Markdown or text",
		Description: "Reads a page of this host, up to 40,000 characters at once. Where truncated is true, read on " +
			"at next_offset: the parts make up the whole page.",
	}, func(ctx context.Context, in *readInput) (*open[*PageReading], error) {
		r, err := f.Read(ctx,
			site.ReadQuery{Path: in.Path, URL: in.URL, Format: in.Format, Offset: in.Offset, Limit: in.Limit})
		return openly(r), err
	})
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: "/agent/site.json", ID: "siteInfo", Tags: []string{"site"},
		Summary: "Who runs the site, and every companion of it",
		Description: "Names the operator, the languages and where the interfaces for agents, the documents and the " +
			"payment pages of this site are.",
	}, openapi.Description{
		Responses: map[int]openapi.Content{200: {Description: "The site.", Schema: openapi.SchemaOf[SiteInfo]()}},
	})
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodGet, Path: "/sitemaps/{part}", ID: "sitemapPart", Tags: []string{"discovery"},
		Summary: "One part of the list of pages, as /sitemap.xml names it",
		Description: "A sitemap of at most 50,000 pages. A site with more has several, listed in the sitemap index " +
			"at /sitemap.xml.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{{
			Name: "part", In: "path", Required: true,
			Description: "Name of the part, such as pages-0001.xml.",
		}},
		Responses: map[int]openapi.Content{200: {Description: "The pages.", MediaType: typeXML}},
	})
}

// Search finds pages; REST and the tools return the same.
func (f *Handler) Search(ctx context.Context, q site.Query) (*SearchResults, error) {
	found, err := f.Pages.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	results := &SearchResults{
		Query: q.Words, Total: found.Total, Results: make([]SearchResult, len(found.Results)),
	}
	if found.Next != "" {
		results.NextCursor = &found.Next
	}
	for i, r := range found.Results {
		results.Results[i] = SearchResult{
			URL: r.URL, Path: r.Path, Title: r.Title, Description: r.Description,
			LastMod: timeText(r.Modified), Score: r.Score,
		}
	}
	return results, nil
}

// Read reads a page; REST and the tools return the same.
func (f *Handler) Read(ctx context.Context, q site.ReadQuery) (*PageReading, error) {
	r, err := f.Pages.Read(ctx, q)
	if err != nil {
		return nil, err
	}
	reading := &PageReading{
		URL: r.URL, Path: r.Path, Canonical: r.Canonical, Title: r.Title, Lang: langOf(r.Lang), Format: r.Format,
		Content: r.Content,
		Offset:  r.Offset, Returned: r.Returned, Total: r.Total, Truncated: r.Truncated, LastMod: timeText(r.Modified),
	}
	if r.Truncated {
		reading.NextOffset = &r.NextOffset
	}
	return reading, nil
}

// Info describes the site; REST and the tools return the same.
func (f *Handler) Info() *SiteInfo {
	snapshot := f.Pages.Snapshot()
	home, _ := snapshot.Entry("/")
	info := &SiteInfo{
		Name: f.Site.Name, URL: f.Site.BaseURL + "/", Description: home.Description, Languages: []string{"en"},
		Version:   f.Site.Version,
		UpdatedAt: timeText(snapshot.Modified), Pages: len(snapshot.Entries),
		Operator: SiteOperator{LegalName: f.operator(), Address: f.Site.Address, Email: f.Site.Contact},
		Access: SiteAccess{
			Authentication: "none", RateLimit: f.Companions.RateLimit(),
			UserAgent: "Send a User-Agent that says who you are.", WebBotAuth: "optional",
		},
		Capabilities: f.Companions.Capabilities(),
		Policies:     map[string]string{"terms": f.Site.Terms, "privacy": f.Site.Privacy, "refunds": f.Site.Refunds},
		Links:        f.Companions.Links(),
	}
	info.Operator.Contact = info.Links["contact"]
	return info
}

// operator is the name of the store's operator.
func (f *Handler) operator() string {
	if f.Site.Operator != "" {
		return f.Site.Operator
	}
	return f.Site.Name
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return rfc3339(t)
}

func langOf(lang string) string {
	if lang == "" {
		return "en"
	}
	return lang
}

func rfc3339(t time.Time) string { return t.UTC().Truncate(time.Second).Format(time.RFC3339) }
