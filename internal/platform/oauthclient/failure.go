package oauthclient

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient/reply"
)

// What codes mean, wherever they come from. A definition adds its vendor's own
// in refresh.gone.
var (
	overCodes = []string{
		"invalid_grant", "invalid_refresh_token", "bad_refresh_token", "expired_refresh_token", "refresh_token_expired",
		"token_expired", "token_revoked",
		"invalid_token", "account_inactive", "interaction_required", "consent_required", "login_required",
	}
	clientCodes = []string{
		"invalid_client", "unauthorized_client", "invalid_client_id", "bad_client_secret",
		"incorrect_client_credentials",
	}
	temporaryCodes = []string{
		"temporarily_unavailable", "server_error", "slow_down", "rate_limited", "ratelimited",
		"too_many_requests",
	}
	// refusals are what a person's "no" reads like in a callback.
	refusals = []string{
		"access_denied", "user_denied", "user_cancelled_login", "user_cancelled_authorize",
		"user_cancelled", "cancelled", "denied",
	}
)

// Codes of ours, for failures that the vendor has no code for.
const (
	codeNoToken    = "token_missing"
	codeRedirected = "redirected"
	codeUnknown    = "unrecognized"
)

// errorPlaces are where vendors write the code of an error.
var errorPlaces = []string{
	"/error", "/error/code", "/error/type", "/errors/0/code", "/error_code", "/errorCode",
	"/code",
}

// failed classifies a response that is no success (RFC 6749, 5.2, and what
// vendors make of it).
func (d *exchange) failed(a *reply.Reply) *connection.RefreshError {
	raw := a.Text(append(slices.Clone(d.oauth.Token.Map["error"]), errorPlaces...)...)
	e := &connection.RefreshError{
		Class: connection.Unknown, Status: a.Status, Code: d.safeCode(raw),
		After: reply.RetryAfter(a.Header),
	}
	code := strings.ToLower(e.Code)
	switch {
	case slices.Contains(d.oauth.Refresh.Gone, e.Code):
		e.Class = connection.GrantOver
	case a.Status == http.StatusRequestTimeout, a.Status == http.StatusTooEarly, a.Status == http.StatusTooManyRequests,
		a.Status >= 500,
		slices.Contains(temporaryCodes, code):
		e.Class = connection.Temporary
	case slices.Contains(overCodes, code):
		e.Class = connection.GrantOver
	case slices.Contains(clientCodes, code):
		e.Class = connection.ClientBroken
	case a.Status >= 300 && a.Status < 400:
		e.Code = codeRedirected
	case a.Status < 300 && slices.Contains([]string{"", "0", "200", "ok", "success"}, code):
		e.Code = codeNoToken
	}
	return e
}

// codeShape is what codes look like: words, with few digits.
var codeShape = regexp.MustCompile(`^[A-Za-z0-9]{1,24}([_.:-][A-Za-z0-9]{1,24}){0,6}$`)

// safeCode is a code that may be shown and logged: what reads like a token, or
// holds anything that we sent, does not.
func (d *exchange) safeCode(code string) string {
	if code == "" {
		return ""
	}
	digits := strings.IndexFunc(code, unicode.IsDigit) >= 0 && len(strings.Map(onlyDigits, code)) > 8
	if len(code) > 60 || digits || !codeShape.MatchString(code) {
		return codeUnknown
	}
	for _, secret := range d.secrets {
		if strings.Contains(secret, code) && len(code) >= 6 || strings.Contains(code, secret) {
			return codeUnknown
		}
	}
	return code
}

func onlyDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return r
	}
	return -1
}

// refusal is a failed sign-in: a problem for the person, and what the vendor did
// for callers that use errors.As.
type refusal struct {
	problem *problem.Problem
	cause   *connection.RefreshError
}

// Error implements error.
func (r *refusal) Error() string { return r.problem.Error() }

// Unwrap returns both sides.
func (r *refusal) Unwrap() []error { return []error{r.problem, r.cause} }

// signIn words what went wrong while a person connects. Faults of ours stay as
// they are.
func signIn(a *app.App, err error) error {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p
	}
	e, ok := errors.AsType[*connection.RefreshError](err)
	if !ok {
		return err
	}
	p := problem.New(problem.Unprocessable, "sign_in_failed",
		a.Name+" did not complete the sign-in ("+e.Code+
			"). Start again; if it happens again, tell the operator of this platform.")
	switch {
	case e.Class == connection.Temporary:
		p = problem.New(problem.Unavailable, "provider_unavailable",
			a.Name+" cannot be reached just now. Nothing was connected; try again in a few minutes.").After(e.After)
	case e.Class == connection.ClientBroken:
		p = problem.New(problem.Unprocessable, "sign_in_failed",
			a.Name+" does not accept the credentials that it was shown ("+e.Code+
				"). If you typed them, check them; otherwise the operator of this platform has to fix the OAuth "+
				"client.")
	case strings.HasPrefix(e.Code, "host_refused"), strings.HasPrefix(e.Code, "value_refused"),
		strings.HasPrefix(e.Code, "target_not_allowed"):
		p = problem.New(problem.Unprocessable, "sign_in_failed",
			"An address or a value that belongs to this sign-in is not one that "+a.Name+" may have ("+e.Code+
				"). Check what you typed.")
	}
	return &refusal{p.With("reason", e.Code), e}
}

// clientMissing is returned if the operator has registered no client.
func clientMissing(a *app.App) error {
	return problem.New(
		problem.Conflict,
		"oauth_client_missing",
		a.Name+" can be connected once the operator of this platform has registered an OAuth client with it.",
	).With("app",
		a.ID)
}

// denied is returned if the user, or an administrator, denied access.
func denied(a *app.App, code string) error {
	return problem.New(problem.Forbidden, "sign_in_denied",
		"The sign-in was refused at "+a.Name+". Nothing was connected.").With("reason", code)
}

// pending is returned if the vendor still has to approve.
func pending(a *app.App) error {
	return problem.New(problem.Conflict, "sign_in_failed",
		"Somebody who administers your account at "+a.Name+
			" has to approve first. Connect again once that is done.").With("reason", "approval_pending")
}

// mismatched is a callback that does not belong to the attempt, or was changed
// on its way.
func mismatched(a *app.App, reason string) error {
	return problem.New(problem.Unprocessable, "sign_in_failed",
		"What came back from "+a.Name+" does not belong to this sign-in. Nothing was connected; start again.").With(
		"reason", reason)
}
