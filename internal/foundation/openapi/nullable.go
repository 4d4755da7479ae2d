package openapi

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Nullable is an object that may be null: a pointer says so to JSON, but not to
// the document. For plain values the tag nullable:"true" does.
type Nullable[T any] struct{ value *T }

// NullableOf returns value as it is, nil as null.
func NullableOf[T any](value *T) Nullable[T] { return Nullable[T]{value} }

// Value is nil for null.
func (n Nullable[T]) Value() *T { return n.value }

// MarshalJSON implements json.Marshaler.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// UnmarshalJSON implements json.Unmarshaler.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &n.value); err != nil {
		return fmt.Errorf("reading an object that may be null: %w", err)
	}
	return nil
}

// Schema describes the value to the library.
func (Nullable[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}
