package openapi

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strconv"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/plainjson"

	"github.com/danielgtaylor/huma/v2"
)

// Mux is where routes are mounted: an *httpserver.Mux or an *http.ServeMux.
type Mux interface {
	Handle(pattern string, handler http.Handler)
}

// Options are the parts of the document that have defaults.
type Options struct {
	Description string
	Servers     []string            // public addresses of the host
	Contact     *Contact            // who to contact
	Tags        []Tag               // groups of operations, in reading order
	Security    map[string]Security // schemes by name; operations name the ones they need
	// MaxBodyBytes bounds request bodies where the operation does not.
	// 0: httpserver.DefaultBodyLimit.
	MaxBodyBytes int64
	// Strict refuses query parameters that an operation does not have, with the
	// nearest one that it has.
	Strict bool
	// Limited describes the response 429 that every operation may give. Empty:
	// nothing is limited.
	Limited string
}

// Contact says who to contact about the API.
type Contact struct{ Name, URL, Email string }

// Tag groups operations.
type Tag struct{ Name, Description string }

// Security is one way to show who calls, in the words of OpenAPI.
type Security struct {
	Type        string // "http", "apiKey"
	Scheme      string // "bearer" with Type "http"
	In, Name    string // with Type "apiKey"
	Description string
}

// API is the set of operations of one host. Register everything before serving;
// registration is not safe for concurrent use, serving is.
type API struct {
	huma      huma.API
	options   Options
	described []described
	webhooks  map[string]any // by name
}

// New returns an API that mounts its routes on mux. Title and version head the
// document. Nil options are the defaults.
func New(mux Mux, title, version string, o *Options) *API {
	if o == nil {
		o = new(Options)
	}
	options := *o
	if options.MaxBodyBytes == 0 {
		options.MaxBodyBytes = httpserver.DefaultBodyLimit
	}
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info:    &huma.Info{Title: title, Version: version, Description: options.Description},
			Components: &huma.Components{
				Schemas:         huma.NewMapRegistry("#/components/schemas/", schemaName),
				SecuritySchemes: map[string]*huma.SecurityScheme{},
			},
		},
		Formats: map[string]huma.Format{
			"application/json": {Marshal: marshal, Unmarshal: unmarshal},
			// The library's own errors: Handle has responded in their place, and
			// without a format the library complains on standard error.
			"application/problem+json": {Marshal: marshal, Unmarshal: unmarshal},
		},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{catchFailures},
	}
	if c := options.Contact; c != nil {
		config.Info.Contact = &huma.Contact{Name: c.Name, URL: c.URL, Email: c.Email}
	}
	for _, s := range options.Servers {
		config.Servers = append(config.Servers, &huma.Server{URL: s})
	}
	for _, t := range options.Tags {
		config.Tags = append(config.Tags, &huma.Tag{Name: t.Name, Description: t.Description})
	}
	for name, s := range options.Security {
		config.Components.SecuritySchemes[name] = &huma.SecurityScheme{
			Type: s.Type, Scheme: s.Scheme, In: s.In, Name: s.Name, Description: s.Description,
		}
	}
	return &API{huma: huma.NewAPI(config, &adapter{mux: mux}), options: options}
}

// schemaName names a component after its Go type.
func schemaName(t reflect.Type, hint string) string {
	if t == reflect.TypeFor[httpserver.ProblemBody]() {
		return "Problem"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// marshal writes JSON without escaping <, > and &, which agents read as noise.
func marshal(w io.Writer, v any) error {
	enc := plainjson.NewEncoder(w)
	return enc.Encode(v)
}

// unmarshal reads a body that the door has found to be sound JSON.
func unmarshal(data []byte, v any) error { return json.Unmarshal(data, v) }

// Operation is one route and what the document says about it.
type Operation struct {
	Method      string
	Path        string // pattern of http.ServeMux without method and host
	ID          string // stable, camelCase; names methods of generated clients
	Summary     string
	Description string
	Tags        []string
	Status      int // of success; 0: 200, or 204 without a Body
	// Also are further statuses that come with the same body, each with what it
	// means.
	Also     map[int]string
	Security []string // names of schemes of which one is needed
	// MaxBodyBytes bounds the body; 0: the limit of the API.
	MaxBodyBytes int64
	// Middleware wraps this route alone, for example httpserver.AllowTime.
	Middleware []httpserver.Middleware
	Hidden     bool // served, but not in the document
	Unlimited  bool // never responds with 429; for described operations
	Deprecated bool
}

// Handle mounts fn as a route and documents it. Errors of fn are rendered by
// httpserver.WriteProblem. Malformed input never reaches fn: it gets
// invalid_json, invalid_request with one item per fault, request_too_large or
// unsupported_media_type. A bad registration panics, at start.
func Handle[In, Out any](api *API, op Operation, fn func(context.Context, *In) (*Out, error)) {
	limit := op.MaxBodyBytes
	if limit == 0 {
		limit = api.options.MaxBodyBytes
	}
	registry := api.huma.OpenAPI().Components.Schemas
	h := huma.Operation{
		Method: op.Method, Path: op.Path, OperationID: op.ID, Summary: op.Summary, Description: op.Description,
		Tags: op.Tags, DefaultStatus: op.Status, Hidden: op.Hidden, Deprecated: op.Deprecated,
		// The door reads and bounds the body; the library must not set deadlines.
		MaxBodyBytes: -1, BodyReadTimeout: -1,
		Metadata: map[string]any{routeKey: &route{
			limit: limit, middleware: op.Middleware, registry: registry, strict: api.options.Strict,
		}},
		Responses: map[string]*huma.Response{"default": {
			Description: "Problem",
			Content: map[string]*huma.MediaType{"application/problem+json": {
				Schema: registry.Schema(reflect.TypeFor[httpserver.ProblemBody](), true, "Problem"),
			}},
		}},
	}
	for _, name := range op.Security {
		h.Security = append(h.Security, map[string][]string{name: {}})
	}
	huma.Register(api.huma, h, func(ctx context.Context, in *In) (*Out, error) {
		out, err := fn(ctx, in)
		if err != nil {
			return nil, &failure{err}
		}
		return out, nil
	})
	usual := h.Responses[strconv.Itoa(cmp.Or(op.Status, http.StatusOK))]
	for status, description := range op.Also {
		h.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: description, Content: usual.Content, Headers: usual.Headers,
		}
	}
}
