package testsites

import (
	"embed"
	"fmt"
	"html"
	"net/http"
	"net/textproto"
	"path"
	"strconv"
	"strings"

	"ace/internal/foundation/markdown"

	"golang.org/x/tools/txtar"
)

//go:embed sites
var siteFiles embed.FS

// archive is a site of plain pages. Its parts:
//
//	-- layout --          the frame of pages: {{title}} {{head}} {{body}} {{lang}} {{path}}
//	-- page /path --      lines "name: value", an empty line, the body in Markdown
//	-- html /path --      the same with a body in HTML
//	-- file /path --      the same names, any text; without the frame
//	-- gold --            a hand-made llms.txt; it is not served
//
// Names are title, description, lang, ld (JSON-LD on one line), status,
// canonical (- for none), and every header of HTTP. {{origin}} stands for the
// origin everywhere. The part "html 404" is the response for all other URLs.
type archive struct {
	layout, gold string
	answers      map[string]answer
}

type answer struct {
	status int
	header http.Header
	body   string
}

func readArchive(name string) (*archive, error) {
	data, err := siteFiles.ReadFile("sites/" + name + ".txtar")
	if err != nil {
		return nil, fmt.Errorf("reading a test site: %w", err)
	}
	a := &archive{answers: map[string]answer{}}
	for _, f := range txtar.Parse(data).Files {
		kind, where, _ := strings.Cut(f.Name, " ")
		switch kind {
		case "layout":
			a.layout = string(f.Data)
		case "gold":
			a.gold = string(f.Data)
		case "page", "html", "file":
			if _, twice := a.answers[where]; twice {
				return nil, fmt.Errorf("test site %s has two parts %s", name, where)
			}
			if a.answers[where], err = a.read(kind, where, string(f.Data)); err != nil {
				return nil, fmt.Errorf("test site %s, part %s: %w", name, f.Name, err)
			}
		default:
			return nil, fmt.Errorf("test site %s has an unknown part %q", name, f.Name)
		}
	}
	return a, nil
}

// fields of a page that are no headers.
type fields struct{ title, description, lang, ld, canonical, frame string }

func (a *archive) read(kind, where, text string) (answer, error) {
	r := answer{status: http.StatusOK, header: http.Header{}}
	if where == "404" {
		r.status = http.StatusNotFound
	}
	var f fields
	head, body, _ := strings.Cut(text, "\n\n")
	if rest, bare := strings.CutPrefix(text, "\n"); bare { // no names
		head, body = "", rest
	}
	for line := range strings.Lines(head) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			return r, fmt.Errorf("the line %q is not of the form name: value", line)
		}
		if err := r.set(&f, name, value); err != nil {
			return r, err
		}
	}
	if kind == "file" {
		r.body = body
		if r.header.Get("Content-Type") == "" {
			r.header.Set("Content-Type", typeOf(where))
		}
		return r, nil
	}
	if kind == "page" {
		rendered, err := markdown.HTML(body)
		if err != nil {
			return r, err
		}
		body = rendered
	}
	if r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", "text/html; charset=utf-8")
	}
	r.body = body
	if f.frame != "none" {
		r.body = a.frame(where, body, &f)
	}
	return r, nil
}

func (r *answer) set(f *fields, name, value string) error {
	switch name {
	case "title":
		f.title = value
	case "description":
		f.description = value
	case "lang":
		f.lang = value
	case "ld":
		f.ld += `<script type="application/ld+json">` + value + "</script>\n"
	case "head":
		f.ld += value + "\n"
	case "canonical":
		f.canonical = value
	case "frame":
		f.frame = value
	case "status":
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("reading a status: %w", err)
		}
		r.status = n
	default:
		r.header.Add(textproto.CanonicalMIMEHeaderKey(name), value)
	}
	return nil
}

func (a *archive) frame(where, body string, f *fields) string {
	var head strings.Builder
	if f.title != "" {
		head.WriteString("<title>" + html.EscapeString(f.title) + "</title>\n")
	}
	if f.description != "" {
		head.WriteString(`<meta name="description" content="` + html.EscapeString(f.description) + "\">\n")
	}
	switch f.canonical {
	case "-":
	case "":
		head.WriteString(`<link rel="canonical" href="{{origin}}` + html.EscapeString(where) + "\">\n")
	default:
		head.WriteString(`<link rel="canonical" href="` + html.EscapeString(f.canonical) + "\">\n")
	}
	head.WriteString(f.ld)
	lang := f.lang
	if lang == "" {
		lang = "en"
	}
	return strings.NewReplacer("{{head}}", head.String(), "{{body}}", body, "{{lang}}", lang, "{{path}}",
		where, "{{title}}", html.EscapeString(f.title)).Replace(a.layout)
}

func typeOf(where string) string {
	switch path.Ext(where) {
	case ".xml":
		return "application/xml"
	case ".md":
		return "text/markdown; charset=utf-8"
	case ".json":
		return "application/json"
	case ".html":
		return "text/html; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "text/plain; charset=utf-8"
}

// handler serves the archive. Addresses with a query have parts of their own,
// or else those of the address without it.
func (a *archive) handler(origin string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, ok := a.answers[r.URL.RequestURI()]
		if !ok {
			got, ok = a.answers[r.URL.Path]
		}
		if !ok {
			got, ok = a.answers["404"]
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		for name, values := range got.header {
			for _, v := range values {
				w.Header().Add(name, strings.ReplaceAll(v, "{{origin}}", origin))
			}
		}
		body := strings.NewReplacer("{{origin}}", origin, "{{uri}}", html.EscapeString(r.URL.Path)).Replace(got.body)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(got.status)
		if r.Method != http.MethodHead {
			_, _ = w.Write([]byte(body))
		}
	})
}
