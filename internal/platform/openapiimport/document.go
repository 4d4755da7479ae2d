// Package openapiimport makes tools of an API's own description: OpenAPI 3.0
// and 3.1, and Swagger 2, as JSON or YAML.
//
//	Import(document)
//	   read      at most 5 MB, 64 levels, 400,000 values; no aliases of YAML
//	   $ref      only inside the document, followed at most 32 times in a row
//	   operation -> name, effect, inputs: path, query, headers and the properties
//	                of the body side by side, unless their names clash
//	   schema    -> JSON Schema 2020-12: allOf merged, oneOf as anyOf, recursion cut
//	   -> tools, and for each operation without a tool: why
//
// The document is not trusted. Nothing is fetched for it, what it says about
// hosts and headers is checked, and its sentences are shortened and stripped of
// control characters before a model reads them.
package openapiimport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"ace/internal/foundation/problem"
)

// Limits of a document.
const (
	MaxBytes      = 5 << 20
	MaxOperations = 500
	maxLevels     = 64
	maxValues     = 400_000
)

func failed(detail string) error {
	return problem.New(problem.Unprocessable, "import_failed", detail).Advise("fix_arguments")
}

// read decodes a document within its limits. It returns import_failed.
func read(data []byte) (map[string]any, error) {
	if len(data) > MaxBytes {
		return nil,
			failed("The document is larger than 5 MB. Leave out what is not needed, or describe the API in parts.")
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var value any
	var err error
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		value, err = readJSON(data)
	} else {
		value, err = readYAML(data)
	}
	if err != nil {
		return nil, err
	}
	document, ok := value.(map[string]any)
	if !ok {
		return nil, failed("This is no OpenAPI document: its root is no object.")
	}
	return document, nil
}

func readJSON(data []byte) (any, error) {
	// Levels are counted before anything is decoded.
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	level, values := 0, 0
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil,
				failed("The document is no JSON: it breaks off or holds a character that does not belong there.")
		}
		values++
		switch token {
		case json.Delim('{'), json.Delim('['):
			level++
		case json.Delim('}'), json.Delim(']'):
			level--
		}
		if err := bounded(level, values); err != nil {
			return nil, err
		}
	}
	decoder = json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, failed("The document is no JSON.")
	}
	return value, nil
}

func bounded(level, values int) error {
	switch {
	case level > maxLevels:
		return failed(fmt.Sprintf("The document nests deeper than %d levels.", maxLevels))
	case values > maxValues:
		return failed(fmt.Sprintf("The document holds more than %d values.", maxValues))
	}
	return nil
}

func readYAML(data []byte) (any, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(data, &node); err != nil {
		return nil, failed("The document is neither JSON nor YAML.")
	}
	if len(node.Content) != 1 {
		return nil, failed("The document is empty.")
	}
	values := 0
	return plainYAML(node.Content[0], 0, &values)
}

// plainYAML returns a node as encoding/json would decode it.
func plainYAML(node *yaml.Node, level int, values *int) (any, error) {
	*values++
	if err := bounded(level, *values); err != nil {
		return nil, err
	}
	switch node.Kind {
	case yaml.AliasNode:
		return nil, failed("The document uses aliases of YAML. Write them out, or send JSON.")
	case yaml.MappingNode:
		object := make(map[string]any, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content); i += 2 {
			value, err := plainYAML(node.Content[i+1], level+1, values)
			if err != nil {
				return nil, err
			}
			object[node.Content[i].Value] = value
		}
		return object, nil
	case yaml.SequenceNode:
		list := make([]any, 0, len(node.Content))
		for _, one := range node.Content {
			value, err := plainYAML(one, level+1, values)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	case yaml.DocumentNode, yaml.ScalarNode:
	}
	return scalarYAML(node), nil
}

func scalarYAML(node *yaml.Node) any {
	switch node.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(node.Value, "true")
	case "!!int", "!!float":
		var number json.Number
		if json.Unmarshal([]byte(node.Value), &number) == nil {
			return number
		}
	}
	return node.Value
}

// resolver resolves references inside one document.
type resolver struct{ root map[string]any }

const maxHops = 32

// Reasons why a reference cannot be resolved; also codes of the report.
var (
	errRemote  = errors.New("ref_remote")
	errMissing = errors.New("ref_missing")
)

// object returns an object with its references resolved, and the last of them.
func (r resolver) object(value any) (object map[string]any, ref string, err error) {
	for range maxHops {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, ref, nil
		}
		next, ok := object["$ref"].(string)
		if !ok {
			return object, ref, nil
		}
		if !strings.HasPrefix(next, "#") {
			return nil, next, errRemote
		}
		ref = next
		if value, ok = r.at(next[1:]); !ok {
			return nil, ref, errMissing
		}
	}
	return nil, ref, errMissing
}

// at returns the value at a JSON Pointer of the document.
func (r resolver) at(pointer string) (any, bool) {
	var value any = r.root
	if pointer == "" {
		return value, true
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		part = strings.NewReplacer("~1", "/", "~0", "~", "%7B", "{", "%7D", "}", "%20", " ").Replace(part)
		if value, ok = object[part]; !ok {
			return nil, false
		}
	}
	return value, true
}

func text(object map[string]any, name string) string {
	s, _ := object[name].(string)
	return s
}

func object(parent map[string]any, name string) map[string]any {
	o, _ := parent[name].(map[string]any)
	return o
}

func list(parent map[string]any, name string) []any {
	l, _ := parent[name].([]any)
	return l
}

func flag(object map[string]any, name string) bool {
	b, _ := object[name].(bool)
	return b
}
