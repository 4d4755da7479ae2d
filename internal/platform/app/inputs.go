package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Inputs are the arguments of a tool, in the order in which they are asked for.
// In a definition an input is a name, with ! where it is required, and either
// the name of a type or a JSON Schema with a few members of our own:
//
//	in:
//	  channel!: string
//	  limit: {type: integer, minimum: 1, maximum: 200, default: 50}
//	  after: {type: string, wire: starting_after, where: query}
//	  labels: [string]                       # an array of strings
//	  kind: {enum: [issue, pull]}            # of strings
//	  page: {id: string, open: boolean}      # no: write {type: object, properties: …}
//	  project!: {type: string, wire: /fields/project/key}     # a place deeper in the body
//	  to!: {type: array, items: {type: string}, each: {emailAddress: {address: "{}"}}}
//	  content!: {type: string, as: "{|base64}"}
type Inputs []Input

// UnmarshalYAML implements yaml.Unmarshaler.
func (in *Inputs) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return at(node, "a mapping of inputs belongs here")
	}
	*in = nil
	var faults []error
	for i := 0; i+1 < len(node.Content); i += 2 {
		one, err := parseInput(node.Content[i].Value, node.Content[i+1])
		if err != nil {
			faults = append(faults, err)
			continue
		}
		if slices.ContainsFunc(*in, func(other Input) bool { return other.Name == one.Name }) {
			faults = append(faults, at(node.Content[i], "input %s stands here twice", one.Name))
		}
		*in = append(*in, one)
	}
	return all(faults)
}

func parseInput(key string, node *yaml.Node) (Input, error) {
	one := Input{Name: strings.TrimSuffix(key, "!"), Required: strings.HasSuffix(key, "!")}
	switch node.Kind {
	case yaml.ScalarNode:
		one.Schema = map[string]any{"type": node.Value}
	case yaml.SequenceNode:
		if len(node.Content) != 1 {
			return one, at(node, "an array names the type of its entries, such as [string]")
		}
		item, err := parseInput("item", node.Content[0])
		if err != nil {
			return one, err
		}
		one.Schema = map[string]any{"type": "array", "items": item.Schema}
	default:
		if err := node.Decode(&one.Schema); err != nil {
			return one, err
		}
	}
	if err := one.takeOwn(); err != nil {
		return one, at(node, "input %s: %v", one.Name, err)
	}
	return one, nil
}

// takeOwn moves the members that are ours out of the schema and completes what
// was left out.
func (i *Input) takeOwn() error {
	for name, into := range map[string]*string{"wire": &i.Wire, "where": &i.Where, "style": &i.Style} {
		if text, ok := i.Schema[name].(string); ok {
			*into = text
			delete(i.Schema, name)
		}
	}
	for name, into := range map[string]*any{"as": &i.As, "each": &i.Each} {
		*into = i.Schema[name]
		delete(i.Schema, name)
	}
	rename := func(from, to string) {
		if v, ok := i.Schema[from]; ok {
			i.Schema[to] = v
			delete(i.Schema, from)
		}
	}
	rename("about", "description")
	rename("match", "pattern")
	if _, typed := i.Schema["type"]; !typed {
		switch {
		case i.Schema["enum"] != nil:
			i.Schema["type"] = "string"
		case i.Schema["properties"] != nil:
			i.Schema["type"] = "object"
		case i.Schema["anyOf"] == nil && i.Schema["oneOf"] == nil:
			return fmt.Errorf("it has no type")
		}
	}
	if i.Schema["type"] == "any" {
		delete(i.Schema, "type")
	}
	return nil
}

// Names of the places an input can go to.
const (
	InPath   = "path"
	InQuery  = "query"
	InHeader = "header"
	InBody   = "body"
	InMedia  = "media" // the second part of a body that is related
	InFixed  = "fixed" // nowhere by itself: templates of what is fixed name it
	InMail   = "mail"  // a field or a part of the e-mail that Tool.Mail places
)

// Styles of lists and objects in a query. Lists otherwise repeat their name;
// objects are their JSON.
const (
	StyleComma   = "comma"    // a,b
	StyleSpace   = "space"    // a b
	StylePipe    = "pipe"     // a|b
	StyleTab     = "tab"      // a, a tab, b
	StyleDeep    = "deep"     // name[key]=value
	StyleMembers = "spread"   // the members of an object are parameters, or members of the body, of their own
	StyleEmpty   = "brackets" // name[]=a&name[]=b
)

// Place is where an input goes: where it says, into the path if it stands there
// in braces, else into the query of calls without a body, else into the body.
func (t *Tool) Place(in *Input) string {
	switch {
	case in.Where != "":
		return in.Where
	case strings.Contains(t.Call, "{"+in.Name+"}"):
		return InPath
	case t.Body == BodyNone:
		return InQuery
	}
	return InBody
}

// WireName is what the vendor calls an input.
func (i *Input) WireName() string {
	if i.Wire != "" {
		return i.Wire
	}
	return i.Name
}

// Method and path of a call such as "POST /v0/{baseId}".
func splitCall(call string) (method, path string) {
	method, path, _ = strings.Cut(call, " ")
	return method, path
}

// Method is the HTTP method of the tool's call.
func (t *Tool) Method() string { m, _ := splitCall(t.Call); return m }

// Path is the path of the tool's call, inputs in braces.
func (t *Tool) Path() string { _, p := splitCall(t.Call); return p }

// schema is the JSON Schema of all inputs together.
func (in Inputs) schema() ([]byte, error) {
	properties := map[string]any{}
	required := []string{}
	for _, one := range in {
		properties[one.Name] = one.Schema
		if one.Required {
			required = append(required, one.Name)
		}
	}
	whole := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		whole["required"] = required
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("writing the schema of the inputs: %w", err)
	}
	return text, nil
}

// outputs is the schema of an answer that is made of named results. What each of
// them is, the app decides.
func outputs(out map[string]string) []byte {
	properties := map[string]any{}
	for name := range out {
		properties[name] = map[string]any{}
	}
	encoded, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	if err != nil {
		return nil // maps of empty maps can be written
	}
	return encoded
}
