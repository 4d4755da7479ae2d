package site_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"testing/fstest"

	"ace/internal/storefront/site"
)

func Example() {
	base := &url.URL{Scheme: "https", Host: "shop.example"}
	files := fstest.MapFS{"docs/refunds.md": {Data: []byte("# Refunds\n\nWithin 30 days.\n")}}
	pages := site.New(base, []site.Source{site.NewFolder(files, base, site.Vars{})}, slog.New(slog.DiscardHandler), nil)
	ctx := context.Background()
	if err := pages.Refresh(ctx); err != nil {
		return
	}
	found, err := pages.Search(ctx, site.Query{Words: "refund"})
	if err != nil {
		return
	}
	r, err := pages.Read(ctx, site.ReadQuery{URL: found.Results[0].URL, Format: site.Text})
	if err != nil {
		return
	}
	fmt.Println(r.Path)
	fmt.Print(r.Content)
	// Output:
	// /docs/refunds
	// Refunds
	//
	// Within 30 days.
}
