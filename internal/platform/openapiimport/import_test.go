package openapiimport_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jsonschema"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/openapiimport"
)

func load(t *testing.T, document string) *openapiimport.Result {
	t.Helper()
	r, err := openapiimport.Import([]byte(document),
		openapiimport.Options{AppID: "x-acme", Base: "https://api.acme.example"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wire is a tool as a test reads it.
func wire(tools []*app.Tool) map[string]string {
	out := map[string]string{}
	for _, t := range tools {
		out[t.Name] = t.Call + " " + t.Effect + " " + t.Body
		for _, in := range t.In {
			mark := ""
			if in.Required {
				mark = "!"
			}
			schema, _ := json.Marshal(in.Schema)
			out[t.Name] += fmt.Sprintf(" | %s%s %s %s %s %s", in.Name, mark, in.Where, in.Wire, in.Style, schema)
		}
	}
	return out
}

const orders = `
openapi: 3.0.3
info: {title: Acme Orders, description: Orders of a shop.}
servers: [{url: https://other.example/v2}]
paths:
  /orders:
    parameters:
      - {name: X-Tenant, in: header, schema: {type: string}}
    get:
      operationId: listOrders
      summary: List orders
      parameters:
        - {name: status, in: query, schema: {type: array, items: {type: string, enum: [open, paid]}}, style: form,
            explode: false}
        - {name: 'filter', in: query, style: deepObject, schema: {type: object,
            properties: {from: {type: string, format: date}}}}
        - {name: 'page[size]', in: query, schema: {type: integer, maximum: 100}}
        - {name: Authorization, in: header, schema: {type: string}, required: true}
    post:
      operationId: create-order
      requestBody:
        required: true
        content:
          application/json: {schema: {$ref: '#/components/schemas/Order'}}
  /orders/{order id}:
    delete:
      parameters: [{name: order id, in: path, required: true, schema: {type: string}}]
    put:
      operationId: replaceOrder
      parameters: [{name: order id, in: path, required: true, schema: {type: string}}, {name: lines, in: query,
        schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
  /old: {get: {deprecated: true, operationId: old}}
  /feed: {get: {operationId: feed, responses: {'200': {content: {application/xml: {schema: {type: object}}}}}}}
components:
  schemas:
    Order:
      allOf:
        - {type: object, required: [lines], properties: {id: {type: integer, readOnly: true}, note: {type: string,
            nullable: true}}}
        - type: object
          properties:
            lines: {type: array, items: {$ref: '#/components/schemas/Line'}}
            parent: {$ref: '#/components/schemas/Order'}
            pay: {oneOf: [{type: string}, {type: integer}]}
    Line: {type: object, properties: {sku: {type: string, pattern: '^[A-Z]+$'}}}
`

func TestImport(t *testing.T) {
	t.Parallel()
	r := load(t, orders)
	line := `{"items":{"properties":{"sku":{"pattern":"^[A-Z]+$","type":"string"}},"type":"object"},"type":"array"}`
	want := map[string]string{
		"list_orders": `GET /orders read none | status query  comma {"items":{"enum":["open","paid"],` +
			`"type":"string"},"type":"array"}` +
			` | filter query  deep {"properties":{"from":{"format":"date","type":"string"}},` +
			`"type":"object"} | page_size query page[size]  {"maximum":100,"type":"integer"}` +
			` | X-Tenant header   {"type":"string"}`,
		"create_order": `POST /orders write json | X-Tenant header   {"type":"string"} | lines! body   ` + line +
			` | note body   {"type":["string","null"]}` +
			` | parent body   {"type":"object"}` +
			` | pay body   {"anyOf":[{"type":"string"},{"type":"integer"}]}`,
		"delete_orders_order_id": `DELETE /orders/{order_id} destructive none | order_id! path order id  ` +
			`{"type":"string"}`,
	}
	got := wire(r.Tools)
	replace := got["replace_order"]
	delete(got, "replace_order")
	want["delete_orders"] = want["delete_orders_order_id"]
	delete(want, "delete_orders_order_id")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(
		replace,
		`PUT /orders/{order_id} write raw | order_id! path order id  {"type":"string"} | lines query   `+
			`{"type":"string"} | body body   {`,
	) {
		t.Errorf("names that clash: %s", replace)
	}
	skipped := map[string]string{}
	for _, s := range r.Skipped {
		skipped[s.Operation] = s.Code
	}
	if diff := cmp.Diff(map[string]string{"GET /old": "deprecated", "GET /feed": "xml_only"}, skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	if r.Title != "Acme Orders" || r.Base != "https://api.acme.example" {
		t.Errorf("Import = %q at %q", r.Title, r.Base)
	}
}

func TestSwagger2(t *testing.T) {
	t.Parallel()
	r, err := openapiimport.Import(
		[]byte(
			`{"swagger":"2.0","info":{"title":"Pets"},"host":"pets.example","basePath":"/v1",`+
				`"consumes":["application/json"],"paths":{
		"/pets":{"get":{"operationId":"findPets","parameters":[{"name":"tags","in":"query","type":"array",`+
				`"items":{"type":"string"}},{"name":"ids","in":"query","type":"array","items":{"type":"integer"},`+
				`"collectionFormat":"multi"}]},
			"post":{"operationId":"addPet","parameters":[{"name":"pet","in":"body","required":true,`+
				`"schema":{"$ref":"#/definitions/Pet"}}]}},
		"/pets/{id}/photo":{"post":{"operationId":"uploadPhoto","consumes":["multipart/form-data"],`+
				`"parameters":[{"name":"id","in":"path","required":true,"type":"string"},{"name":"photo",`+
				`"in":"formData","type":"file","required":true}]}}},
		"definitions":{"Pet":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}}`,
		),
		openapiimport.Options{AppID: "x-pets"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"find_pets": `GET /pets read none | tags query  comma {"items":{"type":"string"},` +
			`"type":"array"} | ids query   {"items":{"type":"integer"},"type":"array"}`,
		"add_pet": `POST /pets write json | name! body   {"type":"string"}`,
		"upload_photo": `POST /pets/{id}/photo write multipart | id! path   {"type":"string"} | photo! body   ` +
			`{"description":"","format":"ace-file","type":"string"}`,
	}
	if diff := cmp.Diff(want, wire(r.Tools)); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if r.Base != "https://pets.example/v1" || len(r.Skipped) > 0 {
		t.Errorf("base %s, skipped %v", r.Base, r.Skipped)
	}
}

// TestHostile reads documents that mean harm: each is refused, or makes tools
// without the harm, in little time and space.
func TestHostile(t *testing.T) {
	t.Parallel()
	head := `{"openapi":"3.1.0","info":{"title":"x"},"paths":{`
	op := func(path, rest string) string { return head + `"` + path + `":{"get":{` + rest + `}}}}` }
	laughs := `"L0":{"type":"object","properties":{"a":{"type":"string"}}}`
	for i := 1; i < 30; i++ {
		member := fmt.Sprintf(`{"$ref":"#/components/schemas/L%d"}`, i-1)
		laughs += fmt.Sprintf(`,"L%d":{"type":"object","properties":{"a":%s,"b":%s,"c":%s},"allOf":[%s,%s]}`, i, member,
			member, member, member, member)
	}
	tests := []struct {
		name, document string
		refused        bool
		skipped        string // code
	}{
		{"no document", `hello`, true, ""},
		{"broken", `{"openapi":`, true, ""},
		{"empty", ``, true, ""},
		{"version 4", `{"openapi":"4.0.0","paths":{}}`, true, ""},
		{"no version", `{"paths":{}}`, true, ""},
		{"no paths", `{"openapi":"3.0.0"}`, true, ""},
		{"10 MB", head + `"/a":{"get":{"description":"` + strings.Repeat("x", 10<<20) + `"}}}}`, true, ""},
		{
			"nested JSON",
			`{"openapi":"3.0.0","x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`,
			true,
			"",
		},
		{"nested YAML", "openapi: 3.0.0\nx: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), true, ""},
		{"aliases", "openapi: 3.0.0\na: &a [x, x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b]\npaths: {}", true, ""},
		{"many values", `{"openapi":"3.0.0","x":[` + strings.Repeat("1,", 450_000) + `1]}`, true, ""},
		{
			"laughs by references",
			head +
				`"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/` +
				`schemas/L29"}}}}}}},"components":{"schemas":{` + laughs + `}}}`, false, "",
		},
		{
			"reference to itself",
			head +
				`"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/x"}}}}}}},` +
				`"x":{"$ref":"#/x"}}`, false, "ref_missing",
		},
		{
			"recursive allOf",
			head +
				`"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/x"}}}}}}},` +
				`"x":{"allOf":[{"$ref":"#/x"},{"$ref":"#/x"}]}}`, false, "",
		},
		{"remote reference", op("/a", `"parameters":[{"$ref":"https://evil.example/p.json"}]`), false, "ref_remote"},
		{
			"file reference",
			op("/a", `"parameters":[{"name":"a","in":"query","schema":{"$ref":"file:///etc/passwd"}}]`),
			false,
			"ref_remote",
		},
		{"remote path item", head + `"/a":{"$ref":"other.json"}}}`, false, "ref_unresolved"},
		{"dots in a path", op("/a/../../admin", ``), false, "path_unsafe"},
		{"encoded dots", op("/a/%2e%2e/admin", ``), false, "path_unsafe"},
		{"another host by path", op("//evil.example/a", ``), false, "path_unsafe"},
		{"user by path", op("@evil.example/a", ``), false, "path_unsafe"},
		{"query in a path", op("/a?admin=true", ``), false, "path_unsafe"},
		{"line break in a path", op(`/a\r\nHost: evil`, ``), false, "path_unsafe"},
		{"template in a path", op("/{access_token}", ``), false, "path_parameter_missing"},
		{
			"template with a filter",
			op("/{a|base64}",
				`"parameters":[{"name":"a|base64","in":"path","required":true,"schema":{"type":"string"}}]`), false,
			"",
		},
		{
			"header injection",
			op("/a", `"parameters":[{"name":"X\r\nHost","in":"header","schema":{"type":"string"}}]`),
			false,
			"header_unsafe",
		},
		{
			"cookie",
			op("/a", `"parameters":[{"name":"session","in":"cookie","required":true,"schema":{"type":"string"}}]`),
			false, "parameter_unsupported",
		},
		{"another server", op("/a", `"servers":[{"url":"https://169.254.169.254/"}]`), false, "server_elsewhere"},
		{
			"pointer as a name",
			head +
				`"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object",` +
				`"properties":{"/a/b":{"type":"string"}}}}}}}}}}`, false, "",
		},
		{
			"patterns that are none",
			op(
				"/a",
				`"parameters":[{"name":"a","in":"query","schema":{"type":"string","pattern":"(((","minLength":-1,`+
					`"maxLength":1e400}}]`,
			),
			false,
			"",
		},
		{
			"kind of body",
			head +
				`"/a":{"post":{"requestBody":{"content":{"application/x\r\n` +
				`Host: a+json":{"schema":{"type":"array"}}}}}}}}`, false, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, err := openapiimport.Import([]byte(tt.document),
				openapiimport.Options{AppID: "x-a", Base: "https://api.acme.example"})
			if tt.refused {
				if !problem.Is(err, "import_failed") {
					t.Errorf("Import: %v, want import_failed", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			code := ""
			if len(r.Skipped) > 0 {
				code = r.Skipped[0].Code
			}
			if code != tt.skipped || (code == "") != (len(r.Tools) == 1) {
				t.Errorf("skipped %v with %d tools, want %q", r.Skipped, len(r.Tools), tt.skipped)
			}
			sound(t, r.Tools)
		})
	}
}

// sound checks what every model asks of a tool.
func sound(t *testing.T, tools []*app.Tool) {
	t.Helper()
	id := regexp.MustCompile(`^[a-z][a-z0-9_]{2,63}$`)
	input := regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`)
	ids := map[string]bool{}
	for _, tool := range tools {
		if !id.MatchString(tool.ID) || ids[tool.ID] {
			t.Errorf("tool %q has a name that a model does not take, or that another has", tool.ID)
		}
		ids[tool.ID] = true
		if _, err := jsonschema.Compile(tool.InputSchema); err != nil || len(tool.InputSchema) > 32<<10 {
			t.Errorf("%s: schema of %d bytes: %v", tool.ID, len(tool.InputSchema), err)
		}
		for _, in := range tool.In {
			if !input.MatchString(in.Name) {
				t.Errorf("%s: input %q", tool.ID, in.Name)
			}
		}
		for name, value := range tool.Fixed.Headers {
			if strings.ContainsAny(name+value, "\r\n{}") {
				t.Errorf("%s: header %q: %q", tool.ID, name, value)
			}
		}
		if strings.ContainsAny(tool.Title+tool.About+tool.Call, "\r\n\x00\u202e") {
			t.Errorf("%s: words with control characters: %q", tool.ID, tool.About)
		}
	}
}

func TestNamesThatCollide(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("veryLong", 20)
	r := load(t, `{"openapi":"3.1.0","paths":{
		"/a":{"get":{"operationId":"getIt"},"post":{"operationId":"get-it"},"put":{"operationId":"GET_IT"}},
		"/b":{"get":{"operationId":"`+long+`1"},"post":{"operationId":"`+long+
		`2"},"put":{"operationId":"request"},"patch":{"operationId":"é"},"delete":{"operationId":"9"}},
		"/c":{"get":{"operationId":"x","parameters":[{"name":"a b","in":"query"},{"name":"a_b","in":"query"},`+
		`{"name":"a-b","in":"header"},{"name":"","in":"query"},{"name":"`+long+`","in":"query"}]}}}}`)
	if len(r.Tools) != 9 {
		t.Errorf("%d tools, want 9; skipped %v", len(r.Tools), r.Skipped)
	}
	sound(t, r.Tools)
	again := load(t, `{"openapi":"3.1.0","paths":{"/a":{"get":{"operationId":"getIt"}}}}`)
	if again.Tools[0].ID != "x_acme__get_it" {
		t.Errorf("id = %s", again.Tools[0].ID)
	}
}

func TestProse(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"  a\n\n b ", "a b"},
		{"a\u202eb\u200bc\x00\u2066", "abc"},
		{"\U000E0041hidden", "hidden"},
		{"abcdefghijk", "abcdefghij…"},
		{"\xff\xfe ok", "ok"},
	}
	for _, tt := range tests {
		if got := openapiimport.Prose(tt.in, 10); got != tt.want {
			t.Errorf("Prose(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestRealDocuments imports the published descriptions that are at hand.
func TestRealDocuments(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("ACE_SHARED_DIR")
	if dir == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	var files []string
	for _, pattern := range []string{
		"specs/*openapi*.json", "specs/*/*openapi*.json", "specs/*/*/*openapi*.json",
		"specs/*/*openapi*.yaml", "specs/*/*/*openapi*.yaml",
	} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := openapiimport.Import(data,
				openapiimport.Options{AppID: "x-real", Base: "https://api.acme.example"})
			if err != nil {
				if len(data) <= openapiimport.MaxBytes && !problem.Is(err, "import_failed") {
					t.Error(err)
				}
				return
			}
			sound(t, r.Tools)
			t.Logf("%d tools, %d skipped", len(r.Tools), len(r.Skipped))
		})
	}
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(orders))
	f.Add([]byte(`{"openapi":"3.1.0","paths":{"/a":{"get":{"parameters":[{"name":"a","in":"query"}]}}}}`))
	f.Add(
		[]byte(
			`{"swagger":"2.0","host":"a","paths":{"/a":{"post":{"parameters":[{"name":"a","in":"formData",` +
				`"type":"file"}]}}}}`,
		))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := openapiimport.Import(data, openapiimport.Options{AppID: "x-a"})
		if err == nil {
			sound(t, r.Tools)
		}
	})
}

// TestBodiesThatVendorsDescribe imports what descriptions often leave out or write
// in their own way: that a body is required, a media type with a parameter, and
// enumerations of hundreds of values.
func TestBodiesThatVendorsDescribe(t *testing.T) {
	t.Parallel()
	countries, long := []string{}, []string{}
	for i := range 200 {
		countries = append(countries, fmt.Sprintf("C%03d", i))
		long = append(long, fmt.Sprintf("a-rather-long-value-%03d", i))
	}
	members, err := json.Marshal(map[string]any{
		"country": map[string]any{"type": "string", "enum": countries},
		"zone":    map[string]any{"type": "string", "enum": long},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := load(t, `{"openapi":"3.0.3","info":{"title":"Acme"},"paths":{"/people":{"post":{"operationId":"addPerson",`+
		`"requestBody":{"content":{"application/json; charset=UTF-8":{"schema":{"type":"object",`+
		`"required":["country"],"properties":`+string(members)+`}}}}}}}}`)
	if len(r.Tools) != 1 {
		t.Fatalf("%d tools, skipped %v", len(r.Tools), r.Skipped)
	}
	tool := r.Tools[0]
	if got := tool.Fixed.Headers["Content-Type"]; got != "application/json; charset=UTF-8" {
		t.Errorf("media type %q", got)
	}
	country, zone := tool.In[0], tool.In[1]
	if !country.Required || zone.Required {
		t.Errorf("required: country %v, zone %v; want the first alone", country.Required, zone.Required)
	}
	if enum, _ := country.Schema["enum"].([]any); len(enum) != 200 {
		t.Errorf("%d countries, want 200", len(enum))
	}
	if zone.Schema["enum"] != nil {
		t.Error("a long enumeration is in the schema")
	}
	if diff := cmp.Diff([]any{long[0], long[1], long[2]}, zone.Schema["examples"]); diff != "" {
		t.Errorf("examples of a long enumeration (-want +got):\n%s", diff)
	}
}
