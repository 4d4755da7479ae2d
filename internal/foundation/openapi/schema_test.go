package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/openapi"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

type item struct {
	Name  string   `json:"name" doc:"What it is called."`
	Price *int     `json:"price" minimum:"0"`
	Tags  []string `json:"tags,omitempty"`
}

type library struct {
	Best  item      `json:"best" doc:"The best one."`
	Rest  []item    `json:"rest"`
	Since time.Time `json:"since"`
	Any   any       `json:"any,omitempty"`
}

type page struct {
	PageEnd
	Parts []pagePart `json:"parts"`
}

type PageEnd struct {
	Next *int `json:"next" doc:"Where to go on." nullable:"true"`
}

type pagePart struct {
	Why *string `json:"why" nullable:"true"`
}

type tree struct {
	Children []tree `json:"children"`
}

func TestSchemaOf(t *testing.T) {
	t.Parallel()
	item := func(closed string, extra string) string {
		return `{` + closed + extra +
			`"properties":{"name":{"description":"What it is called.","type":"string"},"price":{"format":"int64",` +
			`"minimum":0,"type":"integer"},"tags":{"items":{"type":"string"},"type":"array"}},"required":["name",` +
			`"price"],"type":"object"}`
	}
	library := func(closed string) string {
		return `{` + closed + `"properties":{"any":{},"best":` + item(closed,
			`"description":"The best one.",`) + `,"rest":{"items":` + item(closed, "") +
			`,"type":"array"},"since":{"format":"date-time","type":"string"}},"required":["best","rest","since"],` +
			`"type":"object"}`
	}
	tests := []struct {
		name string
		got  json.RawMessage
		want string
	}{
		{"open", openapi.SchemaOf[libraryAlias](), library("")},
		{"closed", openapi.InputSchemaOf[libraryAlias](), library(`"additionalProperties":false,`)},
		{
			"may be null",
			openapi.SchemaOf[page](),
			`{"properties":{"next":{"description":"Where to go on.","format":"int64","type":["integer","null"]},` +
				`"parts":{"items":{"properties":{"why":{"type":["string","null"]}},"required":["why"],` +
				`"type":"object"},"type":"array"}},"required":["parts","next"],"type":"object"}`,
		},
		{"empty", openapi.InputSchemaOf[struct{}](), `{"additionalProperties":false,"type":"object"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, string(tt.got)); diff != "" {
				t.Errorf("schema (-want +got):\n%s", diff)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(tt.got))
			if err != nil {
				t.Fatal(err)
			}
			c := jsonschema.NewCompiler()
			if err := c.AddResource("schema.json", doc); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Compile("schema.json"); err != nil {
				t.Errorf("schema does not compile: %v", err)
			}
		})
	}
}

type libraryAlias = library

func TestSchemaOfRecursiveTypePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if got, _ := recover().(string); !strings.Contains(got, "contains itself") {
			t.Errorf("panic = %q, want it to say that the type contains itself", got)
		}
	}()
	openapi.SchemaOf[tree]()
}

func TestDocument(t *testing.T) {
	t.Parallel()
	build := func() *openapi.API {
		s := setup(t)
		openapi.Handle(s.api, openapi.Operation{Method: "GET", Path: "/files/{path...}", ID: "getFile"},
			func(context.Context, *struct {
				Path string `path:"path"`
			}) (*struct {
				Type string `header:"Content-Type"`
				Body []byte
			}, error,
			) {
				return nil, nil
			})
		openapi.Describe(s.api, openapi.Operation{
			Method: "POST", Path: "/acp/sessions", ID: "acpCreate",
			Summary: "Create a session",
		}, openapi.Description{
			Parameters: []openapi.Parameter{{
				Name: "API-Version", In: "header", Description: "Version.",
				Required: true,
			}},
			Request: &openapi.Content{Schema: openapi.InputSchemaOf[item]()},
			Responses: map[int]openapi.Content{201: {
				Description: "The session.",
				Schema:      json.RawMessage(`{"type":"object"}`),
			}, 0: {Description: "Error."}},
		})
		return s.api
	}
	one, err := build().Document()
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		again, err := build().Document()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one, again) {
			t.Fatal("Document() differs between equal registrations")
		}
	}
	for _, want := range []string{
		`"openapi": "3.1.0"`, `"/notes/{id}"`, `"/files/{path}"`, `"/acp/sessions"`,
		`"API-Version"`, `"#/components/schemas/Problem"`, `"application/problem+json"`,
	} {
		if !bytes.Contains(one, []byte(want)) {
			t.Errorf("document lacks %s", want)
		}
	}
	for _, unwanted := range []string{"ErrorModel", "ErrorDetail", `"$schema"`, "patternDescription"} {
		if bytes.Contains(one, []byte(unwanted)) {
			t.Errorf("document holds %s", unwanted)
		}
	}
	var doc struct {
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(one, &doc); err != nil {
		t.Fatal(err)
	}
	if _, closed := doc.Components.Schemas["NoteAnswer"]["additionalProperties"]; closed {
		t.Error("schema of an answer promises that nothing is added")
	}
	if doc.Components.Schemas["Note"]["additionalProperties"] != false {
		t.Error("schema of an input takes any member")
	}
}

func TestDescribeRefusesDoubles(t *testing.T) {
	t.Parallel()
	s := setup(t)
	openapi.Describe(s.api, openapi.Operation{Method: "GET", Path: "/x", ID: "putNote"}, openapi.Description{})
	if _, err := s.api.Document(); err == nil || !strings.Contains(err.Error(), "putNote") {
		t.Errorf("Document() = %v, want an error that names the doubled id", err)
	}
}

func TestNullFieldsOfSchemas(t *testing.T) {
	t.Parallel()
	type inside struct {
		Code string `json:"code"`
	}
	type answer struct {
		Error *inside `json:"error" null:"true" doc:"What went wrong."`
		Extra *inside `json:"extra,omitempty"`
		Word  *string `json:"word" nullable:"true"`
		Plain *string `json:"plain"`
	}
	const object = `{"type":"object","properties":{"code":{"type":"string"}},"required":["code"]}`
	want := `{"type":"object","required":["error","word","plain"],"properties":{` +
		`"error":{"description":"What went wrong.","anyOf":[` + object + `,{"type":"null"}]},` +
		`"extra":` + object + `,"word":{"type":["string","null"]},"plain":{"type":"string"}}}`
	if diff := cmp.Diff(jsonTree(t, want), jsonTree(t, string(openapi.SchemaOf[answer]()))); diff != "" {
		t.Errorf("schema (-want +got):\n%s", diff)
	}
}

func jsonTree(t *testing.T, text string) any {
	t.Helper()
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}
