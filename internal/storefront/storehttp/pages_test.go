package storehttp

import (
	"testing"

	"github.com/jba/templatecheck"
)

func TestTemplates(t *testing.T) {
	t.Parallel()
	pages, err := loadPages()
	if err != nil {
		t.Fatal(err)
	}
	if err := templatecheck.CheckHTML(pages.session, sessionView{}); err != nil {
		t.Error(err)
	}
}
