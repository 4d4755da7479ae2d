package openapiimport

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"ace/internal/foundation/jsonschema"
	"ace/internal/platform/app"
)

// Options selects what is imported of a document.
type Options struct {
	AppID string
	// Base is the base URL of the API; empty: the document's first server.
	Base string
	// From is where the document was fetched, for servers that are relative to it.
	From string
	// Tags and Methods, if not empty, select operations.
	Tags, Methods []string
}

// Skipped is an operation without a tool.
type Skipped struct {
	Operation string `json:"operation"` // POST /orders
	Code      string `json:"code"`
	Detail    string `json:"detail"`
}

// Result is what was imported of a document.
type Result struct {
	Title   string
	About   string
	Base    string
	Tools   []*app.Tool // in the order of paths, then methods
	Skipped []Skipped
}

// Import makes tools of a description. It returns import_failed (Unprocessable)
// if the document has nothing to import.
func Import(data []byte, o Options) (*Result, error) {
	root, err := read(data)
	if err != nil {
		return nil, err
	}
	im := &importer{resolver: resolver{root}, options: o, names: map[string]bool{}, result: &Result{}}
	if err := im.identify(); err != nil {
		return nil, err
	}
	if err := im.base(); err != nil {
		return nil, err
	}
	paths := object(root, "paths")
	if paths == nil {
		return nil, failed("The document describes no paths.")
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		im.path(path, paths[path])
	}
	return im.result, nil
}

type importer struct {
	resolver
	options  Options
	swagger2 bool
	names    map[string]bool
	count    int // operations that were wanted
	result   *Result
}

func (im *importer) identify() error {
	version, two := text(im.root, "openapi"), text(im.root, "swagger")
	switch {
	case strings.HasPrefix(version, "3.0"), strings.HasPrefix(version, "3.1"):
	case two == "2.0":
		im.swagger2 = true
	case version != "" || two != "":
		return failed("This version of OpenAPI is not read here. OpenAPI 3.0, 3.1 and Swagger 2.0 are.")
	default:
		return failed("This is no OpenAPI document: it names no version (openapi or swagger).")
	}
	info := object(im.root, "info")
	im.result.Title, im.result.About = Prose(text(info, "title"), 80), Prose(text(info, "description"), 200)
	return nil
}

// base returns the base URL of the API.
func (im *importer) base() error {
	address := im.options.Base
	switch {
	case address != "":
	case im.swagger2:
		address = im.swaggerBase()
	default:
		address = serverOf(list(im.root, "servers"))
	}
	u, err := url.Parse(address)
	if from, fromErr := url.Parse(im.options.From); err == nil && !u.IsAbs() && fromErr == nil && from.IsAbs() {
		u = from.ResolveReference(u)
	}
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil ||
		strings.ContainsAny(u.String(), "{}") {
		return failed("The document does not say where the API stands. Send base_url.")
	}
	im.result.Base = strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/")
	return nil
}

func (im *importer) swaggerBase() string {
	host, base := text(im.root, "host"), text(im.root, "basePath")
	if host == "" {
		return base
	}
	schemes := list(im.root, "schemes")
	if len(schemes) > 0 && !slices.Contains(schemes, any("https")) && slices.Contains(schemes, any("http")) {
		return "http://" + host + base
	}
	return "https://" + host + base
}

// serverOf returns the URL of the first server, its variables at their
// defaults.
func serverOf(servers []any) string {
	if len(servers) == 0 {
		return "/"
	}
	server, _ := servers[0].(map[string]any)
	address := text(server, "url")
	for name, value := range object(server, "variables") {
		variable, _ := value.(map[string]any)
		address = strings.ReplaceAll(address, "{"+name+"}", text(variable, "default"))
	}
	return address
}

var methods = []string{"get", "post", "put", "patch", "delete", "head"}

func (im *importer) path(path string, value any) {
	item, _, err := im.object(value)
	if err != nil || item == nil {
		im.skip(path, "ref_unresolved", "The path is described elsewhere: references lead into the document alone.")
		return
	}
	for _, method := range methods {
		operation := object(item, method)
		if operation == nil || !im.wanted(method, operation) {
			continue
		}
		name := strings.ToUpper(method) + " " + path
		if im.count++; im.count > MaxOperations {
			im.skip(name, "too_many_operations",
				fmt.Sprintf("A connector has at most %d operations. Choose some by tags or methods.", MaxOperations))
			continue
		}
		t, reason := im.operation(method, path, item, operation)
		if reason != nil {
			im.skip(name, reason.Code, reason.Detail)
			continue
		}
		im.result.Tools = append(im.result.Tools, t)
	}
}

func (im *importer) skip(operation, code, detail string) {
	im.result.Skipped = append(im.result.Skipped, Skipped{Prose(operation, 200), code, detail})
}

func (im *importer) wanted(method string, operation map[string]any) bool {
	if len(im.options.Methods) > 0 && !slices.ContainsFunc(im.options.Methods,
		func(m string) bool { return strings.EqualFold(m, method) }) {
		return false
	}
	return len(im.options.Tags) == 0 || slices.ContainsFunc(list(operation, "tags"), func(tag any) bool {
		name, _ := tag.(string)
		return slices.Contains(im.options.Tags, name)
	})
}

// finish completes a tool and checks its schema as a run does.
func (im *importer) finish(t *app.Tool) *Skipped {
	one := &app.App{ID: im.options.AppID, Tools: app.OrderedOf(func(t *app.Tool) string { return t.Name }, t)}
	if err := one.Complete(); err != nil {
		return &Skipped{Code: "schema_unsupported", Detail: "The schema of its inputs cannot be written down."}
	}
	if len(t.InputSchema) > maxSchema {
		return &Skipped{
			Code:   "schema_too_large",
			Detail: fmt.Sprintf("The schema of its inputs is larger than %d KB.", maxSchema>>10),
		}
	}
	if _, err := jsonschema.Compile(t.InputSchema); err != nil {
		return &Skipped{Code: "schema_unsupported", Detail: "The schema of its inputs is none."}
	}
	return nil
}
