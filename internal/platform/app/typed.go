package app

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what people type, in bytes.
const (
	maxParam = 500
	maxField = 20000 // private keys fit
)

// Clean returns a value that was typed, or sent by a program, as calls need it;
// or, in a sentence for users, what is wrong with it.
func (p Param) Clean(value string) (clean, fault string) {
	value = strings.TrimSpace(value)
	if p.StripPrefix != "" {
		value = strings.TrimPrefix(value, p.StripPrefix)
	}
	if p.StripSuffix != "" {
		value = strings.TrimSuffix(strings.TrimSuffix(value, "/"), p.StripSuffix)
	}
	if value == "" {
		value = p.Default
	}
	example := ""
	if p.Example != "" {
		example = " For example: " + p.Example
	}
	switch {
	case value == "" && p.Optional:
		return "", ""
	case value == "":
		return "", "A value belongs here." + example
	case len(value) > maxParam || !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		return "", fmt.Sprintf("A value has at most %d visible characters.", maxParam)
	case len(p.Enum) > 0 && !slices.Contains(p.Enum, value):
		return "", "One of: " + strings.Join(p.Enum, ", ") + "."
	case p.Match != "" && !whole(p.Match, value):
		return "", "It does not look right." + example
	}
	return value, ""
}

// Clean returns a field that was typed without surrounding white space, or what
// is wrong with it. The message never contains the value: it may be a secret.
func (f Field) Clean(value string) (clean, fault string) {
	value = strings.TrimSpace(value)
	switch {
	case value == "" && f.Optional:
	case value == "":
		return "", "A value belongs here."
	case len(value) > maxField || !utf8.ValidString(value):
		return "", fmt.Sprintf("At most %d characters.", maxField)
	case f.Prefix != "" && !strings.HasPrefix(value, f.Prefix):
		return "", "It begins with " + f.Prefix + ". Another kind of key may have been copied."
	case f.Match != "" && !whole(f.Match, value):
		return "", "It does not look right. Check that it was copied whole."
	}
	return value, ""
}

// Anywhere reports whether the value may be any host: a server of the user's
// own, not one of the vendor's.
func (p Param) Anywhere() bool {
	if !p.Host || p.Learned {
		return false
	}
	_, fault := p.Clean("server.example")
	return fault == ""
}

// BoundTo returns the server that an OAuth client belongs to, if an app runs on
// many servers: the name of the param that selects it, and its value, which the
// further values of the client name, or else is the default. A client is sent
// to no other server. name is "" if any value is valid.
func (a *App) BoundTo(s *Scheme, extra map[string]string) (name, host string) {
	if s.OAuth == nil || !s.NeedsClient() {
		return "", ""
	}
	for _, name := range Names(s.OAuth.Token.URL) {
		if p := a.Params[name]; p.Anywhere() {
			if extra[name] != "" {
				return name, extra[name]
			}
			return name, p.Default
		}
	}
	return "", ""
}

// whole reports whether a pattern of a definition matches all of a value. A
// pattern that does not compile matches nothing; Check finds those.
func whole(pattern, value string) bool {
	expression, err := regexp.Compile(`^(?:` + pattern + `)$`)
	return err == nil && expression.MatchString(value)
}
