package openapiimport

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"ace/internal/platform/app"
)

// body imports what is sent besides parameters.
func (w *draft) body(operation map[string]any) error {
	if w.swagger2 {
		return w.swaggerBody()
	}
	request, _, err := w.object(operation["requestBody"])
	if err != nil || request == nil {
		return err
	}
	content := object(request, "content")
	kind := chooseKind(slices.Sorted(maps.Keys(content)))
	if kind == "" {
		if !flag(request, "required") {
			return nil
		}
		return refuse("body_unsupported", "It takes a body that is neither JSON nor a form nor text.")
	}
	media, _, err := w.object(content[kind])
	if err != nil {
		return err
	}
	switch {
	case isJSON(kind):
		w.tool.Body = app.BodyJSON
	case kind == "multipart/form-data":
		w.tool.Body = app.BodyMultipart
	case kind == "application/x-www-form-urlencoded":
		w.tool.Body = app.BodyForm
		for _, value := range object(media, "encoding") {
			if one, _ := value.(map[string]any); text(one, "style") == "deepObject" {
				w.tool.Body = app.BodyBrackets
			}
		}
	default:
		return w.wholeBody(map[string]any{"type": "string"}, kind, flag(request, "required"))
	}
	return w.add(media["schema"], kind, flag(request, "required"))
}

func chooseKind(kinds []string) string {
	for _, fits := range []func(string) bool{
		func(k string) bool { return k == "application/json" },
		isJSON,
		func(k string) bool { return k == "application/x-www-form-urlencoded" },
		func(k string) bool { return k == "multipart/form-data" },
		func(k string) bool { return strings.HasPrefix(k, "text/plain") },
	} {
		if at := slices.IndexFunc(kinds, fits); at >= 0 {
			return kinds[at]
		}
	}
	return ""
}

func (w *draft) swaggerBody() error {
	kinds := textsOf(map[string]any{"consumes": w.consumes}, nil, "consumes")
	if w.whole != nil {
		if len(kinds) > 0 && !slices.ContainsFunc(kinds, isJSON) {
			if chooseKind(kinds) != "text/plain" {
				return refuse("body_unsupported", "It takes a body that is neither JSON nor a form nor text.")
			}
			return w.wholeBody(map[string]any{"type": "string"}, "text/plain", flag(w.whole, "required"))
		}
		w.tool.Body = app.BodyJSON
		return w.add(w.whole["schema"], "application/json", flag(w.whole, "required"))
	}
	if len(w.form) == 0 {
		return nil
	}
	w.tool.Body = app.BodyForm
	properties, required := map[string]any{}, []any{}
	for _, p := range w.form {
		if text(p, "type") == "file" || slices.Contains(kinds, "multipart/form-data") && !slices.Contains(kinds,
			"application/x-www-form-urlencoded") {
			w.tool.Body = app.BodyMultipart
		}
		one := swaggerSchema(p)
		one["description"] = text(p, "description")
		if text(p, "type") == "file" {
			one["type"], one["format"] = "string", "binary"
		}
		properties[text(p, "name")] = one
		if flag(p, "required") {
			required = append(required, text(p, "name"))
		}
	}
	return w.add(map[string]any{"type": "object", "properties": properties, "required": required}, "", true)
}

// add adds the properties of a body beside the parameters, or the body as one
// input if it is no object, has no known properties, or names clash.
func (w *draft) add(schema any, kind string, required bool) error {
	source, _, err := w.object(schema)
	if err != nil {
		return err
	}
	converted, err := w.convert(schema, 0)
	if err != nil {
		return err
	}
	properties, _ := converted["properties"].(map[string]any)
	flat := len(properties) > 0 && converted["anyOf"] == nil
	for name := range properties {
		flat = flat && !w.taken[clean(name)] && name != "" && !strings.HasPrefix(name, "/")
	}
	if !flat {
		if w.tool.Body != app.BodyJSON {
			return refuse("body_unsupported", "It takes a form whose fields are not described.")
		}
		return w.wholeBody(converted, kind, required)
	}
	needed, _ := converted["required"].([]string)
	binary := binaries(w.importer.resolver, source)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		member, _ := properties[name].(map[string]any)
		if w.tool.Body == app.BodyMultipart && binary[name] {
			about, _ := member["description"].(string)
			member = map[string]any{"type": "string", "format": fileFormat, "description": Prose(about, maxAbout)}
		}
		one := app.Input{
			Name: w.free(name), Schema: member, Where: app.InBody,
			// A body is rarely said to be required, and then its members are needed all the same.
			Required: slices.Contains(needed, name),
		}
		if one.Name != name {
			one.Wire = name
		}
		w.tool.In = append(w.tool.In, one)
	}
	w.contentType(kind)
	return nil
}

// wholeBody makes the body one input.
func (w *draft) wholeBody(schema map[string]any, kind string, required bool) error {
	one := app.Input{Name: w.free("body"), Schema: schema, Where: app.InBody, Required: required}
	w.tool.In = append(w.tool.In, one)
	w.tool.Body = app.BodyRaw
	w.tool.Fixed.Headers = map[string]string{"Content-Type": plainKind(kind)}
	return nil
}

// contentType fixes the JSON media type that the API expects.
func (w *draft) contentType(kind string) {
	if kind = plainKind(kind); w.tool.Body == app.BodyJSON && kind != "application/json" {
		w.tool.Fixed.Headers = map[string]string{"Content-Type": kind}
	}
}

// withParameter matches a media type with a parameter, which some APIs insist on:
// application/json; charset=UTF-8.
var withParameter = regexp.MustCompile(`^[a-z]+/[a-z.+-]+; ?[a-z]+=[A-Za-z0-9._-]{1,20}$`)

// plainKind returns a media type without anything that is not valid in a
// header.
func plainKind(kind string) string {
	if withParameter.MatchString(kind) {
		return kind
	}
	kind, _, _ = strings.Cut(kind, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	major, minor, found := strings.Cut(kind, "/")
	if !found || !token.MatchString(major) || !token.MatchString(minor) || strings.Contains(kind, "*") {
		return "application/json"
	}
	return kind
}

// binaries returns the properties of a form that are files.
func binaries(r resolver, source map[string]any) map[string]bool {
	found := map[string]bool{}
	for name, value := range object(source, "properties") {
		member, _, err := r.object(value)
		if err == nil &&
			(text(member, "format") == "binary" || text(member, "contentMediaType") == "application/octet-stream") {
			found[name] = true
		}
	}
	return found
}
