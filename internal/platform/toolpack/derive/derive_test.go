package derive_test

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/app"
	"ace/internal/platform/toolpack/derive"
)

const document = `
openapi: 3.0.3
info: {title: Acme, version: "1"}
servers: [{url: https://api.acme.example/v1}]
paths:
  /things:
    get:
      operationId: acme_listThings
      description: The vendor's sentence.
      parameters:
        - {name: X-Key, in: header, required: true, schema: {type: string}}
        - {name: X-Version, in: header, schema: {type: string}}
        - {name: limit, in: query, description: How many., schema: {type: integer, default: 20}}
        - {name: kinds, in: query, explode: false, schema: {type: array, items: {type: string, description: One.}}}
    post:
      operationId: createThing
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [name]
              properties:
                name: {type: string, description: Its name., maxLength: 20}
                parent: {type: object, properties: {id: {type: string, description: Secret words.}}}
  /things/{id}/cancel:
    post:
      operationId: cancelThing
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
  /old: {get: {operationId: old, deprecated: true}}
  /odd:
    post:
      operationId: odd
      requestBody:
        content:
          application/json:
            schema: {type: object, properties: {a: {type: object, properties: {"@x": {type: string}}}}}
`

func acme(base string) *app.App {
	return &app.App{
		ID: "acme", Name: "Acme", Base: base, Headers: map[string]string{"x-version": "2"},
		Schemes: []app.Scheme{{
			ID: "key", Type: app.TypeKey, Fields: []app.Field{{Name: "key"}},
			Send: app.Send{Headers: map[string]string{"X-Key": "{key}"}},
		}},
	}
}

func source(file, date, text string, servers ...string) derive.Source {
	return derive.Source{File: file, Date: date, Servers: servers, Read: func() ([]byte, error) {
		if text == "" {
			return nil, errors.New("cannot be read")
		}
		return []byte(text), nil
	}}
}

const server = "https://api.acme.example/v1"

func TestMake(t *testing.T) {
	t.Parallel()
	o := derive.Options{
		Apps: []*app.App{acme(server)}, MaxTools: 10,
		Sources: []derive.Source{
			source("acme.yaml", "2026-01-01", document, server), source("gone.yaml", "2026-02-02", "", server),
			source("other.yaml", "2026-03-03", document, "https://api.other.example/v1"),
		},
	}
	r := derive.Make(o)
	if len(r.Tools) != 1 || r.Tools[0].App != "acme" || r.Tools[0].Base != server {
		t.Fatalf("tools of %+v", r.Tools)
	}
	type made struct{ Name, Call, Effect, About, Schema string }
	var got []made
	for _, tool := range r.Tools[0].Tools {
		got = append(got, made{tool.Name, tool.Call, tool.Effect, tool.About, string(tool.InputSchema)})
	}
	want := []made{
		{
			"cancel_thing", "POST /things/{id}/cancel", app.Destroys, "POST /things/{id}/cancel. Required: id.",
			`{"additionalProperties":false,"properties":{"id":{"type":"string"}},"required":["id"],"type":"object"}`,
		},
		{
			"create_thing",
			"POST /things",
			app.Writes,
			"POST /things. Required: name. Optional: parent.",
			`{"additionalProperties":false,"properties":{"name":{"maxLength":20,"type":"string"},` +
				`"parent":{"properties":{"id":{"type":"string"}},"type":"object"}},` +
				`"required":["name"],"type":"object"}`,
		},
		{
			"list_things", "GET /things", app.Reads, "GET /things. Optional: limit, kinds.",
			`{"additionalProperties":false,"properties":{"kinds":{"items":{"type":"string"},"type":"array"},"limit":` +
				`{"description":"Default: 20.","type":"integer"}},"type":"object"}`,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	reasons := map[string]string{}
	for _, one := range r.LeftOut {
		reasons[one.What] = one.Reason
	}
	if reasons["GET /old"] != "deprecated" || reasons["gone.yaml"] != "cannot be read" ||
		!strings.Contains(reasons["POST /odd"], "@x") {
		t.Errorf("left out: %v", reasons)
	}
	if diff := cmp.Diff([]string{"acme.yaml"}, r.Used["acme"]); diff != "" {
		t.Errorf("used: %s", diff)
	}
}

// TestNamesStay renames an operation in its description: its tool keeps its
// name, and a new operation does not take it.
func TestNamesStay(t *testing.T) {
	t.Parallel()
	o := derive.Options{
		Apps: []*app.App{acme(server)}, MaxTools: 10,
		Sources: []derive.Source{source("acme.yaml", "", document, server)},
	}
	first := derive.Make(o)
	var written bytes.Buffer
	if err := first.Lock.Write(&written); err != nil {
		t.Fatal(err)
	}
	lock, err := derive.ReadLock(&written)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(lock, first.Lock) || len(lock) != 3 {
		t.Errorf("the lock reads as %v, want %v", lock, first.Lock)
	}
	changed := strings.ReplaceAll(document, "createThing", "addThing")
	changed = strings.ReplaceAll(changed, "cancelThing", "createThing")
	changed = strings.ReplaceAll(changed, "/things/{id}/cancel", "/things/{id}/stop")
	o.Lock, o.Sources = lock, []derive.Source{source("acme.yaml", "", changed, server)}
	second := derive.Make(o)
	names := map[string]string{}
	for _, tool := range second.Tools[0].Tools {
		names[tool.Call] = tool.Name
	}
	if names["POST /things"] != "create_thing" || names["POST /things/{id}/stop"] == "create_thing" {
		t.Errorf("names: %v", names)
	}
	if len(second.Lock) != 4 {
		t.Errorf("the lock forgets: %v", second.Lock)
	}
	o.MaxTools = 1
	few := derive.Make(o)
	if len(few.Tools[0].Tools) != 1 || few.Tools[0].Tools[0].Call != "GET /things" {
		t.Errorf("one tool: %+v", few.Tools[0].Tools)
	}
}

func TestServers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, base, server string
		want               string // calls; "": none
	}{
		{"the same", server, server + "/", "GET /things"},
		{"the app above", "https://api.acme.example", server, "GET /v1/things"},
		{"the app below", "https://api.acme.example/v1/things", server, "POST /{id}/cancel"},
		{"another host", "https://api2.acme.example/v1", server, ""},
		{"a part of a name", "https://api.acme.example/v", server, ""},
		{"a variable", "https://{tenant}.acme.example/v1", "https://{shop}.acme.example/v1", "GET /things"},
		{"any host", "https://{host}/v1", "https://{domain}/v1", ""},
		{"http", server, "http://api.acme.example/v1", ""},
		{"a variable in the path", "https://api.acme.example/{v}", "https://api.acme.example/{version}", ""},
	}
	for _, tt := range tests {
		a := acme(tt.base)
		a.Params = map[string]app.Param{"tenant": {}, "host": {}, "v": {}}
		r := derive.Make(derive.Options{
			Apps: []*app.App{a}, MaxTools: 10,
			Sources: []derive.Source{source("acme.yaml", "", document, tt.server)},
		})
		var calls []string
		if len(r.Tools) > 0 {
			for _, tool := range r.Tools[0].Tools {
				calls = append(calls, tool.Call)
			}
		}
		if (tt.want == "") != (len(calls) == 0) || tt.want != "" && !slices.Contains(calls, tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, calls, tt.want)
		}
	}
}

func TestReadLockRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"acme\n", "acme\tlist\n", "a\tb\tc\td\n"} {
		if lock, err := derive.ReadLock(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read as %v", text, lock)
		}
	}
}

// TestRefused leaves an operation out whose requests were found wrong, keeps its
// name, and lets no other operation take its place.
func TestRefused(t *testing.T) {
	t.Parallel()
	refused, err := derive.ReadRefused(strings.NewReader("acme\tPOST /things\tits body is described twice\n"))
	if err != nil {
		t.Fatal(err)
	}
	key := derive.Key{App: "acme", Call: "POST /things"}
	r := derive.Make(derive.Options{
		Apps: []*app.App{acme(server)}, MaxTools: 2, Refused: refused, Lock: derive.Lock{key: "create_thing"},
		Sources: []derive.Source{source("acme.yaml", "", document, server)},
	})
	var calls []string
	for _, tool := range r.Tools[0].Tools {
		calls = append(calls, tool.Call)
	}
	if !slices.Equal(calls, []string{"GET /things"}) || r.Lock[key] != "create_thing" {
		t.Errorf("tools of %v, lock %v", calls, r.Lock)
	}
	if !slices.Contains(r.LeftOut, derive.LeftOut{App: "acme", What: key.Call, Reason: "its body is described twice"}) {
		t.Errorf("left out: %v", r.LeftOut)
	}
}

// TestOtherVersion sends the version that an operation allows, not that of the
// app, which would be refused.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ schema, want string }{
		{"{type: string, enum: [v3]}", "v3"}, {`{type: string, enum: ["2", "3"]}`, ""}, {"{type: string}", ""},
	} {
		changed := strings.ReplaceAll(document, "{name: X-Version, in: header, schema: {type: string}}",
			"{name: X-Version, in: header, schema: "+tt.schema+"}")
		r := derive.Make(derive.Options{
			Apps: []*app.App{acme(server)}, MaxTools: 10,
			Sources: []derive.Source{source("acme.yaml", "", changed, server)},
		})
		for _, tool := range r.Tools[0].Tools {
			if tool.Call != "GET /things" {
				continue
			}
			if got := tool.Fixed.Headers["x-version"]; got != tt.want {
				t.Errorf("%s: the tool sends version %q, want %q", tt.schema, got, tt.want)
			}
			if len(tool.In) != 2 {
				t.Errorf("%s: inputs %+v, want limit and kinds", tt.schema, tool.In)
			}
		}
	}
}
