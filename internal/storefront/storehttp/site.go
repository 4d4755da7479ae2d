package storehttp

import (
	"cmp"
	"fmt"
	"net/url"

	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp/sitehttp"
)

// siteFace is the face of the pages. A store without pages has an empty one.
func (s *server) siteFace() (*sitehttp.Face, error) {
	if s.Pages == nil {
		base, err := url.Parse(s.Site.BaseURL)
		if err != nil {
			return nil, fmt.Errorf("reading the address of the store: %w", err)
		}
		s.Pages = site.New(base, nil, s.Log, nil)
	}
	return sitehttp.New(sitehttp.Site{
		BaseURL: s.Site.BaseURL, Name: s.Site.Name, Version: Version, Operator: cmp.Or(s.Site.Operator, s.Site.Name), Address: s.Site.Address, Contact: s.Site.Contact,
		Terms: s.Site.Terms, Privacy: s.Site.Privacy, Refunds: s.Site.Refunds, Sandbox: s.Site.Sandbox,
	}, s.Pages, s.catalog.LinkOffer)
}
