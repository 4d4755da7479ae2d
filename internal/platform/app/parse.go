package app

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Parse parses and completes a definition. A field that is unknown or appears
// twice is a *Misread that names its line: a misspelled field would otherwise
// do nothing. What follows the format but makes no sense is for Check.
func Parse(data []byte) (*App, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	a := &App{}
	if err := decoder.Decode(a); err != nil {
		return nil, fmt.Errorf("reading the definition: %w", misread(err))
	}
	if err := decoder.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("reading the definition: a file holds one app")
	}
	if a.Tier == "" {
		a.Tier = Full
	}
	a.Listed = true
	return a, a.Complete()
}

// Complete fills in what follows from the rest: ids, effects, bodies, schemas.
// Definitions that are not read from a file, such as those of connectors, call
// it themselves.
func (a *App) Complete() error {
	for name, tool := range a.Tools.All() {
		tool.Name, tool.App = name, a.ID
		if tool.ID == "" {
			tool.ID = ToolID(a.ID, name)
		}
		tool.complete()
		if tool.InputSchema == nil {
			schema, err := tool.In.schema()
			if err != nil {
				return fmt.Errorf("tool %s: %w", name, err)
			}
			tool.InputSchema = schema
		}
		if tool.OutputSchema == nil && len(tool.Out) > 0 && !tool.Binary {
			tool.OutputSchema = outputs(tool.Out)
		}
	}
	for name, trigger := range a.Triggers.All() {
		trigger.Name = name
		if err := trigger.complete(a.ID); err != nil {
			return err
		}
	}
	for i := range a.Schemes {
		if a.Schemes[i].ID == "" {
			a.Schemes[i].ID = a.Schemes[i].Type
		}
	}
	return nil
}

func (t *Tool) complete() {
	method := t.Method()
	if t.GraphQL != "" && t.Body == "" {
		t.Body = BodyGraphQL
	}
	if t.Body == "" {
		t.Body = BodyJSON
		if method == "GET" || method == "HEAD" || method == "DELETE" {
			t.Body = BodyNone
		}
	}
	if t.Effect != "" {
		return
	}
	switch method {
	case "GET", "HEAD":
		t.Effect = Reads
	case "DELETE":
		t.Effect = Destroys
	default:
		t.Effect = Writes
	}
}

// maxToolID is the longest id of a tool that every model accepts.
const maxToolID = 64

// ToolID returns the id of a tool: valid as a function name for every model.
// One that would be too long is cut and ends in a part of its hash.
func ToolID(app, name string) string {
	id := strings.ReplaceAll(app, "-", "_") + "__" + name
	if len(id) <= maxToolID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return id[:maxToolID-7] + "_" + hex.EncodeToString(sum[:3])
}

// IDs returns the tool's id, and those that it had: a key for one of them is a
// key for the tool.
func (t *Tool) IDs() []string {
	ids := []string{t.ID}
	for _, was := range t.Was {
		ids = append(ids, ToolID(t.App, was))
	}
	return ids
}

// ReadOnly reports whether a tool changes nothing.
func (t *Tool) ReadOnly() bool { return t.Effect == Reads }

// Destructive reports whether a tool may delete or overwrite.
func (t *Tool) Destructive() bool { return t.Effect == Destroys }

// SafeToRepeat reports whether the same call twice has the effect of one.
func (t *Tool) SafeToRepeat() bool {
	method := t.Method()
	return t.Idempotent || t.ReadOnly() || method == "PUT" || method == "DELETE"
}
