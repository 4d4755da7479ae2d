package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTableFollowsFromSource derives the table again and compares it with the
// one that is embedded.
func TestTableFollowsFromSource(t *testing.T) {
	t.Parallel()
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	data, err := os.ReadFile(filepath.Join(shared, source))
	if err != nil {
		t.Fatal(err)
	}
	want, err := derive(data)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join("..", "..", "..", target))
	if err != nil {
		t.Fatal(err)
	}
	if got := unpack(t, packed); got != want {
		t.Errorf("%s differs from its source: run go run ./internal/tools/schemaorg\n%s", target, cmp.Diff(want, got))
	}
}

func unpack(t *testing.T, packed []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDerive(t *testing.T) {
	t.Parallel()
	got, err := derive([]byte(`{"@graph":[
		{"@id":"schema:Thing","@type":"rdfs:Class"},
		{"@id":"schema:Product","@type":"rdfs:Class","rdfs:subClassOf":[{"@id":"schema:Thing"},{"@id":"gs1:Product"}]},
		{"@id":"schema:Text","@type":["schema:DataType","rdfs:Class"]},
		{"@id":"schema:URL","@type":"rdfs:Class","rdfs:subClassOf":{"@id":"schema:Text"}},
		{"@id":"schema:awards","@type":"rdf:Property","schema:domainIncludes":[{"@id":"schema:Product"},` +
		`{"@id":"schema:Book"}],"schema:rangeIncludes":{"@id":"schema:Text"},` +
		`"schema:supersededBy":{"@id":"schema:award"}},
		{"@id":"gs1:Product","@type":"rdfs:Class"},
		{"@id":"schema:InStock","@type":"schema:ItemAvailability"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := "# Derived from the vocabulary of schema.org, release 30.0, https://schema.org/, CC BY-SA 3.0.\n" +
		"# This table is under the same licence; see ATTRIBUTION.md beside it.\nr 30.0\n" +
		"d Text - -\nd URL Text -\nm InStock ItemAvailability -\np awards Book,Product Text award\nt Product Thing " +
		"-\nt Thing - -\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("derive (-want +got):\n%s", diff)
	}
	for _, bad := range []string{`{`, `{"@graph":[{"@id":"schema:A","@type":7}]}`} {
		if _, err := derive([]byte(bad)); err == nil {
			t.Errorf("derive(%q) took it", bad)
		}
	}
}
