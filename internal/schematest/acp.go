package schematest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// ACP returns the checkout schemas of a version, 2026-04-17 or 2026-01-30.
// References are names of definitions, for example "CheckoutSession".
func ACP(t testing.TB, version string) *Set {
	t.Helper()
	return acp(t, version, "schema.agentic_checkout.json")
}

// ACPFeed returns the schemas of the product feed, which version 2026-04-17
// introduced: "Product", "FeedMetadata", "ProductsResponse".
func ACPFeed(t testing.TB) *Set {
	t.Helper()
	return acp(t, "2026-04-17", "schema.feed.json")
}

func acp(t testing.TB, version, file string) *Set {
	t.Helper()
	root := Dir(t, "specs", "commerce", "acp")
	prefix := "acp:///" + version + "/"
	load := func(_, url string) (any, error) {
		name, ok := strings.CutPrefix(url, prefix)
		if !ok {
			return nil, fmt.Errorf("no schema is served for %s", url)
		}
		schema, err := readJSON(filepath.Join(root, version, "json-schema", name))
		if s, ok := schema.(map[string]any); ok {
			delete(s, "$id") // the same for every bundle of every version
		}
		return schema, err
	}
	return newSet("ACP "+version, load, func(ref string) string { return prefix + file + "#/$defs/" + ref })
}
