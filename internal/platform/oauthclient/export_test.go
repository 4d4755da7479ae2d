package oauthclient

import "ace/internal/platform/app"

// Address fills the template of an address for an app with these params.
func Address(a *app.App, s *app.Scheme, params map[string]string, template string) (string, error) {
	d, err := New(nil, nil).newExchange(a, s, nil, params, nil)
	if err != nil {
		return "", err
	}
	return d.address(template)
}

// SafeCode is what is shown of a code while these secrets are at stake.
func SafeCode(code string, secrets ...string) string {
	d := &exchange{}
	d.addSecret(secrets...)
	return d.safeCode(code)
}
