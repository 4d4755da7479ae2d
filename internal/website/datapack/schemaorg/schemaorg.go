// Package schemaorg knows the names of the schema.org vocabulary: its types,
// properties and enumeration members, and how they hang together.
//
//	vocabulary.txt.gz (derived from release 30.0, CC BY-SA 3.0: ATTRIBUTION.md)
//	    -> Load -> *Vocabulary
//	                 Type, IsA           types and their ancestors
//	                 Property, Allows    domains and ranges
//	                 Member              values of enumerations
//	                 Successor, Nearest  what to write instead
//
// Names are short ("Product"); Short makes them out of addresses.
package schemaorg

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"ace/internal/foundation/edit"
)

//go:embed vocabulary.txt.gz
var files embed.FS

// maxTable keeps a damaged table from filling the memory.
const maxTable = 4 << 20

// Property is a property of the vocabulary.
type Property struct {
	Domains []string // types that carry it; none: an old property, on any type
	Ranges  []string // types of its values
}

type class struct {
	parents []string
	data    bool
}

// Vocabulary is the loaded table. It never changes and may be shared.
type Vocabulary struct {
	release    string
	classes    map[string]class
	properties map[string]Property
	members    map[string][]string
	successors map[string]string
	nouns      map[string]string // types and members: lower case -> name
	verbs      map[string]string // properties, alike; both know "review"
}

// Load unpacks the embedded table. It takes some milliseconds: do it once.
func Load() (*Vocabulary, error) {
	data, err := files.ReadFile("vocabulary.txt.gz")
	if err != nil {
		return nil, fmt.Errorf("opening the vocabulary: %w", err)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpacking the vocabulary: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxTable))
	if err != nil {
		return nil, fmt.Errorf("unpacking the vocabulary: %w", err)
	}
	return parse(string(text))
}

func parse(text string) (*Vocabulary, error) {
	v := &Vocabulary{
		classes: map[string]class{}, properties: map[string]Property{}, members: map[string][]string{},
		successors: map[string]string{}, nouns: map[string]string{}, verbs: map[string]string{},
	}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if err := v.add(fields); err != nil {
			return nil, fmt.Errorf("reading the vocabulary: line %q: %w", strings.TrimSpace(line), err)
		}
	}
	return v, nil
}

// add takes in one line of the table; the tool that writes it says what the
// columns are.
func (v *Vocabulary) add(fields []string) error {
	columns := map[string]int{"r": 2, "d": 4, "t": 4, "m": 4, "p": 5}
	if len(fields) != columns[fields[0]] {
		return fmt.Errorf("it has %d columns", len(fields))
	}
	name := fields[1]
	switch fields[0] {
	case "r":
		v.release = name
		return nil
	case "d", "t":
		v.classes[name] = class{parents: names(fields[2]), data: fields[0] == "d"}
	case "p":
		v.properties[name] = Property{Domains: names(fields[2]), Ranges: names(fields[3])}
	case "m":
		v.members[name] = names(fields[2])
	}
	if fields[0] == "p" {
		v.verbs[strings.ToLower(name)] = name
	} else {
		v.nouns[strings.ToLower(name)] = name
	}
	if successor := fields[len(fields)-1]; successor != "-" {
		v.successors[name] = successor
	}
	return nil
}

func names(column string) []string {
	if column == "-" {
		return nil
	}
	return strings.Split(column, ",")
}

// Release is the release of the vocabulary, such as "30.0".
func (v *Vocabulary) Release() string { return v.release }

// Counts says how many types (data types among them), properties and
// enumeration members the vocabulary has.
func (v *Vocabulary) Counts() (types, properties, members int) {
	return len(v.classes), len(v.properties), len(v.members)
}

// IsType reports whether name is a type, data types included.
func (v *Vocabulary) IsType(name string) bool { _, ok := v.classes[name]; return ok }

// IsData reports whether name is a data type, such as Text, Date or Distance.
func (v *Vocabulary) IsData(name string) bool { return v.classes[name].data }

// IsA reports whether a type is another one or below it.
func (v *Vocabulary) IsA(name, ancestor string) bool {
	if name == ancestor {
		return v.IsType(name)
	}
	for _, parent := range v.classes[name].parents {
		if v.IsA(parent, ancestor) {
			return true
		}
	}
	return false
}

// Property returns a property.
func (v *Vocabulary) Property(name string) (Property, bool) {
	p, ok := v.properties[name]
	return p, ok
}

// Allows reports whether a property belongs to a type or one of its ancestors.
// Properties without domains belong to all.
func (v *Vocabulary) Allows(property, typ string) bool {
	p, ok := v.properties[property]
	return ok && (len(p.Domains) == 0 || slices.ContainsFunc(p.Domains, func(d string) bool { return v.IsA(typ, d) }))
}

// Member returns the enumerations that a value belongs to.
func (v *Vocabulary) Member(name string) []string { return v.members[name] }

// Successor is the term that replaces a superseded one, or empty.
func (v *Vocabulary) Successor(name string) string { return v.successors[name] }

// NearestType finds the type that a misspelled name most likely means: the
// same in another case, or one edit away. It returns empty where none or more
// than one fits.
func (v *Vocabulary) NearestType(name string) string {
	found := nearest(v.nouns, name)
	if !v.IsType(found) {
		return ""
	}
	return found
}

// NearestProperty is NearestType for properties.
func (v *Vocabulary) NearestProperty(name string) string { return nearest(v.verbs, name) }

// NearestMember finds the member of an enumeration that a misspelled word most
// likely means.
func (v *Vocabulary) NearestMember(name, enumeration string) string {
	found := nearest(v.nouns, name)
	for _, e := range v.members[found] {
		if v.IsA(e, enumeration) {
			return found
		}
	}
	return ""
}

func nearest(terms map[string]string, name string) string {
	low := strings.ToLower(name)
	if found, ok := terms[low]; ok {
		return found
	}
	if len(low) < 4 || len(low) > 60 {
		return ""
	}
	found := ""
	for candidate, term := range terms {
		if !edit.Within(low, candidate, 1) {
			continue
		}
		if found != "" {
			return ""
		}
		found = term
	}
	return found
}

// Short makes a term of schema.org short: "https://schema.org/Product" and
// "http://www.schema.org/Product" are "Product". ok is false for addresses that
// are not of schema.org.
func Short(address string) (name string, ok bool) {
	for _, prefix := range []string{
		"https://schema.org/", "http://schema.org/", "https://www.schema.org/",
		"http://www.schema.org/",
	} {
		if len(address) >= len(prefix) && strings.EqualFold(address[:len(prefix)], prefix) {
			return strings.TrimPrefix(address[len(prefix):], "#"), true
		}
	}
	return address, false
}
