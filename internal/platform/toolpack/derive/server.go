package derive

import (
	"regexp"
	"strings"

	"ace/internal/platform/app"
)

// fit is a description whose server is that of an app.
type fit struct {
	source *Source
	base   string // of the description, without variables
	before string // what paths of the app have before those of the description
	after  string // what paths of the description have before those of the app
}

var variable = regexp.MustCompile(`\{[^{}]*\}`)

// fits reports whether a description is of an app: one of its servers has the
// host of the app's base, and one of the two paths begins with the other.
func fits(a *app.App, s *Source) (fit, bool) {
	host, path, ok := serverOf(a.Base)
	if !ok || strings.Contains(path, "*") {
		return fit{}, false
	}
	for _, server := range s.Servers {
		there, below, ok := serverOf(server)
		if !ok || there != host || strings.Contains(below, "*") {
			continue
		}
		f := fit{source: s, base: "https://" + strings.ReplaceAll(there, "*", "x") + below}
		if rest, cut := strings.CutPrefix(below, path); cut && (rest == "" || rest[0] == '/') {
			f.before = rest
			return f, true
		}
		if rest, cut := strings.CutPrefix(path, below); cut && rest[0] == '/' {
			f.after = rest
			return f, true
		}
	}
	return fit{}, false
}

// serverOf returns host and path of a URL, a star for each variable. A host that
// names no registrable domain is none.
func serverOf(address string) (host, path string, ok bool) {
	address = variable.ReplaceAllString(address, "*")
	rest, secure := strings.CutPrefix(address, "https://")
	if !secure {
		return "", "", false
	}
	host, path, _ = strings.Cut(rest, "/")
	labels := strings.Split(strings.ToLower(host), ".")
	if len(labels) < 2 || strings.Contains(labels[len(labels)-1]+labels[len(labels)-2], "*") ||
		strings.ContainsAny(host, ":@?#") {
		return "", "", false
	}
	if path = strings.TrimRight(path, "/"); path != "" {
		path = "/" + path
	}
	return strings.ToLower(host), path, true
}

// path returns the path of an operation below the base of the app.
func (f *fit) path(of string) (string, bool) {
	if f.after == "" {
		return f.before + of, true
	}
	rest, cut := strings.CutPrefix(of, f.after)
	return rest, cut && strings.HasPrefix(rest, "/")
}
