package schematest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const ucpHost = "https://ucp.dev/"

// UCP returns the schemas of a version: 2026-08-25, for which the published
// draft is used, or 2026-04-08. References are relative to the folder
// schemas, for example "shopping/checkout.json" or
// "shopping/catalog_search.json#/$defs/search_response".
func UCP(t testing.TB, version string) *Set {
	t.Helper()
	root := Dir(t, "specs", "commerce", "ucp")
	folder := version
	if version == "2026-08-25" {
		folder = "draft"
	}
	load := func(operation, url string) (any, error) {
		path, ok := strings.CutPrefix(url, ucpHost)
		if !ok {
			return nil, fmt.Errorf("no schema is served for %s", url)
		}
		schema, err := readJSON(filepath.Join(root, filepath.FromSlash(path)))
		if err == nil && operation != "" {
			requestView(schema, operation)
		}
		return schema, err
	}
	return newSet("UCP "+version, load, func(ref string) string { return ucpHost + folder + "/schemas/" + ref })
}

// UCPErrorResponse is the reference of the error envelope in a version.
func UCPErrorResponse(version string) string {
	if version == "2026-04-08" {
		return "shopping/types/error_response.json"
	}
	return "common/types/error_response.json"
}

// UCPBusinessProfile is the reference of the profile of a store in a version.
func UCPBusinessProfile(version string) string {
	if version == "2026-04-08" {
		return "discovery/profile.json#/$defs/business_profile"
	}
	return "profile.json#/$defs/business_schema"
}

// requestView turns a schema, which describes responses, into that of a request
// of an operation, by the annotation ucp_request of its properties: omit,
// required, optional, or one of these per operation.
func requestView(node any, operation string) {
	switch n := node.(type) {
	case []any:
		for _, inner := range n {
			requestView(inner, operation)
		}
	case map[string]any:
		for keyword, inner := range n {
			named, ok := inner.(map[string]any)
			if !ok || keyword != "properties" && keyword != "$defs" {
				requestView(inner, operation)
				continue
			}
			// The keys of this map are names, not keywords.
			if keyword == "properties" {
				applyAnnotations(n, named, operation)
			}
			for _, schema := range named {
				requestView(schema, operation)
			}
		}
	}
}

func applyAnnotations(object, properties map[string]any, operation string) {
	required, _ := object["required"].([]any)
	for name, property := range properties {
		switch annotation(property, operation) {
		case "omit":
			delete(properties, name)
			required = without(required, name)
		case "optional":
			required = without(required, name)
		case "required":
			required = append(without(required, name), name)
		}
	}
	if _, had := object["required"]; had || len(required) > 0 {
		object["required"] = required
	}
}

func annotation(property any, operation string) string {
	p, _ := property.(map[string]any)
	switch a := p["ucp_request"].(type) {
	case string:
		return a
	case map[string]any:
		word, _ := a[operation].(string)
		return word
	}
	return ""
}

func without(list []any, name string) []any {
	return slices.DeleteFunc(slices.Clone(list), func(v any) bool { return v == name })
}
