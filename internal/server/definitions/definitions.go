// Package definitions is which apps a server knows, before accounts add their
// own:
//
//	shipped, catalog/curated ──────────┐
//	shipped, catalog/apps.jsonl ───────┤
//	demo app, while the sandbox runs ──┼──> by id, the later one counts ──> Set
//	folder of the operator ── Lint ────┘
//
// The operator's folder is read strictly: a fault in one file refuses the start
// with its place. A definition that was half understood would sign people in, or
// send what they own, in an undocumented way.
package definitions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ace/catalog"
	"ace/internal/platform/app"
	"ace/internal/platform/library"
	"ace/internal/platform/toolpack"
)

// Options say where definitions come from.
type Options struct {
	Sandbox string // address of the sandbox; empty: it does not run
	Dir     string // folder of the operator's own definitions; empty: none
	// Private lets definitions name addresses over http, which are reached on
	// private networks alone.
	Private bool
}

// Set is what Load found. The definitions of the operator are named by id.
type Set struct {
	Apps     []*app.App
	Own      []string // from the folder
	Replaced []string // of these: what came in the place of one that is shipped
}

// Load reads all definitions. Where some of the folder have faults, the error is
// a Faults.
func Load(o Options) (*Set, error) {
	own, err := o.own()
	if err != nil {
		return nil, err
	}
	apps, err := shipped(o.Sandbox)
	if err != nil {
		return nil, err
	}
	set := &Set{}
	for _, a := range own {
		set.Own = append(set.Own, a.ID)
		if slices.ContainsFunc(apps, func(there *app.App) bool { return there.ID == a.ID }) {
			set.Replaced = append(set.Replaced, a.ID)
		}
	}
	set.Apps = append(slices.DeleteFunc(apps, func(a *app.App) bool { return slices.Contains(set.Own, a.ID) }), own...)
	return set, nil
}

// own reads the folder of the operator; nothing where there is none.
func (o *Options) own() ([]*app.App, error) {
	if o.Dir == "" {
		return nil, nil
	}
	paths, err := list(o.Dir)
	if err != nil {
		return nil, err
	}
	apps, faults := o.read(paths)
	if len(faults) > 0 {
		return nil, faults
	}
	return apps, nil
}

// shipped reads what the program carries. The demo app is no part of the public
// catalog.
func shipped(sandbox string) ([]*app.App, error) {
	apps, err := library.Read(catalog.Files, "curated", nil)
	if err != nil {
		return nil, err
	}
	rows, err := library.ReadRows(catalog.Files, catalog.Rows)
	if err != nil {
		return nil, err
	}
	if err := addTools(rows); err != nil {
		return nil, err
	}
	apps = append(apps, rows...)
	if sandbox == "" {
		return apps, nil
	}
	demo, err := library.Read(catalog.Files, "demo", strings.NewReplacer("${sandbox}", sandbox))
	for _, a := range demo {
		a.Listed = false
	}
	return append(apps, demo...), err
}

// addTools gives apps the tools that were derived from their descriptions.
func addTools(apps []*app.App) error {
	data, err := catalog.Files.ReadFile(catalog.Pack)
	if err != nil {
		return fmt.Errorf("reading the derived tools: %w", err)
	}
	pack, err := toolpack.Open(data)
	if err != nil {
		return err
	}
	for _, a := range apps {
		if a.Stored = pack.Of(a); a.Stored != nil {
			a.Tier = app.API
		}
	}
	return nil
}

// list returns the definitions in a folder, by name; not those in folders
// inside, where tools that keep versions put theirs.
func list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading definitions of apps: %w", err)
	}
	var paths []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yaml" || ext == ".yml") {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

// Fault is one thing in a definition that makes no sense.
type Fault struct {
	File string `json:"file"`
	At   string `json:"at"`   // where: a line, or tools/create_note/call
	Text string `json:"text"` // what is wrong, and what would be right
}

// String is the fault on one line.
func (f Fault) String() string { return f.File + ": " + f.At + ": " + f.Text }

// Faults are what keeps definitions from being used.
type Faults []Fault

// Error is one line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// Lint reads files and folders as a server would, and returns how many
// definitions there are and what is wrong with them. Without paths it reads what
// is shipped and the folder of the options. The error says that something cannot
// be read at all, or that a folder holds no definition.
func Lint(o Options, paths ...string) (read int, faults Faults, err error) {
	if len(paths) == 0 {
		return o.lintAll()
	}
	var all []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return 0, nil, fmt.Errorf("reading definitions of apps: %w", err)
		}
		if !info.IsDir() {
			all = append(all, path)
			continue
		}
		found, err := list(path)
		if err != nil {
			return 0, nil, err
		}
		if len(found) == 0 {
			return 0, nil, fmt.Errorf("%s holds no definition: they are called APP.yaml and are in the folder itself",
				path)
		}
		all = append(all, found...)
	}
	_, faults = o.read(all)
	return len(all), faults, nil
}

// lintAll checks what a server with these options would know.
func (o *Options) lintAll() (read int, faults Faults, err error) {
	const sandbox = "http://127.0.0.1:8082"
	apps, err := shipped(sandbox)
	if err != nil {
		return 0, nil, err
	}
	for _, a := range apps {
		for _, f := range a.Check(!a.Listed) {
			file := a.ID + ".yaml"
			if a.Verified != "" {
				file = catalog.Rows + ": " + a.ID
			}
			faults = append(faults, Fault{File: file, At: f.At, Text: f.Text})
		}
	}
	if o.Dir == "" {
		return len(apps), faults, nil
	}
	paths, err := list(o.Dir)
	if err != nil {
		return 0, nil, err
	}
	_, own := o.read(paths)
	return len(apps) + len(paths), append(faults, own...), nil
}

// maxSize is how large a definition may be. The largest that is shipped has a
// twentieth of it.
const maxSize = 1 << 20

// read reads files and checks each, and that no two define one app.
func (o *Options) read(paths []string) (apps []*app.App, faults Faults) {
	files := map[string]string{} // by id
	for _, path := range paths {
		a, found := o.readOne(path)
		faults = append(faults, found...)
		if a == nil {
			continue
		}
		if first := files[a.ID]; first != "" {
			faults = append(faults,
				Fault{path, "id", fmt.Sprintf("%s defines %s already: take one of them away", first, a.ID)})
			continue
		}
		files[a.ID] = path
		apps = append(apps, a)
	}
	return apps, faults
}

func (o *Options) readOne(path string) (*app.App, Faults) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxSize {
		return nil, Faults{{
			path, "the file",
			fmt.Sprintf("it is larger than %d bytes: a definition describes one app", maxSize),
		}}
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, Faults{{path, "the file", "it cannot be read: " + err.Error()}}
	}
	a, err := app.Parse(text)
	if misread, ok := errors.AsType[*app.Misread](err); ok {
		return nil, placed(path, misread.Faults)
	}
	if err != nil {
		return nil, Faults{{path, "the file", err.Error()}}
	}
	faults := placed(path, a.Check(o.Private))
	if strings.HasPrefix(a.ID, ownPrefix) {
		faults = append(faults,
			Fault{
				path, "id",
				fmt.Sprintf("%q begins like a connector that an account adds itself: leave %s out", a.ID, ownPrefix),
			})
	}
	return a, faults
}

// ownPrefix begins the ids of connectors, so that an app that comes later never
// has the id of one.
const ownPrefix = "x-"

func placed(path string, found []app.Fault) Faults {
	var faults Faults
	for _, f := range found {
		faults = append(faults, Fault{path, f.At, f.Text})
	}
	return faults
}
