package ace_test

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// languagePending lists folders, with what is below them, whose words have not
// been revised yet. A package that moves takes its entry along. Remove a folder
// when
//
//	ACE_LANGUAGE=internal/your/folder go test -run TestLanguage .
//
// passes. A blank line between entries keeps removals from conflicting.
var languagePending = []string{
	"internal/platform/app",

	"internal/platform/console",
}

// phrase is wording that the repository does not use.
type phrase struct {
	pattern *regexp.Regexp
	instead string
}

func newPhrase(pattern, instead string) phrase {
	pattern = strings.ReplaceAll(pattern, " ", `\s+`)
	return phrase{regexp.MustCompile(`(?i)\b(?:` + pattern + `)\b`), instead}
}

// phrases are the phrases of two words and more that plain technical English has a
// shorter standard term for, and single words with no other meaning.
func phrases() []phrase {
	return []phrase{
		newPhrase(`anew`, "again"),
		newPhrase(`once more`, "again"),
		newPhrase(`mend(s|ed|ing)?`, "fix, repair"),
		newPhrase(`whoever|whatever is told`, "the caller, the operator, the user"),
		newPhrase(`lately`, "recently"),
		newPhrase(`who goes on|goes on with it`, "the caller continues"),
		newPhrase(`(is|are|was|were|be|been) told`, "is notified, is sent, is reported, is set to"),
		newPhrase(`(tell|tells|told|telling)( \w+)? apart`, "differs, distinguishes"),
		newPhrase(`stands? (in|at|elsewhere|there|beside|once|nowhere|for itself|before|behind|under)`,
			"is, is listed, appears"),
		newPhrase(`(is|are|was|were) over( and| or| when| by| at)`, "finished, expired, ended"),
		newPhrase(`(is|are|was|were|be) away`, "is unavailable, is unreachable"),
		newPhrase(`(is|are|was|be) left alone`, "is not changed"),
		newPhrase(`hand(s|ed|ing)? (in|over)`, "submit, pass, return"),
		newPhrase(`(take|takes|taken|took|taking) back`, "revoke, cancel, undo"),
		newPhrase(`(is|are|was) at (its|an|the|their) end`, "expired, ended"),
		newPhrase(`pretended`, "test money, test mode, sandbox"),
		newPhrase(`by the clock`, "wall time"),
		newPhrase(`in one go`, "at once"),
		newPhrase(`(say|says|said) no`, "denies, declines, refuses"),
		newPhrase(`(its|their|our) own making`, "raw"),
		newPhrase(`(make|makes|made|making) (a|an|the|its|one) key`, "creates a key"),
	}
}

// nameWords are words that no declared name contains.
var nameWords = map[string]string{
	"face": "transport, handler", "desk": "the noun", "wish": "options", "doer": "HTTPClient",
	"shelf": "library", "slip": "typo", "kept": "stored, cached", "packed": "compressed, gzipped",
}

// names are words that say too little as a whole declared name.
var names = map[string]string{
	"deal": "exchange", "making": "pendingConnection", "keep": "store, retain", "keeping": "stored",
	"box": "sealer", "judge": "checkResponse, evaluate", "steers": "redirectsElsewhere", "strange": "unknownIssuer",
	"learn": "discover", "begin": "start what?", "good": "isSettled: say what is so", "agree": "matchRequirement",
	"took": "say of what", "take": "say of what", "ornothing": "cmp.Or", "orelse": "cmp.Or",
	"ring": "the standard term", "kit": "the standard term", "stage": "the standard term",
	"room": "the standard term", "house": "the standard term",
}

// answers finds doc comments of functions that "answer". A server may respond;
// a function returns.
var answers = regexp.MustCompile(`^\w+ answers\b`)

// vocabulary finds phrases in text: all of them at once, then which one it was.
type vocabulary struct {
	all  *regexp.Regexp
	list []phrase
}

func newVocabulary() *vocabulary {
	v := &vocabulary{list: phrases()}
	patterns := make([]string, 0, len(v.list))
	for _, p := range v.list {
		patterns = append(patterns, strings.TrimPrefix(p.pattern.String(), "(?i)"))
	}
	v.all = regexp.MustCompile("(?i)" + strings.Join(patterns, "|"))
	return v
}

// TestLanguage keeps the repository in plain technical English: one word for
// one thing, and the word that the Go documentation would use.
func TestLanguage(t *testing.T) {
	t.Parallel()
	only := os.Getenv("ACE_LANGUAGE")
	found := map[string][]string{} // by folder
	report := func(dir, where, what string) { found[dir] = append(found[dir], where+": "+what) }
	words := newVocabulary()
	for _, f := range files(t) {
		if f.path != "language_test.go" {
			checkGoLanguage(f, words, report)
		}
	}
	for _, name := range prose(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		checkText(path.Dir(name), name, 1, string(text), words, report)
	}
	for dir, list := range found {
		pending := slices.ContainsFunc(languagePending, func(p string) bool { return within(dir, p) })
		if only == "" && pending || only != "" && dir != only {
			continue
		}
		for i, text := range list {
			if only == "" && i == 5 {
				t.Errorf("%s: %d more", dir, len(list)-i)
				break
			}
			t.Error(text)
		}
		if only == "" {
			t.Logf("%s: ACE_LANGUAGE=%s go test -run TestLanguage . lists these alone", dir, dir)
		}
	}
}

// prose returns the documents and pages, which people read.
func prose(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			hidden := strings.HasPrefix(d.Name(), ".") && name != "."
			if hidden || slices.Contains([]string{"node_modules", "testdata", "vendored"}, d.Name()) ||
				slices.Contains([]string{"data", "bin"}, name) {
				return fs.SkipDir
			}
			return nil
		}
		// CONTRIBUTING.md lists the words themselves.
		if slices.Contains([]string{".md", ".html", ".tmpl"}, filepath.Ext(name)) && name != "CONTRIBUTING.md" {
			names = append(names, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// checkGoLanguage checks comments, texts and declared names of a source file.
// Variables inside the functions of tests are not checked.
func checkGoLanguage(f *file, words *vocabulary, report func(dir, where, what string)) {
	for _, group := range f.ast.Comments {
		checkText(f.dir, f.path, f.set.Position(group.Pos()).Line, group.Text(), words, report)
	}
	bodyEnd := token.NoPos // of the function that the walk is in
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if fn, ok := n.(*ast.FuncDecl); ok {
			if fn.Doc != nil && answers.MatchString(fn.Doc.Text()) {
				report(f.dir, f.set.Position(fn.Doc.Pos()).String(), "a function returns, it does not answer")
			}
			if fn.Body != nil {
				bodyEnd = fn.Body.End()
			}
		}
		for _, id := range declares(n) {
			if f.test && id.Pos() < bodyEnd {
				continue
			}
			if instead := bannedName(id.Name); instead != "" {
				report(f.dir, f.set.Position(id.Pos()).String(), "the name "+id.Name+": "+instead)
			}
		}
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			if err == nil && strings.ContainsAny(text, " \n") {
				checkText(f.dir, f.path, f.set.Position(lit.Pos()).Line, text, words, report)
			}
		}
		return true
	})
}

// declares returns the names that a node declares itself.
func declares(n ast.Node) []*ast.Ident {
	var list []*ast.Ident
	add := func(x ast.Expr) {
		if id, ok := x.(*ast.Ident); ok {
			list = append(list, id)
		}
	}
	switch x := n.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{x.Name}
	case *ast.TypeSpec:
		return []*ast.Ident{x.Name}
	case *ast.ValueSpec:
		return x.Names
	case *ast.Field:
		return x.Names
	case *ast.AssignStmt:
		if x.Tok == token.DEFINE {
			for _, left := range x.Lhs {
				add(left)
			}
		}
	case *ast.RangeStmt:
		if x.Tok == token.DEFINE {
			add(x.Key)
			add(x.Value)
		}
	}
	return list
}

// bannedName returns what to write instead of a name, or "" where it may stay.
func bannedName(name string) string {
	if instead := names[strings.ToLower(name)]; instead != "" {
		return "write " + instead
	}
	for _, word := range nameParts(name) {
		if instead := nameWords[strings.TrimSuffix(word, "s")]; instead != "" {
			return "write " + instead
		}
	}
	return ""
}

// nameParts splits a name at its capitals: openFaces is open and faces.
func nameParts(name string) []string {
	var parts []string
	start := 0
	for i, r := range name {
		if unicode.IsUpper(r) || r == '_' {
			parts = append(parts, strings.ToLower(name[start:i]))
			start = i
		}
	}
	return append(parts, strings.ToLower(name[start:]))
}

// checkText reports the phrases in a text whose first line is line first of
// the file.
func checkText(dir, file string, first int, text string, words *vocabulary, report func(dir, where, what string)) {
	if !words.all.MatchString(text) {
		return
	}
	for _, p := range words.list {
		for _, at := range p.pattern.FindAllStringIndex(text, -1) {
			line := first + strings.Count(text[:at[0]], "\n")
			report(dir, file+":"+strconv.Itoa(line), strconv.Quote(text[at[0]:at[1]])+": write "+p.instead)
		}
	}
}
