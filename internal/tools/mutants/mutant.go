package main

import (
	"bufio"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutant is one change of one place in a file.
type mutant struct {
	pkg   string // import path
	path  string // of the file, from the root of the module
	line  int
	kind  string // what was done: "negated condition"
	from  int    // bytes that are replaced
	to    int
	text  string // by this
	where string // the whole line as it stands, for the list of equivalents
	was   string
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s -> %s", m.path, m.line, m.kind, oneLine(m.was), oneLine(m.text))
}

// key names a mutant in the list of equivalents. It has no line number, so that
// it holds while the file changes around it.
func (m *mutant) key() string {
	return strings.Join([]string{m.path, m.kind, strings.Join(strings.Fields(m.where), " ")}, " | ")
}

func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 60 {
		return text[:57] + "..."
	}
	if text == "" {
		return "nothing"
	}
	return text
}

// swaps are operators and what a mutant writes in their place.
func swaps(op token.Token) (string, string) {
	switch op {
	case token.LSS:
		return "<=", "moved bound"
	case token.LEQ:
		return "<", "moved bound"
	case token.GTR:
		return ">=", "moved bound"
	case token.GEQ:
		return ">", "moved bound"
	case token.EQL:
		return "!=", "swapped comparison"
	case token.NEQ:
		return "==", "swapped comparison"
	case token.LAND:
		return "||", "swapped operator"
	case token.LOR:
		return "&&", "swapped operator"
	case token.ADD:
		return "-", "swapped operator"
	case token.SUB:
		return "+", "swapped operator"
	default:
		return "", ""
	}
}

// places returns the mutants of a file in the order in which they stand.
func places(pkg, path string, source []byte) ([]*mutant, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	lines := strings.Split(string(source), "\n")
	var all []*mutant
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	add := func(kind string, from, to token.Pos, text string) {
		line := set.Position(from).Line
		all = append(all, &mutant{
			pkg: pkg, path: path, line: line, kind: kind, from: offset(from), to: offset(to), text: text,
			where: lines[line-1], was: string(source[offset(from):offset(to)]),
		})
	}
	code := func(n ast.Node) string { return string(source[offset(n.Pos()):offset(n.End())]) }
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.IMPORT
		case *ast.Field:
			return n.Tag == nil // neither tags nor types are behaviour of their own
		case *ast.IfStmt:
			add("negated condition", n.Cond.Pos(), n.Cond.End(), "!("+code(n.Cond)+")")
		case *ast.BinaryExpr:
			if text, kind := swaps(n.Op); text != "" {
				add(kind, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), text)
			}
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				add("other boolean", n.Pos(), n.End(), strconv.FormatBool(n.Name == "false"))
			}
		case *ast.BasicLit:
			if n.Kind == token.INT {
				add("other number", n.Pos(), n.End(), "("+n.Value+" + 1)")
			}
		case *ast.CompositeLit:
			if _, list := n.Type.(*ast.ArrayType); list {
				for _, e := range n.Elts {
					if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						add("entry left out", e.Pos(), e.End(), `"\x00"`)
					}
				}
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "WithoutCancel" && len(n.Args) == 1 {
				add("caller may cancel", n.Pos(), n.End(), code(n.Args[0]))
			}
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok && !unseen(call) {
				add("call left out", n.Pos(), n.End(), "")
			}
		case *ast.DeferStmt:
			if !unseen(n.Call) {
				add("call left out", n.Pos(), n.End(), "")
			}
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				break
			}
			if last, ok := n.Results[len(n.Results)-1].(*ast.Ident); ok && last.Name == "err" {
				add("error swallowed", last.Pos(), last.End(), "nil")
			}
		}
		return true
	})
	return all, nil
}

// unseen reports whether a call can be left out without a test being able to
// tell: lines of the log, and locks, which are the race detector's.
func unseen(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch s.Sel.Name {
	case "Lock", "Unlock", "RLock", "RUnlock", "Helper", "Debug", "Info", "Warn", "DebugContext", "InfoContext",
		"WarnContext", "ErrorContext", "LogAttrs":
		return true
	case "Error":
		of, ok := s.X.(*ast.SelectorExpr)
		return ok && of.Sel.Name == "log"
	default:
		return false
	}
}

// draw returns the wanted mutants of packages in the order of the seed. Lines are
// drawn, not mutants, so that a line with many operators counts once.
func draw(packages []*listed, seed uint64, wanted func(*mutant) bool) ([]*mutant, error) {
	var all [][]*mutant // by line
	for _, p := range packages {
		if slices.Contains(p.Imports, "testing") {
			continue // suites and rigs of tests
		}
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			source, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("reading a file of %s: %w", p.ImportPath, err)
			}
			found, err := places(p.ImportPath, path, source)
			if err != nil {
				return nil, err
			}
			found = slices.DeleteFunc(found, func(m *mutant) bool { return !wanted(m) })
			slices.SortStableFunc(found, func(a, b *mutant) int { return a.line - b.line })
			for len(found) > 0 {
				n := slices.IndexFunc(found, func(m *mutant) bool { return m.line != found[0].line })
				if n < 0 {
					n = len(found)
				}
				all = append(all, found[:n])
				found = found[n:]
			}
		}
	}
	chance := rand.New(rand.NewPCG(seed, 0))
	chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	drawn := make([]*mutant, 0, len(all))
	for _, line := range all {
		drawn = append(drawn, line[chance.IntN(len(line))])
	}
	return drawn, nil
}

// readEquivalents reads a file of "path | kind | line: reason", one mutant on a
// line. A file that is not there lists none.
func readEquivalents(path string) (map[string]string, error) {
	known := map[string]string{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading equivalent mutants: %w", err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, reason, ok := strings.Cut(line, " => ")
		if !ok || strings.TrimSpace(reason) == "" || strings.Count(key, " | ") < 2 {
			return nil, fmt.Errorf("%s:%d: want \"path | kind | line => reason\"", path, n)
		}
		known[strings.TrimSpace(key)] = strings.TrimSpace(reason)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading equivalent mutants: %w", err)
	}
	return known, nil
}
