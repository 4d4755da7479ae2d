package vaultstore_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/storage/vaultstore"
)

// notResealed are places whose texts need no re-encryption, and why.
var notResealed = map[string]string{
	"console_session.consent": "is held by a page for 15 minutes, less than older keys linger",
	"cookie.openid":           "lives in a browser for 15 minutes, less than older keys linger",
	"keyset.canary":           "is sealed with every keyset that is written",
	"mcp_client.registration": "is the id that a client holds; after invalid_client it registers again",
	"mcp_question.state":      "is held by a client for 15 minutes, less than older keys linger",
}

func resealed() map[string]bool {
	all := map[string]bool{}
	for _, c := range vaultstore.Columns() {
		table := c.Table
		if c.PlaceTable != "" {
			table = c.PlaceTable
		}
		all[table+"."+c.Column] = true
	}
	return all
}

// TestEveryPlaceIsResealed finds every seal.Place in the sources: a new sealed
// column must be in the table Columns, or here with a reason.
func TestEveryPlaceIsResealed(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(root, func(dir string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		name := e.Name()
		if dir != root && (strings.HasPrefix(name, ".") || name == "testdata") {
			return filepath.SkipDir
		}
		maps.Copy(found, placesIn(t, dir))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := resealed()
	for place := range notResealed {
		want[place] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(found))); diff != "" {
		t.Errorf("places in Columns and notResealed (-) and in the sources (+):\n%s", diff)
	}
}

// placesIn returns "table.column" of every seal.Place that the package of a
// folder makes.
func placesIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	var files []*ast.File
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	found := map[string]bool{}
	for _, file := range files {
		for _, decl := range file.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				place, ok := n.(*ast.CompositeLit)
				if !ok || !isPlace(place.Type) || len(place.Elts) == 0 {
					return true
				}
				table, fixed := field(place, "Table")
				if !fixed {
					if strings.HasSuffix(dir, "vaultstore") {
						return true // made of the table itself
					}
					t.Errorf("%s: a seal.Place whose table is no literal cannot be checked: write it out", dir)
				}
				column, fixed := field(place, "Column")
				if fixed {
					found[table+"."+column] = true
					return true
				}
				fn, ok := decl.(*ast.FuncDecl)
				if !ok {
					t.Errorf("%s: the column of a place of %s cannot be found: write it out", dir, table)
					return true
				}
				columns := passed(files, fn.Name.Name)
				if len(columns) == 0 {
					t.Errorf("%s: nobody passes %s a column that is a literal", dir, fn.Name.Name)
				}
				for _, column := range columns {
					found[table+"."+column] = true
				}
				return true
			})
		}
	}
	return found
}

func isPlace(x ast.Expr) bool {
	s, ok := x.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Place" {
		return false
	}
	pkg, ok := s.X.(*ast.Ident)
	return ok && pkg.Name == "seal"
}

func field(place *ast.CompositeLit, name string) (text string, literal bool) {
	for _, elt := range place.Elts {
		pair, ok := elt.(*ast.KeyValueExpr)
		if !ok {
			return "", false
		}
		if key, ok := pair.Key.(*ast.Ident); ok && key.Name == name {
			return literalText(pair.Value)
		}
	}
	return "", true
}

func literalText(x ast.Expr) (string, bool) {
	lit, ok := x.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// passed returns the string literals that a function of a package is called
// with, by itself or by functions that hand their own parameter on.
func passed(files []*ast.File, name string) (texts []string) {
	names := map[string]bool{name: true}
	for range 3 {
		for _, file := range files {
			for _, decl := range file.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					call, ok := n.(*ast.CallExpr)
					if !ok || !names[called(call)] {
						return true
					}
					for _, arg := range call.Args {
						if text, ok := literalText(arg); ok {
							texts = append(texts, text)
						} else if id, ok := arg.(*ast.Ident); ok && takes(fn, id.Name) {
							names[fn.Name.Name] = true
						}
					}
					return true
				})
			}
		}
	}
	return texts
}

func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// takes reports whether a function has a string parameter of a name.
func takes(fn *ast.FuncDecl, name string) bool {
	for _, group := range fn.Type.Params.List {
		if kind, ok := group.Type.(*ast.Ident); !ok || kind.Name != "string" {
			continue
		}
		for _, param := range group.Names {
			if param.Name == name {
				return true
			}
		}
	}
	return false
}

var sealedColumn = regexp.MustCompile(`(?m)^\s+(\w+)\s+TEXT\b[^\n]*--[^\n]*\bsealed\b`)

// TestSealedColumnsOfTheSchema finds every column that the schema says is
// sealed.
func TestSealedColumnsOfTheSchema(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"keyset.canary": true}
	for _, c := range vaultstore.Columns() {
		known[c.Table+"."+c.Column] = true
	}
	names, err := filepath.Glob(filepath.Join("..", "migrations", "*.sql"))
	if err != nil || len(names) == 0 {
		t.Fatal(err, "no migrations")
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for statement := range strings.SplitSeq(string(text), "CREATE TABLE ") {
			table, _, _ := strings.Cut(statement, " ")
			for _, m := range sealedColumn.FindAllStringSubmatch(statement, -1) {
				if !known[table+"."+m[1]] {
					t.Errorf("%s: %s.%s is sealed and not in Columns", filepath.Base(name), table, m[1])
				}
			}
		}
	}
}
