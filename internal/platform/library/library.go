// Package library is what an account can use: the apps of the catalogue and the
// account's own connectors, found by id and by plain words.
//
//	shipped definitions + demo app ──> shared View, made once
//	connectors of an account ── Own ──> View of that account, kept until its
//	                                    connectors change
//	View: Catalog by id, Index by words
package library

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"ace/internal/platform/app"
	"ace/internal/platform/toolindex"
)

// View is what one account can use. It does not change.
type View struct {
	Catalog *app.Catalog
	Index   *toolindex.Index
}

// NewView makes the view of apps.
func NewView(apps []*app.App) (*View, error) {
	c, err := app.NewCatalog(apps...)
	if err != nil {
		return nil, err
	}
	return &View{c, toolindex.New(c.Apps())}, nil
}

// Own answers the apps that an account has added itself, with a version that
// changes when they do. A version of "" means that there are none.
type Own interface {
	OwnApps(ctx context.Context, accountID string, known string) (apps []*app.App, version string, err error)
}

// Library answers views. It is safe for concurrent use.
type Library struct {
	shared *View
	own    Own // nil: nobody adds apps

	mu   sync.Mutex
	kept map[string]kept // by account
}

type kept struct {
	version string
	view    *View
}

// maxKept bounds the views that are kept.
const maxKept = 256

// New answers a library of shared apps.
func New(apps []*app.App, own Own) (*Library, error) {
	shared, err := NewView(apps)
	if err != nil {
		return nil, fmt.Errorf("making the catalogue: %w", err)
	}
	return &Library{shared: shared, own: own, kept: map[string]kept{}}, nil
}

// Shared is what every account can use.
func (l *Library) Shared() *View { return l.shared }

// For answers what an account can use.
func (l *Library) For(ctx context.Context, accountID string) (*View, error) {
	if l.own == nil {
		return l.shared, nil
	}
	l.mu.Lock()
	known := l.kept[accountID]
	l.mu.Unlock()
	apps, version, err := l.own.OwnApps(ctx, accountID, known.version)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the connectors of the account: %w", err)
	case version == "":
		return l.shared, nil
	case version == known.version && known.view != nil:
		return known.view, nil
	}
	view, err := NewView(append(append([]*app.App{}, l.shared.Catalog.Apps()...), apps...))
	if err != nil {
		return nil, fmt.Errorf("making the catalogue of the account: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) >= maxKept {
		clear(l.kept)
	}
	l.kept[accountID] = kept{version, view}
	return view, nil
}

// App answers an app that an account can use, or one of the catalogue for the
// account "". It returns app_not_found (NotFound).
func (l *Library) App(ctx context.Context, accountID, id string) (*app.App, error) {
	shared, err := l.shared.Catalog.App(id) // no account can have another of its name
	if err == nil || accountID == "" {
		return shared, err
	}
	view, err := l.For(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return view.Catalog.App(id)
}

// Read reads the definitions in a folder of files. replace, if not nil, changes
// the text before it is read, for addresses that are known at start alone.
func Read(files fs.FS, dir string, replace *strings.Replacer) ([]*app.App, error) {
	paths, err := fs.Glob(files, dir+"/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing definitions: %w", err)
	}
	var apps []*app.App
	for _, path := range paths {
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		if replace != nil {
			data = []byte(replace.Replace(string(data)))
		}
		a, err := app.Parse(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		apps = append(apps, a)
	}
	return apps, nil
}
