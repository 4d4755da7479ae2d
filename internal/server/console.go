package server

import (
	"strings"

	"ace/docs"
	"ace/internal/foundation/egress"
	"ace/internal/platform/authserver"
	"ace/internal/platform/console"
	"ace/internal/platform/library"
	"ace/internal/platform/oauthclient"
	"ace/internal/platform/openid"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp"
)

// console wires the pages of the platform host.
func (s *Server) console(
	p *platform,
	operations *operation.Service,
	apps *library.Library,
	signIn *authserver.Service,
) (platformhttp.Pages, error) {
	document, err := platformhttp.Document()
	if err != nil {
		return platformhttp.Pages{}, err
	}
	deps := console.Deps{
		Site: console.Site{
			BaseURL: s.cfg.PlatformBaseURL(), Name: s.cfg.PlatformName, Contact: s.cfg.Contact,
			SecurityContact: s.cfg.SecurityContact,
		},
		Operations: operations, Accounts: p.accounts, Library: apps, Connections: p.connections,
		Approvals: p.tools, Sealer: s.sealer, Log: s.log, Document: document, MCPSignIn: signIn,
	}
	if strings.HasPrefix(s.cfg.PlatformBaseURL(), "https://") { // only there do issuers read it
		deps.ClientDocument = func() ([]byte, error) {
			return oauthclient.Document(s.cfg.PlatformBaseURL(),
				s.cfg.PlatformName)
		}
	}
	if s.cfg.OIDCIssuer != "" {
		secret, err := s.cfg.OIDCSecret()
		if err != nil {
			return platformhttp.Pages{}, err
		}
		deps.Identities = openid.New(openid.Settings{
			Issuer: s.cfg.OIDCIssuer, ClientID: s.cfg.OIDCClientID, Secret: secret,
			Redirect: s.cfg.PlatformBaseURL() + "/sign-in/openid/callback",
		}, s.guard.Client(trusting(egress.OAuth(), s.cfg.OIDCIssuer)))
	}
	if deps.Failures, err = failures(); err != nil {
		return platformhttp.Pages{}, err
	}
	deps.Guides = map[string][]byte{}
	for _, name := range docs.Pages {
		if deps.Guides[name], err = docs.Page(name, s.cfg.PlatformBaseURL()); err != nil {
			return platformhttp.Pages{}, err
		}
	}
	pages, err := console.New(deps)
	if err != nil {
		return platformhttp.Pages{}, err
	}
	return platformhttp.Pages{Rules: console.Rules(), Mount: pages.Mount}, nil
}

// failures are the codes of problems as the documents explain them.
func failures() (map[string]console.Failure, error) {
	written, err := docs.Failures()
	if err != nil {
		return nil, err
	}
	all := map[string]console.Failure{}
	for code, one := range written {
		all[code] = console.Failure{Status: one.Status, Sentences: one.Sentences, Advice: one.Advice}
	}
	return all, nil
}
