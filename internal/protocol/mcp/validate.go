package mcp

import (
	"encoding/json"

	"ace/internal/foundation/jsonschema"
)

// Schema is a compiled JSON Schema of an object. It is safe for concurrent use.
type Schema = jsonschema.Schema

// CompileSchema reads a JSON Schema (draft 2020-12 unless it says another) that
// stands on its own and describes an object.
func CompileSchema(schema json.RawMessage) (*Schema, error) { return jsonschema.Compile(schema) }
