// Package stripeform reads the form encoding of Stripe's API: nested names in
// brackets, arrays with and without indices.
//
//	line_items[0][price]=p&expand[]=customer&metadata[k]=v
//	  | Parse: a tree, bounded in size and depth
//	  | Reader: typed access; every name that is read becomes known
//	  v Reader.Err: the first wrong value, or the first unexpected name
package stripeform

import (
	"fmt"
	"net/url"
	"sort"
	"strconv"
	"strings"
)

// Limits of a form.
const (
	MaxPairs = 2000
	MaxDepth = 8
	maxIndex = 999
)

// Error is a fault of a form. Param is the name as it was sent.
type Error struct {
	Param, Code, Message string
}

// Error makes an Error an error.
func (e *Error) Error() string { return e.Param + ": " + e.Message }

type node struct {
	name     string // full name, in brackets
	value    string
	isValue  bool
	children map[string]*node
	order    []string // of children, as sent
	known    bool
}

func (n *node) child(key string) *node {
	if c := n.children[key]; c != nil {
		return c
	}
	name := key
	if n.name != "" {
		name = n.name + "[" + key + "]"
	}
	c := &node{name: name}
	if n.children == nil {
		n.children = map[string]*node{}
	}
	n.children[key] = c
	n.order = append(n.order, key)
	return c
}

// Parse reads one form or query string.
func Parse(body string) (*Reader, error) {
	root := &node{}
	pairs := 0
	for pair := range strings.SplitSeq(body, "&") {
		if pair == "" {
			continue
		}
		if pairs++; pairs > MaxPairs {
			return nil, &Error{Code: "", Message: fmt.Sprintf("The form has more than %d values.", MaxPairs)}
		}
		key, value, _ := strings.Cut(pair, "=")
		key, err := url.QueryUnescape(key)
		if err == nil {
			value, err = url.QueryUnescape(value)
		}
		if err != nil {
			return nil, &Error{Message: "The form is not URL-encoded: a % must be followed by two hexadecimal digits."}
		}
		if strings.ContainsRune(value, 0) || strings.ToValidUTF8(value, "") != value || strings.ToValidUTF8(key,
			"") != key {
			return nil, &Error{Message: "The form holds bytes that are not UTF-8 text."}
		}
		if err := root.put(key, value); err != nil {
			return nil, err
		}
	}
	return &Reader{node: root, fault: new(error)}, nil
}

// split cuts "a[b][]" into a, b and "".
func split(key string) ([]string, bool) {
	first, rest, nested := strings.Cut(key, "[")
	if first == "" || strings.Contains(first, "]") {
		return nil, false
	}
	if !nested {
		return []string{first}, true
	}
	if !strings.HasSuffix(rest, "]") {
		return nil, false
	}
	segments := append([]string{first}, strings.Split(strings.TrimSuffix(rest, "]"), "][")...)
	for _, s := range segments[1:] {
		if strings.ContainsAny(s, "[]") {
			return nil, false
		}
	}
	return segments, len(segments) <= MaxDepth
}

func (n *node) put(key, value string) error {
	segments, ok := split(key)
	if !ok {
		return &Error{Param: key, Message: "Invalid name of a parameter: brackets must be closed and at most 8 deep."}
	}
	at := n
	for i, s := range segments {
		if at.isValue {
			return clash(at.name)
		}
		if s == "" {
			s = at.slot(segments[i+1:])
		}
		at = at.child(s)
	}
	if len(at.children) > 0 {
		return clash(at.name)
	}
	at.value, at.isValue = value, true
	return nil
}

func clash(name string) error {
	return &Error{Param: name, Message: "This parameter is sent both as a value and as an object."}
}

// slot returns the index that "[]" stands for: a new element, or the newest
// one while it lacks what is being put.
func (n *node) slot(rest []string) string {
	last := -1
	for _, k := range n.order {
		if i, err := strconv.Atoi(k); err == nil && i > last {
			last = i
		}
	}
	if last >= 0 && len(rest) > 0 {
		at := n.children[strconv.Itoa(last)]
		for _, s := range rest {
			if at == nil || s == "" {
				break
			}
			at = at.children[s]
		}
		if at == nil {
			return strconv.Itoa(last)
		}
	}
	return strconv.Itoa(last + 1)
}

// elements returns the children in the order of their indices.
func (n *node) elements() ([]*node, error) {
	type element struct {
		i int
		n *node
	}
	found := make([]element, 0, len(n.order))
	for _, k := range n.order {
		i, err := strconv.Atoi(k)
		if err != nil || i < 0 || i > maxIndex || (len(k) > 1 && k[0] == '0') || k[0] == '+' {
			return nil, &Error{Param: n.name, Message: "Invalid array: its elements are numbered from 0."}
		}
		found = append(found, element{i, n.children[k]})
	}
	sort.SliceStable(found, func(a, b int) bool { return found[a].i < found[b].i })
	out := make([]*node, len(found))
	for i, e := range found {
		out[i] = e.n
	}
	return out, nil
}
