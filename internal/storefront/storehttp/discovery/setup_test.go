package discovery_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/fstest"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/protocol/mcp"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/discovery"
)

// store is a store of one page, at https://shop.store.example.
func store(t testing.TB, change func(*discovery.Config)) *discovery.Registry {
	t.Helper()
	base, err := url.Parse("https://shop.store.example")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{
		"index.md":   {Data: []byte("# Hello\n\nA shop.\n")},
		"support.md": {Data: []byte("# Support\n\nAsk.\n")},
	}
	pages := site.New(base, []site.Source{site.NewFolder(files, base, site.Vars{})}, slog.New(slog.DiscardHandler), nil)
	if err := pages.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := discovery.Config{
		BaseURL: base.String(), Name: "Shop", Version: "1.2.3", Operator: "Shop Ltd", Contact: "a@store.example",
		ContentSignal: discovery.DefaultContentSignal, Burst: 5, Pages: pages,
		MCP: &discovery.MCP{
			Info:     mcp.Implementation{Name: "store", Title: "Shop", Version: "1.2.3"},
			Versions: []string{mcp.Version20250618}, Instructions: "Use them.",
			Tools: []discovery.Tool{{
				Name: "site_info", Title: "About", Group: "read", Description: "Tells.",
				Annotations: mcp.Annotations{ReadOnly: true},
			}},
		},
		AgentCard: func() []byte { return []byte(`{"name":"Shop"}`) },
	}
	if change != nil {
		change(&c)
	}
	r, err := discovery.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// served returns the documents that the registry serves itself.
func served(r *discovery.Registry) http.Handler {
	mux := httpserver.NewMux(nil)
	r.Mount(openapi.New(mux, "Shop", "1", nil),
		func(pattern string, h http.HandlerFunc, _ ...httpserver.Middleware) { mux.Handle(pattern, h) })
	return mux
}

// get asks for a document. header holds name, value, name, value, …
func get(h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
