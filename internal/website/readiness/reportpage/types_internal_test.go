package reportpage

import (
	"testing"

	"github.com/jba/templatecheck"
)

// TestTypes checks every field that the template names against the view.
func TestTypes(t *testing.T) {
	t.Parallel()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if err := templatecheck.CheckHTML(p.all.Lookup("report.html"), &view{}); err != nil {
		t.Error(err)
	}
}
