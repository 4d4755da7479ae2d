package httpserver

import (
	"net/http"
	"slices"
	"sort"
	"strings"

	"ace/internal/foundation/problem"
)

// Mux is an http.ServeMux that responds to unknown paths and wrong methods in
// the shape of the protocol that owns the path, and records in the access line
// which route was taken. Patterns are those of http.ServeMux. Register
// everything before serving.
type Mux struct {
	routes http.ServeMux
	writer ErrorWriter
	spaces []errorSpace // longest prefix first
	taken  []string     // patterns, in the order of their registration
}

type errorSpace struct {
	prefix string
	writer ErrorWriter
}

// NewMux returns an empty Mux. Nil for writer means WriteProblem.
func NewMux(writer ErrorWriter) *Mux {
	if writer == nil {
		writer = WriteProblem
	}
	return &Mux{writer: writer}
}

// ErrorsUnder gives the paths that begin with prefix an error shape of their
// own. The longest prefix wins.
func (m *Mux) ErrorsUnder(prefix string, writer ErrorWriter) {
	m.spaces = append(m.spaces, errorSpace{prefix, writer})
	sort.SliceStable(m.spaces, func(i, j int) bool { return len(m.spaces[i].prefix) > len(m.spaces[j].prefix) })
}

// Patterns are the patterns of all routes, in the order of their registration.
func (m *Mux) Patterns() []string { return slices.Clone(m.taken) }

// Handle registers the handler for pattern; it panics on a bad or conflicting
// pattern, as http.ServeMux does.
func (m *Mux) Handle(pattern string, h http.Handler) {
	m.taken = append(m.taken, pattern)
	m.routes.Handle(pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		notePattern(r.Context(), r.Pattern)
		if own, ok := w.(*fallback); ok {
			w = own.ResponseWriter
		}
		h.ServeHTTP(w, r)
	}))
}

// HandleFunc registers the function for pattern.
func (m *Mux) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	m.Handle(pattern, http.HandlerFunc(h))
}

// ServeHTTP passes r to the handler of its route.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.routes.ServeHTTP(&fallback{ResponseWriter: w, mux: m, request: r}, r)
}

// NoteRoute records in the access line which route r would take, for middleware
// that responds before the Mux: paths of a route may hold capabilities, which
// the log must not show.
func (m *Mux) NoteRoute(r *http.Request) {
	_, pattern := m.routes.Handler(r)
	notePattern(r.Context(), pattern)
}

// WriteError responds to a request that no handler has seen with an error in the
// shape of the protocol that owns its path: for middleware in front of the Mux.
func (m *Mux) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	for _, s := range m.spaces {
		if strings.HasPrefix(r.URL.Path, s.prefix) {
			s.writer(w, r, err)
			return
		}
	}
	m.writer(w, r, err)
}

// fallback sees only what http.ServeMux itself writes, because handlers get
// the writer below it: redirects pass, its text errors are replaced.
type fallback struct {
	http.ResponseWriter
	mux      *Mux
	request  *http.Request
	replaced bool
}

func (f *fallback) WriteHeader(status int) {
	if status < 400 {
		f.ResponseWriter.WriteHeader(status)
		return
	}
	f.replaced = true
	f.mux.WriteError(f.ResponseWriter, f.request, muxProblem(status, f.Header().Get("Allow")))
}

func (f *fallback) Write(b []byte) (int, error) {
	if f.replaced {
		return len(b), nil
	}
	return f.ResponseWriter.Write(b)
}

// muxProblem words the errors that http.ServeMux makes. It keeps the Allow
// header that is set already.
func muxProblem(status int, allow string) *problem.Problem {
	switch status {
	case http.StatusNotFound:
		return problem.New(problem.NotFound, "not_found",
			"There is nothing at this address. Check the path; the documents under /.well-known and /openapi.json "+
				"list what there is.")
	case http.StatusMethodNotAllowed:
		return problem.New(problem.MethodNotAllowed, "method_not_allowed",
			"This address does not take that method. Use "+strings.ReplaceAll(allow, ", ", " or ")+".")
	}
	return problem.New(problem.KindOf(status), "bad_request",
		"The request line cannot be understood. Send an ordinary path that begins with a slash.")
}
