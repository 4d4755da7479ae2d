package oauthclient

import (
	"fmt"
	"regexp"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// maxTyped is how long a typed value may be: enough for a private key.
const maxTyped = 32 << 10

// checkTyped checks what a person typed against the scheme's fields and answers
// it as it is kept: without the blanks that copying adds. What was typed for no
// field is left out.
func checkTyped(s *app.Scheme, typed connection.Credentials) (connection.Credentials, error) {
	checked := connection.Credentials{}
	var faults []problem.Item
	for i := range s.Fields {
		f := &s.Fields[i]
		value := strings.TrimSpace(typed[f.Name])
		if value == "" && f.Optional {
			continue
		}
		why, err := fieldFault(f, value)
		if err != nil {
			return nil, err
		}
		if why != "" {
			faults = append(faults, problem.Item{Pointer: "/fields/" + f.Name, Code: "invalid_value", Detail: why})
			continue
		}
		checked[f.Name] = value
	}
	if len(faults) > 0 {
		return nil, problem.New(problem.Invalid, "invalid_request", "Something that was typed cannot be right: "+faults[0].Detail).WithItems(faults...)
	}
	return checked, nil
}

// fieldFault says what is wrong with a value, without the value.
func fieldFault(f *app.Field, value string) (string, error) {
	title := f.Title
	if title == "" {
		title = f.Name
	}
	switch {
	case value == "":
		return title + " is missing.", nil
	case len(value) > maxTyped:
		return title + " is too long.", nil
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && !multiline(value, r) || r == 0x7f }):
		return title + " holds a line break or another character that cannot be typed. Copy it again.", nil
	case !strings.HasPrefix(value, f.Prefix):
		return title + " begins with " + f.Prefix + ": this looks like another one.", nil
	case f.Match == "":
		return "", nil
	}
	pattern, err := regexp.Compile(`^(?:` + f.Match + `)$`)
	if err != nil {
		return "", fmt.Errorf("the pattern of the field %s: %w", f.Name, err)
	}
	if !pattern.MatchString(value) {
		why := title + " does not look right."
		if f.Example != "" {
			why += " It looks like " + f.Example + "."
		}
		return why, nil
	}
	return "", nil
}

// multiline reports whether a character may stand in a value: line breaks in
// private keys and JSON, which never go into a header as they are.
func multiline(value string, r rune) bool {
	return strings.ContainsRune("\r\n\t", r) && (strings.HasPrefix(value, "-----BEGIN ") || strings.HasPrefix(value, "{"))
}
