package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi2conv"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"go.yaml.in/yaml/v3"

	"ace/catalog"
	"ace/internal/foundation/jsonschema"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/httptool"
	"ace/internal/platform/library"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
	"ace/internal/platform/toolpack"
)

// capture is an HTTP client that sends nothing and holds the request.
type capture struct {
	request *http.Request
	body    []byte
}

func (c *capture) Do(r *http.Request) (*http.Response, error) {
	c.request, c.body = r, nil
	if r.Body != nil {
		var err error
		if c.body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader("{}")), Request: r,
	}, nil
}

// description is a vendor's document as the validator reads it.
type description struct {
	file       string
	document   *openapi3.T
	operations map[string]operation // by method and path without names
}

type operation struct {
	path, method string
	item         *openapi3.PathItem
	operation    *openapi3.Operation
}

var braces = regexp.MustCompile(`\{[^{}]*\}`)

// readDescription reads a document of the folder of descriptions.
func readDescription(path string) (*description, error) {
	data, err := osexec.Command("zstd", "-dcq", path).Output()
	if err != nil {
		return nil, err
	}
	loader := openapi3.NewLoader()
	var document *openapi3.T
	if bytes.Contains(data[:min(len(data), 4000)], []byte("swagger")) &&
		!bytes.Contains(data[:min(len(data), 4000)], []byte("openapi")) {
		var value any
		if err := yaml.Unmarshal(data, &value); err != nil {
			return nil, err
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		var two openapi2.T
		if err := json.Unmarshal(text, &two); err != nil {
			return nil, err
		}
		if document, err = openapi2conv.ToV3(&two); err != nil {
			return nil, err
		}
	} else if document, err = loader.LoadFromData(data); err != nil {
		return nil, err
	}
	d := &description{filepath.Base(path), document, map[string]operation{}}
	for path, item := range document.Paths.Map() {
		for method, one := range item.Operations() {
			d.operations[method+" "+braces.ReplaceAllString(path, "{}")] = operation{path, method, item, one}
		}
	}
	return d, nil
}

// find returns the operation of a call: paths of the app and of the description
// differ by what their bases differ by.
func (d *description) find(call string) (operation, bool) {
	method, path, _ := strings.Cut(braces.ReplaceAllString(call, "{}"), " ")
	best, found := operation{}, false
	for key, one := range d.operations {
		m, p, _ := strings.Cut(key, " ")
		if m == method && (strings.HasSuffix(p, path) || strings.HasSuffix(path, p)) &&
			(!found || len(p) > len(best.path) || len(p) == len(best.path) && p < best.path) {
			best, found = one, true
		}
	}
	return best, found
}

// argument is a value that fits a schema, as far as a machine can tell.
func argument(schema map[string]any, all bool, depth int) any {
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	if branches, ok := schema["anyOf"].([]any); ok && len(branches) > 0 {
		first, _ := branches[0].(map[string]any)
		return argument(first, all, depth)
	}
	kind, _ := schema["type"].(string)
	if kinds, ok := schema["type"].([]any); ok && len(kinds) > 0 {
		kind, _ = kinds[0].(string)
	}
	number := func(name string) (float64, bool) { n, ok := schema[name].(float64); return n, ok }
	switch kind {
	case "integer", "number":
		value := 1.0
		if least, ok := number("minimum"); ok {
			value = max(value, least)
		}
		if least, ok := number("exclusiveMinimum"); ok {
			value = max(value, least+1)
		}
		if most, ok := number("maximum"); ok {
			value = min(value, most)
		}
		return json.Number(fmt.Sprint(int64(value)))
	case "boolean":
		return true
	case "array":
		items, _ := schema["items"].(map[string]any)
		least, _ := number("minItems")
		list := []any{}
		for range max(1, int(least)) {
			list = append(list, argument(items, all, depth+1))
		}
		return list
	case "object":
		return object(schema, all, depth)
	case "string", "":
		return textOf(schema)
	}
	return nil
}

func object(schema map[string]any, all bool, depth int) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	made := map[string]any{}
	for name, inside := range properties {
		member, _ := inside.(map[string]any)
		if slices.Contains(required, any(name)) || all && depth < 3 {
			made[name] = argument(member, all, depth+1)
		}
	}
	return made
}

func textOf(schema map[string]any) string {
	format, _ := schema["format"].(string)
	switch format {
	case "date-time":
		return "2026-11-22T10:00:00Z"
	case "date":
		return "2026-11-22"
	case "email":
		return "ann@example.com"
	case "uri", "url":
		return "https://example.com/a"
	case "uuid":
		return "3f2b8c1e-9d4a-4b7e-8a6f-1c2d3e4f5a6b"
	case "byte":
		return "dGV4dA=="
	case "ipv4":
		return "192.0.2.1"
	}
	text := "text"
	if least, ok := schema["minLength"].(float64); ok && int(least) > len(text) {
		text = strings.Repeat("t", int(least))
	}
	if most, ok := schema["maxLength"].(float64); ok && int(most) < len(text) {
		text = text[:int(most)]
	}
	return text
}

// liveOf is a connection of an app with made-up credentials.
func liveOf(a *app.App, s *app.Scheme) *connection.Live {
	params := map[string]string{}
	for name, p := range a.Params {
		params[name] = cmp.Or(p.Default, p.Example, strings.Join(p.Enum[:min(1, len(p.Enum))], ""), "acme")
	}
	values := app.Map{"access_token": "token"}
	for _, f := range s.Fields {
		values[f.Name] = "secret"
	}
	c := &connection.Connection{App: a.ID, Scheme: s.ID, Params: params}
	return &connection.Live{Connection: c, Values: app.Join(values, app.Map(params))}
}

// validate checks a captured request against the operation.
func validate(ctx context.Context, d *description, op operation, base, call string, c *capture) error {
	// The path of the tool, and the values that its placeholders got.
	_, path, _ := strings.Cut(call, " ")
	pattern := regexp.QuoteMeta(path)
	pattern = regexp.MustCompile(`\\\{[^{}]*\\\}`).ReplaceAllString(pattern, "([^/]*?)")
	values := regexp.MustCompile(pattern + "$").FindStringSubmatch(c.request.URL.EscapedPath())
	if values == nil {
		return fmt.Errorf("the path %s is none of %s", c.request.URL.EscapedPath(), path)
	}
	names, params := braces.FindAllString(op.path, -1), map[string]string{}
	offset := len(values) - 1 - len(names) // of placeholders that only one of the two has
	for i, name := range names {
		if at := i + 1 + offset; at > 0 && at < len(values) {
			params[strings.Trim(name, "{}")] = values[at]
		}
	}
	r := c.request.Clone(ctx)
	r.Body = nil
	if len(c.body) > 0 {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(c.body)), int64(len(c.body))
	}
	return openapi3filter.ValidateRequest(ctx, &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params,
		Route: &routers.Route{
			Spec: d.document, Path: op.path, PathItem: op.item, Method: op.method, Operation: op.operation,
		},
		Options: &openapi3filter.Options{
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, SkipSettingDefaults: true,
		},
	})
}

// TestDerivedRequests runs every derived tool with a minimal and a full set of
// arguments against a client that captures the request, and lets a validator of
// others check it against the vendor's description. It prints the share that is
// right and the most frequent reasons, and fails below the aim of 99 %.
func TestDerivedRequests(t *testing.T) {
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR names no folder with API descriptions")
	}
	sourcesText, err := os.ReadFile("../../catalog/tools.sources")
	if err != nil {
		t.Fatal(err)
	}
	apps, err := library.ReadRows(catalog.Files, catalog.Rows)
	if err != nil {
		t.Fatal(err)
	}
	data, err := catalog.Files.ReadFile(catalog.Pack)
	if err != nil {
		t.Fatal(err)
	}
	pack, err := toolpack.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{}
	for line := range strings.Lines(string(sourcesText)) {
		id, list, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[id] = strings.Split(list, " ")
	}
	var right, checked, notRead, noArguments int
	reasons := map[string]int{}
	for _, a := range apps {
		if a.Stored = pack.Of(a); a.Stored == nil {
			continue
		}
		var descriptions []*description
		for _, name := range files[a.ID] {
			d, err := readDescription(filepath.Join(shared, "catalog", "specs", name))
			if err != nil {
				continue // counted by the tools that have none
			}
			descriptions = append(descriptions, d)
		}
		tools, err := a.Stored.Load()
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range tools {
			var d *description
			var op operation
			for _, candidate := range descriptions {
				if found, ok := candidate.find(one.Call); ok {
					d, op = candidate, found
					break
				}
			}
			if d == nil {
				notRead++
				continue
			}
			var schema map[string]any
			if err := json.Unmarshal(one.InputSchema, &schema); err != nil {
				t.Fatal(err)
			}
			compiled, err := jsonschema.Compile(one.InputSchema)
			if err != nil {
				t.Fatal(err)
			}
			for _, all := range []bool{false, true} {
				arguments := object(schema, all, 0)
				if compiled.CheckValue(arguments) != nil {
					noArguments++ // a pattern that no machine-made text fits
					continue
				}
				c := &capture{}
				s := &a.Schemes[0]
				_, err := httptool.New(c, nil).Execute(t.Context(), &tool.Call{
					App: a, Scheme: s, Tool: one, Live: liveOf(a, s), Arguments: arguments,
					Open: func(context.Context, string) (*file.File, error) {
						return &file.File{Name: "a.txt", MediaType: "text/plain", Data: []byte("text")}, nil
					},
				})
				checked++
				if c.request == nil {
					err = errors.Join(errors.New("nothing was sent"), err)
				} else {
					err = validate(t.Context(), d, op, a.Base, one.Call, c)
				}
				if err == nil {
					right++
					continue
				}
				first, _, _ := strings.Cut(err.Error(), "\n")
				reasons[regexp.MustCompile(`"[^"]*"|\d+`).ReplaceAllString(first, "_")]++
				t.Logf("%s, all %v: %s", one.ID, all, first)
			}
		}
	}
	fmt.Printf("%d of %d requests are right: %.2f %%; %d tools whose description the validator does not read, %d sets of "+
		"arguments that no machine makes\n", right, checked, 100*float64(right)/float64(checked), notRead, noArguments)
	for _, reason := range slices.SortedFunc(maps.Keys(reasons), func(x, y string) int {
		return cmp.Compare(reasons[y], reasons[x])
	})[:min(25, len(reasons))] {
		fmt.Printf("  %d\t%.200s\n", reasons[reason], reason)
	}
	if checked == 0 || right*100 < checked*99 {
		t.Errorf("%d of %d requests are right, less than 99 %%", right, checked)
	}
}
