package openapi

import (
	"maps"
	"net/url"
	"slices"

	"ace/internal/foundation/problem"
)

// CheckQuery returns unknown_parameter (Invalid) if a query has a parameter that
// is not known, for handlers that read their query themselves. The text names
// the known one that it resembles.
func CheckQuery(values url.Values, known ...string) error {
	items := unknownParameters(values, known)
	if len(items) == 0 {
		return nil
	}
	return problem.New(problem.Invalid, "unknown_parameter", items[0].Detail).WithItems(items...).
		Advise("fix_arguments")
}

// unknownParameters returns an item for each parameter that is not known, by name.
func unknownParameters(values url.Values, known []string) (items []problem.Item) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) {
			items = append(items, problem.Item{
				Pointer: clipName(name), Code: "unknown_parameter", Detail: unknownDetail("parameter", name, known),
			})
		}
	}
	return items
}
