package openapi

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Description is the wire contract of an operation that an ordinary
// http.Handler serves.
type Description struct {
	Parameters []Parameter
	Request    *Content
	Responses  map[int]Content // by status; 0 is every other status
}

// Parameter is one value outside of the body.
type Parameter struct {
	Name        string
	In          string // "path", "query", "header", "cookie"
	Description string
	Required    bool            // always true in a path
	Schema      json.RawMessage // nil: a string
}

// Content is a body: what it means, its media type and its schema.
type Content struct {
	Description string
	MediaType   string          // "": application/json
	Schema      json.RawMessage // self-contained; nil: any value, or no body in a response
	Name        string          // of the schema in the components if it is shared; "": after the operation
	Optional    bool            // of a request body
	Example     json.RawMessage // nil: none
}

// componentName notes the name of a schema beside it until the document is written.
const componentName = "x-schema-name"

type described struct {
	op   Operation
	path string
	node map[string]any
}

// Describe puts an operation into the document and mounts nothing. A schema
// that is not JSON panics, at start.
func Describe(api *API, op Operation, d Description) {
	api.described = append(api.described, described{op: op, path: documentPath(op.Path), node: operationNode(op, d)})
}

// DescribeWebhook puts a request that the server makes into the document, under
// the name op.ID. Its path and security are not ours to say.
func DescribeWebhook(api *API, op Operation, d Description) {
	node := operationNode(op, d)
	if api.webhooks == nil {
		api.webhooks = map[string]any{}
	}
	api.webhooks[op.ID] = map[string]any{strings.ToLower(op.Method): node}
}

func operationNode(op Operation, d Description) map[string]any {
	node := map[string]any{"operationId": op.ID, "summary": op.Summary}
	if op.Description != "" {
		node["description"] = op.Description
	}
	if len(op.Tags) > 0 {
		node["tags"] = op.Tags
	}
	if op.Deprecated {
		node["deprecated"] = true
	}
	if len(op.Security) > 0 {
		needs := make([]any, len(op.Security))
		for i, name := range op.Security {
			needs[i] = map[string]any{name: []any{}}
		}
		node["security"] = needs
	}
	if len(d.Parameters) > 0 {
		node["parameters"] = parameterNodes(d.Parameters)
	}
	if d.Request != nil {
		node["requestBody"] = map[string]any{"required": !d.Request.Optional, "content": contentNode(op, *d.Request)}
		if d.Request.Description != "" {
			node["requestBody"].(map[string]any)["description"] = d.Request.Description
		}
	}
	responses := map[string]any{}
	for status, c := range d.Responses {
		key := "default"
		if status != 0 {
			key = strconv.Itoa(status)
		}
		response := map[string]any{"description": c.Description}
		if c.Schema != nil || c.MediaType != "" {
			response["content"] = contentNode(op, c)
		}
		responses[key] = response
	}
	node["responses"] = responses
	return node
}

func parameterNodes(parameters []Parameter) []any {
	nodes := make([]any, len(parameters))
	for i, p := range parameters {
		schema := any(map[string]any{"type": "string"})
		if p.Schema != nil {
			schema = decodeTree(p.Schema)
		}
		nodes[i] = map[string]any{
			"name": p.Name, "in": p.In, "description": p.Description, "required": p.Required || p.In == "path",
			"schema": schema,
		}
	}
	return nodes
}

func contentNode(op Operation, c Content) map[string]any {
	media := c.MediaType
	if media == "" {
		media = "application/json"
	}
	body := map[string]any{}
	if c.Schema != nil {
		if !json.Valid(c.Schema) {
			panic(fmt.Sprintf("openapi: a schema of operation %s is not JSON", op.ID))
		}
		body["schema"] = decodeTree(c.Schema)
		if c.Name != "" {
			body[componentName] = c.Name
		}
	}
	if c.Example != nil {
		body["example"] = decodeTree(c.Example)
	}
	return map[string]any{media: body}
}
