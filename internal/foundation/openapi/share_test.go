package openapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/openapi"
)

const lineSchema = `{"type":"object","description":"A line of an order, ` +
	`as the buyer sees it on the page where the payment is made, ` +
	`and as it is kept.","properties":{"id":{"type":"string"},"amounts":{"type":"array","items":{"type":"integer"}}}}`

func sharedAPI(o *openapi.Options) *openapi.API {
	api := openapi.New(http.NewServeMux(), "Lines", "1", o)
	describe := func(method, id, schema string, unlimited bool) {
		openapi.Describe(api, openapi.Operation{
			Method: method, Path: "/lines", ID: id, Summary: id,
			Unlimited: unlimited,
		}, openapi.Description{
			Request: &openapi.Content{Schema: json.RawMessage(lineSchema)},
			Responses: map[int]openapi.Content{
				200: {Schema: json.RawMessage(schema)},
				0:   {Schema: json.RawMessage(`{"type":"string"}`)},
			},
		})
	}
	describe(http.MethodPost, "open_line",
		`{"type":"object","properties":{"line":`+lineSchema+`,"examples":{"type":"array","items":`+lineSchema+`}}}`,
		false)
	describe(http.MethodPut, "change_line", lineSchema, true)
	return api
}

// resolve puts what references name in their place.
func resolve(node any, schemas map[string]any) any {
	switch n := node.(type) {
	case map[string]any:
		if ref, ok := n["$ref"].(string); ok && strings.HasPrefix(ref, "#/components/schemas/") {
			return resolve(schemas[strings.TrimPrefix(ref, "#/components/schemas/")], schemas)
		}
		out := map[string]any{}
		for k, v := range n {
			out[k] = resolve(v, schemas)
		}
		return out
	case []any:
		out := make([]any, len(n))
		for i := range n {
			out[i] = resolve(n[i], schemas)
		}
		return out
	}
	return node
}

// TestSharedSchemas moves what appears in several places without changing its meaning.
func TestSharedSchemas(t *testing.T) {
	t.Parallel()
	api := sharedAPI(nil)
	first, err := api.Document()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := api.Document(); err != nil || !bytes.Equal(first, again) {
		t.Fatalf("the document differs the second time, %v", err)
	}
	if n := strings.Count(string(first), "as the buyer sees it"); n != 1 {
		t.Errorf("the schema stands %d times", n)
	}
	var d struct {
		Paths      map[string]map[string]map[string]any
		Components struct{ Schemas map[string]any }
		Security   []any
	}
	if err := json.Unmarshal(first, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Components.Schemas) != 1 || d.Components.Schemas["OpenLineRequest"] == nil || d.Security == nil {
		t.Errorf("components = %v, security %v", d.Components.Schemas, d.Security)
	}
	var line any
	if err := json.Unmarshal([]byte(lineSchema), &line); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"type":       "object",
		"properties": map[string]any{"line": line, "examples": map[string]any{"type": "array", "items": line}},
	}
	responses := d.Paths["/lines"]["post"]["responses"].(map[string]any)
	content := responses["200"].(map[string]any)["content"].(map[string]any)
	answer := content["application/json"].(map[string]any)["schema"]
	if diff := cmp.Diff(any(want), resolve(answer, d.Components.Schemas)); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// TestLimited adds the response over the limit where there is one.
func TestLimited(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "Over the limit."} {
		document, err := sharedAPI(&openapi.Options{Limited: text}).Document()
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Paths      map[string]map[string]struct{ Responses map[string]any }
			Components struct {
				Responses map[string]struct {
					Description string
					Headers     map[string]any
				}
			}
		}
		if err := json.Unmarshal(document, &d); err != nil {
			t.Fatal(err)
		}
		_, limited := d.Paths["/lines"]["post"].Responses["429"]
		_, unlimited := d.Paths["/lines"]["put"].Responses["429"]
		if limited != (text != "") || unlimited {
			t.Errorf("%q: limited %t, unlimited %t", text, limited, unlimited)
		}
		if r := d.Components.Responses["RateLimited"]; r.Description != text || text != "" &&
			r.Headers["Retry-After"] == nil {
			t.Errorf("%q: response %+v", text, r)
		}
	}
}
