package lookup

import (
	"cmp"
	"slices"
	"strings"

	"ace/internal/foundation/edit"
	"ace/internal/platform/app"
)

const (
	maxNear     = 3
	maxNearApps = 3
	maxLookup   = 80 // bytes of an id that are compared
)

// nearest returns the ids of tools that the caller may have meant, the most likely
// first: tools of the app that the id names, or of apps with similar ids.
func nearest(id string, apps []*app.App, allowed func(*app.App, *app.Tool) bool) []string {
	id = strings.ToLower(id)
	if len(id) > maxLookup {
		id = id[:maxLookup]
	}
	id = strings.NewReplacer(".", "__", "-", "_", "/", "__", " ", "_").Replace(id)
	prefix, name, split := strings.Cut(id, "__")
	if !split {
		prefix, name, _ = strings.Cut(id, "_")
	}
	type candidate struct {
		id       string
		distance int
	}
	var found []candidate
	for _, a := range nearestApps(prefix, apps) {
		tools, err := a.AllTools()
		if err != nil {
			continue
		}
		for _, t := range tools {
			if d := edit.Distance(name, t.Name); allowed(a, t) && d <= max(2, len(name)/2) {
				found = append(found, candidate{t.ID, d + edit.Distance(prefix, strings.ReplaceAll(a.ID, "-", "_"))})
			}
		}
	}
	slices.SortFunc(found,
		func(a, b candidate) int { return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.id, b.id)) })
	var ids []string
	for _, c := range found[:min(len(found), maxNear)] {
		if c.distance <= found[0].distance+1 {
			ids = append(ids, c.id)
		}
	}
	return ids
}

func nearestApps(prefix string, apps []*app.App) []*app.App {
	type candidate struct {
		app      *app.App
		distance int
	}
	var found []candidate
	for _, a := range apps {
		id := strings.ReplaceAll(a.ID, "-", "_")
		if id == prefix {
			return []*app.App{a}
		}
		if most := max(2, len(prefix)/3); abs(len(id)-len(prefix)) <= most {
			if d := edit.Distance(prefix, id); d <= most {
				found = append(found, candidate{a, d})
			}
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.app.ID, b.app.ID))
	})
	var near []*app.App
	for _, c := range found[:min(len(found), maxNearApps)] {
		near = append(near, c.app)
	}
	return near
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
