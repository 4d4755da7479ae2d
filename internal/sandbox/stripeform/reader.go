package stripeform

import (
	"fmt"
	"strconv"
)

// Reader reads a form, or an object inside it, by name. What is wrong is
// remembered and returned by Err, so that a list of reads needs one check.
type Reader struct {
	node  *node
	fault *error // the first one, shared with the readers of inner objects
}

func (r *Reader) fail(param, code, format string, args ...any) {
	if *r.fault == nil {
		*r.fault = &Error{Param: param, Code: code, Message: fmt.Sprintf(format, args...)}
	}
}

// scalar returns the value of name, or nil when it was not sent.
func (r *Reader) scalar(name string) *node {
	n := r.node.children[name]
	if n == nil {
		return nil
	}
	n.known = true
	if !n.isValue {
		r.fail(n.name, "", "Invalid string: %s must be one value, not an object.", n.name)
		n.adopt()
		return nil
	}
	return n
}

// adopt makes everything below known: the error of the whole is reported instead.
func (n *node) adopt() {
	n.known = true
	for _, c := range n.children {
		c.adopt()
	}
}

// Has reports whether name was sent, as a value or as an object.
func (r *Reader) Has(name string) bool { return r.node.children[name] != nil }

// Text returns the text of name, nil when it was not sent.
func (r *Reader) Text(name string) *string {
	n := r.scalar(name)
	if n == nil {
		return nil
	}
	return &n.value
}

// String returns the text of name, empty when it was not sent.
func (r *Reader) String(name string) string {
	if t := r.Text(name); t != nil {
		return *t
	}
	return ""
}

// Int returns the integer of name, nil when it was not sent.
func (r *Reader) Int(name string) *int64 {
	n := r.scalar(name)
	if n == nil {
		return nil
	}
	v, err := strconv.ParseInt(n.value, 10, 64)
	if err != nil {
		r.fail(n.name, "parameter_invalid_integer", "Invalid integer: %s", n.value)
		return nil
	}
	return &v
}

// IntOr returns the integer of name, or otherwise when it was not sent.
func (r *Reader) IntOr(name string, otherwise int64) int64 {
	if v := r.Int(name); v != nil {
		return *v
	}
	return otherwise
}

// Bool returns the truth value of name, nil when it was not sent.
func (r *Reader) Bool(name string) *bool {
	n := r.scalar(name)
	if n == nil {
		return nil
	}
	switch n.value {
	case "true":
		return new(true)
	case "false":
		return new(false)
	}
	r.fail(n.name, "", "Invalid boolean: %s", n.value)
	return nil
}

// Strings returns the array of name. Given distinguishes an empty one from none.
func (r *Reader) Strings(name string) (values []string, given bool) {
	n := r.node.children[name]
	if n == nil {
		return nil, false
	}
	n.known = true
	if n.isValue {
		if n.value != "" { // an empty value is how an empty array is sent
			r.fail(n.name, "", "Invalid array")
		}
		return []string{}, true
	}
	elements, err := n.elements()
	if err != nil {
		r.failWith(err, n)
	}
	for _, e := range elements {
		if !e.isValue {
			r.fail(e.name, "", "Invalid string: %s must be one value.", e.name)
			e.adopt()
		}
		e.known = true
		values = append(values, e.value)
	}
	return values, true
}

func (r *Reader) failWith(err error, n *node) {
	n.adopt()
	if *r.fault == nil {
		*r.fault = err
	}
}

// Map returns the texts inside name, nil when it was not sent. An empty value
// for the whole gives an empty map.
func (r *Reader) Map(name string) map[string]string {
	n := r.node.children[name]
	if n == nil {
		return nil
	}
	n.known = true
	values := make(map[string]string, len(n.children))
	if n.isValue && n.value != "" {
		r.fail(n.name, "", "Invalid hash")
	}
	for k, c := range n.children {
		if !c.isValue {
			r.fail(c.name, "", "Invalid string: %s must be one value.", c.name)
			c.adopt()
		}
		c.known = true
		values[k] = c.value
	}
	return values
}

// Object returns a reader of the object name, nil when it was not sent.
func (r *Reader) Object(name string) *Reader {
	n := r.node.children[name]
	if n == nil {
		return nil
	}
	n.known = true
	if n.isValue {
		r.fail(n.name, "", "Invalid object")
		return nil
	}
	return &Reader{node: n, fault: r.fault}
}

// Objects returns readers of the elements of the array name.
func (r *Reader) Objects(name string) []*Reader {
	n := r.node.children[name]
	if n == nil {
		return nil
	}
	n.known = true
	if n.isValue {
		r.fail(n.name, "", "Invalid array")
		return nil
	}
	elements, err := n.elements()
	if err != nil {
		r.failWith(err, n)
		return nil
	}
	var out []*Reader
	for _, e := range elements {
		e.known = true
		if e.isValue {
			r.fail(e.name, "", "Invalid object")
			continue
		}
		out = append(out, &Reader{node: e, fault: r.fault})
	}
	return out
}

// Err returns the first error: an unexpected name comes before a
// wrong value. Call it when everything has been read.
func (r *Reader) Err() error {
	if name, found := r.node.unknown(); found {
		return &Error{Param: name, Code: "parameter_unknown", Message: "Received unknown parameter: " + name}
	}
	return *r.fault
}

func (n *node) unknown() (name string, found bool) {
	for _, k := range n.order {
		c := n.children[k]
		if !c.known {
			return c.name, true
		}
		if name, found := c.unknown(); found {
			return name, true
		}
	}
	return "", false
}
