package ucp_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"ace/internal/protocol/ucp"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const metaText = `"meta":{"ucp-agent":{"profile":"https://p.example/ucp","version":"2026-04-08"},` +
	`"idempotency-key":"k-1"}`

func compileTool(t testing.TB, tool ucp.Tool) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.InputSchema))
	if err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("tool:"+tool.Name, schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("tool:" + tool.Name)
	if err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	return compiled
}

func TestTools(t *testing.T) {
	t.Parallel()
	arguments := map[string]struct{ good, bad string }{
		ucp.ToolCreateCheckout: {
			`{` + metaText +
				`,"checkout":{"line_items":[{"item":{"id":"a"},"quantity":1}],"payment":{}}}`,
			`{` + metaText + `,"checkout":{}}`,
		},
		ucp.ToolGetCheckout: {`{` + metaText + `,"id":"c"}`, `{` + metaText + `}`},
		ucp.ToolUpdateCheckout: {
			`{` + metaText +
				`,"id":"c","checkout":{"line_items":[{"id":"li_1","item":{"id":"a"},"quantity":1}]}}`,
			`{` + metaText + `,"id":"c"}`,
		},
		ucp.ToolCompleteCheckout: {
			`{` + metaText + `,"id":"c","checkout":{"payment":{"instruments":[]}}}`,
			`{"meta":{"ucp-agent":{"profile":"https://p"}},"id":"c","checkout":{}}`,
		},
		ucp.ToolCancelCheckout: {
			`{` + metaText + `,"id":"c"}`,
			`{"meta":{"ucp-agent":{"profile":"https://p"}},"id":"c"}`,
		},
		ucp.ToolSearchCatalog: {
			`{` + metaText + `,"catalog":{"query":"x","pagination":{"limit":5}}}`,
			`{"catalog":{"query":7}}`,
		},
		ucp.ToolLookupCatalog: {
			`{` + metaText + `,"catalog":{"ids":["a"]}}`,
			`{` + metaText + `,"catalog":{"ids":[]}}`,
		},
		ucp.ToolGetProduct: {`{` + metaText + `,"catalog":{"id":"a"}}`, `{` + metaText + `,"catalog":{"id":1}}`},
	}
	tools := ucp.Tools()
	if len(tools) != 8 || len(arguments) != 8 {
		t.Fatalf("%d tools, want 8", len(tools))
	}
	for _, tool := range tools {
		t.Run(tool.Name, func(t *testing.T) {
			t.Parallel()
			if tool.Title == "" || tool.Description == "" || strings.Contains(string(tool.InputSchema), `"format"`) {
				t.Errorf("tool = %+v, want title, description and no formats", tool)
			}
			schema := compileTool(t, tool)
			for text, fits := range map[string]bool{arguments[tool.Name].good: true, arguments[tool.Name].bad: false} {
				value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				if err := schema.Validate(value); (err == nil) != fits {
					t.Errorf("schema of %s: %v, want fits = %t", text, err, fits)
				}
			}
			plain, err := jsonschema.UnmarshalJSON(
				strings.NewReader(strings.Replace(arguments[tool.Name].good, metaText+",", "", 1)))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(plain); err != nil {
				t.Errorf("schema of a call without meta: %v, want nil: it is served in plain mode", err)
			}
			call, err := readToolCall(tool.Name, []byte(arguments[tool.Name].good))
			if err != nil {
				t.Fatal(err)
			}
			if call.Agent != (ucp.Agent{Profile: "https://p.example/ucp", Version: "2026-04-08"}) ||
				call.IdempotencyKey != "k-1" {
				t.Errorf("call = %+v, want agent and key of meta", call)
			}
		})
	}
}

func TestToolCallBodies(t *testing.T) {
	t.Parallel()
	call := func(tool, arguments string) *ucp.ToolCall {
		c, err := readToolCall(tool, []byte(arguments))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	update := call(ucp.ToolUpdateCheckout,
		`{"id":"chk_1","checkout":{"line_items":[{"item":{"id":"a"},"quantity":2}]}}`)
	r, err := update.Checkout(update.Reading(ucp.Newest))
	if err != nil || update.ID != "chk_1" || len(r.LineItems) != 1 || r.LineItems[0].ItemID != "a" ||
		!update.Agent.Plain() {
		t.Errorf("update = %+v, %+v, %v", update, r, err)
	}
	search := call(ucp.ToolSearchCatalog, `{`+metaText+`,"catalog":{"query":"x"}}`)
	if r, err := search.Search(search.Reading(ucp.Newest)); err != nil || r.Query != "x" {
		t.Errorf("search = %+v, %v", r, err)
	}
	lookup := call(ucp.ToolLookupCatalog, `{"catalog":{"ids":["a"]}}`)
	if r, err := lookup.Lookup(); err != nil || len(r.IDs) != 1 {
		t.Errorf("lookup = %+v, %v", r, err)
	}
	product := call(ucp.ToolGetProduct, `{"catalog":{"id":"a"}}`)
	if r, err := product.Product(); err != nil || r.ID != "a" {
		t.Errorf("product = %+v, %v", r, err)
	}
	complete := call(ucp.ToolCompleteCheckout, `{"id":"chk_1"}`)
	if r, err := complete.Checkout(complete.Reading(ucp.Newest)); err != nil || r.PaymentSent {
		t.Errorf("complete = %+v, %v", r, err)
	}
	bare := call(ucp.ToolCreateCheckout, `{"checkout":{"offer_id":"a"}}`)
	if r, err := bare.Checkout(bare.Reading(ucp.Newest)); err != nil || r.LineItems[0].ItemID != "a" {
		t.Errorf("bare create = %+v, %v", r, err)
	}
	faulty := call(ucp.ToolCreateCheckout, `{"checkout":{"line_items":[{"item":{"id":7}}]}}`)
	_, err = faulty.Checkout(faulty.Reading(ucp.Newest))
	if diff := cmp.Diff([]string{"$.checkout.line_items[0].item.id invalid_type"}, violations(t, err)); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}

func TestReadToolCallRefuses(t *testing.T) {
	t.Parallel()
	agent := `"meta":{"ucp-agent":{"profile":"https://p.example/ucp"}}`
	tests := []struct {
		name, tool, in string
		want           []string
		rpc            int
	}{
		{"not JSON", ucp.ToolGetCheckout, `{`, []string{"invalid_json"}, ucp.RPCInvalidParams},
		{"no id", ucp.ToolGetCheckout, `{}`, []string{"$.id missing_field"}, ucp.RPCInvalidParams},
		{"id is a number", ucp.ToolGetCheckout, `{"id":1}`, []string{"$.id invalid_type"}, ucp.RPCInvalidParams},
		{"no body", ucp.ToolCreateCheckout, ``, []string{"$.checkout missing_field"}, ucp.RPCInvalidParams},
		{
			"body is text", ucp.ToolCreateCheckout, `{"checkout":"x"}`,
			[]string{"$.checkout invalid_type"},
			ucp.RPCInvalidParams,
		},
		{"no catalog", ucp.ToolSearchCatalog, `{}`, []string{"$.catalog missing_field"}, ucp.RPCInvalidParams},
		{
			"meta is text", ucp.ToolGetCheckout, `{"meta":"x","id":"c"}`,
			[]string{"$.meta invalid_type"},
			ucp.RPCInvalidParams,
		},
		{
			"agent is text", ucp.ToolGetCheckout, `{"meta":{"ucp-agent":"x"},"id":"c"}`,
			[]string{"$.meta['ucp-agent'] invalid_type"},
			ucp.RPCInvalidParams,
		},
		{
			"http profile", ucp.ToolGetCheckout, `{"meta":{"ucp-agent":{"profile":"http://p.example"}},"id":"c"}`,
			[]string{"invalid_profile_url"},
			ucp.RPCDiscoveryError,
		},
		{
			"no profile", ucp.ToolGetCheckout, `{"meta":{"ucp-agent":{}},"id":"c"}`,
			[]string{"invalid_profile_url"},
			ucp.RPCDiscoveryError,
		},
		{
			"empty key", ucp.ToolGetCheckout, `{"meta":{"idempotency-key":""},"id":"c"}`,
			[]string{"$.meta['idempotency-key'] invalid_value"},
			ucp.RPCInvalidParams,
		},
		{
			"complete without key", ucp.ToolCompleteCheckout, `{` + agent + `,"id":"c","checkout":{}}`,
			[]string{"$.meta['idempotency-key'] missing_field"},
			ucp.RPCInvalidParams,
		},
		{
			"cancel without key", ucp.ToolCancelCheckout, `{` + agent + `,"id":"c"}`,
			[]string{"$.meta['idempotency-key'] missing_field"},
			ucp.RPCInvalidParams,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := readToolCall(tt.tool, []byte(tt.in))
			if diff := cmp.Diff(tt.want, violations(t, err)); diff != "" {
				t.Errorf("faults of %s (-want +got):\n%s", tt.in, diff)
			}
			if got := ucp.FromProblem(asProblem(t, err)).RPCCode(); got != tt.rpc {
				t.Errorf("RPCCode() = %d, want %d", got, tt.rpc)
			}
		})
	}
	for _, tool := range []string{ucp.ToolCompleteCheckout, ucp.ToolCancelCheckout} {
		if _, err := readToolCall(tool, []byte(`{"id":"c"}`)); err != nil {
			t.Errorf("plain %s without key = %v, want nil", tool, err)
		}
	}
}

func TestToolCallCanonical(t *testing.T) {
	t.Parallel()
	canonical := func(tool, arguments string) string {
		c, err := readToolCall(tool, []byte(arguments))
		if err != nil {
			t.Fatal(err)
		}
		text, err := c.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := canonical(ucp.ToolGetCheckout, `{"meta":{"idempotency-key":"k"},"id":"c","n":1.0}`)
	if same := canonical(ucp.ToolGetCheckout, `{"n":1,"id":"c"}`); same != first {
		t.Errorf("meta, order or 1.0 count: %s and %s", first, same)
	}
	for tool, arguments := range map[string]string{
		ucp.ToolCancelCheckout: `{"id":"c","n":1}`,
		ucp.ToolGetCheckout:    `{"id":"d","n":1}`,
	} {
		if other := canonical(tool, arguments); other == first {
			t.Errorf("%s %s has the same form as the first call: %s", tool, arguments, other)
		}
	}
}

func FuzzReadToolCall(f *testing.F) {
	for _, seed := range []string{
		`{` + metaText +
			`,"id":"c","checkout":{"line_items":[{"item":{"id":"a"},"quantity":1}]},"catalog":{"query":"x"}}`,
		`{"meta":{"ucp-agent":{"profile":"http://x"}}}`, `{"meta":[]}`, `{}`, ``, `{"id":"c","tool":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, arguments []byte) {
		for _, tool := range ucp.Tools() {
			c, err := readToolCall(tool.Name, arguments)
			if err != nil {
				if e := ucp.FromProblem(asProblem(t, err)); e.Status() != 400 || e.RPCCode() == 0 {
					t.Fatalf("%s %q: %+v", tool.Name, arguments, e)
				}
				continue
			}
			if text, err := c.Canonical(); err == nil && !json.Valid(text) {
				t.Fatalf("Canonical of %q = %q", arguments, text)
			}
		}
	})
}
