package sitehttp

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/discovery"
)

//go:embed pages/*.html
var pageFiles embed.FS

// siteTemplates are the pages of the site.
type siteTemplates struct{ page, failure *template.Template }

func loadSiteTemplates() (*siteTemplates, error) {
	parse := func(name string) (*template.Template, error) {
		return template.New(name).ParseFS(pageFiles, "pages/"+name, "pages/layout.html")
	}
	page, err := parse("site.html")
	if err != nil {
		return nil, fmt.Errorf("reading page templates: %w", err)
	}
	failure, err := parse("failure.html")
	if err != nil {
		return nil, fmt.Errorf("reading page templates: %w", err)
	}
	return &siteTemplates{page, failure}, nil
}

// frame is what every page of the site shows around its content.
type frame struct {
	Site        Site
	Operator    string
	Lang        string
	Title       string
	Description string
	Path        string
	LLMs        string // path of llms.txt
	Nav, Foot   []site.Entry
	Sandbox     bool
}

// siteView fills site.html.
type siteView struct {
	frame
	Canonical, Twin string
	Kind            string // of Open Graph
	Image           string
	Home            bool
	Script          string       // path of the script of the page; empty: none
	Trail           []site.Entry // pages above this one
	Body            template.HTML
	Offer           *site.Listed
	Paragraphs      []string // description of the offer
	Offers          []site.Listed
	Lists           bool
	Linked          any // JSON-LD
}

// failureView fills failure.html.
type failureView struct {
	frame
	Status int
	Detail string
}

func (f *Handler) frame(title, description, path, lang string) frame {
	snapshot := f.Pages.Snapshot()
	llms, _ := f.Companions.Link("llms_txt")
	return frame{
		LLMs: llms.Path,
		Site: f.Site, Operator: f.operator(), Lang: langOf(lang), Title: title, Description: description, Path: path,
		Nav: snapshot.Nav, Foot: snapshot.Foot, Sandbox: f.Site.Sandbox,
	}
}

func (f *Handler) htmlPage(ctx context.Context, page *site.Page) ([]byte, error) {
	view := siteView{
		frame: f.frame(page.Title, page.Description, page.Path, page.Lang), Canonical: page.Canonical,
		Twin: discovery.TwinPath(page.Path), Kind: "article",
		Image: f.Site.BaseURL + "/assets/card.png", Home: page.Path == "/", Trail: f.trail(page.Path),
		Offer: page.Offer, Offers: page.Offers, Lists: page.Lists,
		Body: template.HTML(page.HTML), //nolint:gosec // rendered from Markdown with all HTML left out
	}
	if view.Home {
		view.Kind, view.Script = "website", f.Companions.Script()
	}
	var product any
	if o := page.Offer; o != nil {
		view.Kind, view.Paragraphs = "product", paragraphs(o.Offer.Description)
		if len(o.Offer.ImageURLs) > 0 {
			view.Image = o.Offer.ImageURLs[0]
		}
		var err error
		if product, err = f.linkedProduct(ctx, o.Offer, page.Canonical); err != nil {
			return nil, err
		}
	}
	view.Linked = f.linkedPage(&view, page, product)
	var body bytes.Buffer
	if err := f.templates.page.ExecuteTemplate(&body, "site.html", view); err != nil {
		return nil, fmt.Errorf("rendering the page %s: %w", page.Path, err)
	}
	return body.Bytes(), nil
}

func (f *Handler) failurePage(p *problem.Problem) ([]byte, error) {
	title, detail := p.Kind.Title(), p.Detail
	if p.Kind == problem.NotFound {
		title, detail = "This page does not exist", "Check the address, or look for the page from the first one."
	}
	var body bytes.Buffer
	view := failureView{frame: f.frame(title, "", "", ""), Status: p.Kind.Status(), Detail: detail}
	if err := f.templates.failure.ExecuteTemplate(&body, "failure.html", view); err != nil {
		return nil, fmt.Errorf("rendering a failure: %w", err)
	}
	return body.Bytes(), nil
}

// trail names the pages above a page, from the first one down.
func (f *Handler) trail(path string) []site.Entry {
	snapshot := f.Pages.Snapshot()
	var trail []site.Entry
	for at := strings.LastIndexByte(path, '/'); at > 0; at = strings.LastIndexByte(path[:at], '/') {
		if e, ok := snapshot.Entry(path[:at]); ok && e.Title != "" {
			trail = append([]site.Entry{e}, trail...)
		}
	}
	if home, ok := snapshot.Entry("/"); ok && path != "/" {
		home.Title = "Home"
		trail = append([]site.Entry{home}, trail...)
	}
	return trail
}

func paragraphs(text string) []string {
	var all []string
	for p := range strings.SplitSeq(text, "\n") {
		if p = strings.TrimSpace(p); p != "" {
			all = append(all, p)
		}
	}
	return all
}

// linkedPage is the page in the words of schema.org.
func (f *Handler) linkedPage(view *siteView, page *site.Page, product any) any {
	base := f.Site.BaseURL
	about := map[string]any{
		"@type": "WebPage", "@id": page.Canonical + "#webpage", "url": page.Canonical, "name": page.Title,
		"inLanguage": view.Lang,
		"isPartOf":   map[string]any{"@id": base + "/#website"},
	}
	if page.Description != "" {
		about["description"] = page.Description
	}
	if !page.Modified.IsZero() {
		about["dateModified"] = rfc3339(page.Modified)
	}
	graph := []any{f.linkedOperator(), map[string]any{
		"@type": "WebSite", "@id": base + "/#website", "url": base + "/", "name": f.Site.Name,
		"publisher": map[string]any{"@id": base + "/#organization"},
	}, about}
	if len(view.Trail) > 0 {
		about["breadcrumb"] = map[string]any{"@id": page.Canonical + "#breadcrumb"}
		graph = append(graph, f.linkedTrail(view, page))
	}
	if product != nil {
		about["mainEntity"] = map[string]any{"@id": page.Canonical + "#offer"}
		graph = append(graph, product)
	}
	if len(page.Offers) > 0 {
		items := make([]any, len(page.Offers))
		for i := range page.Offers {
			items[i] = map[string]any{
				"@type": "ListItem", "position": i + 1, "name": page.Offers[i].Offer.Name,
				"url": f.Pages.Address(page.Offers[i].Path),
			}
		}
		graph = append(graph,
			map[string]any{"@type": "ItemList", "numberOfItems": len(items), "itemListElement": items})
	}
	return map[string]any{"@context": "https://schema.org", "@graph": graph}
}

func (f *Handler) linkedOperator() map[string]any {
	operator := map[string]any{
		"@type": "Organization", "@id": f.Site.BaseURL + "/#organization", "name": f.Site.Name,
		"legalName": f.operator(), "url": f.Site.BaseURL + "/",
	}
	if f.Site.Contact != "" {
		operator["email"] = f.Site.Contact
		operator["contactPoint"] = map[string]any{
			"@type": "ContactPoint", "contactType": "customer support",
			"email": f.Site.Contact, "url": f.Site.BaseURL + "/support",
		}
	}
	if f.Site.Address != "" {
		operator["address"] = f.Site.Address
	}
	return operator
}

func (f *Handler) linkedTrail(view *siteView, page *site.Page) any {
	var items []any
	for i, e := range view.Trail {
		items = append(items,
			map[string]any{"@type": "ListItem", "position": i + 1, "name": e.Title, "item": f.Pages.Address(e.Path)})
	}
	items = append(items, map[string]any{"@type": "ListItem", "position": len(items) + 1, "name": page.Title})
	return map[string]any{"@type": "BreadcrumbList", "@id": page.Canonical + "#breadcrumb", "itemListElement": items}
}

// linkedProduct is an offer as a product or service with its offer inside.
func (f *Handler) linkedProduct(ctx context.Context, o *offer.Offer, address string) (any, error) {
	linked, err := f.Linker(ctx, o)
	if err != nil {
		return nil, err
	}
	thing, ok := linked["itemOffered"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("offer %s has no item in its linked form", o.ID)
	}
	delete(linked, "itemOffered")
	delete(linked, "validFrom") // it changes with every look at the processor
	linked["url"] = address
	thing["@id"], thing["url"], thing["offers"] = address+"#offer", address, linked
	if thing["@type"] == "Product" {
		thing["sku"] = o.ID
	}
	return thing, nil
}
