package x402

import (
	"encoding/json"
	"regexp"

	"ace/internal/foundation/jsonread"
)

// The supported extensions.
const (
	ExtensionIdentifier = "payment-identifier"
	ExtensionBazaar     = "bazaar"
)

const schemaDialect = "https://json-schema.org/draft/2020-12/schema"

var identifierShape = regexp.MustCompile(`^[a-zA-Z0-9_-]{16,128}$`)

// object is a JSON object under construction.
type object map[string]any

// raw encodes values that always marshal.
func raw(v any) json.RawMessage {
	text, err := compact(v)
	if err != nil {
		return json.RawMessage(`{}`) // unreachable: maps, strings and valid JSON
	}
	return text
}

// Identifier returns the extension by which a payer may identify a purchase, so that a new payment
// of the same purchase returns the result of the first one.
func Identifier() Extension {
	return Extension{
		Info: raw(object{"required": false}),
		Schema: raw(object{
			"$schema": schemaDialect, "type": "object", "required": []string{"required"},
			"properties": object{
				"required": object{"type": "boolean"},
				"id":       object{"type": "string", "minLength": 16, "maxLength": 128, "pattern": "^[a-zA-Z0-9_-]+$"},
			},
		}),
	}
}

// Identifier returns the payer's identifier of the purchase, or "". The problem invalid_payload is
// returned for an invalid one. It is chosen by the payer: use it only together with the service.
func (p PaymentPayload) Identifier() (string, error) {
	data, ok := p.Extensions[ExtensionIdentifier]
	if !ok {
		return "", nil
	}
	o, err := jsonread.Read(data)
	if err != nil {
		return "", asPayload(err)
	}
	info := o.Object("info")
	if !info.Has("id") {
		return "", nil
	}
	id := info.Text("id", maxShort)
	if err := o.Err(); err != nil {
		return "", asPayload(err)
	}
	if !identifierShape.MatchString(id) {
		return "", invalid("A payment identifier has 16 to 128 letters, digits, hyphens or underscores.").At(
			"/extensions/payment-identifier/info/id")
	}
	return id, nil
}

// Bazaar describes a service for directories of paid services.
type Bazaar struct {
	Tool        string          // its name over MCP
	Description string          // of the tool
	Input       json.RawMessage // JSON Schema of the arguments, without the payment
	Example     json.RawMessage // arguments
	Output      json.RawMessage // an example of a result, an object
}

// HTTP returns the extension for a quote over HTTP: a POST with a JSON body.
func (b Bazaar) HTTP() Extension {
	return b.extension(
		object{"type": "http", "method": "POST", "bodyType": "json", "body": b.Example},
		object{
			"type": constant("http"), "method": object{"type": "string", "enum": []string{"POST"}},
			"bodyType": object{"type": "string", "enum": []string{"json"}}, "body": b.Input,
		},
		"type", "method", "bodyType", "body",
	)
}

// MCP returns the extension for a quote over MCP. It contains the tool's name as tool and as
// toolName, because specification and libraries differ.
func (b Bazaar) MCP() Extension {
	text := object{"type": "string"}
	return b.extension(
		object{
			"type": "mcp", "tool": b.Tool, "toolName": b.Tool, "description": b.Description,
			"transport":   "streamable-http",
			"inputSchema": b.Input, "example": b.Example,
		},
		object{
			"type": constant("mcp"), "tool": text, "toolName": text, "description": text,
			"transport":   object{"type": "string", "enum": []string{"streamable-http"}},
			"inputSchema": object{"type": "object"}, "example": object{"type": "object"},
		},
		"type", "toolName", "inputSchema",
	)
}

func constant(value string) object { return object{"type": "string", "const": value} }

func (b Bazaar) extension(input, properties object, required ...string) Extension {
	if b.Output == nil {
		b.Output = json.RawMessage(`{}`)
	}
	return Extension{
		Info: raw(object{"input": input, "output": object{"type": "json", "example": b.Output}}),
		Schema: raw(object{
			"$schema": schemaDialect, "type": "object", "required": []string{"input"},
			"properties": object{
				"input": object{
					"type": "object", "properties": properties, "required": required,
					"additionalProperties": false,
				},
				"output": object{
					"type": "object", "required": []string{"type"},
					"properties": object{"type": object{"type": "string"}, "example": object{"type": "object"}},
				},
			},
		}),
	}
}
