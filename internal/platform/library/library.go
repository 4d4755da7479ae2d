// Package library is what an account can use: the apps of the catalog and the
// account's own connectors, by id and by plain words.
//
//	definitions + demo app ──> shared View, built once
//	connectors of an account ── Own ──> overlay of that account: its apps only,
//	                                    cached until its connectors change
//	View: Catalog by id, Index by words; an account's shares the shared one's
package library

import (
	"bytes"
	"container/list"
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"

	"ace/internal/foundation/edit"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/toolindex"
)

// View is what one account can use. It does not change.
type View struct {
	Catalog *app.Catalog
	Index   *toolindex.Index // refers to the tools and apps of Catalog by id
}

// Own returns the apps that an account has added itself, with a version that
// changes when they do. If the version is known, or "", apps is empty: "" means
// that there are none.
type Own interface {
	OwnApps(ctx context.Context, accountID string, known string) (apps []*app.App, version string, err error)
}

// Library returns views. It is safe for concurrent use.
type Library struct {
	shared *View
	own    Own // nil: accounts add no apps

	mu       sync.Mutex
	overlays map[string]*list.Element // of *overlay, by account
	recent   list.List                // the least recently used last
	tools    int                      // of all overlays
}

// overlay is the view of an account that has added apps.
type overlay struct {
	account, version string
	view             *View
	tools            int
}

// maxOverlayTools bounds the cached overlays by their tools: one has between a
// few and some thousands.
const maxOverlayTools = 20_000

// New returns a library of shared apps. names are names of apps that tasks may be
// about although there is no such app.
func New(apps []*app.App, own Own, names ...string) (*Library, error) {
	catalog, err := app.NewCatalog(apps...)
	if err != nil {
		return nil, fmt.Errorf("building the catalog: %w", err)
	}
	shared := &View{catalog, toolindex.New(catalog.Apps(), names...)}
	return &Library{shared: shared, own: own, overlays: map[string]*list.Element{}}, nil
}

// Shared returns what every account can use.
func (l *Library) Shared() *View { return l.shared }

// For returns what an account can use.
func (l *Library) For(ctx context.Context, accountID string) (*View, error) {
	if l.own == nil {
		return l.shared, nil
	}
	known := l.cached(accountID)
	apps, version, err := l.own.OwnApps(ctx, accountID, known.version)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the connectors of the account: %w", err)
	case version == "":
		return l.shared, nil
	case version == known.version:
		return known.view, nil
	}
	catalog, err := l.shared.Catalog.With(apps...)
	if err != nil {
		return nil, fmt.Errorf("building the catalog of the account: %w", err)
	}
	o := overlay{accountID, version, &View{catalog, l.shared.Index.With(apps)}, 0}
	o.tools = o.view.Index.Len() - l.shared.Index.Len()
	l.cache(&o)
	return o.view, nil
}

// cached returns the overlay of an account, or a zero one.
func (l *Library) cached(accountID string) overlay {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, found := l.overlays[accountID]
	if !found {
		return overlay{}
	}
	l.recent.MoveToFront(e)
	return *e.Value.(*overlay)
}

// cache replaces the overlay of an account, and drops the least recently used
// ones if there are too many.
func (l *Library) cache(o *overlay) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, found := l.overlays[o.account]; found {
		l.drop(e)
	}
	l.overlays[o.account] = l.recent.PushFront(o)
	l.tools += o.tools + 1 // an overlay without tools takes memory too
	for l.tools > maxOverlayTools && l.recent.Len() > 1 {
		l.drop(l.recent.Back())
	}
}

func (l *Library) drop(e *list.Element) {
	o := l.recent.Remove(e).(*overlay)
	delete(l.overlays, o.account)
	l.tools -= o.tools + 1
}

// App returns an app that an account can use, or one of the catalog for the
// account "". It returns app_not_found (NotFound).
func (l *Library) App(ctx context.Context, accountID, id string) (*app.App, error) {
	shared, err := l.shared.Catalog.App(id) // no account can have another with its id
	if err == nil || accountID == "" {
		return shared, err
	}
	view, err := l.For(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return view.Catalog.App(id)
}

// Tool returns a tool that an account can use, with its app. It returns
// tool_not_found (NotFound).
func (l *Library) Tool(ctx context.Context, accountID, id string) (*app.App, *app.Tool, error) {
	if a, t, err := l.shared.Catalog.Tool(id); err == nil {
		return a, t, nil
	}
	view, err := l.For(ctx, accountID)
	if err != nil {
		return nil, nil, err
	}
	return view.Catalog.Tool(id)
}

// Apps returns the apps that an account can use, by name.
func (l *Library) Apps(ctx context.Context, accountID string) ([]*app.App, error) {
	view, err := l.For(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return view.Catalog.Apps(), nil
}

// CheckApps returns unknown_app (Invalid) at /restrict/apps if there is no app
// with one of some ids, with the nearest one that there is.
func (v *View) CheckApps(ids []string) error {
	for _, id := range ids {
		if _, err := v.Catalog.App(id); err == nil {
			continue
		}
		var known []string
		for _, a := range v.Catalog.Apps() {
			known = append(known, a.ID)
		}
		detail := "There is no such app: " + id + ". Search the apps by name."
		if len(id) > edit.Longest {
			detail = "There is no such app. Search the apps by name."
		} else if near := edit.Nearest(id, known); near != "" {
			detail = "There is no app " + id + ". Did you mean " + near + "?"
		}
		return problem.New(problem.Invalid, "unknown_app", detail).At("/restrict/apps").Advise("fix_arguments")
	}
	return nil
}

// Read reads the definitions in a folder of files. replace, if not nil, is
// applied to the text first, for URLs that are known only at start.
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

// ReadRows reads a file with one definition on each line. It returns the first
// error in the order of the lines, with the number of its line.
func ReadRows(files fs.FS, path string) ([]*app.App, error) {
	data, err := fs.ReadFile(files, path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	apps, faults := make([]*app.App, len(lines)), make([]error, len(lines))
	// Parsing some thousands of lines is most of the time of a start.
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < len(lines); i += workers {
				apps[i], faults[i] = app.Parse(lines[i])
			}
		})
	}
	group.Wait()
	for i, err := range faults {
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	return apps, nil
}
