package openapiimport

import (
	"errors"
	"maps"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"ace/internal/platform/app"
)

// operation makes a tool, or returns why not.
func (im *importer) operation(method, path string, item, operation map[string]any) (*app.Tool, *Skipped) {
	if flag(operation, "deprecated") {
		return nil, &Skipped{Code: "deprecated", Detail: "The API gives it up."}
	}
	if reason := fitPath(path); reason != nil {
		return nil, reason
	}
	if address := serverOf(append(slices.Clone(list(operation, "servers")), list(item, "servers")...)); address !=
		"/" && !strings.HasPrefix(address, "/") && !strings.HasPrefix(address, im.result.Base) {
		return nil, &Skipped{
			Code:   "server_elsewhere",
			Detail: "It stands on another server than the API. Connect that one by itself.",
		}
	}
	w := &draft{
		importer: im, converter: im.converter(), path: path, consumes: list(operation, "consumes"),
		tool: &app.Tool{In: app.Inputs{}, Body: app.BodyNone, Paging: &app.Paging{}}, taken: map[string]bool{},
	}
	if w.consumes == nil {
		w.consumes = list(im.root, "consumes")
	}
	if err := w.inputs(item, operation); err != nil {
		return nil, reasonOf(err)
	}
	if method != "get" && method != "head" {
		if err := w.body(operation); err != nil {
			return nil, reasonOf(err)
		}
	}
	if err := w.response(operation); err != nil {
		return nil, reasonOf(err)
	}
	t := w.tool
	if !t.Binary {
		t.OutputSchema = w.output(operation)
	}
	t.Call = strings.ToUpper(method) + " " + w.path
	t.Name = im.name(method, path, text(operation, "operationId"))
	t.Effect = effect(method, t.Name)
	describe(t, method, path, operation)
	if reason := im.finish(t); reason != nil {
		return nil, reason
	}
	return t, nil
}

// refusal is a reason as an error.
type refusal struct{ Skipped }

func (r refusal) Error() string { return r.Code }

func refuse(code, detail string) error { return refusal{Skipped{Code: code, Detail: detail}} }

func reasonOf(err error) *Skipped {
	var r refusal
	switch {
	case errors.As(err, &r):
		return &r.Skipped
	case errors.Is(err, errRemote):
		return &Skipped{Code: "ref_remote", Detail: "It refers to another document. Bundle the description into one."}
	}
	return &Skipped{Code: "ref_missing", Detail: "It refers to what is not in the document."}
}

// placeholder is an input in a path.
var placeholder = regexp.MustCompile(`\{([^{}/]*)\}`)

// fitPath refuses paths that could lead elsewhere than they say.
func fitPath(path string) *Skipped {
	bare := placeholder.ReplaceAllString(path, "x")
	for segment := range strings.SplitSeq(strings.TrimPrefix(bare, "/"), "/") {
		if segment == "." || segment == ".." || segment == "" && bare != "/" && !strings.HasSuffix(bare, "/") {
			return &Skipped{Code: "path_unsafe", Detail: "Its path holds empty segments or dots."}
		}
	}
	if !strings.HasPrefix(bare, "/") || strings.HasPrefix(bare, "//") || strings.Contains(bare, "//") ||
		len(path) > 500 || strings.ContainsFunc(bare, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`{}\?#@<>"`+"`", r)
	}) || strings.Contains(strings.ToLower(bare), "%2e") || strings.Contains(strings.ToLower(bare), "%2f") {
		return &Skipped{
			Code:   "path_unsafe",
			Detail: "Its path holds characters that do not belong there, or does not begin with one slash.",
		}
	}
	return nil
}

// draft is a tool that is being built.
type draft struct {
	*importer
	*converter
	tool     *app.Tool
	path     string
	taken    map[string]bool // names of inputs
	consumes []any
	form     []map[string]any // parameters of Swagger 2 that make the body
	whole    map[string]any   // its body parameter
}

// object keeps the promoted methods of both embedded types apart.
func (w *draft) object(value any) (map[string]any, string, error) { return w.converter.object(value) }

// inputs imports the parameters; those of the operation override those of its
// path.
func (w *draft) inputs(item, operation map[string]any) error {
	chosen := map[string]map[string]any{}
	var order []string
	for _, value := range append(slices.Clone(list(operation, "parameters")), list(item, "parameters")...) {
		p, _, err := w.object(value)
		if err != nil {
			return err
		}
		key := text(p, "in") + " " + text(p, "name")
		if p == nil || chosen[key] != nil {
			continue
		}
		chosen[key] = p
		order = append(order, key)
	}
	for _, key := range order {
		if err := w.parameter(chosen[key]); err != nil {
			return err
		}
	}
	for _, match := range placeholder.FindAllStringSubmatch(w.path, -1) {
		if !w.taken[match[1]] {
			return refuse("path_parameter_missing", "Its path names an input that is not described.")
		}
	}
	return nil
}

func (w *draft) parameter(p map[string]any) error {
	name, where := text(p, "name"), text(p, "in")
	required := flag(p, "required")
	switch where {
	case "path":
		if !strings.Contains(w.path, "{"+name+"}") {
			return nil
		}
		required = true
	case "query":
	case "header":
		if !token.MatchString(name) {
			return refuse("header_unsafe", "A header field of it has a name that is none.")
		}
		if ours(name) {
			return nil
		}
	case "body":
		w.whole = p
		return nil
	case "formData":
		w.form = append(w.form, p)
		return nil
	default:
		if required {
			return refuse("parameter_unsupported", "It needs a cookie, or a parameter in a place that is not known.")
		}
		return nil
	}
	if flag(p, "deprecated") && !required {
		return nil
	}
	schema, style, err := w.parameterSchema(p, where)
	if err != nil {
		return err
	}
	one := app.Input{Name: w.free(name), Required: required, Schema: schema, Where: where, Style: style}
	if one.Name != name {
		one.Wire = name
	}
	if where == "path" {
		w.path = strings.ReplaceAll(w.path, "{"+name+"}", "{"+one.Name+"}")
	}
	w.tool.In = append(w.tool.In, one)
	return nil
}

// token matches the name of a header field (RFC 9110, 5.6.2).
var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$")

// ours reports whether a header field may not be set by the caller: it belongs
// to the connection, the credentials or the transport.
func ours(name string) bool {
	canonical := textproto.CanonicalMIMEHeaderKey(name)
	for _, prefix := range []string{"Proxy-", "Sec-", "X-Forwarded-", "Forwarded", "Access-Control-"} {
		if strings.HasPrefix(canonical, prefix) {
			return true
		}
	}
	return slices.Contains([]string{
		"Accept", "Accept-Encoding", "Authorization", "Connection", "Content-Encoding", "Content-Length",
		"Content-Type", "Cookie", "Expect", "Host",
		"Keep-Alive", "Origin", "Referer", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
		"Via", "X-Real-Ip", "X-Http-Method-Override",
	}, canonical)
}

// parameterSchema returns the schema of a parameter and how its value is
// written.
func (w *draft) parameterSchema(p map[string]any, where string) (schema map[string]any, style string, err error) {
	source := p["schema"]
	if source == nil && !w.swagger2 {
		for _, media := range object(p, "content") {
			described, _ := media.(map[string]any)
			source = described["schema"]
		}
	}
	if source == nil {
		source = swaggerSchema(p)
	}
	if schema, err = w.convert(source, maxDepth-4); err != nil {
		return nil, "", err
	}
	if about := Prose(text(p, "description"), maxAbout); about != "" {
		if note, _ := schema["description"].(string); strings.HasPrefix(note, "Default: ") {
			about += " " + note
		}
		schema["description"] = about
	}
	many, nested := schema["type"] == "array", schema["type"] == "object"
	if where != "query" {
		if many || nested { // one value, as the API writes it
			schema = map[string]any{
				"type":        "string",
				"description": Prose("Comma-separated. "+text(p, "description"), maxAbout),
			}
		}
		return schema, "", nil
	}
	return schema, queryStyle(p, many, nested), nil
}

// swaggerSchema returns the schema of a parameter of Swagger 2, which has no
// field of its own for it.
func swaggerSchema(p map[string]any) map[string]any {
	source := maps.Clone(p)
	for _, name := range []string{"name", "in", "required", "description", "collectionFormat"} {
		delete(source, name)
	}
	return source
}

func queryStyle(p map[string]any, many, nested bool) string {
	explode, said := p["explode"].(bool)
	switch style := text(p, "style"); {
	case style == "deepObject":
		return app.StyleDeep
	case nested && (!said || explode) && p["content"] == nil:
		return app.StyleMembers
	case !many:
		return ""
	case style == "spaceDelimited":
		return app.StyleSpace
	case style == "pipeDelimited":
		return app.StylePipe
	case said && !explode:
		return app.StyleComma
	}
	if text(p, "in") == "query" && p["schema"] == nil { // Swagger 2
		switch text(p, "collectionFormat") {
		case "multi":
			return ""
		case "ssv":
			return app.StyleSpace
		case "tsv":
			return app.StyleTab
		case "pipes":
			return app.StylePipe
		}
		return app.StyleComma
	}
	return ""
}

// response imports what is returned: files are marked, XML alone is refused.
func (w *draft) response(operation map[string]any) error {
	for _, status := range slices.Sorted(maps.Keys(object(operation, "responses"))) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		response, _, err := w.object(object(operation, "responses")[status])
		if err != nil {
			return err
		}
		kinds := slices.Sorted(maps.Keys(object(response, "content")))
		if w.swagger2 && response["schema"] != nil {
			kinds = textsOf(operation, w.importer.root, "produces")
		}
		if len(kinds) == 0 {
			continue
		}
		switch {
		case slices.ContainsFunc(kinds, func(kind string) bool {
			return isJSON(kind) || strings.HasPrefix(kind, "text/") && kind != "text/xml" || kind == "*/*"
		}):
		case slices.ContainsFunc(kinds, func(kind string) bool { return !strings.Contains(kind, "xml") }):
			w.tool.Binary = true
		default:
			return refuse("xml_only", "It answers XML alone.")
		}
		return nil
	}
	return nil
}

func textsOf(operation, root map[string]any, name string) (texts []string) {
	values := list(operation, name)
	if values == nil {
		values = list(root, name)
	}
	for _, one := range values {
		if s, ok := one.(string); ok {
			texts = append(texts, s)
		}
	}
	return texts
}

func isJSON(kind string) bool {
	kind, _, _ = strings.Cut(kind, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	return kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "text/json"
}
