package openapiimport

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"ace/internal/platform/app"
)

// Lengths of names: that of an input is what every model accepts, that of a
// tool leaves room for the app before it.
const (
	maxName = 64
	maxTool = 46
)

var wellNamed = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`)

// clean returns the name of an input as every model accepts it.
func clean(name string) string {
	if wellNamed.MatchString(name) {
		return name
	}
	cleaned := strings.Map(func(r rune) rune {
		if r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_.-", r)) {
			return r
		}
		return '_'
	}, name)
	cleaned = strings.Trim(cleaned, "_")
	if cleaned == "" || !unicode.IsLetter(rune(cleaned[0])) {
		cleaned = "p_" + cleaned
	}
	if len(cleaned) > maxName-8 {
		cleaned = cleaned[:maxName-8] + "_" + digest(name)
	}
	return cleaned
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:2])
}

// free returns a name of an input that no other input of the tool has.
func (w *draft) free(name string) string {
	chosen := clean(name)
	for n := 2; w.taken[chosen]; n++ {
		chosen = fmt.Sprintf("%.56s_%d", clean(name), n)
	}
	w.taken[chosen] = true
	return chosen
}

// Snake returns a name in lower case, its words joined by one underscore:
// listUserRepos, list-user-repos and List User Repos are list_user_repos.
func Snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case r >= 0x80 || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "_") {
				b.WriteByte('_')
			}
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]) ||
			unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "_") {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Trim(b.String(), "_")
}

// name returns a name for a tool that no other tool of the document has and
// that is the same at every import.
func (im *importer) name(method, path, id string) string {
	base := Snake(id)
	if base == "" {
		base = method + "_" + Snake(placeholder.ReplaceAllString(path, " "))
	}
	return Unique(base, method+" "+path, im.names)
}

// Unique returns a name of a tool made of words: a letter first, 3 to 56
// characters, not used by another tool; if it would be, a part of the digest of
// what it stands for is appended.
func Unique(base, stands string, taken map[string]bool) string {
	base = strings.Trim(base, "_")
	if base == "" || !unicode.IsLower(rune(base[0])) {
		base = strings.TrimSuffix("call_"+base, "_")
	}
	if len(base) < 3 {
		base += "_call"
	}
	name := base
	if len(name) > maxTool {
		name = strings.Trim(name[:maxTool], "_") + "_" + digest(stands)
	}
	for n := 0; taken[name] || name == app.NameWhoami || name == app.NameRequest; n++ {
		name = strings.Trim(base[:min(len(base), maxTool)],
			"_") + "_" + digest(fmt.Sprint(stands, strings.Repeat("+", n)))
	}
	taken[name] = true
	return name
}

// effect returns what a tool does: by its method, and by what its name says.
func effect(method, name string) string {
	words := strings.Split(name, "_")
	has := func(some ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(some, word) })
	}
	switch {
	case method == "get", method == "head":
		return app.Reads
	case method == "delete" || has("delete", "remove", "cancel", "revoke", "purge", "destroy", "drop", "wipe"):
		return app.Destroys
	case method == "post" && slices.Contains([]string{"search", "query", "list", "get", "find"}, words[0]):
		return app.Reads
	}
	return app.Writes
}

// describe returns the description of a tool: the API's own summary if there is
// one, and always the call and what it needs.
func describe(t *app.Tool, method, path string, operation map[string]any) {
	t.Title = Prose(text(operation, "summary"), 80)
	if t.Title == "" {
		words := strings.ReplaceAll(t.Name, "_", " ")
		t.Title = strings.ToUpper(words[:1]) + words[1:]
	}
	about := Prose(text(operation, "description"), 400)
	if about == "" {
		about = Prose(text(operation, "summary"), 400)
	}
	call := Prose(strings.ToUpper(method)+" "+path, 200) + "."
	t.About = strings.TrimSpace(strings.TrimRight(about, ". ") + ". " + call)
	if about == "" {
		t.About = call
	}
	var required []string
	for _, in := range t.In {
		if in.Required {
			required = append(required, in.Name)
		}
	}
	if len(required) > 0 {
		t.About += " Required: " + Prose(strings.Join(required, ", "), 200) + "."
	}
}
