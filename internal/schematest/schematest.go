package schematest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// sharedVariable names the folder of shared material.
const sharedVariable = "ACE_SHARED_DIR"

// Dir is a folder below the shared material. The test is skipped where the
// environment variable ACE_SHARED_DIR is not set.
func Dir(t testing.TB, elem ...string) string {
	t.Helper()
	shared := os.Getenv(sharedVariable)
	if shared == "" {
		t.Skip("left out: " + sharedVariable + " is not set")
	}
	return filepath.Join(append([]string{shared}, elem...)...)
}

// Sample is one of the proposed responses in specs/commerce/samples.
func Sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(Dir(t, "specs", "commerce", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Set is the schemas of one version of one protocol. It is safe for use by
// several goroutines.
type Set struct {
	name    string
	load    func(operation, url string) (any, error)
	resolve func(ref string) string

	mu        sync.Mutex
	compilers map[string]*jsonschema.Compiler // by operation; "" validates responses
}

func newSet(name string, load func(operation, url string) (any, error), resolve func(string) string) *Set {
	return &Set{name: name, load: load, resolve: resolve, compilers: map[string]*jsonschema.Compiler{}}
}

// loader adapts a function to jsonschema.URLLoader.
type loader func(url string) (any, error)

func (l loader) Load(url string) (any, error) { return l(url) }

// compile returns the schema at ref in the view of an operation.
func (s *Set) compile(operation, ref string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.compilers[operation]
	if c == nil {
		c = jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		c.AssertFormat()
		c.UseLoader(loader(func(url string) (any, error) { return s.load(operation, url) }))
		s.compilers[operation] = c
	}
	return c.Compile(s.resolve(ref))
}

// Check returns why body does not fit the schema at ref, or nil.
func (s *Set) Check(ref string, body []byte) error { return s.check("", ref, body) }

func (s *Set) check(operation, ref string, body []byte) error {
	schema, err := s.compile(operation, ref)
	if err != nil {
		return fmt.Errorf("compiling %s: %w", ref, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	return schema.Validate(value)
}

// Validate fails the test unless body fits one of the schemas at refs.
func (s *Set) Validate(t testing.TB, ref string, body []byte, orRefs ...string) {
	t.Helper()
	err := s.Check(ref, body)
	for i := 0; err != nil && i < len(orRefs); i++ {
		if s.Check(orRefs[i], body) == nil {
			return
		}
	}
	if err != nil {
		t.Errorf("%s %s: %v\n%s", s.name, ref, err, body)
	}
}

// ValidateRequest fails the test unless body fits the schema at ref as a
// request of an operation: create, update, complete or read.
func (s *Set) ValidateRequest(t testing.TB, operation, ref string, body []byte) {
	t.Helper()
	if err := s.CheckRequest(operation, ref, body); err != nil {
		t.Errorf("%s %s request %s: %v\n%s", s.name, operation, ref, err, body)
	}
}

// CheckRequest returns why body does not fit the schema at ref as a request.
func (s *Set) CheckRequest(operation, ref string, body []byte) error {
	return s.check(operation, ref, body)
}

// readJSON reads a schema file, keeping numbers exact.
func readJSON(path string) (any, error) {
	f, err := os.Open(path) //nolint:gosec // a test reads the schemas that it was given
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return jsonschema.UnmarshalJSON(f)
}

// SameJSON reports whether two texts hold the same JSON value.
func SameJSON(t testing.TB, a, b []byte) bool {
	t.Helper()
	return canonical(t, a) == canonical(t, b)
}

// canonical is good enough for samples: encoding/json sorts members.
func canonical(t testing.TB, text []byte) string {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		t.Fatalf("reading JSON: %v\n%s", err, text)
	}
	out, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
