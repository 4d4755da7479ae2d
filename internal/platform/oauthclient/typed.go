package oauthclient

import (
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// checkTyped checks what a person typed against the scheme's fields and returns
// it as it is kept: without the blanks that copying adds. What was typed for no
// field is left out.
func checkTyped(s *app.Scheme, typed connection.Credentials) (connection.Credentials, error) {
	checked := connection.Credentials{}
	var faults []problem.Item
	for _, f := range s.Fields {
		value, fault := f.Clean(typed[f.Name])
		if fault == "" && strings.ContainsFunc(value,
			func(r rune) bool { return r == 0x7f || r < ' ' && !multiline(value, r) }) {
			fault = "It holds a line break or another character that no key has. Copy it again."
		}
		switch {
		case fault != "":
			faults = append(faults, problem.Item{Pointer: "/fields/" + f.Name, Code: "invalid", Detail: fault})
		case value != "":
			checked[f.Name] = value
		}
	}
	if len(faults) > 0 {
		return nil, problem.New(problem.Unprocessable, "invalid_fields",
			"Something is missing or does not look right.").WithItems(faults...).Advise("fix_arguments")
	}
	return checked, nil
}

// multiline reports whether a character is allowed in a value: line breaks in
// private keys and JSON, which never go into a header as they are.
func multiline(value string, r rune) bool {
	return strings.ContainsRune("\r\n\t", r) &&
		(strings.HasPrefix(value, "-----BEGIN ") || strings.HasPrefix(value, "{"))
}

// refused words what a vendor says to what was typed, so that the person can
// fix it.
func refused(a *app.App, err error) error {
	e := asFailed(err)
	byVendor := e != nil && (e.Status == 400 || e.Status == 401 || e.Status == 403) && e.Class == connection.Unknown
	if e == nil || !byVendor && e.Class != connection.GrantOver && e.Class != connection.ClientBroken {
		return signIn(a, err)
	}
	p := problem.New(problem.Unprocessable, "credentials_refused",
		a.Name+" does not accept this ("+e.Code+
			"). Check that it was copied whole, is not expired, and belongs to this app.")
	return &refusal{p.With("reason", e.Code), e}
}
