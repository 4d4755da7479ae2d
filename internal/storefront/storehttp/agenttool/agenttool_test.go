package agenttool

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"ace/content"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/mcp"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/cataloghttp"
	"ace/internal/storefront/storehttp/sitehttp"

	"github.com/google/go-cmp/cmp"
)

// readingSet is a store that reads and lists; it opens no checkouts.
func readingSet(t testing.TB) *Set {
	t.Helper()
	base, err := url.Parse("https://store.example")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	pages := site.New(base,
		[]site.Source{site.NewFolder(content.Pages(), base, site.Vars{Name: "Store", BaseURL: base.String()})}, log,
		nil)
	if err := pages.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return New(Deps{
		Site: &sitehttp.Handler{Site: sitehttp.Site{BaseURL: base.String(), Name: "Store"}, Pages: pages},
		Catalog: &cataloghttp.Handler{
			Site:    cataloghttp.Site{BaseURL: base.String()},
			Catalog: offer.NewCatalog(fakeCatalog{}, fakeCatalog{}, log),
		},
	})
}

// TestTableIsWhatIsServed compares the table with a set made of it, which other
// transports call.
func TestTableIsWhatIsServed(t *testing.T) {
	t.Parallel()
	table, set := Table(), readingSet(t)
	if len(table) != len(set.All()) {
		t.Fatalf("%d tools in the table and %d in a set", len(table), len(set.All()))
	}
	for i, ready := range set.All() {
		if diff := cmp.Diff(table[i], ready.Tool); diff != "" {
			t.Errorf("tool %d (-table +set):\n%s", i, diff)
		}
		if set.Find(ready.Name) != ready {
			t.Errorf("Find(%s) is not the tool", ready.Name)
		}
	}
	if set.Find("buy_now") != nil {
		t.Error("Find of what is not there answers something")
	}
}

// TestSchemasSuitModels holds what the function calls of model providers ask of
// a schema: an object without alternatives at its root, closed, whose members
// are described, without formats that validators do not know.
func TestSchemasSuitModels(t *testing.T) {
	t.Parallel()
	for _, tool := range Table() {
		var in struct {
			Type                 string
			AdditionalProperties *bool
			Properties           map[string]struct{ Description, Format string }
			AnyOf, OneOf, AllOf  []any
		}
		if err := json.Unmarshal(tool.InputSchema, &in); err != nil {
			t.Fatal(err)
		}
		if in.Type != "object" || in.AdditionalProperties == nil || *in.AdditionalProperties || in.AnyOf != nil ||
			in.OneOf != nil || in.AllOf != nil {
			t.Errorf("%s: input schema %s", tool.Name, tool.InputSchema)
		}
		for name, member := range in.Properties {
			if member.Description == "" {
				t.Errorf("%s: the argument %s is not described", tool.Name, name)
			}
		}
		for _, schema := range []json.RawMessage{tool.InputSchema, tool.OutputSchema} {
			if strings.Contains(string(schema), "int64") || strings.Contains(string(schema), "$ref") ||
				len(schema) > 8000 {
				t.Errorf("%s: schema of %d bytes: %s", tool.Name, len(schema), schema)
			}
		}
	}
}

func TestCall(t *testing.T) {
	t.Parallel()
	set := readingSet(t)
	tests := []struct {
		tool, arguments string // none: nil
		code            string // of the problem; empty: a response
		pointer         string // of its first item
		see             string // part of the response or of the problem
	}{
		{SearchPages, `{"query":"refunds"}`, "", "", `"path":"/refunds"`},
		{SearchPages, ``, "invalid_arguments", "/query", "wrong"},
		{SearchPages, `{"query":"?"}`, "query_required", "/query", "no word"},
		{SearchPages, `{"query":"a","limit":0}`, "invalid_arguments", "/limit", "wrong"},
		{ReadPage, `{"path":"/terms","limit":20}`, "", "", `"truncated":true,"next_offset":`},
		{ReadPage, `{"path":"/terms","offset":20.0}`, "", "", `"truncated":false,"next_offset":null`},
		{ReadPage, `{"path":"/zebra"}`, "page_not_found", "", "search_pages"},
		{ReadPage, `{"url":"https://store.example/produts"}`, "page_not_found", "", "Closest: /products"},
		{ReadPage, `{"path":"https://evil.example/"}`, "other_host", "/url", "search_pages"},
		{ListProducts, ``, "", "", `"id":"assistant_0"`},
		{ListProducts, `{"ids":["assistant_3"]}`, "", "", `"total":1`},
		{ListServices, ``, "", "", `"available":false`},
		{LLMsTextDraft, `{"url":"https://a.example"}`, "services_not_offered", "", "nothing charged"},
	}
	for _, tt := range tests {
		var arguments json.RawMessage
		if tt.arguments != "" {
			arguments = json.RawMessage(tt.arguments)
		}
		result, err := set.Find(tt.tool).Call(t.Context(), &mcp.Call{Tool: tt.tool}, arguments)
		if tt.code == "" {
			if err != nil || !strings.Contains(string(result.Structured), tt.see) {
				t.Errorf("%s(%s) = %+v, %v, want %s in it", tt.tool, tt.arguments, result, err, tt.see)
			}
			continue
		}
		p, _ := problem.From(err)
		if p.Code != tt.code || !strings.Contains(p.Detail, tt.see) {
			t.Errorf("%s(%s) = %v, want %s that says %q", tt.tool, tt.arguments, err, tt.code, tt.see)
		}
		if tt.pointer != "" && (len(p.Items) == 0 || p.Items[0].Pointer != tt.pointer) {
			t.Errorf("%s(%s): items = %v, want the first at %s", tt.tool, tt.arguments, p.Items, tt.pointer)
		}
	}
}

// Each advice names a tool that there is, and its problem keeps its code. What
// is a fault of ours stays one.
func TestAdvices(t *testing.T) {
	t.Parallel()
	set := readingSet(t)
	for code, about := range advices {
		if about.next != "" && set.Find(about.next) == nil {
			t.Errorf("the advice for %s names the tool %s", code, about.next)
		}
		p, _ := problem.From(set.advised(t.Context(), ReadPage,
			&problem.Problem{Kind: problem.Invalid, Code: code, Detail: "Read /agent/search."}))
		if p.Code != code || p.Kind != problem.Invalid || p.Detail == "" || about.detail != "" &&
			strings.Contains(p.Detail, "/agent/") {
			t.Errorf("%s is reported as %+v", code, p)
		}
	}
	fault := errors.New("disk full")
	if got := set.advised(t.Context(), ReadPage, fault); !errors.Is(got, fault) {
		t.Errorf("a bug of ours is reported as %v", got)
	}
}

// FuzzCall passes anything to the tools that only read: a response or a problem
// comes back, never a fault of ours.
func FuzzCall(f *testing.F) {
	set := readingSet(f)
	names := []string{SearchPages, ReadPage, ListProducts, ListServices, LLMsTextDraft}
	for i, seed := range []string{
		`{"query":"refunds","limit":5}`, `{"path":"/docs","offset":5,"limit":1e2}`,
		`{"ids":["a","\ud800"],"cursor":"x"}`, `{}`, `{"url":"https://a.example","payment_signature":""}`,
	} {
		f.Add(i, seed)
	}
	f.Add(1, `{"path":"//[::1]/%00/../..://","format":"text"}`)
	f.Fuzz(func(t *testing.T, tool int, arguments string) {
		if !json.Valid([]byte(arguments)) || tool < 0 {
			return
		}
		name := names[tool%len(names)]
		result, err := set.Find(name).Call(context.WithoutCancel(t.Context()), &mcp.Call{Tool: name},
			json.RawMessage(arguments))
		if _, ok := problem.From(err); err != nil && !ok {
			t.Errorf("%s(%q) = %v, want a problem", name, arguments, err)
		}
		if err == nil && !json.Valid(result.Structured) {
			t.Errorf("%s(%q) = %q, want JSON", name, arguments, result.Structured)
		}
	})
}
