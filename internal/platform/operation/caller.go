package operation

import (
	"ace/internal/foundation/problem"
	"ace/internal/platform/account"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
)

// Caller is who calls an operation: a key or a person, for one account.
type Caller struct {
	Account string           // id
	Key     *apikey.Key      // nil: a person
	Session *account.Session // nil: a key
	Actor   audit.Actor
}

// Permissions returns what the caller may do: those of the key, or those that
// the person's role implies. An auditor reads.
func (c *Caller) Permissions() apikey.Permissions {
	switch {
	case c.Key != nil:
		return c.Key.Permissions
	case c.Session == nil:
		return 0
	case c.Session.User.Role.Connects():
		return apikey.All
	}
	return apikey.Read
}

// Restrictions returns what the caller is narrowed to; a person is not.
func (c *Caller) Restrictions() apikey.Restrictions {
	if c.Key == nil {
		return apikey.Restrictions{}
	}
	return c.Key.Restrict
}

// reaches reports whether the caller may touch what belongs to an app and an
// end user.
func (c *Caller) reaches(appID, endUser string) bool {
	r := c.Restrictions()
	return r.AllowsApp(appID) && (r.EndUser == "" || r.EndUser == endUser)
}

// Authorize returns nil where the caller may call an operation. Its problems:
// permission_required, role_required and key_restricted (Forbidden);
// session_required and missing_key (Unauthenticated) where the operation is not
// for callers of this kind, or for nobody in particular.
func Authorize(c *Caller, id ID) error {
	rule := id.Rule()
	switch {
	case rule.Open:
		return nil
	case c != nil && c.Key != nil && rule.Keys:
		return authorizeKey(c.Key, rule)
	case c != nil && c.Session != nil && rule.People:
		return authorizePerson(c, rule)
	case rule.Keys:
		return problem.New(problem.Unauthenticated, "missing_key",
			`Send an API key: the header "Authorization: Bearer ace_…".`).Advise("ask_owner_for_permission")
	}
	return problem.New(problem.Unauthenticated, "session_required",
		"This is for a person: sign in to the console first. API keys cannot be used here.")
}

func authorizeKey(k *apikey.Key, rule Rule) error {
	if err := k.Require(rule.Permissions); err != nil {
		return err
	}
	if rule.RawRequests && !k.Restrict.RawRequests {
		return problem.New(problem.Forbidden, "key_restricted",
			"This key may not send raw requests. Use a tool, or ask for a key with raw_requests.").Advise(
			"ask_owner_for_permission")
	}
	return nil
}

func authorizePerson(c *Caller, rule Rule) error {
	role := c.Session.User.Role
	if c.Permissions().Has(rule.Permissions) && (!rule.Manages || role.Manages()) && (!rule.Audits || role.Audits()) {
		return nil
	}
	return problem.New(problem.Forbidden, "role_required",
		"Your role in this account does not allow this. Ask its owner.").Advise("ask_owner_for_permission")
}
