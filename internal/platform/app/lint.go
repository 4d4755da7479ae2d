package app

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"ace/internal/foundation/jsonschema"
)

// Fault is one thing in a definition that makes no sense.
type Fault struct {
	At   string // where: tools/create_note/call
	Text string // what is wrong, and what would be right
}

// String is the fault on one line.
func (f Fault) String() string { return f.At + ": " + f.Text }

// Shapes of names.
const (
	appShape   = `^[a-z][a-z0-9-]{0,39}$`
	toolShape  = `^[a-z][a-z0-9_]{2,55}$`
	inputShape = `^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`
	fieldShape = "^[a-zA-Z0-9!#$%&'*+.^_`|~-]+$" // a token of RFC 9110, section 5.6.2
)

// Check reads a definition as its first user would, and answers what does not
// fit. local allows addresses of this machine, for the demo app.
func (a *App) Check(local bool) []Fault {
	c := &checker{app: a, local: local, schemes: map[string]bool{}}
	c.identity()
	c.addresses()
	for i := range a.Schemes {
		c.scheme(&a.Schemes[i])
	}
	if len(a.Schemes) == 0 {
		c.fault("auth", "there is no way to connect; an app without sign-in says {type: none}")
	}
	c.who()
	for name, t := range a.Tools.All() {
		c.tool(name, t)
	}
	for name, t := range a.Triggers.All() {
		c.trigger(name, t)
	}
	if a.Tier == Full && a.Tools.Len() == 0 {
		c.fault("tools", "an app that is made by hand has tools")
	}
	return c.faults
}

type checker struct {
	app     *App
	local   bool
	schemes map[string]bool
	faults  []Fault
}

func (c *checker) fault(at, format string, args ...any) {
	c.faults = append(c.faults, Fault{at, fmt.Sprintf(format, args...)})
}

func (c *checker) match(at, shape, text string) {
	if !regexp.MustCompile(shape).MatchString(text) {
		c.fault(at, "%q does not fit %s", text, shape)
	}
}

func (c *checker) identity() {
	a := c.app
	c.match("id", appShape, a.ID)
	if a.Name == "" || a.About == "" || len(a.About) > 300 {
		c.fault("name", "an app has a name, and a sentence about it of at most 300 characters")
	}
	if _, err := time.Parse(time.DateOnly, a.Checked); err != nil {
		c.fault("checked", "%q is no date like 2026-11-21", a.Checked)
	}
	if len(a.Categories) == 0 {
		c.fault("categories", "name at least one")
	}
	if !slices.Contains([]Tier{Full, API, MCP, Request}, a.Tier) {
		c.fault("tier", "%q is none of full, api, mcp, request", a.Tier)
	}
	if a.Tier == Request && !slices.Contains([]string{"spec", "docs", "lists"}, a.Verified) {
		c.fault("verified", "%q is none of spec, docs, lists", a.Verified)
	}
	for name, p := range a.Params {
		if _, err := regexp.Compile(p.Match); err != nil || p.Match == "" && !p.Learned && len(p.Enum) == 0 {
			c.fault("params/"+name+"/match", "a value that people type needs a regular expression of all it may be")
		}
		if p.Match != "" && !(strings.HasPrefix(p.Match, "^") && strings.HasSuffix(p.Match, "$")) {
			c.fault("params/"+name+"/match", "begins with ^ and ends with $: the whole value is meant")
		}
	}
}

func (c *checker) addresses() {
	c.address("docs", c.app.Docs)
	c.address("base", c.app.Base)
	for i, host := range c.app.Hosts {
		if strings.ContainsAny(host, "/:@ ") {
			c.fault(fmt.Sprintf("hosts/%d", i), "%q is no host name", host)
		}
	}
	c.templates("base", c.known(nil), c.app.Base)
	for i, step := range slices.Concat(c.app.Resolve, c.app.Release) {
		if !slices.ContainsFunc(c.app.Schemes,
			func(s Scheme) bool { return step.Scheme == "" || s.ID == step.Scheme }) {
			c.fault(fmt.Sprintf("resolve/%d/scheme", i), "there is no scheme %q", step.Scheme)
		}
	}
	c.headers("headers", c.known(nil), c.app.Headers)
}

// address checks an https address, which may hold {params}.
func (c *checker) address(at, text string) {
	u, err := url.Parse(regexp.MustCompile(`\{[^{}]*\}`).ReplaceAllString(text, "x"))
	switch {
	case err != nil || u.Host == "" && !strings.HasPrefix(text, "{"):
		c.fault(at, "%q is no address", text)
	case u.User != nil:
		c.fault(at, "an address holds no user")
	case u.Scheme != "https" && !(c.local && u.Scheme == "http") && !strings.HasPrefix(text, "{"):
		c.fault(at, "%q is not https", text)
	default:
		c.steps(at, u.EscapedPath())
	}
}

// steps refuses a path that leads upwards, in whatever spelling: who reads a
// definition must see where its calls go.
func (c *checker) steps(at, path string) {
	path, _, _ = strings.Cut(path, "?")
	for step := range strings.SplitSeq(strings.ReplaceAll(strings.ToLower(path), "%2e", "."), "/") {
		if step == "." || step == ".." {
			c.fault(at, "%q leads upwards in a path", step)
		}
	}
}

// ownFields are headers of which the client that makes a call is the only judge:
// where it goes, and where its body ends.
func ownFields() []string {
	return []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer"}
}

// headers checks what an app sets in the header of its calls.
func (c *checker) headers(at string, known []string, fields map[string]string) {
	for name, value := range fields {
		at := at + "/" + name
		c.field(at, name)
		if strings.ContainsFunc(value, unicode.IsControl) {
			c.fault(at, "the value holds a line break or another control character")
		}
		c.templates(at, known, value)
	}
}

// field checks the name of a header.
func (c *checker) field(at, name string) {
	if !regexp.MustCompile(fieldShape).MatchString(name) {
		c.fault(at, "%q is no name of a header", name)
	}
	for _, own := range ownFields() {
		if strings.EqualFold(name, own) {
			c.fault(at, "the header %s is not set by an app", own)
		}
	}
}

// known are the values that templates of a scheme may name.
func (c *checker) known(s *Scheme) []string {
	names := []string{"now", "now_ms", "now_iso", "uuid"}
	for name := range c.app.Params {
		names = append(names, name)
	}
	for _, step := range c.app.Resolve {
		for name := range step.Keep {
			names = append(names, name)
		}
	}
	schemes := c.app.Schemes
	if s != nil {
		schemes = []Scheme{*s}
	}
	for i := range schemes {
		names = append(names, schemes[i].provides()...)
	}
	return names
}

// provides are the values that connecting by a scheme makes known.
func (s *Scheme) provides() []string {
	names := []string{"access_token", "refresh_token", "client_id", "client_secret"}
	for _, f := range s.Fields {
		names = append(names, f.Name)
	}
	for _, step := range s.Steps {
		for name := range step.Keep {
			names = append(names, name)
		}
	}
	if s.OAuth == nil {
		return names
	}
	names = append(names, s.OAuth.Client.Needs...)
	for name := range s.OAuth.Token.Capture {
		names = append(names, name)
	}
	for name := range s.OAuth.Callback.Capture {
		names = append(names, name)
	}
	for name := range s.OAuth.Extra {
		names = append(names, name)
	}
	return names
}

func (c *checker) templates(at string, known []string, templates ...string) {
	for _, t := range templates {
		for _, name := range Names(t) {
			if !slices.Contains(known, name) {
				c.fault(at, "{%s} is neither a param, a field nor an input", name)
			}
		}
	}
}

func (c *checker) scheme(s *Scheme) {
	at := "auth/" + s.ID
	if c.schemes[s.ID] {
		c.fault(at, "two schemes have this id")
	}
	c.schemes[s.ID] = true
	types := []string{
		TypeOAuth2, TypeClient, TypeOAuth1, TypeKey, TypeBasic, TypeJWT, TypeExchange, TypeSigV4, TypeMCP,
		TypeNone,
	}
	if !slices.Contains(types, s.Type) {
		c.fault(at+"/type", "%q is none of %s", s.Type, strings.Join(types, ", "))
	}
	if (s.Type == TypeKey || s.Type == TypeBasic) && len(s.Fields) == 0 {
		c.fault(at+"/fields", "say what the person types")
	}
	for _, f := range s.Fields {
		if _, err := regexp.Compile(f.Match); err != nil {
			c.fault(at+"/fields/"+f.Name, "match is no regular expression")
		}
	}
	known := c.known(s)
	if s.Base != "" {
		c.address(at+"/base", s.Base)
		c.templates(at+"/base", known, s.Base)
	}
	c.headers(at+"/send/headers", known, s.Send.Headers)
	for name, t := range s.Send.Query {
		c.templates(at+"/send/query/"+name, known, t)
	}
	if s.Type == TypeOAuth2 || s.Type == TypeClient {
		c.oauth(at, s, known)
	}
}

func (c *checker) oauth(at string, s *Scheme, known []string) {
	if s.OAuth == nil {
		c.fault(at+"/oauth", "is missing")
		return
	}
	if s.Type == TypeOAuth2 {
		c.address(at+"/oauth/authorize/url", s.OAuth.Authorize.URL)
		c.templates(at+"/oauth/authorize/url", known, s.OAuth.Authorize.URL)
	}
	c.address(at+"/oauth/token/url", s.OAuth.Token.URL)
	c.templates(at+"/oauth/token/url", known, s.OAuth.Token.URL)
	if s.OAuth.PKCE != "" && !slices.Contains([]string{"S256", "plain", "off"}, s.OAuth.PKCE) {
		c.fault(at+"/oauth/pkce", "%q is none of S256, plain, off", s.OAuth.PKCE)
	}
}

func (c *checker) who() {
	w := c.app.Who
	if w == nil {
		if c.app.Tier == Full {
			c.fault("who", "an app that is made by hand says whose account it is")
		}
		return
	}
	if w.Base != "" {
		c.address("who/base", w.Base)
	}
	if w.ID == "" && w.Label == "" && w.Expect.Pointer == "" && len(w.Expect.Status) == 0 {
		c.fault("who", "say where the answer names the account: id, label; or what to expect where it names none")
	}
}

func (c *checker) tool(name string, t *Tool) {
	at := "tools/" + name
	c.match(at, toolShape, name)
	method, path := splitCall(t.Call)
	if !slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}, method) || !strings.HasPrefix(path,
		"/") && path != "" {
		c.fault(at+"/call", "%q is no method and path", t.Call)
	}
	if t.Title == "" || t.About == "" || len(t.About) > 500 || !strings.HasSuffix(t.About, ".") {
		c.fault(at+"/about", "a tool has a title, and sentences about it of at most 500 characters")
	}
	if c.app.Tier == Full && len(t.Phrases) < 2 {
		c.fault(at+"/phrases", "name at least two tasks, as people say them")
	}
	if !slices.Contains([]string{Reads, Writes, Destroys}, t.Effect) {
		c.fault(at+"/effect", "%q is none of read, write, destructive", t.Effect)
	}
	known := c.known(nil)
	for i := range t.In {
		known = append(known, t.In[i].Name)
		c.input(at, &t.In[i])
	}
	c.templates(at+"/call", known, path)
	c.steps(at+"/call", path)
	c.body(at, t, known)
	for part, t := range t.Fixed.Query {
		c.templates(at+"/fixed/query/"+part, known, t)
	}
	c.headers(at+"/fixed/headers", known, t.Fixed.Headers)
	for i := range t.In {
		if t.Place(&t.In[i]) == InPath && !t.In[i].Required {
			c.fault(at+"/in/"+t.In[i].Name, "stands in the path and is not required: write %s!", t.In[i].Name)
		}
	}
	c.paging(at, t)
	c.example(at, t)
}

func (c *checker) input(at string, in *Input) {
	at += "/in/" + in.Name
	c.match(at, inputShape, in.Name)
	c.schema(at, in.Schema)
	if in.Where != "" && !slices.Contains([]string{InPath, InQuery, InHeader, InBody, InMedia, InFixed, InMail},
		in.Where) {
		c.fault(at, "where is path, query, header, body, media, fixed or mail")
	}
	if in.Where == InHeader {
		c.field(at, in.WireName())
	}
}

// schema keeps to what the function calls of all models understand.
func (c *checker) schema(at string, schema map[string]any) {
	if kind, _ := schema["type"].(string); kind == "array" && schema["items"] == nil {
		c.fault(at, "an array says what its entries are")
	}
	if values, ok := schema["enum"].([]any); ok && len(values) > 60 {
		c.fault(at, "more than 60 choices: take a pattern, or a tool that lists them")
	}
	if schema["$ref"] != nil {
		c.fault(at, "references are not understood everywhere: write the schema out")
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, inside := range properties {
		c.match(at+"/"+name, inputShape, name)
		if m, ok := inside.(map[string]any); ok {
			c.schema(at+"/"+name, m)
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		c.schema(at+"/items", items)
	}
}

func (c *checker) paging(at string, t *Tool) {
	p := t.Paging
	if p == nil {
		p = c.app.Paging
	}
	if p == nil || t.Items == "" || p.Type == PagingLink || p.Type == PagingNextURL || p.Type == "none" {
		return
	}
	if !slices.ContainsFunc(t.In, func(in Input) bool { return in.Name == p.In }) {
		c.fault(at+"/in", "the list goes on by %q, which is no input", p.In)
	}
}

func (c *checker) example(at string, t *Tool) {
	schema, err := jsonschema.Compile(t.InputSchema)
	if err != nil {
		c.fault(at+"/in", "the inputs make no JSON Schema: %v", err)
		return
	}
	if t.Example == nil {
		return
	}
	text, err := json.Marshal(t.Example)
	arguments := map[string]any{}
	if err != nil || json.Unmarshal(text, &arguments) != nil {
		c.fault(at+"/example", "cannot be written as JSON")
		return
	}
	schema.Fill(arguments)
	if err := schema.CheckValue(arguments); err != nil {
		c.fault(at+"/example", "does not fit the inputs: %v", err)
	}
}
