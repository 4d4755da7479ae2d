package output

import "strings"

// fields is a tree of the dot paths that are kept of an output.
type fields map[string]fields // empty: everything below

// Project keeps the named paths of a decoded value: "items.subject" is the
// subject of the entries of items, since lists are looked through. A name that
// holds dots itself may be at the end of a path. No paths keep everything.
func Project(value any, paths []string) any {
	if len(paths) == 0 {
		return value
	}
	tree := fields{}
	for _, path := range paths {
		tree.add(path)
	}
	return tree.project(value)
}

func (f fields) add(path string) {
	at := f
	for {
		at.end(path)
		name, rest, more := strings.Cut(path, ".")
		if !more {
			return
		}
		next, there := at[name]
		switch {
		case !there:
			next = fields{}
			at[name] = next
		case len(next) == 0:
			return // all of it is kept already
		}
		at, path = next, rest
	}
}

// end keeps everything under a name.
func (f fields) end(name string) { f[name] = fields{} }

func (f fields) project(value any) any {
	if len(f) == 0 {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, below := range f {
			if inside, there := v[name]; there {
				out[name] = below.project(inside)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = f.project(one)
		}
		return out
	}
	return nil
}
