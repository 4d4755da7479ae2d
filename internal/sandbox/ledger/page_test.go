package ledger

import (
	"html/template"
	"path/filepath"
	"testing"

	"github.com/jba/templatecheck"
)

func TestTemplates(t *testing.T) {
	t.Parallel()
	p, err := newPages("/x402", "/pay.css")
	if err != nil {
		t.Fatal(err)
	}
	views := map[string]any{
		"index.html": indexView{}, "account.html": accountView{}, "transfer.html": transferView{},
		"message.html": messageView{},
	}
	for name, view := range views {
		if err := templatecheck.CheckHTML(template.Must(p.all.Clone()).Lookup(name), view); err != nil {
			t.Errorf("template %s: %v", name, err)
		}
	}
	files, err := filepath.Glob("templates/*.html")
	if err != nil || len(files) != len(views)+1 {
		t.Errorf("template files = %v (%v), want one per view and the layout", files, err)
	}
}
