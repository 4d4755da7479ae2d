package app

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Sent returns a value as it is sent: as Each or As say, else unchanged. In
// those, "{}" is the value itself, and "{|base64}" or "x-{}" a text made of it.
func (i *Input) Sent(value any) (any, error) {
	if list, ok := value.([]any); ok && i.Each != nil {
		sent := make([]any, len(list))
		for n, one := range list {
			made, err := fill(i.Each, Map{"": Text(one)}, map[string]any{"": one})
			if err != nil {
				return nil, fmt.Errorf("input %s: %w", i.Name, err)
			}
			sent[n] = made
		}
		value = sent
	}
	if i.As == nil {
		return value, nil
	}
	made, err := fill(i.As, Map{"": Text(value)}, map[string]any{"": value})
	if err != nil {
		return nil, fmt.Errorf("input %s: %w", i.Name, err)
	}
	return made, nil
}

// Fill expands the templates at any depth of a structure of a definition.
func Fill(structure any, values Values) (any, error) { return fill(structure, values, nil) }

// fill is Fill where a template that is a single name can be more than text.
func fill(structure any, values Values, whole map[string]any) (any, error) {
	switch v := structure.(type) {
	case string:
		if name, ok := strings.CutPrefix(v, "{"); ok {
			if one, known := whole[strings.TrimSuffix(name, "}")]; known && strings.HasSuffix(name, "}") {
				return one, nil
			}
		}
		return Expand(v, values, nil)
	case map[string]any:
		made := make(map[string]any, len(v))
		for name, inside := range v {
			filled, err := fill(inside, values, whole)
			if err != nil {
				return nil, err
			}
			made[name] = filled
		}
		return made, nil
	case []any:
		made := make([]any, len(v))
		for i, inside := range v {
			filled, err := fill(inside, values, whole)
			if err != nil {
				return nil, err
			}
			made[i] = filled
		}
		return made, nil
	}
	return structure, nil
}

// maxPlace bounds the index that a pointer of a definition may name.
const maxPlace = 100

// hole is an entry of a list that Put skipped and that has no value yet.
type hole struct{}

// Compact removes entries without a value from the lists of a body.
func Compact(body any) any {
	switch v := body.(type) {
	case map[string]any:
		for name, inside := range v {
			v[name] = Compact(inside)
		}
	case []any:
		if slices.Contains(v, any(hole{})) {
			v = slices.DeleteFunc(slices.Clone(v), func(one any) bool { return one == hole{} })
		}
		for i, inside := range v {
			v[i] = Compact(inside)
		}
		return v
	}
	return body
}

// Put sets a value in a body: under a name, or at a pointer that begins with /.
// Missing parents are created; numbers make lists. After the last Put, Compact
// closes their gaps.
func Put(body map[string]any, place string, value any) error {
	pointer, deep := strings.CutPrefix(place, "/")
	if !deep {
		body[place] = value
		return nil
	}
	names := strings.Split(pointer, "/")
	first := unescape(names[0])
	inside, err := put(body[first], names[1:], value)
	if err != nil {
		return err
	}
	body[first] = inside
	return nil
}

func unescape(name string) string { return strings.NewReplacer("~1", "/", "~0", "~").Replace(name) }

// put returns a copy of node with the value in it: what a caller passed may be
// part of a body, and is not changed.

func put(node any, names []string, value any) (any, error) {
	if len(names) == 0 {
		return value, nil
	}
	if i, err := strconv.Atoi(names[0]); err == nil && i >= 0 && i < maxPlace {
		list, ok := node.([]any)
		if !ok && node != nil {
			return nil, fmt.Errorf("%q is no place in a list", names[0])
		}
		list = slices.Clone(list)
		for len(list) <= i {
			list = append(list, hole{})
		}
		if list[i] == (hole{}) {
			list[i] = nil
		}
		list[i], err = put(list[i], names[1:], value)
		return list, err
	}
	object, ok := node.(map[string]any)
	if !ok && node != nil {
		return nil, fmt.Errorf("%q is no place in an object", names[0])
	}
	made := map[string]any{}
	maps.Copy(made, object)
	name := unescape(names[0])
	inside, err := put(made[name], names[1:], value)
	made[name] = inside
	return made, err
}
