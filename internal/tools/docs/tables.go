package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// faults returns the codes of single faults: literals handed to Fault, and
// members named Code or code of composite literals.
func (s *scanner) faults() []string {
	codeShape := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	var codes []string
	add := func(x ast.Expr) {
		// What is no code is another function's text: readers of markup also note.
		if code, ok := literal(x); ok && codeShape.MatchString(code) {
			codes = append(codes, code)
		}
	}
	for _, src := range s.files {
		ast.Inspect(src.ast, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.CallExpr:
				sel, ok := x.Fun.(*ast.SelectorExpr)
				if ok && (sel.Sel.Name == "Fault" || sel.Sel.Name == "note") && len(x.Args) == 3 {
					add(x.Args[1])
				}
			case *ast.CompositeLit:
				kind := name(x.Type)
				for _, element := range x.Elts {
					pair, ok := element.(*ast.KeyValueExpr)
					if ok && (kind == "problem.Item" && name(pair.Key) == "Code" || kind == "" &&
						src.dir == "internal/foundation/openapi" && name(pair.Key) == "code") {
						add(pair.Value)
					}
				}
			}
			return true
		})
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// constantsOf returns the values of a package's string constants of a type, in
// the order of the source.
func (s *scanner) constantsOf(pkg, kind string) []string {
	var codes []string
	for _, src := range s.files {
		if src.ast.Name.Name != pkg {
			continue
		}
		for _, decl := range src.ast.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				v := spec.(*ast.ValueSpec)
				if name(v.Type) != kind {
					continue
				}
				for _, value := range v.Values {
					if code, ok := literal(value); ok {
						codes = append(codes, code)
					}
				}
			}
		}
	}
	return codes
}

// table visits the entries of a map that a variable of a package holds.
func (s *scanner) table(pkg, variable string, visit func(src *source, key, value ast.Expr)) {
	for _, src := range s.files {
		if src.ast.Name.Name != pkg {
			continue
		}
		for _, decl := range src.ast.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.VAR {
				continue
			}
			for _, spec := range group.Specs {
				v := spec.(*ast.ValueSpec)
				if v.Names[0].Name != variable || len(v.Values) != 1 {
					continue
				}
				lit, ok := v.Values[0].(*ast.CompositeLit)
				if !ok {
					continue
				}
				for _, element := range lit.Elts {
					if pair, ok := element.(*ast.KeyValueExpr); ok {
						visit(src, pair.Key, pair.Value)
					}
				}
			}
		}
	}
}

// keysOf returns the keys of a table of one package.
func (s *scanner) keysOf(pkg, variable string) []string {
	var keys []string
	s.table(pkg, variable, func(src *source, key, _ ast.Expr) {
		if code, ok := s.text(src, key); ok {
			keys = append(keys, code)
		}
	})
	return keys
}

// renamed returns our code for each code of a protocol.
func (s *scanner) renamed(pkg, variable string) map[string]string {
	ours := map[string][]string{}
	s.table(pkg, variable, func(src *source, key, value ast.Expr) {
		if lit, ok := value.(*ast.CompositeLit); ok && len(lit.Elts) > 0 {
			value = lit.Elts[0]
		}
		from, _ := s.text(src, key)
		if to, ok := s.text(src, value); ok && from != to {
			ours[to] = append(ours[to], "`"+from+"`")
		}
	})
	joined := map[string]string{}
	for code, names := range ours {
		joined[code] = strings.Join(names, ", ")
	}
	return joined
}
