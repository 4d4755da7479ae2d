package catalog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"ace/internal/foundation/jsonschema"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/httptool"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
)

// provider replaces every vendor: whatever host a call is for, it lands
// here and is written down.
type provider struct {
	server *httptest.Server
	answer func(w http.ResponseWriter)

	mu   sync.Mutex
	last *recorded
}

type recorded struct {
	method, scheme, host, path, uri string
	query                           url.Values
	header                          http.Header
	body                            []byte
}

const (
	originalHost   = "X-Test-Host"
	originalScheme = "X-Test-Scheme"
)

func newProvider(t testing.TB, answer string) *provider {
	p := &provider{answer: func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	}}
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		p.last = &recorded{
			r.Method, r.Header.Get(originalScheme), r.Header.Get(originalHost), r.URL.Path, r.RequestURI,
			r.URL.Query(), r.Header, body,
		}
		p.mu.Unlock()
		p.answer(w)
	}))
	t.Cleanup(p.server.Close)
	return p
}

// Do sends a request here instead.
func (p *provider) Do(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(originalHost, r.URL.Host)
	r.Header.Set(originalScheme, r.URL.Scheme)
	here, err := url.Parse(p.server.URL)
	if err != nil {
		return nil, err
	}
	r.URL.Scheme, r.URL.Host, r.Host = here.Scheme, here.Host, ""
	return p.server.Client().Do(r)
}

func (p *provider) take() *recorded {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.last
	p.last = nil
	return last
}

// contented is an answer that every app counts as a success.
const contented = `{"ok":true,"success":true,"scopes":["all"],"data":{}}`

// secret is in every credential, so that it can be found in a call.
const secret = "s3cretValue"

// live are a connection and its values, made up as the scheme wants them.
func live(a *app.App, s *app.Scheme) *connection.Live {
	params := map[string]string{}
	for name, p := range a.Params {
		switch {
		case p.Default != "":
			params[name] = p.Default
		case len(p.Enum) > 0:
			params[name] = p.Enum[0]
		case p.Example != "":
			params[name] = p.Example
		case strings.HasPrefix(a.Base, "{"+name+"}"):
			params[name] = "https://learned.example"
		default:
			params[name] = "learned1"
		}
	}
	credentials := app.Map{"access_token": secret + "Token", "client_id": secret + "Client"}
	for _, f := range s.Fields {
		credentials[f.Name] = secret + f.Name + "-us6"
		if f.Name == "sid" {
			credentials[f.Name] = f.Example
		}
	}
	if s.OAuth != nil {
		for _, name := range s.OAuth.Client.Needs {
			credentials[name] = secret + name
		}
	}
	c := &connection.Connection{App: a.ID, Scheme: s.ID, Params: params}
	return &connection.Live{Connection: c, Values: app.Join(credentials, app.Map(params))}
}

// filled is the example of a tool as a run hands it on: with defaults, and
// numbers as they were written.
func filled(t testing.TB, of *app.Tool) map[string]any {
	t.Helper()
	text, err := json.Marshal(of.Example)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	arguments := map[string]any{}
	if err := decoder.Decode(&arguments); err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.Compile(of.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	schema.Fill(arguments)
	return arguments
}

// everything is an argument for each input of a tool.
func everything(of *app.Tool) map[string]any {
	arguments := map[string]any{}
	for i := range of.In {
		in := &of.In[i]
		arguments[in.Name] = sample(in.Schema)
		if in.Where == app.InMail && slices.Contains([]string{"To", "Cc", "Bcc"}, in.Wire) {
			arguments[in.Name] = []any{"ann@example.com"}
		}
	}
	return arguments
}

func sample(schema map[string]any) any {
	if values, ok := schema["enum"].([]any); ok {
		return values[0]
	}
	switch schema["type"] {
	case "integer", "number":
		return json.Number("1")
	case "boolean":
		return true
	case "array":
		items, _ := schema["items"].(map[string]any)
		return []any{sample(items)}
	case "object":
		return map[string]any{"name": "value"}
	}
	return "text"
}

func openFile(_ context.Context, id string) (*file.File, error) {
	return &file.File{Name: id + ".txt", MediaType: "text/plain", Data: []byte("content of " + id)}, nil
}

// TestEveryToolCalls runs every tool of every app by every way to sign in, with
// its example and with an argument for each input.
func TestEveryToolCalls(t *testing.T) {
	t.Parallel()
	for _, a := range curated(t) {
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, contented)
			executor := httptool.New(p, nil)
			all, err := a.AllTools()
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range all {
				if of.Free {
					continue
				}
				example := filled(t, of)
				for i := range a.Schemes {
					s := &a.Schemes[i]
					for what, arguments := range map[string]map[string]any{
						"example":    example,
						"everything": everything(of),
					} {
						call := &tool.Call{
							App: a, Scheme: s, Tool: of, Live: live(a, s), Arguments: arguments,
							Open: openFile,
						}
						if _, err := executor.Execute(t.Context(), call); err != nil {
							t.Errorf("%s by %s with %s: %v", of.Name, s.ID, what, err)
							continue
						}
						examine(t, call, p.take())
					}
					preview(t, executor, &tool.Call{App: a, Scheme: s, Tool: of, Live: live(a, s), Arguments: example})
				}
			}
		})
	}
}

// examine looks at a call as it arrived.
func examine(t *testing.T, c *tool.Call, got *recorded) {
	t.Helper()
	fault := func(text string, args ...any) {
		t.Helper()
		t.Errorf("%s by %s: "+text+" (%s %s%s)",
			append(append([]any{c.Tool.Name, c.Scheme.ID}, args...), got.method, got.host, got.uri)...)
	}
	if got.method != c.Tool.Method() {
		fault("method %s, want %s", got.method, c.Tool.Method())
	}
	if got.scheme != "https" || got.host == "" || strings.ContainsAny(got.host, "{}*") {
		fault("goes to %s://%s", got.scheme, got.host)
	}
	if strings.ContainsAny(got.path, "{}") || strings.Contains(got.path, "//") {
		fault("path")
	}
	if !matchesTemplate(c, got) {
		fault("path does not fit %s", c.Tool.Path())
	}
	if !carries(got) {
		fault("no credentials")
	}
	if problem := bodyFault(c, got); problem != "" {
		fault("%s", problem)
	}
}

// matchesTemplate holds the escaped path against the definition: what is fixed
// there stands here, and each input is one segment or a part of one.
func matchesTemplate(c *tool.Call, got *recorded) bool {
	template, _, _ := strings.Cut(c.Tool.Path(), "?")
	pattern := regexp.MustCompile(`\\\{[^{}]*\\\}`).ReplaceAllString(regexp.QuoteMeta(template), `[^/]+`)
	path, _, _ := strings.Cut(got.uri, "?")
	unquoted := strings.NewReplacer("%27", "'", "%28", "(", "%29", ")").Replace(path)
	return regexp.MustCompile(pattern+"$").MatchString(unquoted) || template == ""
}

// carries reports whether a call has credentials: in a header, the query or the
// path.
func carries(got *recorded) bool {
	for name, values := range got.header {
		if text := strings.Join(values, " "); strings.Contains(text, secret) || name == "Authorization" &&
			strings.HasPrefix(text, "Basic ") {
			return true
		}
	}
	return strings.Contains(got.query.Encode(), secret) || strings.Contains(got.path, secret)
}

// bodyFault says what is wrong with the body of a call.
func bodyFault(c *tool.Call, got *recorded) string {
	mediaType, _, _ := strings.Cut(got.header.Get("Content-Type"), ";")
	if c.Tool.Fixed.Raw != "" {
		return ""
	}
	switch c.Tool.Body {
	case app.BodyNone:
		if len(got.body) > 0 {
			return "a body where there is none: " + string(got.body)
		}
	case app.BodyJSON, app.BodyGraphQL:
		var document map[string]any
		if len(got.body) == 0 && got.method != http.MethodPost {
			return ""
		}
		if err := json.Unmarshal(got.body, &document); err != nil || mediaType != "application/json" {
			return "no JSON: " + mediaType + " " + string(got.body)
		}
		if text, _ := document["query"].(string); c.Tool.Body == app.BodyGraphQL && text != c.Tool.GraphQL {
			return "another document: " + text
		}
		if bytes.Contains(got.body, []byte(`"{}"`)) || bytes.Contains(got.body, []byte(`{|`)) {
			return "a template was not filled: " + string(got.body)
		}
	case app.BodyForm, app.BodyBrackets:
		if _, err := url.ParseQuery(string(got.body)); err != nil || mediaType != "application/x-www-form-urlencoded" {
			return "no form: " + mediaType
		}
	case app.BodyMultipart, app.BodyRelated:
		if want := map[string]string{
			app.BodyMultipart: "multipart/form-data",
			app.BodyRelated:   "multipart/related",
		}[c.Tool.Body]; mediaType != want {
			return "no parts: " + mediaType
		}
	case app.BodyRaw:
		if len(got.body) == 0 || mediaType == "" {
			return "an empty body, or one without a type"
		}
	}
	return ""
}

// preview looks for credentials in what a preview shows.
func preview(t *testing.T, executor *httptool.Executor, c *tool.Call) {
	t.Helper()
	p, err := executor.Preview(c)
	if err != nil {
		t.Errorf("%s by %s cannot be previewed: %v", c.Tool.Name, c.Scheme.ID, err)
		return
	}
	text, err := json.Marshal(p)
	if err != nil || bytes.Contains(text, []byte(secret)) {
		t.Errorf("%s by %s: the preview shows credentials: %s, %v", c.Tool.Name, c.Scheme.ID, text, err)
	}
}

// TestWhoIsConnected lets every app answer whose account it is.
func TestWhoIsConnected(t *testing.T) {
	t.Parallel()
	for _, a := range curated(t) {
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			document := map[string]any{"ok": true, "success": true}
			for _, place := range []struct{ pointer, value string }{
				{a.Who.Expect.Pointer, "true"},
				{a.Who.Tenant, "t1"},
				{a.Who.Email, "ann@example.com"},
				{a.Who.Label, "Ann"},
				{a.Who.ID, "id1"},
			} {
				if place.pointer == "" {
					continue
				}
				if err := app.Put(document, place.pointer, place.value); err != nil {
					t.Fatal(err)
				}
			}
			text, err := json.Marshal(document)
			if err != nil {
				t.Fatal(err)
			}
			p := newProvider(t, string(text))
			got, err := httptool.New(p, nil).Check(t.Context(), a, &a.Schemes[0], live(a, &a.Schemes[0]))
			if err != nil || a.Who.ID != "" && got.ID != "id1" {
				t.Errorf("Check = %+v, %v", got, err)
			}
			p.answer = func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }
			_, err = httptool.New(p, nil).Check(t.Context(), a, &a.Schemes[0], live(a, &a.Schemes[0]))
			var failure *tool.Failure
			if !errors.As(err, &failure) || failure.Code != tool.CodeUnauthorized {
				t.Errorf("Check with credentials that are over = %v", err)
			}
		})
	}
}
