package toolpack_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/app"
	"ace/internal/platform/toolpack"
)

const base = "https://api.acme.example/v1"

// tools returns n tools of an app, complete.
func tools(t *testing.T, appID string, n int) toolpack.Tools {
	t.Helper()
	a := &app.App{ID: appID}
	var list []*app.Tool
	for i := range n {
		list = append(list, &app.Tool{
			Name: fmt.Sprintf(
				"create_thing_%d",
				i,
			),
			Call:   "POST /things/{thing_id}",
			Effect: app.Writes,
			Body:   app.BodyJSON,
			Fixed:  app.Fixed{Headers: map[string]string{"Content-Type": "application/vnd.api+json"}},
			Paging: &app.Paging{},
			In: app.Inputs{
				{Name: "thing_id", Required: true, Schema: map[string]any{"type": "string"}, Where: app.InPath},
				{
					Name:   "tags",
					Schema: map[string]any{"type": "array", "items": map[string]any{"enum": []any{"a", "b"}}},
					Where:  app.InQuery,
					Wire:   "tags[]",
					Style:  app.StyleComma,
				},
			},
		})
	}
	for _, one := range list {
		one.Title = app.TitleOf(one.Name)
		one.About = app.AboutCall(one.Call, []string{"thing_id"}, []string{"tags"})
	}
	a.Tools = app.OrderedOf(func(t *app.Tool) string { return t.Name }, list...)
	if err := a.Complete(); err != nil {
		t.Fatal(err)
	}
	return toolpack.Tools{App: appID, Base: base, Tools: list}
}

func written(t *testing.T, all ...toolpack.Tools) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := toolpack.Write(&b, all); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func open(t *testing.T, data []byte) *toolpack.Pack {
	t.Helper()
	p, err := toolpack.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPackHoldsTools(t *testing.T) {
	t.Parallel()
	want := tools(t, "acme", 3)
	data := written(t, want, tools(t, "other", 1))
	if !bytes.Equal(data, written(t, want, tools(t, "other", 1))) {
		t.Error("the same tools give other bytes")
	}
	p := open(t, data)
	a := &app.App{ID: "acme", Base: base}
	if a.Stored = p.Of(a); a.Stored == nil || p.Apps() != 2 {
		t.Fatalf("the pack has no tools of acme, and %d apps", p.Apps())
	}
	got, err := a.Stored.Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Tools, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	c, err := app.NewCatalog(a)
	if err != nil {
		t.Fatal(err)
	}
	of, one, err := c.Tool("acme__create_thing_1")
	if err != nil || of != a || one != got[1] {
		t.Errorf("Tool = %v of %v, %v", one, of, err)
	}
	if outlined := a.OutlinedTools(); len(outlined) != 3 || a.ToolCount() != 3 || outlined[0].About != got[0].About ||
		outlined[0].ID != got[0].ID || outlined[0].Title != "Create thing 0" {
		t.Errorf("outlined: %+v", outlined)
	}
	for _, other := range []*app.App{{ID: "acme", Base: base + "/x"}, {ID: "none", Base: base}} {
		if p.Of(other) != nil {
			t.Errorf("%s at %s has tools", other.ID, other.Base)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	good := written(t, tools(t, "acme", 2))
	tests := []struct {
		name string
		data []byte
	}{
		{"nothing", nil},
		{"another version", bytes.Replace(good, []byte("ACETOOLS1"), []byte("ACETOOLS9"), 1)},
		{"cut in the outlines", good[:30]},
		{"cut in the blocks", good[:len(good)-1]},
		{"outlines that are none", append([]byte("ACETOOLS1\n\x00\x00\x00\x04"), "nope"...)},
	}
	for _, tt := range tests {
		if _, err := toolpack.Open(tt.data); err == nil {
			t.Errorf("%s was opened", tt.name)
		}
	}
	broken := bytes.Clone(good)
	for i := len(broken) - 20; i < len(broken); i++ {
		broken[i] = 0xff
	}
	a := &app.App{ID: "acme", Base: base}
	if _, err := open(t, broken).Of(a).Load(); err == nil || !strings.Contains(err.Error(), "acme") {
		t.Errorf("a broken block was read: %v", err)
	}
}

// TestPackCachesSomeApps reads more apps than are cached, from several
// goroutines.
func TestPackCachesSomeApps(t *testing.T) {
	t.Parallel()
	var all []toolpack.Tools
	for i := range 100 {
		all = append(all, tools(t, fmt.Sprintf("app-%d", i), 1))
	}
	p := open(t, written(t, all...))
	load := func(id string) *app.Tool {
		list, err := p.Of(&app.App{ID: id, Base: base}).Load()
		if err != nil || len(list) != 1 || list[0].App != id {
			t.Errorf("Load(%s) = %v, %v", id, list, err)
			return nil
		}
		return list[0]
	}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 100 {
				load(fmt.Sprintf("app-%d", (i*7+worker*31)%100))
			}
		})
	}
	group.Wait()
	first := load("app-0")
	if load("app-0") != first {
		t.Error("tools are read again while they are cached")
	}
	for i := 1; i < 100; i++ {
		load(fmt.Sprintf("app-%d", i))
	}
	if load("app-0") == first {
		t.Error("the tools of a hundred apps are cached")
	}
}
