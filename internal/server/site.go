package server

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"

	"ace/content"
	"ace/internal/foundation/egress"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/site"
	"ace/internal/storefront/upstream"
)

// buildPages wires the pages of the store: offers, then the operator's folder
// or website, then the default pages.
func (s *Server) buildPages(ctx context.Context, catalog *offer.Catalog) (*site.Service, error) {
	base, err := url.Parse(s.cfg.BaseURL())
	if err != nil {
		return nil, fmt.Errorf("reading the address of the store: %w", err)
	}
	terms, privacy, refunds := s.cfg.Policies()
	vars := site.Vars{
		Name: s.cfg.SiteName, Operator: cmp.Or(s.cfg.Operator, s.cfg.SiteName), Address: s.cfg.Address,
		Contact: s.cfg.Contact, BaseURL: s.cfg.BaseURL(),
		Terms: terms, Privacy: privacy, Refunds: refunds, Sandbox: s.sandbox != nil && s.cfg.StripeKey == "",
	}
	var sources []site.Source
	var hosts []string
	if s.cfg.SiteDir != "" {
		root, err := os.OpenRoot(s.cfg.SiteDir) // links do not lead out of the folder
		if err != nil {
			return nil, fmt.Errorf("opening ACE_SITE_DIR: %w", err)
		}
		folder := site.NewFolder(root.FS(), base, vars)
		if _, err := folder.List(ctx); err != nil { // reported before anything listens
			return nil, fmt.Errorf("reading ACE_SITE_DIR: %w", err)
		}
		sources = append(sources, folder)
	}
	if s.cfg.SiteUpstream != "" {
		origin, err := url.Parse(s.cfg.SiteUpstream)
		if err != nil {
			return nil, fmt.Errorf("reading ACE_SITE_UPSTREAM: %w", err)
		}
		sources = append(
			sources,
			upstream.New(origin, s.signedClient(trusting(egress.SiteUpstream(), s.cfg.SiteUpstream)), s.log, nil),
		)
		hosts = []string{s.cfg.SiteUpstream}
	}
	sources = append(sources, site.NewFolder(content.Pages(), base, vars))
	return site.New(base, sources, s.log,
		&site.Options{Hosts: hosts, Offers: site.NewOffers(catalog, s.cfg.BaseURL())}), nil
}
