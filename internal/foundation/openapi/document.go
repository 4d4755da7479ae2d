package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ace/internal/foundation/plainjson"
)

// Document is the OpenAPI 3.1 document of every operation registered so far,
// as indented JSON whose bytes depend on the registrations alone.
func (api *API) Document() ([]byte, error) {
	encoded, err := json.Marshal(api.huma.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("encoding the OpenAPI document: %w", err)
	}
	tree, _ := decodeTree(encoded).(map[string]any)
	list := slices.Clone(api.described)
	for i := range list { // they stay as they are, for the next time
		node, err := json.Marshal(list[i].node)
		if err != nil {
			return nil, fmt.Errorf("encoding the operation %s: %w", list[i].op.ID, err)
		}
		list[i].node, _ = decodeTree(node).(map[string]any)
	}
	paths, err := mergePaths(tree, list)
	if err != nil {
		return nil, err
	}
	tree["paths"] = paths
	schemas := child(child(tree, "components"), "schemas")
	nullFields(api.huma.OpenAPI().Components.Schemas, schemas)
	openAnswers(paths, schemas)
	used := map[string]bool{}
	collect(paths, schemas, used)
	for name := range schemas {
		if !used[name] {
			delete(schemas, name)
		}
	}
	share(list, schemas)
	api.addLimited(tree, paths)
	if len(api.webhooks) > 0 {
		tree["webhooks"] = api.webhooks
	}
	var buf bytes.Buffer
	enc := plainjson.NewEncoder(&buf)
	enc.SetIndent("", "  ")
	if err := enc.Encode(tree); err != nil {
		return nil, fmt.Errorf("encoding the OpenAPI document: %w", err)
	}
	return buf.Bytes(), nil
}

// addLimited adds the response over the limit, which every limited operation may
// give, and says where nothing has to be shown that no key is needed.
func (api *API) addLimited(tree, paths map[string]any) {
	if len(api.options.Security) == 0 {
		tree["security"] = []any{}
	}
	if api.options.Limited == "" {
		return
	}
	header := func(about, kind string) any {
		return map[string]any{"description": about, "schema": map[string]any{"type": kind}}
	}
	child(tree, "components")["responses"] = map[string]any{"RateLimited": map[string]any{
		"description": api.options.Limited,
		"headers": map[string]any{
			"Retry-After":      header("Seconds to wait.", "integer"),
			"RateLimit":        header("What is left of the quota, and when more comes back.", "string"),
			"RateLimit-Policy": header("The quota and its window.", "string"),
		},
	}}
	free := map[string]bool{}
	for _, d := range api.described {
		free[d.op.ID] = d.op.Unlimited
	}
	for _, item := range paths {
		for _, op := range item.(map[string]any) {
			op, ok := op.(map[string]any)
			if !ok {
				continue
			}
			id, _ := op["operationId"].(string)
			responses := child(op, "responses")
			if _, own := responses["429"]; responses != nil && !own && !free[id] {
				responses["429"] = map[string]any{"$ref": "#/components/responses/RateLimited"}
			}
		}
	}
}

// mergePaths returns the paths of the library and the described ones, spelled
// as OpenAPI wants them.
func mergePaths(tree map[string]any, more []described) (map[string]any, error) {
	paths := map[string]any{}
	for path, node := range child(tree, "paths") {
		paths[documentPath(path)] = node
	}
	ids := map[string]bool{}
	for _, node := range paths {
		for _, op := range node.(map[string]any) {
			if op, ok := op.(map[string]any); ok {
				id, _ := op["operationId"].(string)
				ids[id] = true
			}
		}
	}
	for _, d := range more {
		if ids[d.op.ID] {
			return nil, fmt.Errorf("operation id %s is used twice", d.op.ID)
		}
		ids[d.op.ID] = true
		method := strings.ToLower(d.op.Method)
		item, _ := paths[d.path].(map[string]any)
		if item == nil {
			item = map[string]any{}
		}
		if _, taken := item[method]; taken {
			return nil, fmt.Errorf("%s %s is documented twice", d.op.Method, d.path)
		}
		item[method] = d.node
		paths[d.path] = item
	}
	return paths, nil
}

// documentPath spells the wildcards of http.ServeMux as OpenAPI does.
func documentPath(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "{$}", ""), "...}", "}")
}

func child(tree map[string]any, name string) map[string]any {
	c, _ := tree[name].(map[string]any)
	return c
}

// openAnswers tidies the schemas: arrays are never null, because the transports send
// none; and schemas that only responses use do not promise that no field is ever
// added, so that a strict generated client survives an addition.
func openAnswers(paths, schemas map[string]any) {
	taken := map[string]bool{}
	for _, item := range paths {
		for _, op := range item.(map[string]any) {
			if op, ok := op.(map[string]any); ok {
				collect(op["requestBody"], schemas, taken)
			}
		}
	}
	for name, schema := range schemas {
		walk(schema, func(s map[string]any) {
			if types, ok := s["type"].([]any); ok && len(types) > 0 && types[0] == "array" {
				s["type"] = "array"
			}
			if only, ok := s["additionalProperties"].(bool); ok && !only && !taken[name] {
				delete(s, "additionalProperties")
			}
			delete(s, "patternDescription")
		})
	}
}

// collect adds to found the names of all components that node refers to,
// directly or through others.
func collect(node any, schemas map[string]any, found map[string]bool) {
	walk(node, func(n map[string]any) {
		ref, _ := n["$ref"].(string)
		name, ok := strings.CutPrefix(ref, "#/components/schemas/")
		if ok && !found[name] {
			found[name] = true
			collect(schemas[name], schemas, found)
		}
	})
}

func walk(node any, visit func(map[string]any)) {
	switch n := node.(type) {
	case map[string]any:
		visit(n)
		for _, c := range n {
			walk(c, visit)
		}
	case []any:
		for _, c := range n {
			walk(c, visit)
		}
	}
}

// decodeTree decodes JSON that was just encoded, numbers as they are spelled.
func decodeTree(data []byte) any {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		panic(fmt.Sprintf("openapi: a schema is not JSON: %v", err))
	}
	return tree
}
