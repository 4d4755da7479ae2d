package llmsdraft

import (
	"cmp"
	"encoding/json"
	"strings"

	"ace/internal/website/crawl"
	"ace/internal/website/dom"

	"golang.org/x/net/html/atom"
)

// data is what the JSON-LD of a page says about itself and its publisher.
type data struct {
	kinds             []string
	siteName, orgName string
	description       string // of the organization
	email, telephone  string
}

// maxData bounds the JSON-LD that is read of one page.
const maxData = 256 << 10

// readData reads JSON-LD as far as a draft needs it. What does not parse is
// passed over: to judge it is not the task here.
func readData(d *crawl.Document) data {
	var found data
	if d.Root == nil {
		return found
	}
	left := maxData
	for n := range d.Root.Descendants() {
		if n.DataAtom != atom.Script || !strings.EqualFold(strings.TrimSpace(dom.Attr(n, "type")),
			"application/ld+json") || n.FirstChild == nil {
			continue
		}
		if left -= len(n.FirstChild.Data); left < 0 {
			break
		}
		var v any
		if json.Unmarshal([]byte(n.FirstChild.Data), &v) == nil {
			found.add(v, 0)
		}
	}
	return found
}

func (f *data) add(v any, depth int) {
	if depth > 8 {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			f.add(item, depth+1)
		}
	case map[string]any:
		f.node(v)
		f.add(v["@graph"], depth+1)
		for _, key := range []string{"publisher", "mainEntity", "about", "contactPoint"} {
			f.add(v[key], depth+1)
		}
	}
}

func (f *data) node(v map[string]any) {
	kinds := texts(v["@type"])
	f.kinds = append(f.kinds, kinds...)
	org := false
	for _, k := range kinds {
		k = strings.TrimPrefix(strings.TrimPrefix(k, "https://schema.org/"), "http://schema.org/")
		switch {
		case k == "WebSite":
			first(&f.siteName, v["name"])
		case k == "ContactPoint":
			f.reach(v)
		case strings.HasSuffix(k, "Organization") || strings.HasSuffix(k, "Business") || organizations[k]:
			org = true
		}
	}
	if org {
		first(&f.orgName, v["name"])
		first(&f.description, v["description"])
		f.reach(v)
	}
}

func (f *data) reach(v map[string]any) {
	for _, s := range texts(v["email"]) {
		f.email = cmp.Or(f.email, clean(s))
	}
	for _, s := range texts(v["telephone"]) {
		f.telephone = cmp.Or(f.telephone, clean(s))
	}
}

// organizations are kinds of organizations whose name does not say so.
var organizations = map[string]bool{
	"Corporation": true, "Hotel": true, "Restaurant": true, "Store": true, "OnlineStore": true, "School": true,
	"CollegeOrUniversity": true,
	"Hospital":            true, "Museum": true, "Library": true, "NGO": true, "CafeOrCoffeeShop": true, "Bakery": true,
	"Dentist": true, "BikeStore": true,
	"LodgingBusiness": true, "ProfessionalService": true,
}

// first keeps the first text that is there.
func first(into *string, v any) {
	if *into == "" {
		for _, s := range texts(v) {
			*into = plain(s)
			return
		}
	}
}

func texts(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			if s, ok := item.(string); ok && len(all) < 20 {
				all = append(all, s)
			}
		}
		return all
	}
	return nil
}
