package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// failure is one way to return a problem: a call of problem.New.
type failure struct {
	kind   string // name of the kind, for example NotFound
	code   string
	detail string // with … where a value is filled in
	place  string // package that returns it
}

// scanner finds calls of problem.New in the sources of the product.
type scanner struct {
	files  []*source
	consts map[string]string // "package.Name" -> value of a string constant
	found  []failure
	vague  []string // places whose code is not known before run time
}

type source struct {
	dir string
	set *token.FileSet
	ast *ast.File
}

// leftOut are folders whose failures no caller meets.
var leftOut = []string{
	"internal/foundation/problem", "internal/tools", "internal/sandbox", "internal/schematest",
	"internal/browsertest",
}

func scan(root string) (*scanner, error) {
	s := &scanner{consts: map[string]string{}}
	err := filepath.WalkDir(filepath.Join(root, "internal"), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(relative))
		if strings.HasSuffix(dir, "test") || slices.Contains(leftOut, dir) {
			return nil
		}
		src := &source{dir: dir, set: token.NewFileSet()}
		if src.ast, err = parser.ParseFile(src.set, name, nil, parser.SkipObjectResolution); err != nil {
			return err
		}
		s.files = append(s.files, src)
		s.readConstants(src)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the sources: %w", err)
	}
	for _, src := range s.files {
		s.readCalls(src)
	}
	return s, nil
}

func (s *scanner) readConstants(src *source) {
	ast.Inspect(src.ast, func(n ast.Node) bool {
		decl, ok := n.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			return true
		}
		for _, spec := range decl.Specs {
			v := spec.(*ast.ValueSpec)
			for i, name := range v.Names {
				if i < len(v.Values) {
					if text, ok := literal(v.Values[i]); ok {
						s.consts[src.ast.Name.Name+"."+name.Name] = text
					}
				}
			}
		}
		return true
	})
}

// readCalls finds calls of problem.New, and of functions whose parameters are
// passed to it.
func (s *scanner) readCalls(src *source) {
	wrappers := map[string]map[string]int{} // function -> its parameters by name
	ast.Inspect(src.ast, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncDecl:
			wrappers[x.Name.Name] = parameters(x.Type)
		case *ast.AssignStmt:
			if fn, ok := x.Rhs[0].(*ast.FuncLit); ok && len(x.Lhs) == 1 {
				if name, ok := x.Lhs[0].(*ast.Ident); ok {
					wrappers[name.Name] = parameters(fn.Type)
				}
			}
		}
		return true
	})
	var inside []string
	ast.Inspect(src.ast, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncDecl:
			inside = []string{x.Name.Name}
		case *ast.AssignStmt:
			if _, ok := x.Rhs[0].(*ast.FuncLit); ok && len(x.Lhs) == 1 {
				if name, ok := x.Lhs[0].(*ast.Ident); ok {
					inside = append(inside, name.Name)
				}
			}
		case *ast.CallExpr:
			if name(x.Fun) == "problem.New" && len(x.Args) == 3 {
				s.addCall(src, x, inside, wrappers)
			}
		}
		return true
	})
}

func parameters(fn *ast.FuncType) map[string]int {
	positions, i := map[string]int{}, 0
	for _, field := range fn.Params.List {
		for _, name := range field.Names {
			positions[name.Name] = i
			i++
		}
	}
	return positions
}

// addCall notes one call. Where the code is a parameter of a function in the
// same file, the calls of that function are what counts.
func (s *scanner) addCall(src *source, call *ast.CallExpr, inside []string, wrappers map[string]map[string]int) {
	if code, ok := s.text(src, call.Args[1]); ok {
		s.add(src, call.Args[0], code, s.wording(src, call.Args[2]))
		return
	}
	parameter := name(unwrap(call.Args[1]))
	for _, fn := range slices.Backward(inside) {
		at, ok := wrappers[fn][parameter]
		if !ok {
			continue
		}
		resolved := false
		ast.Inspect(src.ast, func(n ast.Node) bool {
			outer, ok := n.(*ast.CallExpr)
			if !ok || name(outer.Fun) != fn || at >= len(outer.Args) {
				return true
			}
			if code, ok := s.text(src, outer.Args[at]); ok {
				resolved = true
				s.add(src, argument(call.Args[0], outer, wrappers[fn]), code,
					s.filled(src, call.Args[2], outer, wrappers[fn]))
			}
			return true
		})
		if resolved {
			return
		}
	}
	s.vague = append(s.vague, src.dir+" "+strings.Join(inside, "."))
}

// argument returns what the caller of a wrapper gave for an expression.
func argument(x ast.Expr, outer *ast.CallExpr, params map[string]int) ast.Expr {
	if at, ok := params[name(x)]; ok && at < len(outer.Args) {
		return outer.Args[at]
	}
	return x
}

// filled words a detail with what the caller of a wrapper gave.
func (s *scanner) filled(src *source, x ast.Expr, outer *ast.CallExpr, params map[string]int) string {
	if sum, ok := x.(*ast.BinaryExpr); ok {
		return s.filled(src, sum.X, outer, params) + s.filled(src, sum.Y, outer, params)
	}
	return s.wording(src, argument(x, outer, params))
}

func (s *scanner) add(src *source, kind ast.Expr, code, detail string) {
	_, kindName, _ := strings.Cut(name(kind), ".")
	s.found = append(s.found, failure{kindName, code, detail, src.dir})
}

// text returns the value of an expression that is known before run time.
func (s *scanner) text(src *source, x ast.Expr) (string, bool) {
	x = unwrap(x)
	if text, ok := literal(x); ok {
		return text, true
	}
	full := name(x)
	if !strings.Contains(full, ".") {
		full = src.ast.Name.Name + "." + full
	}
	value, ok := s.consts[full]
	return value, ok
}

var verb = regexp.MustCompile(`%[-+# 0-9.\[\]]*[a-zA-Z]`)

// wording returns a detail with … for what is filled in at run time.
func (s *scanner) wording(src *source, x ast.Expr) string {
	if text, ok := s.text(src, x); ok {
		return text
	}
	switch e := x.(type) {
	case *ast.BinaryExpr:
		return s.wording(src, e.X) + s.wording(src, e.Y)
	case *ast.ParenExpr:
		return s.wording(src, e.X)
	case *ast.CallExpr:
		if name(e.Fun) == "fmt.Sprintf" {
			return verb.ReplaceAllString(s.wording(src, e.Args[0]), "…")
		}
	}
	return "…"
}

// unwrap takes a conversion such as string(code) away.
func unwrap(x ast.Expr) ast.Expr {
	if call, ok := x.(*ast.CallExpr); ok && name(call.Fun) == "string" && len(call.Args) == 1 {
		return call.Args[0]
	}
	return x
}

func literal(x ast.Expr) (string, bool) {
	lit, ok := x.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// name returns an identifier, or package.Name.
func name(x ast.Expr) string {
	switch e := x.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return name(e.X) + "." + e.Sel.Name
	}
	return ""
}
