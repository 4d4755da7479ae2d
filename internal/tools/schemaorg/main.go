// Command schemaorg writes the compact table of the schema.org vocabulary that
// the store embeds.
//
//	$ACE_SHARED_DIR/specs/schemaorg/schemaorg-current-https.jsonld
//	      -> derive: names, parents, domains, ranges, members, successors
//	      -> internal/website/datapack/schemaorg/vocabulary.txt.gz
//
// Run it in the root of the repository after a new release of the vocabulary
// and raise the release in this file.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// release is the one that the source belongs to; the source does not say it.
const release = "30.0"

const (
	source = "specs/schemaorg/schemaorg-current-https.jsonld"
	target = "internal/website/datapack/schemaorg/vocabulary.txt.gz"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "schemaorg:", err)
		os.Exit(1)
	}
}

func run() error {
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		return errors.New("set ACE_SHARED_DIR to the folder that holds " + source)
	}
	data, err := os.ReadFile(filepath.Join(shared, source))
	if err != nil {
		return err
	}
	text, err := derive(data)
	if err != nil {
		return err
	}
	compressed, err := pack(text)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, compressed %d\n", target, len(text), len(compressed))
	return os.WriteFile(target, compressed, 0o644)
}

func pack(text string) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write([]byte(text)); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// term is one entry of the source.
type term struct {
	ID         string `json:"@id"`
	Type       refs   `json:"@type"`
	Parents    refs   `json:"rdfs:subClassOf"`
	Domains    refs   `json:"schema:domainIncludes"`
	Ranges     refs   `json:"schema:rangeIncludes"`
	Superseded refs   `json:"schema:supersededBy"`
}

// refs are names of terms: the source writes one or many, as text or as
// {"@id": …}.
type refs []string

// UnmarshalJSON reads any of the spellings.
func (r *refs) UnmarshalJSON(data []byte) error {
	var many []json.RawMessage
	if json.Unmarshal(data, &many) != nil {
		many = []json.RawMessage{data}
	}
	for _, one := range many {
		var text string
		if json.Unmarshal(one, &text) != nil {
			var ref struct {
				ID string `json:"@id"`
			}
			if err := json.Unmarshal(one, &ref); err != nil {
				return err
			}
			text = ref.ID
		}
		*r = append(*r, text)
	}
	return nil
}

// ours keeps the names of schema.org and drops those of other vocabularies.
func (r refs) ours() []string {
	var names []string
	for _, name := range r {
		if short, ok := strings.CutPrefix(name, "schema:"); ok {
			names = append(names, short)
		}
	}
	slices.Sort(names)
	return names
}

// derive writes the table: a line for each term, sorted by kind and name.
//
//	d name parents successor     data type
//	t name parents successor     type
//	p name domains ranges successor
//	m name enumerations successor
func derive(data []byte) (string, error) {
	var doc struct {
		Graph []term `json:"@graph"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return "", fmt.Errorf("reading the vocabulary: %w", err)
	}
	dataTypes := dataTypes(doc.Graph)
	var lines []string
	for _, t := range doc.Graph {
		name, ok := strings.CutPrefix(t.ID, "schema:")
		if !ok {
			continue
		}
		successor := list(t.Superseded.ours())
		switch {
		case dataTypes[name]:
			lines = append(lines, strings.Join([]string{"d", name, list(t.Parents.ours()), successor}, " "))
		case slices.Contains(t.Type, "rdfs:Class"):
			lines = append(lines, strings.Join([]string{"t", name, list(t.Parents.ours()), successor}, " "))
		case slices.Contains(t.Type, "rdf:Property"):
			lines = append(lines,
				strings.Join([]string{"p", name, list(t.Domains.ours()), list(t.Ranges.ours()), successor}, " "))
		default:
			lines = append(lines, strings.Join([]string{"m", name, list(t.Type.ours()), successor}, " "))
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return cmp.Compare(a, b) })
	head := "# Derived from the vocabulary of schema.org, release " + release +
		", https://schema.org/, CC BY-SA 3.0.\n# This table is under the same licence; see ATTRIBUTION.md beside " +
		"it.\nr " + release + "\n"
	return head + strings.Join(lines, "\n") + "\n", nil
}

// dataTypes finds the data types and all types below them. Quantity is among
// the data types, but the types below it are written as text as well.
func dataTypes(graph []term) map[string]bool {
	found := map[string]bool{"DataType": true}
	for grown := true; grown; {
		grown = false
		for _, t := range graph {
			name := strings.TrimPrefix(t.ID, "schema:")
			if found[name] || !slices.Contains(t.Type, "schema:DataType") && !slices.ContainsFunc(t.Parents.ours(),
				func(p string) bool { return found[p] }) {
				continue
			}
			found[name], grown = true, true
		}
	}
	return found
}

func list(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ",")
}
