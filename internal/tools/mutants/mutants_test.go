package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sample = `package a

import "context"

var kinds = []string{"x", "y"}

type t struct {
	N int ` + "`json:\"n\"`" + `
}

func f(ctx context.Context, n int, log *logger) error {
	log.Info("begins")
	defer close()
	if n > 3 && n != 7 {
		g(context.WithoutCancel(ctx), true)
	}
	err := g(ctx, false)
	return err
}
`

func TestPlaces(t *testing.T) {
	t.Parallel()
	all, err := places("m/a", "a.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		got = append(got, m.String())
	}
	want := []string{
		`a.go:5: entry left out: "x" -> "\x00"`,
		`a.go:5: entry left out: "y" -> "\x00"`,
		`a.go:13: call left out: defer close() -> nothing`,
		`a.go:14: negated condition: n > 3 && n != 7 -> !(n > 3 && n != 7)`,
		`a.go:14: swapped operator: && -> ||`,
		`a.go:14: moved bound: > -> >=`,
		`a.go:14: other number: 3 -> (3 + 1)`,
		`a.go:14: swapped comparison: != -> ==`,
		`a.go:14: other number: 7 -> (7 + 1)`,
		`a.go:15: call left out: g(context.WithoutCancel(ctx), true) -> nothing`,
		`a.go:15: caller may cancel: context.WithoutCancel(ctx) -> ctx`,
		`a.go:15: other boolean: true -> false`,
		`a.go:17: other boolean: false -> true`,
		`a.go:18: error swallowed: err -> nil`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("places =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTestsOfAPackage(t *testing.T) {
	t.Parallel()
	tested := func(dir string, imports ...string) *listed {
		return &listed{ImportPath: "m/" + dir, Dir: dir, Imports: imports, TestGoFiles: []string{"a_test.go"}}
	}
	g := &graph{
		all: map[string]*listed{
			"m/a": tested("a"), "m/b": tested("b"), "m/c": tested("c"), "m/test/e2e": tested("test/e2e"),
			"m/untested": {ImportPath: "m/untested", Dir: "untested"},
		},
		importers: map[string][]string{"m/a": {"m/untested", "m/b", "m/test/e2e"}, "m/untested": {"m/c"}},
	}
	for _, tt := range []struct {
		pkg  string
		n    int
		want []string
	}{
		{"m/a", 4, []string{"m/a", "m/b", "m/c"}},
		{"m/a", 1, []string{"m/a", "m/b"}},
		{"m/a", 0, []string{"m/a"}},
		{"m/untested", 4, []string{"m/c"}},
	} {
		if got := g.tests(tt.pkg, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("tests(%s, %d) = %v, want %v", tt.pkg, tt.n, got, tt.want)
		}
	}
}

func TestEquivalents(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "list.txt")
	for text, want := range map[string]string{
		"# a comment\n\na.go | moved bound | if n > 3 { => 3 never comes\n": "",
		"a.go | moved bound | if n > 3 {\n":                                 ":1: want",
		"# a comment\na.go | moved bound => why\n":                          ":2: want",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		known, err := readEquivalents(path)
		switch {
		case want == "" && (err != nil || known["a.go | moved bound | if n > 3 {"] != "3 never comes"):
			t.Errorf("%q: %v, %v", text, known, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// TestRun changes a module whose behaviour is held in one place and not in
// another.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: compiles a module many times (-short)")
	}
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.25\n",
		"held/held.go": "package held\n\n// Small reports whether n is small.\n" +
			"func Small(n int) bool { return n < 3 }\n\n" +
			"func same(n int) int { return n * 0 }\n",
		"held/held_test.go": "package held\n\nimport \"testing\"\n\nfunc TestSmall(t *testing.T) {\n" +
			"\tif !Small(2) || Small(3) {\n\t\tt.Error(\"bound\")\n\t}\n}\n",
		"loose/loose.go": "package loose\n\n// Big reports whether n is big.\nfunc Big(n int) bool { return n > 3 }\n",
		"loose/loose_test.go": "package loose\n\nimport \"testing\"\n\nfunc TestBig(t *testing.T) {\n" +
			"\tif Big(0) {\n\t\tt.Error(\"bound\")\n\t}\n}\n",
		"list.txt": "held/held.go | other number | func same(n int) int { return n * 0 } => nothing calls it\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	for _, tt := range []struct {
		pkg  string
		code int
		say  string
	}{
		{"./held", 0, "1 of    1  100.0 %"},
		{"./loose", 1, "survived: loose/loose.go:4"},
	} {
		var out strings.Builder
		code, err := run(t.Context(), []string{"-equivalent", "list.txt", "-n", "5", tt.pkg}, &out)
		if err != nil || code != tt.code || !strings.Contains(out.String(), tt.say) {
			t.Errorf("%s: code %d, %v, want %d and %q in\n%s", tt.pkg, code, err, tt.code, tt.say, out.String())
		}
	}
	var first, second strings.Builder
	for _, out := range []*strings.Builder{&first, &second} {
		if code, err := run(t.Context(), []string{"-list", "-seed", "7", "./..."}, out); code != 0 || err != nil {
			t.Fatal(code, err)
		}
	}
	if first.String() != second.String() || first.Len() == 0 {
		t.Errorf("one seed draws %q and %q", first.String(), second.String())
	}
	if _, err := run(t.Context(), nil, &first); err == nil {
		t.Error("without packages it runs")
	}
}
