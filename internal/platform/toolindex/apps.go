package toolindex

import (
	"cmp"
	"slices"
	"strings"

	"ace/internal/platform/app"
)

// appEntry is an app with all that it is found by.
type appEntry struct {
	id, name string
	names    []string // squashed, the name first
	group    []string // stems of its categories
	about    []string // stems of its description
	tools    int      // that can be found
	// request is the tool that sends any request to the app; nil: there is none.
	request *Handle
}

func newAppEntry(stems stemmer, a *app.App) appEntry {
	e := appEntry{
		id: a.ID, name: a.Name, group: stems.of(strings.Join(a.Categories, " ")), about: stems.of(a.About),
	}
	e.tools = a.ToolCount()
	if a.Base != "" {
		e.request = &Handle{
			App:      a.ID,
			Tool:     app.ToolID(a.ID, app.NameRequest),
			Effect:   app.Writes,
			Required: []string{"path"},
			Free:     true,
		}
		e.request.IDs = []string{e.request.Tool}
	}
	for _, name := range append([]string{a.Name, a.ID}, a.Aliases...) {
		if s := squash(name); s != "" && !slices.Contains(e.names, s) {
			e.names = append(e.names, s)
		}
	}
	return e
}

// AppHit is an app that was found.
type AppHit struct {
	App   string   // id
	Score float64  // 0 to 1
	On    []string // name, alias, category, description
}

// Apps finds apps by name, by other names and by what they are for. An empty
// search lists all, by name.
func (x *Index) Apps(search string) []AppHit {
	type found struct {
		AppHit
		name string // lower case
	}
	wanted, stems := squash(search), stemsOf(search)
	var list []found
	for _, s := range x.segments {
		for i := range s.apps {
			a := &s.apps[i]
			score, on := 1.0, "name"
			if wanted != "" {
				score, on = a.match(wanted, stems)
			}
			if score > 0 {
				list = append(list, found{AppHit{a.id, score, []string{on}}, strings.ToLower(a.name)})
			}
		}
	}
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.name, b.name), cmp.Compare(a.App, b.App))
	})
	hits := make([]AppHit, len(list))
	for i := range list {
		hits[i] = list[i].AppHit
	}
	return hits
}

// match returns how well an app fits a search, and by what.
func (a *appEntry) match(wanted string, stems []string) (score float64, on string) {
	better := func(s float64, by string) {
		if s > score {
			score, on = s, by
		}
	}
	for i, name := range a.names {
		by, full := "name", 1.0
		if i > 0 {
			by, full = "alias", 0.97
		}
		switch {
		case name == wanted:
			better(full, by)
		case strings.HasPrefix(name, wanted) && len(wanted) >= 2:
			better(full*(0.7+0.2*float64(len(wanted))/float64(len(name))), by)
		case strings.Contains(name, wanted) && len(wanted) >= 3:
			better(full*0.6, by)
		case len(name) >= 4 && len(wanted) >= 4 && oneTypo(name, wanted):
			better(full*0.8, by)
		}
	}
	if len(stems) == 0 {
		return score, on
	}
	missing := func(in []string) bool {
		return slices.ContainsFunc(stems, func(w string) bool { return !slices.Contains(in, w) })
	}
	if score < 0.5 && !missing(a.group) {
		better(0.5, "category")
	}
	if score < 0.4 && !missing(a.about) {
		better(0.4, "description")
	}
	return score, on
}

// Closest returns the id of the app whose name is nearest to a text, for hints.
func (x *Index) Closest(text string) (id string, ok bool) {
	wanted, stems := squash(text), stemsOf(text)
	if wanted == "" {
		return "", false
	}
	best, name := 0.5, ""
	for _, s := range x.segments {
		for i := range s.apps {
			a := &s.apps[i]
			score, _ := a.match(wanted, stems)
			lower := strings.ToLower(a.name)
			if score > best || score == best && (!ok || cmp.Or(cmp.Compare(lower, name), cmp.Compare(a.id, id)) < 0) {
				id, ok, best, name = a.id, true, score, lower
			}
		}
	}
	return id, ok
}
