package mcp

import (
	"encoding/json"

	"ace/internal/foundation/jsonschema"
)

// Schema is a compiled JSON Schema of an object. It is safe for concurrent use.
type Schema = jsonschema.Schema

// CompileSchema compiles a self-contained JSON Schema (draft 2020-12 unless it declares another)
// that describes an object.
func CompileSchema(schema json.RawMessage) (*Schema, error) { return jsonschema.Compile(schema) }
