package discovery_test

import (
	"fmt"
	"log/slog"
	"net/url"

	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/discovery"
)

func Example() {
	base, _ := url.Parse("https://store.example")
	r, err := discovery.New(discovery.Config{
		BaseURL: base.String(), Name: "Store",
		Pages: site.New(base, nil, slog.New(slog.DiscardHandler), nil),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, ok := r.Link("llms_txt")
	fmt.Println(l.URL, l.Type, ok)
	_, ok = r.Link("mcp")
	fmt.Println("an MCP server:", ok)
	// Output:
	// https://store.example/llms.txt text/plain true
	// an MCP server: false
}
