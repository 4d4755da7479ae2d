package ace_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "ace/"

// file is one source file.
type file struct {
	path  string // from the root, with slashes
	dir   string // the package's folder; its import path without the module
	test  bool
	lines int
	set   *token.FileSet
	ast   *ast.File
}

// forTests reports whether the file is a test or part of what supports tests.
func (f *file) forTests() bool { return f.test || supportsTests(f.dir) }

// tree parses all sources of the module once.
var tree = sync.OnceValues(func() ([]*file, error) {
	var files []*file
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if hidden := strings.HasPrefix(d.Name(), ".") && name != "."; hidden ||
				slices.Contains([]string{"tools", "node_modules", "testdata", "data", "bin"}, name) {
				return fs.SkipDir
			}
			if d.Name() == "node_modules" || d.Name() == "testdata" {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && name != "." {
				return fs.SkipDir // a module of its own, such as the benchmarks beside others
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		f := &file{path: filepath.ToSlash(name), test: strings.HasSuffix(name, "_test.go"), set: token.NewFileSet()}
		f.dir = path.Dir(f.path)
		if f.ast, err = parser.ParseFile(f.set, name, nil,
			parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return err
		}
		f.lines = f.set.File(f.ast.Pos()).LineCount()
		files = append(files, f)
		return nil
	})
	return files, err
})

func files(t *testing.T) []*file {
	t.Helper()
	all, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// packages returns the folders that hold packages.
func packages(t *testing.T) []string {
	t.Helper()
	var dirs []string
	for _, f := range files(t) {
		dirs = append(dirs, f.dir)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

func eachImport(t *testing.T, visit func(f *file, target string)) {
	t.Helper()
	for _, f := range files(t) {
		for _, imp := range f.ast.Imports {
			target, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			visit(f, target)
		}
	}
}

// TestArchitectureNamesPackages fails where the tree in docs/architecture.md
// names a package that is not there.
func TestArchitectureNamesPackages(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tree, ok := strings.Cut(string(text), "\ninternal/\n")
	if !ok {
		t.Fatal("the page has no tree")
	}
	tree, _, _ = strings.Cut(tree, "```")
	var parents []string // by depth
	count := 0
	for line := range strings.Lines(tree) {
		depth := max((len(line)-len(strings.TrimLeft(line, " ")))/2, 1)
		names, _, _ := strings.Cut(strings.TrimSpace(line), "  ") // what follows is what they are for
		for name := range strings.FieldsSeq(strings.ReplaceAll(names, ",", "")) {
			parents = append(parents[:min(depth-1, len(parents))], strings.TrimSuffix(name, "/"))
			folder := path.Join("internal", path.Join(parents...))
			if _, err := os.Stat(folder); err != nil {
				t.Errorf("docs/architecture.md names %s: %v", folder, err)
			}
			count++
		}
	}
	if count < 50 {
		t.Errorf("the tree names %d packages: the test reads the wrong part", count)
	}
}
