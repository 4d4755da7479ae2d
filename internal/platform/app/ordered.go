package app

import (
	"iter"

	"go.yaml.in/yaml/v3"
)

// Ordered is a mapping that preserves the order in which it was written.
type Ordered[T any] struct {
	names  []string
	values map[string]T
}

// OrderedOf returns a mapping of values by their names.
func OrderedOf[T any](name func(T) string, values ...T) Ordered[T] {
	o := Ordered[T]{values: map[string]T{}}
	for _, v := range values {
		if _, twice := o.values[name(v)]; !twice {
			o.names = append(o.names, name(v))
		}
		o.values[name(v)] = v
	}
	return o
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *Ordered[T]) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return at(node, "a mapping of names belongs here")
	}
	o.names, o.values = nil, map[string]T{}
	var faults []error
	for i := 0; i+1 < len(node.Content); i += 2 {
		name := node.Content[i].Value
		if _, twice := o.values[name]; twice {
			faults = append(faults, at(node.Content[i], "%s stands here twice", name))
		}
		var v T
		if err := strict(node.Content[i+1], &v); err != nil {
			faults = append(faults, err)
		}
		o.names, o.values[name] = append(o.names, name), v
	}
	return all(faults)
}

// All returns names and values in their order.
func (o Ordered[T]) All() iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, name := range o.names {
			if !yield(name, o.values[name]) {
				return
			}
		}
	}
}

// Get returns the value of a name.
func (o Ordered[T]) Get(name string) (v T, ok bool) {
	v, ok = o.values[name]
	return v, ok
}

// Len returns the number of values.
func (o Ordered[T]) Len() int { return len(o.names) }
