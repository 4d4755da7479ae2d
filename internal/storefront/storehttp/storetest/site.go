package storetest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"ace/content"
	"ace/internal/protocol/webbotauth"
	"ace/internal/storefront/site"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/discovery"
)

// StartSite starts a store with the default pages, and extra files before them.
func StartSite(t testing.TB, extra ...fstest.MapFS) *Store {
	t.Helper()
	var pages *site.Service
	w := Start(t, func(d *storehttp.Deps) {
		base, err := url.Parse(d.Site.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		d.Site.Sandbox, d.Site.Operator, d.Site.Address = true, "Example Trading Ltd", "1 Sample Street, Springfield"
		vars := site.Vars{
			Name: d.Site.Name, Operator: d.Site.Operator, Address: d.Site.Address, Contact: d.Site.Contact,
			BaseURL: d.Site.BaseURL, Sandbox: true,
			Terms: d.Site.Terms, Privacy: d.Site.Privacy, Refunds: d.Site.Refunds,
		}
		var sources []site.Source
		for _, files := range extra {
			sources = append(sources, site.NewFolder(files, base, vars))
		}
		sources = append(sources, site.NewFolder(content.Pages(), base, vars))
		pages = site.New(base, sources, slog.New(slog.DiscardHandler),
			&site.Options{Offers: site.NewOffers(d.Catalog, d.Site.BaseURL)})
		d.Pages = pages
	}, Discoverable(t))
	if err := pages.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// Shows fails the test unless the body holds each text.
func (r Response) Shows(t testing.TB, want ...string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(string(r.Body), text) {
			t.Errorf("answer %d does not hold %q:\n%s", r.Status, text, r.Body)
		}
	}
}

// Discoverable adds what a running store has besides its pages.
func Discoverable(t testing.TB) func(*storehttp.Deps) {
	return func(d *storehttp.Deps) {
		t.Helper()
		base, err := url.Parse(d.Site.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		d.BotKeys, err = webbotauth.NewDirectory(base.Host, webbotauth.OwnKey{Signer: NewEd25519(t)})
		if err != nil {
			t.Fatal(err)
		}
		d.Site.ContentSignal, d.Site.SecurityContact = discovery.DefaultContentSignal, "security@store.example"
		d.Site.Burst = 5
	}
}

// Page is a file of a page with a text, as it was last changed in May 2026.
func Page(text string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(text), ModTime: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}
}

// ManyPages is a source of so many pages without content.
type ManyPages int

// List implements site.Source.
func (m ManyPages) List(context.Context) ([]site.Entry, error) {
	entries := make([]site.Entry, m)
	for i := range entries {
		entries[i] = site.Entry{
			Path:     fmt.Sprintf("/p&q/%06d", i),
			Modified: time.Date(2026, 1, 2, 0, 0, i%7, 0, time.UTC),
		}
	}
	return entries, nil
}

// Read implements site.Source.
func (ManyPages) Read(context.Context, string) (*site.Page, error) { return nil, io.EOF }

// StartMany starts a store of n pages.
func StartMany(t testing.TB, n int) *Store {
	t.Helper()
	return Start(t, func(d *storehttp.Deps) {
		base, err := url.Parse(d.Site.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		d.Pages = site.New(base, []site.Source{ManyPages(n)}, slog.New(slog.DiscardHandler), nil)
		if err := d.Pages.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
