package notes

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

//go:embed pages
var pageFiles embed.FS

type pages struct {
	templates      *template.Template
	prefix, styles string
}

func newPages(prefix, styles string) (*pages, error) {
	t, err := template.ParseFS(pageFiles, "pages/*.html")
	if err != nil {
		return nil, fmt.Errorf("reading the pages of the demo app: %w", err)
	}
	return &pages{t, prefix, styles}, nil
}

// view is what every page knows.
type view struct {
	Title, Prefix, Styles string

	Origin string // home
	Key    string // a key that was just made
	Person string

	App    string // consent
	Scopes []string
	Hidden []pair
	Fault  string
}

type pair struct{ Name, Value string }

func (p *pages) sheet(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, pageFiles, "pages/notes.css")
}

func (p *pages) show(w http.ResponseWriter, status int, name string, v view) {
	v.Prefix, v.Styles = p.prefix, p.styles
	var out bytes.Buffer
	if err := p.templates.ExecuteTemplate(&out, name, v); err != nil {
		http.Error(w, "The page cannot be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes())
}

func (f *handler) home(w http.ResponseWriter, r *http.Request) {
	f.pages.show(w, http.StatusOK, "home.html", view{Title: "Notes", Origin: f.origin(r)})
}

var personShape = regexp.MustCompile(`^[\pL\pN][\pL\pN ._-]{0,39}$`)

func person(r *http.Request) (string, bool) {
	name := strings.TrimSpace(r.PostFormValue("person"))
	return name, personShape.MatchString(name)
}

const whoFault = "Say who you are: 1 to 40 letters, digits, spaces, dots and dashes."

// makeKey shows a new API key, once.
func (f *handler) makeKey(w http.ResponseWriter, r *http.Request) {
	name, ok := person(r)
	if !ok {
		f.pages.show(w, http.StatusUnprocessableEntity, "home.html",
			view{Title: "Notes", Origin: f.origin(r), Fault: whoFault})
		return
	}
	key, err := f.n.NewKey(r.Context(), name)
	if err != nil {
		f.writeAPI(w, r, err)
		return
	}
	f.pages.show(w, http.StatusOK, "home.html", view{Title: "Notes", Origin: f.origin(r), Key: key, Person: name})
}

// scopeWords are what scopes mean to people.
func scopeWords(scope string) []string {
	if scope == "" {
		scope = scopeRead + " " + scopeWrite
	}
	words := []string{}
	for s := range strings.FieldsSeq(scope) {
		switch s {
		case scopeRead:
			words = append(words, "Read your notes")
		case scopeWrite:
			words = append(words, "Write, change and delete your notes")
		}
	}
	return words
}

// authorize asks the person.
func (f *handler) authorize(w http.ResponseWriter, r *http.Request) {
	req, err := f.n.readRequest(r.Context(), r.URL.Query())
	if err != nil {
		f.stop(w, r, err)
		return
	}
	if fault := req.fault(r.URL.Query()); fault != "" {
		http.Redirect(w, r, req.back(url.Values{"error": {fault}}), http.StatusSeeOther)
		return
	}
	f.consent(w, http.StatusOK, req, r.URL.Query(), "")
}

func (f *handler) consent(w http.ResponseWriter, status int, req *request, q url.Values, fault string) {
	v := view{Title: "Allow access", App: req.client.name, Scopes: scopeWords(req.scope), Fault: fault}
	if v.App == "" {
		v.App = "An app"
	}
	for _, name := range []string{
		"response_type", "client_id", "redirect_uri", "state", "scope", "code_challenge",
		"code_challenge_method",
	} {
		v.Hidden = append(v.Hidden, pair{name, q.Get(name)})
	}
	f.pages.show(w, status, "consent.html", v)
}

// decide sends the person back with what they chose.
func (f *handler) decide(w http.ResponseWriter, r *http.Request) {
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		f.stop(w, r, refuse(http.StatusForbidden, "invalid_request", "This form came from another site."))
		return
	}
	if err := r.ParseForm(); err != nil {
		f.stop(w, r, refuse(http.StatusBadRequest, "invalid_request", "The form cannot be read."))
		return
	}
	req, err := f.n.readRequest(r.Context(), r.PostForm)
	if err != nil {
		f.stop(w, r, err)
		return
	}
	if fault := req.fault(r.PostForm); fault != "" {
		http.Redirect(w, r, req.back(url.Values{"error": {fault}}), http.StatusSeeOther)
		return
	}
	if r.PostForm.Get("decision") != "allow" {
		http.Redirect(w, r, req.back(url.Values{"error": {"access_denied"}}), http.StatusSeeOther)
		return
	}
	name, ok := person(r)
	if !ok {
		f.consent(w, http.StatusUnprocessableEntity, req, r.PostForm, whoFault)
		return
	}
	code, err := f.n.issueCode(r.Context(), req, name)
	if err != nil {
		f.stop(w, r, err)
		return
	}
	http.Redirect(w, r, req.back(url.Values{"code": {code}, "iss": {f.origin(r)}}), http.StatusSeeOther)
}

// stop shows an error that cannot be sent to the app.
func (f *handler) stop(w http.ResponseWriter, r *http.Request, err error) {
	var own *oauthError
	if !errors.As(err, &own) {
		f.n.options.Logger.ErrorContext(r.Context(), "the demo app hit a fault", "error", err)
		own = refuse(http.StatusInternalServerError, "server_error", "Something went wrong.")
	}
	f.pages.show(w, own.status, "stop.html", view{Title: "This does not work", Fault: own.Description})
}
