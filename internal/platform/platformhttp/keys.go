package platformhttp

import (
	"context"
	"net/http"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/reply"
)

// describeKeys mounts and documents the operations on keys and on the account.
func (s *server) describeKeys() {
	route := func(tag, method, path string, id operation.ID, summary, about string) openapi.Operation {
		return openapi.Operation{
			Method: method, Path: Base + path, ID: id.String(), Tags: []string{tag}, Summary: summary,
			Description: about, Security: schemes(id),
		}
	}
	openapi.Handle(s.api, route("keys", http.MethodGet, "/me", operation.GetMe,
		"Get the account and the key of the caller",
		"Which account this key acts for, its permissions and its rate limit. Use it to check a key."), s.me)
	openapi.Handle(s.api, route("keys", http.MethodGet, "/keys/self", operation.GetOwnKey,
		"Get the key of the caller", "The settings of the key that sends the request, without the secret."), s.ownKey)
	openapi.Handle(s.api, route("keys", http.MethodDelete, "/keys/self", operation.RevokeOwnKey,
		"Revoke the key of the caller",
		"The key stops working at once and everywhere. Use it when a key may have leaked."), s.revokeOwnKey)
	openapi.Handle(s.api, route("keys", http.MethodGet, "/keys", operation.ListKeys,
		"List keys", "The account's keys, newest first, revoked and expired ones included."), s.listKeys)
	create := route("keys", http.MethodPost, "/keys", operation.CreateKey, "Create a key",
		"The secret is in the response, this once. Narrow the key with restrict, and let a person approve runs "+
			"with approval.")
	create.Status = http.StatusCreated
	openapi.Handle(s.api, create, s.createKey)
	openapi.Handle(s.api, route("keys", http.MethodGet, "/keys/{id}", operation.GetKey,
		"Get a key", "The settings of one key, without the secret."), s.getKey)
	openapi.Handle(s.api, route("keys", http.MethodPatch, "/keys/{id}", operation.ChangeKey,
		"Change a key", "What is left out stays as it is. The change counts from the next request with the key."),
		s.changeKey)
	openapi.Handle(s.api, route("keys", http.MethodDelete, "/keys/{id}", operation.RevokeKey,
		"Revoke a key", "The key stops working at once and everywhere. It stays in the list."), s.revokeKey)
	rotate := route("keys", http.MethodPost, "/keys/{id}/rotate", operation.RotateKey, "Rotate a key",
		"Creates a key with the same settings. The old one keeps working for grace_seconds, at most 30 days.")
	rotate.Status = http.StatusCreated
	openapi.Handle(s.api, rotate, s.rotateKey)
	openapi.Handle(s.api, route("account", http.MethodGet, "/redirect-urls", operation.GetRedirectURLs,
		"Get the allowed redirect URLs", "Where connect links of the account may send browsers."), s.redirectURLs)
	openapi.Handle(s.api, route("account", http.MethodPut, "/redirect-urls", operation.SetRedirectURLs,
		"Set the allowed redirect URLs",
		"redirect_url and verify_url of connect requests have to match one of these by origin and by path, segment "+
			"by segment. Links that exist already are not changed."), s.setRedirectURLs)
	reply.HandleList(s.api, route("audit", http.MethodGet, "/audit-log", operation.ReadAuditLog,
		"Read the audit log", "Who changed what, newest first. hash chains the entries of the account: changed or "+
			"missing ones are found."), s.auditLog)
}

// schemes are the security schemes that a route of an operation accepts.
func schemes(id operation.ID) []string {
	switch rule := id.Rule(); {
	case rule.Open:
		return nil
	case rule.Keys:
		return []string{keyScheme}
	}
	return []string{sessionScheme}
}

func (s *server) me(ctx context.Context, _ *struct{}) (*reply.Body[operation.Me], error) {
	return reply.With(s.Operations.Me(ctx, gate.From(ctx)))
}

func (s *server) ownKey(ctx context.Context, _ *struct{}) (*reply.Body[operation.Key], error) {
	return reply.With(s.Operations.OwnKey(ctx, gate.From(ctx)))
}

func (s *server) revokeOwnKey(ctx context.Context, _ *struct{}) (*struct{}, error) {
	return reply.Empty(s.Operations.RevokeOwnKey(ctx, gate.From(ctx)))
}

func (s *server) listKeys(ctx context.Context, _ *struct{}) (*reply.Body[operation.Keys], error) {
	return reply.With(s.Operations.ListKeys(ctx, gate.From(ctx)))
}

func (s *server) createKey(ctx context.Context, in *struct {
	reply.Key
	Body operation.KeyRequest
},
) (*reply.Created[operation.NewKey], error) {
	key, replayed, err := s.Operations.CreateKey(ctx, gate.From(ctx), in.Key.Key, in.Body)
	return reply.New(key, replayed, err, keyLocation)
}

func (s *server) getKey(ctx context.Context, in *reply.ByID) (*reply.Body[operation.Key], error) {
	return reply.With(s.Operations.Key(ctx, gate.From(ctx), in.ID))
}

func (s *server) changeKey(ctx context.Context, in *struct {
	reply.ByID
	Body operation.KeyChange
},
) (*reply.Body[operation.Key], error) {
	return reply.With(s.Operations.ChangeKey(ctx, gate.From(ctx), in.ID, in.Body))
}

func (s *server) revokeKey(ctx context.Context, in *reply.ByID) (*struct{}, error) {
	return reply.Empty(s.Operations.RevokeKey(ctx, gate.From(ctx), in.ID))
}

func (s *server) rotateKey(ctx context.Context, in *struct {
	reply.Key
	reply.ByID
	Body operation.KeyRotation `required:"false"`
},
) (*reply.Created[operation.NewKey], error) {
	key, replayed, err := s.Operations.RotateKey(ctx, gate.From(ctx), in.Key.Key, in.ID, in.Body)
	return reply.New(key, replayed, err, keyLocation)
}

func keyLocation(k *operation.NewKey) string { return Base + "/keys/" + k.ID }

func (s *server) redirectURLs(ctx context.Context, _ *struct{}) (*reply.Body[operation.RedirectURLs], error) {
	return reply.With(s.Operations.RedirectURLs(ctx, gate.From(ctx)))
}

func (s *server) setRedirectURLs(ctx context.Context, in *struct{ Body operation.RedirectURLs },
) (*reply.Body[operation.RedirectURLs], error) {
	return reply.With(s.Operations.SetRedirectURLs(ctx, gate.From(ctx), in.Body))
}

func (s *server) auditLog(ctx context.Context, in *operation.AuditRequest) (*reply.Page[operation.AuditLog], error) {
	page, err := s.Operations.AuditLog(ctx, gate.From(ctx), *in)
	return reply.List(ctx, s.Site.BaseURL, page, err)
}
