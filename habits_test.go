package ace_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPackageComments(t *testing.T) {
	t.Parallel()
	commented := map[string]bool{}
	product := map[string]bool{}
	for _, f := range files(t) {
		name := f.ast.Name.Name
		key := f.dir + " (" + strings.TrimSuffix(name, "_test") + ")"
		product[key] = product[key] || !f.test
		if f.ast.Doc == nil {
			continue
		}
		text := f.ast.Doc.Text()
		if want := opening(f); f.dir != "." && !f.test && !strings.HasPrefix(text, want) {
			t.Errorf("%s: the package comment starts with %q, want %q", f.path, firstLine(text), want)
		}
		commented[key] = true
	}
	for key, isProduct := range product {
		if isProduct && !commented[key] {
			t.Errorf("%s has no package comment: say what it is for and draw its flow", key)
		}
	}
}

func opening(f *file) string {
	if f.ast.Name.Name == "main" {
		return "Command " + f.dir[strings.LastIndexByte(f.dir, '/')+1:]
	}
	return "Package " + f.ast.Name.Name
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// TestNoPackageState fails on init functions and on package variables that
// could change while the program runs. What remains is written once, by its
// declaration: tables, error values, compiled patterns and embedded files.
func TestNoPackageState(t *testing.T) {
	t.Parallel()
	state := map[string]map[string]bool{} // folder -> names of package variables
	for _, f := range files(t) {
		if f.forTests() {
			continue
		}
		for _, decl := range f.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "init" && d.Recv == nil {
					t.Errorf("%s has a function init: the server wires by hand", f.path)
				}
			case *ast.GenDecl:
				if d.Tok != token.VAR {
					continue
				}
				for _, spec := range d.Specs {
					v := spec.(*ast.ValueSpec)
					if why := mutable(d, v); why != "" {
						t.Errorf("%s: package variable %s %s", f.path, v.Names[0].Name, why)
					}
					for _, name := range v.Names {
						if state[f.dir] == nil {
							state[f.dir] = map[string]bool{}
						}
						if name.Name != "_" { // a check of the compiler's, no variable
							state[f.dir][name.Name] = true
						}
					}
				}
			}
		}
	}
	for _, f := range files(t) {
		if !f.forTests() {
			checkWrites(t, f, state[f.dir])
		}
	}
}

// linked are variables that the linker sets in released builds.
var linked = []string{"version"}

// writtenOnce are the calls whose result never changes.
var writtenOnce = regexp.MustCompile(`^(errors\.New|regexp\.MustCompile|base(64|32)\.\w+\.\w+|template\.Must)$`)

// mutable says why a package variable may change, or returns "".
func mutable(d *ast.GenDecl, v *ast.ValueSpec) string {
	if v.Names[0].Name == "_" { // the compiler checks that a type fits an interface
		return ""
	}
	if len(v.Values) == 0 {
		if v.Type != nil && types.ExprString(v.Type) == "embed.FS" && (embeds(v.Doc) || embeds(d.Doc)) {
			return ""
		}
		return "has no value: it waits to be written"
	}
	for _, value := range v.Values {
		switch x := value.(type) {
		case *ast.CompositeLit:
		case *ast.BasicLit:
			if !slices.Contains(linked, v.Names[0].Name) {
				return "is a constant: write const"
			}
		case *ast.CallExpr:
			if !writtenOnce.MatchString(types.ExprString(x.Fun)) {
				return "is the result of " + types.ExprString(x.Fun) + ": make it in a constructor"
			}
		default:
			return "is none of a table, an error, a pattern or an embedded file"
		}
	}
	return ""
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List,
		func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// checkWrites fails where a function writes to a package variable of its
// package, or takes its address. A function that declares the same name itself is skipped.
func checkWrites(t *testing.T, f *file, names map[string]bool) {
	t.Helper()
	for _, decl := range f.ast.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		own := declared(fn)
		report := func(x ast.Expr) {
			if name := root(x); names[name] && !own[name] {
				t.Errorf("%s writes to the package variable %s: state belongs into a value that a constructor makes",
					f.set.Position(x.Pos()), name)
			}
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.AssignStmt:
				if x.Tok != token.DEFINE {
					for _, left := range x.Lhs {
						report(left)
					}
				}
			case *ast.IncDecStmt:
				report(x.X)
			case *ast.UnaryExpr:
				if x.Op == token.AND {
					report(x.X)
				}
			case *ast.CallExpr:
				if name, ok := x.Fun.(*ast.Ident); ok && (name.Name == "delete" || name.Name == "clear") &&
					len(x.Args) > 0 {
					report(x.Args[0])
				}
			}
			return true
		})
	}
}

// root returns the variable that an expression writes into.
func root(x ast.Expr) string {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			return e.Name
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		default:
			return ""
		}
	}
}

// declared returns the names that a function declares anywhere.
func declared(fn *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.Field:
			for _, name := range x.Names {
				names[name.Name] = true
			}
		case *ast.ValueSpec:
			for _, name := range x.Names {
				names[name.Name] = true
			}
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE {
				for _, left := range x.Lhs {
					names[root(left)] = true
				}
			}
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{x.Key, x.Value} {
				if e != nil && x.Tok == token.DEFINE {
					names[root(e)] = true
				}
			}
		}
		return true
	})
	return names
}

// unfinished finds marks of work that was left for later. With a number of the
// tracker a mark may stay.
var unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b`)

func TestNothingUnfinished(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		if f.path == "habits_test.go" {
			continue
		}
		for _, group := range f.ast.Comments {
			if m := unfinished.FindString(group.Text()); m != "" {
				t.Errorf("%s: a comment says %s: finish it", f.set.Position(group.Pos()), m)
			}
		}
	}
}

// maxColumns is the width of a line, with tabs of four columns.
const maxColumns = 120

// TestLineWidth keeps lines readable in two windows beside each other. Struct
// tags are left out, since Go has no way to continue one on the next line, and
// so are comments whose longest word alone is too wide: a URL, or the output
// that an example expects.
func TestLineWidth(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		tagged := map[int]bool{}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Tag != nil {
				tagged[f.set.Position(field.Tag.Pos()).Line] = true
			}
			return true
		})
		source, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(source), "\n") {
			width := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
			comment := strings.HasPrefix(strings.TrimSpace(line), "//")
			if width > maxColumns && !tagged[i+1] && !(comment && holdsLongWord(line)) {
				t.Errorf("%s:%d has %d columns, more than %d", f.path, i+1, width, maxColumns)
			}
		}
	}
}

// holdsLongWord reports whether a comment is a URL of a table, or output of an
// example, which must be one line.
func holdsLongWord(line string) bool {
	return slices.ContainsFunc(strings.Fields(line), func(word string) bool { return len(word) > 60 })
}
