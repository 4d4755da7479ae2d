package app

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"ace/internal/foundation/problem"
)

const maxScopes = 100

// scopeToken is RFC 6749, 3.3.
var scopeToken = regexp.MustCompile(`^[\x21\x23-\x5B\x5D-\x7E]{1,255}$`)

// WishedScopes returns the requested scopes of a sign-in and those of a
// profile; nil: the app's own choice. It returns invalid_request (Invalid),
// with the pointers /scopes and /scope_profile.
func (s *Scheme) WishedScopes(scopes []string, profile string) ([]string, error) {
	if profile != "" {
		var known []string
		if s.OAuth != nil {
			known = s.OAuth.Scopes.Profiles[profile]
		}
		if len(known) == 0 {
			return nil, unfit("/scope_profile",
				"The app has no scopes under this name. Leave it out, or name the scopes.")
		}
		scopes = slices.Clone(scopes)
		for _, one := range known {
			if !slices.Contains(scopes, one) {
				scopes = append(scopes, one)
			}
		}
	}
	if len(scopes) > maxScopes {
		return nil, unfit("/scopes", fmt.Sprintf("At most %d scopes.", maxScopes))
	}
	for i, scope := range scopes {
		if !ScopeToken(scope) {
			return nil, unfit(fmt.Sprintf("/scopes/%d", i),
				"A scope has 1 to 255 visible ASCII characters without quotes, backslashes and spaces. Name each in "+
					"an entry of its own.")
		}
	}
	return scopes, nil
}

// ScopeToken reports whether a text may be a scope (RFC 6749, 3.3).
func ScopeToken(scope string) bool { return scopeToken.MatchString(scope) }

func unfit(pointer, detail string) error {
	return problem.New(problem.Invalid, "invalid_request", detail).WithItems(problem.Item{
		Pointer: pointer,
		Code:    "invalid", Detail: detail,
	}).Advise("fix_arguments")
}

// TakeParams validates the given params of a sign-in against those of the app,
// and returns them as calls need them. Missing ones are requested on the page.
// It returns unknown_app_params (Unprocessable) and invalid_request (Invalid),
// with pointers below /params.
func (a *App) TakeParams(given map[string]string) (map[string]string, error) {
	taken := map[string]string{}
	var faults, unknown []problem.Item
	for _, name := range slices.Sorted(maps.Keys(given)) {
		at := "/params/" + name
		p, known := a.Params[name]
		if !known || p.Learned {
			unknown = append(unknown,
				problem.Item{Pointer: at, Code: "unknown", Detail: "The app has no such parameter."})
			continue
		}
		value, fault := p.Clean(given[name])
		if fault != "" {
			faults = append(faults, problem.Item{Pointer: at, Code: "invalid", Detail: fault})
			continue
		}
		taken[name] = value
	}
	if len(unknown) > 0 {
		return nil, problem.New(problem.Unprocessable, "unknown_app_params",
			a.Name+" has no such parameters. They are never secrets: keys are typed on the page behind the link.").
			WithItems(unknown...)
	}
	if len(faults) > 0 {
		return nil, problem.New(problem.Invalid, "invalid_request",
			"A parameter of "+a.Name+" is not right.").WithItems(faults...)
	}
	return taken, nil
}

// SchemeOr returns the scheme with an id or, as the catalog lists them, the
// first of a type; nil: there is none.
func (a *App) SchemeOr(kind string) *Scheme {
	if scheme, known := a.Scheme(kind); known {
		return scheme
	}
	if i := slices.IndexFunc(a.Schemes, func(s Scheme) bool { return s.Type == kind }); i >= 0 {
		return &a.Schemes[i]
	}
	return nil
}

// SchemeIDs returns the ids of the app's schemes in their order.
func (a *App) SchemeIDs() []string {
	ids := make([]string, len(a.Schemes))
	for i, s := range a.Schemes {
		ids[i] = s.ID
	}
	return ids
}
