package storehttp

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/discovery"
	"ace/internal/storefront/storehttp/servicehttp"
	"ace/internal/storefront/storehttp/sitehttp"
)

// companions are the documents and interfaces beside the pages. A store without
// pages has an empty list of them.
func (s *server) companions() (*discovery.Registry, error) {
	if s.Pages == nil {
		base, err := url.Parse(s.Site.BaseURL)
		if err != nil {
			return nil, fmt.Errorf("reading the address of the store: %w", err)
		}
		s.Pages = site.New(base, nil, s.Log, nil)
	}
	_, sold := s.Services.(*servicehttp.Handler)
	return discovery.New(discovery.Config{
		BaseURL: s.Site.BaseURL, Name: s.Site.Name, Version: Version, Operator: cmp.Or(s.Site.Operator, s.Site.Name),
		Contact:         s.Site.Contact,
		SecurityContact: s.Site.SecurityContact, ContentSignal: s.Site.ContentSignal, Burst: cmp.Or(s.Site.Burst, 5),
		Sandbox: s.Site.Sandbox,
		Pages:   s.Pages, MCP: s.describedMCP(), Services: sold, Keys: s.BotKeys,
		AgentCard: func() []byte { return s.agent.Card() },
	})
}

// siteHandler returns the handler of the pages.
func (s *server) siteHandler() (*sitehttp.Handler, error) {
	return sitehttp.New(sitehttp.Site{
		BaseURL: s.Site.BaseURL, Name: s.Site.Name, Version: Version, Operator: cmp.Or(s.Site.Operator, s.Site.Name),
		Address: s.Site.Address, Contact: s.Site.Contact,
		Terms: s.Site.Terms, Privacy: s.Site.Privacy, Refunds: s.Site.Refunds, Sandbox: s.Site.Sandbox,
		ContentSignal: s.Site.ContentSignal,
	}, s.Pages, s.documents, s.catalog.LinkOffer)
}

// describedKeys represents the keys of a store that does not run: its
// documents are described, and never asked for.
type describedKeys struct{}

// Directory fails: there are no keys.
func (describedKeys) Directory(time.Time) (http.Header, []byte, error) {
	return nil, nil, errors.New("a store that does not run has no keys")
}
