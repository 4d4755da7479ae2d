package oauthclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient/discovery"
	"ace/internal/platform/oauthclient/reply"
)

// What a registered client keeps besides id and secret.
const (
	registeredAuth     = "token_endpoint_auth_method"
	registeredRedirect = "redirect_uri"
	registeredUntil    = "client_secret_expires_at" // Unix seconds; 0: never
)

// identify returns the client for a server, in the order of MCP: one that the
// operator registered, our client id metadata document, a dynamic registration.
func (d *exchange) identify(ctx context.Context, s *discovery.Server,
	attempt *connection.Attempt,
) (client *connection.Client, reused bool, err error) {
	if client, err = d.byHand(ctx, attempt.AccountID); err != nil || client != nil {
		return client, false, err
	}
	if s.Documents && d.documented(s) {
		attempt.Redirect = d.c.options.PlatformURL + documentCallback
		return &connection.Client{
			App: d.app.ID, ID: d.c.options.PlatformURL + DocumentPath,
			Issuer: s.Issuer,
		}, false, nil
	}
	if s.Register == "" {
		return nil, false, clientMissing(d.app)
	}
	if stored := d.registered(ctx, s, attempt); stored != nil {
		return stored, true, nil
	}
	client, err = d.register(ctx, s, attempt)
	return client, false, err
}

// forgotten reports whether an issuer refuses the address that a person would be
// sent to, as it does once it has lost our registration: nothing would come back
// from there to learn it by.
func (d *exchange) forgotten(ctx context.Context, address string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	r.Header.Set("Accept", "text/html")
	a, err := reply.Fetch(d.c.httpClientOf(d.app), r, "text")
	return err == nil && slices.Contains([]int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden,
		http.StatusNotFound,
	}, a.Status)
}

// lost notes that an issuer refused our registration, so that the next sign-in
// makes another. Not noting it costs that sign-in a look at forgotten.
func (d *exchange) lost(ctx context.Context, accountID, issuer, id string) {
	if keeper := d.c.options.Registrations; keeper != nil {
		// see above
		_ = keeper.MarkBroken(ctx, &connection.Client{App: d.app.ID, AccountID: accountID, Issuer: issuer, ID: id})
	}
}

// byHand is the client that the account or the operator registered, or nil.
func (d *exchange) byHand(ctx context.Context, accountID string) (*connection.Client, error) {
	if d.client != nil && d.client.Issuer == "" {
		return d.client, nil
	}
	keeper := d.c.options.Registrations
	if keeper == nil {
		return nil, nil
	}
	client, err := keeper.Registered(ctx, accountID, d.app.ID, "")
	if err == nil && client == nil && accountID != "" {
		client, err = keeper.Registered(ctx, "", d.app.ID, "")
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the client of %s: %w", d.app.ID, err)
	}
	return client, nil
}

// documented reports whether our client id metadata document can be used with an
// issuer. We are the same client for everybody who reads it, so that a code
// meant for one issuer could be taken by another, unless both say who they are
// in the callback (RFC 9207); apps of the catalog were looked at.
func (d *exchange) documented(s *discovery.Server) bool {
	return strings.HasPrefix(d.c.options.PlatformURL, "https://") && (s.IssInCallback || d.app.Listed)
}

// registered is a client of an earlier sign-in that is still valid for this one,
// or nil.
func (d *exchange) registered(
	ctx context.Context,
	s *discovery.Server,
	attempt *connection.Attempt,
) *connection.Client {
	stored := d.client
	if stored == nil || stored.Issuer != s.Issuer {
		if d.c.options.Registrations == nil {
			return nil
		}
		var err error
		if stored, err = d.c.options.Registrations.Registered(ctx, attempt.AccountID, d.app.ID, s.Issuer); err != nil {
			return nil // registering again costs little
		}
	}
	if stored == nil || stored.Broken || stored.Issuer != s.Issuer ||
		stored.Extra[registeredRedirect] != attempt.Redirect {
		return nil
	}
	until, err := strconv.ParseInt(stored.Extra[registeredUntil], 10, 64)
	if err == nil && until > 0 && time.Now().Add(time.Hour).Unix() > until {
		return nil
	}
	return stored
}

// register is RFC 7591. The server decides how the client authenticates;
// none is asked for where it is offered.
func (d *exchange) register(ctx context.Context, s *discovery.Server, attempt *connection.Attempt) (*connection.Client,
	error,
) {
	method := app.ClientNone
	if len(s.ClientAuth) > 0 && !slices.Contains(s.ClientAuth, method) {
		method = "client_secret_basic"
		if !slices.Contains(s.ClientAuth, method) && slices.Contains(s.ClientAuth, "client_secret_post") {
			method = "client_secret_post"
		}
	}
	metadata := map[string]any{
		"client_name": d.c.options.Name, "redirect_uris": []string{attempt.Redirect},
		"grant_types":    []string{"authorization_code", "refresh_token"},
		"response_types": []string{"code"}, "token_endpoint_auth_method": method, "application_type": "web",
	}
	if strings.HasPrefix(d.c.options.PlatformURL, "https://") {
		metadata["client_uri"] = d.c.options.PlatformURL
	}
	body, err := json.Marshal(metadata)
	if err != nil {
		return nil, fmt.Errorf("writing a registration: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Register, bytes.NewReader(body))
	if err != nil {
		return nil, &connection.RefreshError{Class: connection.Unknown, Code: discovery.CodeMetadata}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	a, err := reply.Fetch(d.c.httpClientOf(d.app), r, "json")
	if err != nil {
		return nil, err
	}
	id := a.At("/client_id")
	if a.Status < 200 || a.Status >= 300 || id == "" {
		return nil, d.unregistered(a)
	}
	client := &connection.Client{
		App: d.app.ID, AccountID: attempt.AccountID, ID: id, Secret: a.At("/client_secret"), Issuer: s.Issuer,
		Extra: map[string]string{
			registeredRedirect: attempt.Redirect,
			registeredAuth:     a.At("/token_endpoint_auth_method"), registeredUntil: a.At("/client_secret_expires_at"),
		},
	}
	if client.Extra[registeredAuth] == "" {
		client.Extra[registeredAuth] = method
	}
	if keeper := d.c.options.Registrations; keeper != nil {
		if err := keeper.Store(ctx, audit.System(), client); err != nil {
			return nil, fmt.Errorf("keeping the client of %s: %w", d.app.ID, err)
		}
	}
	return client, nil
}

// unregistered words a refusal: some servers take only clients that they know,
// and no second try helps.
func (d *exchange) unregistered(a *reply.Reply) error {
	failed := d.failed(a)
	if failed.Class == connection.Temporary {
		return failed
	}
	return problem.New(problem.Conflict, "oauth_client_missing",
		d.app.Name+
			" signs in only clients that it knows, and does not register ours by itself. The operator of this "+
			"platform "+
			"has to register an OAuth client with it.").
		With("app", d.app.ID).With("reason", "registration_refused")
}
