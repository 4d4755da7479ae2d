package platformhttp

import (
	"context"
	"net/http"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/platformhttp/gate"
)

// RedirectURLs are where sign-ins of the account may send browsers afterwards.
type RedirectURLs struct {
	URLs []string `json:"redirect_urls" maxItems:"50" doc:"https://host/path each, or http on a loopback address; what lies below the path is allowed with it. Empty: anywhere."`
}

func (s *server) describeRedirects() {
	tags, byPerson := []string{"account"}, []string{sessionScheme}
	openapi.Handle(s.api, openapi.Operation{Method: http.MethodGet, Path: Base + "/redirect-urls", ID: "getRedirectURLs", Summary: "Where sign-ins may send browsers afterwards", Tags: tags, Security: byPerson}, s.redirects)
	openapi.Handle(s.api, openapi.Operation{
		Method: http.MethodPut, Path: Base + "/redirect-urls", ID: "setRedirectURLs", Summary: "Set where sign-ins may send browsers afterwards", Tags: tags, Security: byPerson,
		Description: "redirect_url and verify_url of connect requests have to match by origin and by path, segment by segment. Links that are out already stay as they are.",
	}, s.setRedirects)
}

func (s *server) redirects(ctx context.Context, _ *struct{}) (*body[RedirectURLs], error) {
	list, err := s.Accounts.RedirectURLs(ctx, gate.From(ctx).Account)
	if err != nil {
		return nil, err
	}
	return &body[RedirectURLs]{RedirectURLs{list}}, nil
}

func (s *server) setRedirects(ctx context.Context, in *struct{ Body RedirectURLs }) (*body[RedirectURLs], error) {
	by := gate.From(ctx)
	list, err := s.Accounts.SetRedirectURLs(ctx, by.Actor, by.Account, in.Body.URLs)
	if err != nil {
		return nil, err
	}
	return &body[RedirectURLs]{RedirectURLs{append([]string{}, list...)}}, nil
}
