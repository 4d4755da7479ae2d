package openapi

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ace/internal/foundation/edit"
	"ace/internal/foundation/problem"

	"github.com/danielgtaylor/huma/v2"
)

// checkParameters returns invalid_request (Invalid) for query parameters that the
// operation does not have, each with the nearest one that it has.
func checkParameters(op *huma.Operation, r *http.Request) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	known := make([]string, 0, len(op.Parameters))
	for _, p := range op.Parameters {
		if p.In == "query" {
			known = append(known, p.Name)
		}
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return problem.New(problem.Malformed, "invalid_request", "The query of the URL cannot be read. Encode its "+
			"values.").
			Advise("fix_arguments")
	}
	items := unknownParameters(query, known)
	if len(items) == 0 {
		return nil
	}
	detail := items[0].Pointer + ": " + items[0].Detail
	return problem.New(problem.Invalid, "invalid_request", detail).WithItems(items...).Advise("fix_arguments")
}

// unknownDetail says that there is no such parameter or field, and which one was
// perhaps meant.
func unknownDetail(what, name string, known []string) string {
	if near := edit.Nearest(name, known); near != "" {
		return "There is no such " + what + " here. Did you mean " + near + "?"
	}
	return "There is no such " + what + " here. Remove it or check its spelling."
}

const maxName = edit.Longest // of a name of the caller's that is shown again

// clipName shortens a name that the caller sent.
func clipName(name string) string {
	if len(name) > maxName {
		return strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name
}

// fieldsAt returns the names of the fields that the body may have at a place such
// as body.lines[0].
func fieldsAt(op *huma.Operation, registry huma.Registry, location string) []string {
	if op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
		return nil
	}
	schema := op.RequestBody.Content["application/json"].Schema
	resolve := func() {
		for schema != nil && schema.Ref != "" {
			schema = registry.SchemaFromRef(schema.Ref)
		}
	}
	resolve()
	rest := strings.TrimPrefix(location, "body")
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		if schema == nil {
			return nil
		}
		if schema.Items != nil {
			schema = schema.Items
		} else {
			schema = schema.Properties[part]
		}
		resolve()
	}
	if schema == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(schema.Properties))
}
