package markup_test

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ace/internal/website/datapack/markup"
	"ace/internal/website/datapack/schemaorg"
	"ace/internal/website/dom"

	gocmp "github.com/google/go-cmp/cmp"
)

const corpusURL = "https://example.com/page"

// example is one example of the corpus: the same data in several syntaxes.
type example struct {
	name  string
	parts map[string]string
}

var sections = regexp.MustCompile(`(?m)^(PRE-MARKUP|MICRODATA|RDFA|JSON)\s*:`)

func corpus(t *testing.T) []example {
	t.Helper()
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	data, err := os.ReadFile(filepath.Join(shared, "specs/schemaorg/schemaorg-all-examples.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []example
	for i, text := range regexp.MustCompile(`(?m)^TYPES:`).Split(string(data), -1)[1:] {
		head, body, _ := strings.Cut(text, "\n")
		name := regexp.MustCompile(`eg-\d+`).FindString(head)
		if name == "" {
			name = "no. " + strconv.Itoa(i+1)
		}
		e := example{name, map[string]string{}}
		places := sections.FindAllStringSubmatchIndex(body, -1)
		for j, p := range places {
			end := len(body)
			if j+1 < len(places) {
				end = places[j+1][0]
			}
			e.parts[body[p[2]:p[3]]] = strings.TrimSpace(body[p[1]:end])
		}
		all = append(all, e)
	}
	return all
}

func extract(t testing.TB, page string) *markup.Graph {
	t.Helper()
	d, err := dom.Parse([]byte(page), corpusURL, "text/html; charset=utf-8")
	if err != nil {
		t.Fatal(err)
	}
	return markup.Extract(d)
}

// graph extracts one section of an example; empty sections answer nil.
func (e example) graph(t *testing.T, section string) *markup.Graph {
	t.Helper()
	source := map[string]markup.Source{
		"MICRODATA": markup.Microdata, "RDFA": markup.RDFa,
		"JSON": markup.JSONLD,
	}[section]
	page := e.parts[section]
	switch {
	case section == "JSON" && (strings.HasPrefix(page, "{") || strings.HasPrefix(page, "[")):
		page = `<!doctype html><script type="application/ld+json">` + page + "</script>"
	case !strings.Contains(page, "<html"):
		page = "<!doctype html><body>" + page
	}
	g := extract(t, page)
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n *markup.Node) bool { return n.Source != source })
	if len(g.Nodes) == 0 {
		return nil
	}
	return g
}

// lines writes a graph so that graphs of different syntaxes compare: one line
// per value with the way to it, sorted. Links to things of the graph are
// followed; ids are not compared, since examples seldom give them in all
// syntaxes.
func lines(g *markup.Graph) []string {
	linked := map[*markup.Node]bool{}
	for _, n := range g.All() {
		for _, p := range n.Props {
			for _, v := range p.Values {
				if found := g.Follow(v); found != nil {
					linked[found] = true
				}
			}
		}
	}
	var out []string
	seen := map[*markup.Node]bool{}
	var walk func(n *markup.Node, path string, around []*markup.Node)
	walk = func(n *markup.Node, path string, around []*markup.Node) {
		seen[n] = true
		types := slices.Clone(n.Types)
		for _, v := range n.Prop("additionalType") { // schema.org: another way to write a type
			if name, ok := schemaorg.Short(v.Text); ok && v.Kind != markup.Thing {
				types = append(types, name)
			}
		}
		slices.Sort(types)
		path += "(" + strings.Join(types, "+") + ")"
		if len(n.Props) == 0 {
			out = append(out, path)
		}
		for _, p := range n.Props {
			for _, v := range p.Values {
				if _, ok := schemaorg.Short(v.Text); ok && p.Name == "additionalType" {
					continue
				}
				found := g.Follow(v)
				if found != nil && slices.Contains(around, found) {
					out = append(out, path+"."+p.Name+" = a thing around this one")
					continue
				}
				if found != nil {
					walk(found, path+"."+p.Name, append(slices.Clip(around), found))
					continue
				}
				out = append(out, path+"."+p.Name+" = "+plain(v))
			}
		}
	}
	roots := slices.Clone(g.Nodes)
	for i, n := range roots {
		if whole := g.Find(n.ID); n.ID != "" && whole != nil {
			roots[i] = whole
		}
	}
	slices.SortStableFunc(roots, func(a, b *markup.Node) int {
		return cmp.Compare(strings.Join(a.Types, "+"), strings.Join(b.Types, "+"))
	})
	for _, lone := range []bool{true, false} { // things in a circle come last
		for _, n := range roots {
			if !seen[n] && linked[n] != lone {
				walk(n, "", []*markup.Node{n})
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// plain writes a value so that the spellings of the syntaxes agree: numbers by
// value, addresses absolute, terms of schema.org short, dates of midnight
// alike.
func plain(v markup.Value) string {
	text := dom.Squeeze(v.Text)
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	if name, ok := schemaorg.Short(text); ok {
		text = name
	}
	if word := strings.ToLower(text); word == "true" || word == "false" {
		return word
	}
	// resolved in one syntax, relative in the other
	if name, ok := strings.CutPrefix(text, "https://example.com/"); ok {
		text = strings.TrimPrefix(name, "page")
	}
	if bareHost.MatchString(text) { // the path "/" may be left out
		text += "/"
	}
	return strings.TrimPrefix(text, "/")
}

var bareHost = regexp.MustCompile(`^https?://[^/]+$`)

// compare returns what two graphs say differently.
func compare(a, b *markup.Graph) (onlyA, onlyB []string) {
	la, lb := lines(a), lines(b)
	for _, l := range la {
		if !slices.Contains(lb, l) {
			onlyA = append(onlyA, l)
		}
	}
	for _, l := range lb {
		if !slices.Contains(la, l) {
			onlyB = append(onlyB, l)
		}
	}
	return onlyA, onlyB
}

// TestExamples reads every example of schema.org in every syntax that it has:
// the syntaxes of one example say the same, but for those examples whose own
// sections say different things.
func TestExamples(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for _, e := range corpus(t) {
		counts["examples"]++
		var graphs []*markup.Graph
		for _, section := range []string{"MICRODATA", "RDFA", "JSON"} {
			g := e.graph(t, section)
			if (g != nil) != written(e, section) {
				t.Errorf("%s: the section %s yields %v", e.name, section, g)
			}
			if g != nil {
				counts[section]++
				graphs = append(graphs, g)
			}
		}
		var differences []string
		for i := range graphs {
			for j := range i {
				a, b := compare(graphs[i], graphs[j])
				differences = append(differences, append(a, b...)...)
			}
		}
		reason, known := ownFaults[e.name]
		switch {
		case len(graphs) < 2:
			counts["in one syntax"]++
		case len(differences) == 0 && known:
			t.Errorf("%s: all syntaxes say the same, yet the table says %q", e.name, reason)
		case len(differences) == 0:
			counts["the same in all"]++
		case known:
			counts["different by their own fault"]++
		default:
			t.Errorf("%s: the syntaxes differ:\n  %s", e.name, strings.Join(differences, "\n  "))
		}
	}
	// The examples of release 30.0.
	want := map[string]int{
		"examples": 507, "MICRODATA": 204, "RDFA": 178, "JSON": 479, "in one syntax": 319,
		"the same in all": 80, "different by their own fault": len(ownFaults),
	}
	if diff := gocmp.Diff(want, counts); diff != "" {
		t.Errorf("examples (-want +got):\n%s", diff)
	}
}

// written reports whether a section holds markup: many say that it is to be
// written or that it needs none.
func written(e example, section string) bool {
	text := e.parts[section]
	switch {
	case section == "JSON":
		return strings.Contains(text, "ld+json") || strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
	case section == "RDFA":
		return strings.Contains(text, "typeof")
	}
	// itemprop in place of itemtype, and a class in place of the attribute.
	broken := []string{"eg-0427", "eg-0428", "eg-0429", "eg-3475"}
	return !slices.Contains(broken, e.name) && strings.Contains(text, "itemscope")
}
