// Package sdk tests the JavaScript and Python clients: recorded exchanges
// against the API's description, the same test file on every runtime, types, the
// packages that the platform serves, and a whole loop against the real binary.
package sdk

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// exchange is a request and its response, as a client's test replays them.
type exchange struct {
	Request struct {
		Method, Path string
		Headers      map[string]string
		Body         json.RawMessage
	}
	Response struct {
		Status int
		Body   json.RawMessage
		Text   *string
	}
}

// TestExchangesFitTheAPI holds the recorded exchanges to the platform's own
// description: a field that the API no longer takes or returns is found here, and
// with it what the clients send.
func TestExchangesFitTheAPI(t *testing.T) {
	t.Parallel()
	api := loadAPI(t)
	files, err := filepath.Glob("../../sdk/exchanges/*.json")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d recorded calls, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var recorded struct{ Exchanges []exchange }
			if err := json.Unmarshal(text, &recorded); err != nil {
				t.Fatal(err)
			}
			for _, e := range recorded.Exchanges {
				api.check(t, &e)
			}
		})
	}
}

// api is the OpenAPI document of the platform, whose schemas can be compiled by
// JSON Pointer.
type api struct {
	paths map[string]map[string]json.RawMessage

	// One at a time: schemas that were compiled earlier change while another that
	// refers to them is compiled.
	mu       sync.Mutex
	compiler *jsonschema.Compiler
}

const document = "https://api.test/openapi.json"

func loadAPI(t *testing.T) *api {
	t.Helper()
	text, err := os.ReadFile("../../api/platform.openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	a := &api{compiler: jsonschema.NewCompiler()}
	var head struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(text, &head); err != nil {
		t.Fatal(err)
	}
	a.paths = head.Paths
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	a.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := a.compiler.AddResource(document, parsed); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *api) check(t *testing.T, e *exchange) {
	t.Helper()
	target, err := url.Parse(e.Request.Path)
	if err != nil {
		t.Fatal(err)
	}
	template := a.route(target.Path, strings.ToLower(e.Request.Method))
	if template == "" {
		t.Errorf("%s %s is no operation of the API", e.Request.Method, target.Path)
		return
	}
	var operation struct {
		Parameters []struct{ Name, In string }
		Responses  map[string]struct {
			Content map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(a.paths[template][strings.ToLower(e.Request.Method)], &operation); err != nil {
		t.Fatal(err)
	}
	for name := range target.Query() {
		known := slices.ContainsFunc(operation.Parameters, func(p struct{ Name, In string }) bool {
			return p.In == "query" && p.Name == name
		})
		if !known {
			t.Errorf("%s %s has no query parameter %s", e.Request.Method, template, name)
		}
	}
	pointer := "#/paths/" + escape(template) + "/" + strings.ToLower(e.Request.Method)
	if len(e.Request.Body) > 0 && string(e.Request.Body) != "{}" {
		a.validate(t, pointer+"/requestBody/content/application~1json/schema", e.Request.Body)
	}
	if len(e.Response.Body) == 0 || e.Response.Text != nil {
		return
	}
	status := strconv.Itoa(e.Response.Status)
	if _, ok := operation.Responses[status]; !ok {
		if e.Response.Status < 300 {
			t.Errorf("%s %s does not say that it responds with %s", e.Request.Method, template, status)
			return
		}
		status = "default"
	}
	for mediaType := range operation.Responses[status].Content {
		a.validate(t, pointer+"/responses/"+status+"/content/"+escape(mediaType)+"/schema", e.Response.Body)
	}
}

var placeholder = regexp.MustCompile(`\\\{[^/]+\\\}`)

// route returns the path of the document that a request's path fits, the one
// with the fewest placeholders first.
func (a *api) route(path, method string) string {
	best := ""
	for template, operations := range a.paths {
		pattern := "^" + placeholder.ReplaceAllString(regexp.QuoteMeta(template), "[^/]+") + "$"
		if _, ok := operations[method]; !ok || !regexp.MustCompile(pattern).MatchString(path) {
			continue
		}
		if best == "" || strings.Count(template, "{") < strings.Count(best, "{") {
			best = template
		}
	}
	return best
}

func (a *api) validate(t *testing.T, pointer string, body json.RawMessage) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	schema, err := a.compiler.Compile(document + pointer)
	if err != nil {
		t.Errorf("%s: %v", pointer, err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s does not fit:\n%v\n%s", pointer, err, body)
	}
}

func escape(segment string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(segment))
}

// TestSourcesNeedNothing looks for imports: the clients have no dependencies.
func TestSourcesNeedNothing(t *testing.T) {
	t.Parallel()
	module, err := os.ReadFile("../../sdk/js/ace.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(module)) {
		if !strings.HasPrefix(line, "//") && regexp.MustCompile(`^import |\brequire\(|\bfrom "`).MatchString(line) {
			t.Errorf("ace.mjs imports something: %s", line)
		}
	}
	allowed := strings.Fields(`__future__ asyncio base64 binascii concurrent email functools hashlib hmac http json
		mimetypes os random socket ssl sys threading time typing typing_extensions urllib uuid`)
	imported := regexp.MustCompile(`(?m)^(?:import|from) ([a-z0-9_]+)`)
	err = filepath.WalkDir("../../sdk/python/ace", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".py" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, found := range imported.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(allowed, found[1]) && found[1] != "." {
				t.Errorf("%s imports %s, which is not in the standard library of Python 3.8", path, found[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
