package bench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"regexp/syntax"
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
	operations map[string]operation // by method and path without names, below that of a server
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
	var value map[string]any
	if json.Unmarshal(data, &value) != nil {
		if err := yaml.Unmarshal(data, &value); err != nil {
			return nil, err
		}
	}
	var document *openapi3.T
	if value["swagger"] != nil {
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
	} else if document, err = openapi3.NewLoader().LoadFromData(data); err != nil {
		return nil, err
	}
	d := &description{filepath.Base(path), document, map[string]operation{}}
	for path, item := range document.Paths.Map() {
		for method, one := range item.Operations() {
			op := operation{path, method, item, one}
			for _, below := range serverPaths(document.Servers) {
				d.operations[method+" "+below+braces.ReplaceAllString(path, "{}")] = op
			}
		}
	}
	return d, nil
}

// serverPaths returns the paths of the servers, those with variables both
// without their names and with their defaults.
func serverPaths(servers openapi3.Servers) []string {
	paths := []string{""}
	for _, server := range servers {
		for _, address := range []string{server.URL, withDefaults(server)} {
			_, rest, _ := strings.Cut(address, "://")
			_, path, _ := strings.Cut(rest, "/")
			if !strings.Contains(address, "://") {
				path = strings.TrimPrefix(address, "/")
			}
			if path = strings.Trim(path, "/"); path != "" {
				paths = append(paths, "/"+braces.ReplaceAllString(path, "{}"))
			}
		}
	}
	return paths
}

func withDefaults(server *openapi3.Server) string {
	address := server.URL
	for name, variable := range server.Variables {
		address = strings.ReplaceAll(address, "{"+name+"}", variable.Default)
	}
	return address
}

// find returns the operation of a call below a base URL: the one of exactly this
// path in any of the descriptions, or else the one whose path is the longest end
// of it.
func find(descriptions []*description, base, call string) (*description, operation, bool) {
	method, path, _ := strings.Cut(call, " ")
	_, rest, _ := strings.Cut(base, "://")
	if _, below, found := strings.Cut(rest, "/"); found {
		path = "/" + strings.Trim(below, "/") + path
	}
	path = braces.ReplaceAllString(path, "{}")
	for _, d := range descriptions {
		if op, found := d.operations[method+" "+path]; found {
			return d, op, true
		}
	}
	for at := 1; at < len(path); at++ {
		if path[at] != '/' {
			continue
		}
		for _, d := range descriptions {
			if op, found := d.operations[method+" "+path[at:]]; found {
				return d, op, true
			}
		}
	}
	return nil, operation{}, false
}

// argument is a value that fits a schema, as far as a machine can tell.
func argument(schema map[string]any, set string, depth int) any {
	if values, ok := schema["enum"].([]any); ok && len(values) > 0 {
		return values[0]
	}
	if branches, ok := schema["anyOf"].([]any); ok && len(branches) > 0 {
		first, _ := branches[0].(map[string]any)
		return argument(first, set, depth)
	}
	if values, ok := schema["examples"].([]any); ok && len(values) > 0 {
		return values[0]
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
			list = append(list, argument(items, set, depth+1))
		}
		return list
	case "object":
		return object(schema, set, depth)
	case "string", "":
		return textOf(schema)
	}
	return nil
}

// seed chooses the optional arguments of the typical set.
var seed = cmp.Or(os.Getenv("ACE_SEED"), "1")

func object(schema map[string]any, set string, depth int) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	made := map[string]any{}
	for name, inside := range properties {
		member, _ := inside.(map[string]any)
		// Which of the optional ones are typical follows from their names and the seed.
		chosen := set == "full" || set == "typical" && crc32.ChecksumIEEE([]byte(seed+name))%2 == 0
		if slices.Contains(required, any(name)) || chosen && depth < 3 {
			made[name] = argument(member, set, depth+1)
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
	if pattern, ok := schema["pattern"].(string); ok {
		if parsed, err := syntax.Parse(pattern, syntax.Perl); err == nil {
			return matching(parsed.Simplify())
		}
	}
	if least, ok := schema["minLength"].(float64); ok && int(least) > len(text) {
		text = strings.Repeat("t", int(least))
	}
	if most, ok := schema["maxLength"].(float64); ok && int(most) < len(text) {
		text = text[:int(most)]
	}
	return text
}

// matching returns a short text that a pattern matches, if it is a plain one.
func matching(pattern *syntax.Regexp) string {
	switch pattern.Op {
	case syntax.OpLiteral:
		return string(pattern.Rune)
	case syntax.OpCharClass:
		for at := 0; at+1 < len(pattern.Rune); at += 2 { // ranges; a letter or a digit first
			for _, likely := range "a1A" {
				if pattern.Rune[at] <= likely && likely <= pattern.Rune[at+1] {
					return string(likely)
				}
			}
		}
		if len(pattern.Rune) > 0 {
			return string(pattern.Rune[0])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpCapture, syntax.OpPlus, syntax.OpStar:
		return matching(pattern.Sub[0])
	case syntax.OpRepeat:
		return strings.Repeat(matching(pattern.Sub[0]), max(pattern.Min, min(1, max(pattern.Max, 0))))
	case syntax.OpConcat:
		var all strings.Builder
		for _, one := range pattern.Sub {
			all.WriteString(matching(one))
		}
		return all.String()
	case syntax.OpAlternate:
		return matching(pattern.Sub[0])
	}
	return ""
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

// validate checks a captured request against the operation: its path, its query,
// its headers, its body, and where the credentials are.
func validate(ctx context.Context, d *description, op operation, c *capture) error {
	pattern := braces.ReplaceAllString(strings.TrimRight(op.path, "/"), "\x00")
	pattern = strings.ReplaceAll(regexp.QuoteMeta(pattern), "\x00", "([^/]*)") + "/?$"
	values := regexp.MustCompile(pattern).FindStringSubmatch(c.request.URL.EscapedPath())
	if values == nil {
		return fmt.Errorf("the path %s does not end like %s", c.request.URL.EscapedPath(), op.path)
	}
	params := map[string]string{}
	for i, name := range braces.FindAllString(op.path, -1) {
		value, err := url.PathUnescape(values[i+1])
		if err != nil {
			return err
		}
		params[strings.Trim(name, "{}")] = value
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
			AuthenticationFunc: authenticated, SkipSettingDefaults: true,
		},
	})
}

// authenticated reports whether a request has credentials where a scheme of the
// description wants them. Many descriptions name all schemes as if each call needed
// all of them, so that one is enough.
func authenticated(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	route := in.RequestValidationInput.Route
	requirements := &route.Spec.Security
	if route.Operation.Security != nil {
		requirements = route.Operation.Security
	}
	for _, requirement := range *requirements {
		for name := range requirement {
			scheme := route.Spec.Components.SecuritySchemes[name]
			if scheme != nil && scheme.Value != nil && sent(in.RequestValidationInput.Request, scheme.Value) {
				return nil
			}
		}
	}
	scheme := in.SecurityScheme
	return fmt.Errorf("no credentials for %s %s %s %s", scheme.Type, scheme.Scheme, scheme.In, scheme.Name)
}

// sent reports whether a request has the credentials of a scheme.
func sent(r *http.Request, scheme *openapi3.SecurityScheme) bool {
	switch {
	case scheme.Type == "apiKey" && scheme.In == "header":
		return r.Header.Get(scheme.Name) != ""
	case scheme.Type == "apiKey" && scheme.In == "query":
		return r.URL.Query().Get(scheme.Name) != "" ||
			strings.Contains(scheme.Description, "header") && r.Header.Get(scheme.Name) != "" // it says that both do
	case scheme.Type == "http" && strings.EqualFold(scheme.Scheme, "basic"):
		_, _, there := r.BasicAuth()
		return there
	case scheme.Type == "http", scheme.Type == "oauth2", scheme.Type == "openIdConnect":
		return r.Header.Get("Authorization") != ""
	}
	return false
}

// execute runs a tool and has its request judged, by each scheme of the app until
// one is right: a description may know one of them alone.
func execute(ctx context.Context, a *app.App, t *app.Tool, d *description, op operation, arguments map[string]any,
) (err error) {
	for i := range a.Schemes {
		c, s := &capture{}, &a.Schemes[i]
		_, err = httptool.New(c, nil).Execute(ctx, &tool.Call{
			App: a, Scheme: s, Tool: t, Live: liveOf(a, s), Arguments: arguments,
			Open: func(context.Context, string) (*file.File, error) {
				return &file.File{Name: "a.txt", MediaType: "text/plain", Data: []byte("text")}, nil
			},
		})
		if c.request == nil {
			return errors.Join(errors.New("nothing was sent"), err)
		}
		var refused *openapi3filter.SecurityRequirementsError
		if err = validate(ctx, d, op, c); !errors.As(err, &refused) {
			return err
		}
	}
	return err
}

// TestDerivedRequests runs every derived tool with a minimal, a typical and a full
// set of arguments against a client that captures the request, and lets a
// validator of others check it against the vendor's description. It prints the
// share that is right and the most frequent reasons, and fails below the aim of
// 99 %. With ACE_FAILED it writes the tools that fail to that file, each with the
// reason: what catalog/tools.left-out consists of.
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
	reasons, failed := map[string]int{}, map[string]string{}
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
			d, op, found := find(descriptions, a.Base, one.Call)
			if !found {
				t.Logf("%s: no description that can be read has %s", one.ID, one.Call)
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
			for _, set := range []string{"minimal", "typical", "full"} {
				arguments := object(schema, set, 0)
				if compiled.CheckValue(arguments) != nil {
					noArguments++ // a pattern that no machine-made text fits
					continue
				}
				checked++
				err := execute(t.Context(), a, one, d, op, arguments)
				if err == nil {
					right++
					continue
				}
				first, _, _ := strings.Cut(err.Error(), "\n")
				reasons[regexp.MustCompile(`"[^"]*"|\d+`).ReplaceAllString(first, "_")]++
				t.Logf("%s, %s: %.300s", one.ID, set, first)
				if key := a.ID + "\t" + one.Call; failed[key] == "" {
					failed[key] = reasonOf(first)
				}
			}
		}
	}
	fmt.Printf(
		"%d of %d requests are right: %.2f %%; %d tools whose description the validator does not read, %d sets of "+
			"arguments that no machine makes\n",
		right,
		checked,
		100*float64(right)/float64(checked),
		notRead,
		noArguments,
	)
	for _, reason := range slices.SortedFunc(maps.Keys(reasons), func(x, y string) int {
		return cmp.Compare(reasons[y], reasons[x])
	})[:min(25, len(reasons))] {
		fmt.Printf("  %d\t%.200s\n", reasons[reason], reason)
	}
	if path := os.Getenv("ACE_FAILED"); path != "" {
		var list strings.Builder
		for _, key := range slices.Sorted(maps.Keys(failed)) {
			list.WriteString(key + "\t" + failed[key] + "\n")
		}
		if err := os.WriteFile(path, []byte(list.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if checked == 0 || right*100 < checked*99 {
		t.Errorf("%d of %d requests are right, less than 99 %%", right, checked)
	}
}

// reasonOf returns what is wrong with a request in a few words, without what a
// vendor says.
func reasonOf(text string) string {
	for _, kind := range []struct{ part, reason string }{
		{"security requirements failed", "the credentials are elsewhere than the description says"},
		{"in path has an error: value is required", "the description has an input of the path that the path lacks"},
		{"in path", "an input of the path is not as the description says"},
		{"in query", "a query parameter is not as the description says"},
		{"in header", "a header is not as the description says"},
		{"oneOf", "alternatives of the body exclude each other"},
		{"is missing", "a member of the body that one alternative needs"},
		{"missing propert", "a member of the body that one alternative needs"},
		{"unexpected value", "the media type of the body is described twice"},
		{"regexp", "a pattern that the validator does not read"},
		{"request body", "the body is not as the description says"},
	} {
		if strings.Contains(text, kind.part) {
			return kind.reason
		}
	}
	return "the request is not as the description says"
}
