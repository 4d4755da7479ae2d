package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// operationDocument is what these tests read of an OpenAPI document.
type operationDocument struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Schemas map[string]struct {
			Required   []string
			Properties map[string]map[string]any
		}
	}
}

func readDocuments(t *testing.T) map[string]operationDocument {
	t.Helper()
	root := filepath.Join("..", "..", "..", "api")
	documents := map[string]operationDocument{}
	for _, name := range []string{"store", "platform"} {
		text, err := os.ReadFile(filepath.Join(root, name+".openapi.json"))
		if err != nil {
			t.Fatal(err)
		}
		var d operationDocument
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		documents[name] = d
	}
	return documents
}

// TestOperationsAreDescribed holds that each operation has a summary and a
// description that says more.
func TestOperationsAreDescribed(t *testing.T) {
	t.Parallel()
	methods := []string{"get", "put", "post", "delete", "patch"}
	for name, d := range readDocuments(t) {
		count := 0
		for path, item := range d.Paths {
			for method, node := range item {
				if !slices.Contains(methods, method) {
					continue
				}
				count++
				var op struct{ OperationID, Summary, Description string }
				if err := json.Unmarshal(node, &op); err != nil {
					t.Fatal(err)
				}
				if op.OperationID == "" || op.Summary == "" || len(op.Description) < 20 ||
					strings.HasPrefix(op.Description, op.Summary) {
					t.Errorf("%s: %s %s needs an id, a summary and a description: %+v", name, method, path, op)
				}
			}
		}
		if count < 40 {
			t.Errorf("%s has %d operations: the test reads the wrong document", name, count)
		}
	}
}

// TestComponentsHaveNames keeps numbers out of the names of schemas: a generated
// client would call a type Media2.
func TestComponentsHaveNames(t *testing.T) {
	t.Parallel()
	numbered := regexp.MustCompile(`[a-z]\d+$`)
	for name, d := range readDocuments(t) {
		for component := range d.Components.Schemas {
			if numbered.MatchString(component) {
				t.Errorf(
					"%s: the schema %s is numbered: set openapi.Content.Name where it is described",
					name,
					component,
				)
			}
		}
	}
}

// TestDefaultsAreOptional: a field with a default need not be sent.
func TestDefaultsAreOptional(t *testing.T) {
	t.Parallel()
	defaults := 0
	for name, d := range readDocuments(t) {
		for component, schema := range d.Components.Schemas {
			for field, property := range schema.Properties {
				if property["default"] == nil {
					continue
				}
				defaults++
				if slices.Contains(schema.Required, field) {
					t.Errorf("%s: %s.%s has a default and is required", name, component, field)
				}
			}
		}
	}
	if defaults == 0 {
		t.Error("no field has a default: the test reads the wrong documents")
	}
}
