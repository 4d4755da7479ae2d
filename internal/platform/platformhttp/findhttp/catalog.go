package findhttp

import (
	"context"
	"fmt"
	"hash/fnv"
	"html"
	"net/http"
	"strings"
	"unicode"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/entity"
	"ace/internal/platform/platformhttp/reply"
)

type catalogInput struct {
	operation.CatalogRequest
	IfNoneMatch string `header:"If-None-Match"`
	// Include asks for what is there anyway, as other lists do.
	operation.Include
}

type catalogOutput struct {
	Link   string `header:"Link"`
	Status int
	ETag   string `header:"ETag"`
	Cache  string `header:"Cache-Control"`
	Body   *operation.Catalog
}

func (h *Handler) describeCatalog(api *openapi.API, base string) {
	reply.HandleList(api, openapi.Operation{
		Method: http.MethodGet, Path: base + "/catalog", ID: "catalog", Tags: []string{"apps"},
		Summary: "All apps, without a key",
		Description: "Every app that this installation lists. What the totals say is counted, not claimed. Ask again " +
			"with If-None-Match: an unchanged catalogue answers 304.",
	}, h.catalog)
}

func (h *Handler) catalog(ctx context.Context, in *catalogInput) (*catalogOutput, error) {
	page, err := h.Operations.Catalog(ctx, in.CatalogRequest)
	if err != nil {
		return nil, err
	}
	tag, err := entity.Tag(page)
	if err != nil {
		return nil, err
	}
	out := &catalogOutput{
		Link: reply.NextLink(ctx, h.BaseURL, page.NextCursor), Status: http.StatusOK, ETag: tag,
		Cache: "public, max-age=300", Body: page,
	}
	if entity.Matches(in.IfNoneMatch, tag) {
		out.Status, out.Body = http.StatusNotModified, nil
	}
	return out, nil
}

// Logo serves a monogram: two letters on a color that follows from the name.
// Marks of vendors are theirs; we show none.
func (h *Handler) Logo(w http.ResponseWriter, r *http.Request) {
	a, err := h.Operations.Library.Shared().Catalog.App(strings.TrimSuffix(r.PathValue("file"), ".svg"))
	if err != nil || !strings.HasSuffix(r.PathValue("file"), ".svg") {
		http.NotFound(w, r)
		return
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(a.ID)) // a hash takes everything
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	_, _ = fmt.Fprintf(
		w,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="%s">`+
			`<rect width="64" height="64" rx="14" fill="hsl(%d 45%% 32%%)"/>`+
			`<text x="32" y="41" font-family="system-ui, sans-serif" font-size="26" font-weight="600" `+
			`text-anchor="middle" fill="#fff">%s</text></svg>`,
		html.EscapeString(a.Name),
		sum.Sum32()%360,
		html.EscapeString(monogram(a.Name)),
	)
}

// monogram returns the first letter of the first two words, or the first two letters.
func monogram(name string) string {
	var letters []rune
	for _, word := range strings.FieldsFunc(name,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		letters = append(letters, unicode.ToUpper([]rune(word)[0]))
	}
	if len(letters) >= 2 {
		return string(letters[:2])
	}
	runes := []rune(name)
	return string(runes[:min(2, len(runes))])
}
