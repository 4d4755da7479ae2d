package storehttp_test

import (
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"ace/content"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp"
)

// setupSite starts a world with the default pages, and extra files before them.
func setupSite(t *testing.T, extra ...fstest.MapFS) *world {
	t.Helper()
	var pages *site.Service
	w := setup(t, func(d *storehttp.Deps) {
		base, err := url.Parse(d.Site.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		d.Site.Sandbox, d.Site.Operator, d.Site.Address = true, "Example Trading Ltd", "1 Sample Street, Springfield"
		vars := site.Vars{
			Name: d.Site.Name, Operator: d.Site.Operator, Address: d.Site.Address, Contact: d.Site.Contact, BaseURL: d.Site.BaseURL, Sandbox: true,
			Terms: d.Site.Terms, Privacy: d.Site.Privacy, Refunds: d.Site.Refunds,
		}
		var sources []site.Source
		for _, files := range extra {
			sources = append(sources, site.NewFolder(files, base, vars))
		}
		sources = append(sources, site.NewFolder(content.Pages(), base, vars))
		pages = site.New(base, sources, slog.New(slog.DiscardHandler), &site.Options{Offers: site.NewOffers(d.Catalog, d.Site.BaseURL)})
		d.Pages = pages
	}, discoverable(t))
	if err := pages.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (r reply) see(t testing.TB, want ...string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(string(r.Body), text) {
			t.Errorf("answer %d does not hold %q:\n%s", r.Status, text, r.Body)
		}
	}
}
