package agenttool

import (
	"context"
	"strings"

	"ace/internal/protocol/mcp"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/admission"
	"ace/internal/storefront/storehttp/sitehttp"
)

type nothing struct{}

// siteAnswer is site.json, and who asks.
type siteAnswer struct {
	sitehttp.SiteInfo
	Client caller `json:"client" doc:"Whom the store takes you for."`
}

type caller struct {
	Verified bool   `json:"verified" doc:"True if the request carried a Web Bot Auth signature that held."`
	Agent    string `json:"agent,omitempty" doc:"Address of the agent whose key signed the request."`
}

func (s *Set) siteInfo(ctx context.Context, _ *mcp.Call, _ *nothing) (*siteAnswer, error) {
	agent := admission.Agent(ctx)
	return &siteAnswer{*s.deps.Site.Info(), caller{agent != "", agent}}, nil
}

type searchInput struct {
	Query  string `json:"query" minLength:"1" maxLength:"200" doc:"A few words that the path of the page may hold, for example: refund policy."`
	Limit  int    `json:"limit,omitempty" default:"10" minimum:"1" maximum:"50" doc:"Results per call."`
	Cursor string `json:"cursor,omitempty" maxLength:"500" doc:"next_cursor of the answer before, with the same query; leave it out for the first results."`
}

func (s *Set) searchPages(ctx context.Context, _ *mcp.Call, in *searchInput) (*sitehttp.SearchResults, error) {
	return s.deps.Site.Search(ctx, site.Query{Words: in.Query, Limit: in.Limit, Cursor: in.Cursor})
}

type readInput struct {
	Path   string `json:"path,omitempty" maxLength:"2048" doc:"Path of the page, for example /refunds. Give path or url."`
	URL    string `json:"url,omitempty" maxLength:"2048" doc:"Whole address of a page of this store, instead of path."`
	Format string `json:"format,omitempty" default:"markdown" enum:"markdown,text" doc:"Markdown, or text without markup."`
	Offset int    `json:"offset,omitempty" default:"0" minimum:"0" doc:"Characters to skip: next_offset of the answer before."`
	Limit  int    `json:"limit,omitempty" default:"40000" minimum:"1" maximum:"40000" doc:"Characters to answer at most."`
}

// readPage takes a whole address also as path: that is what models write.
func (s *Set) readPage(ctx context.Context, _ *mcp.Call, in *readInput) (*sitehttp.PageReading, error) {
	if in.URL == "" && strings.Contains(in.Path, "://") {
		in.URL, in.Path = in.Path, ""
	}
	reading, err := s.deps.Site.Read(ctx,
		site.ReadQuery{Path: in.Path, URL: in.URL, Format: in.Format, Offset: in.Offset, Limit: in.Limit})
	if err != nil {
		return nil, &missing{err, in.Path + in.URL}
	}
	return reading, nil
}
