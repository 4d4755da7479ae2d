package console

import (
	"testing"

	"ace/internal/platform/console/page"

	"github.com/jba/templatecheck"
)

func TestTemplates(t *testing.T) {
	t.Parallel()
	all, err := page.New(page.Site{})
	if err != nil {
		t.Fatal(err)
	}
	views := map[string]any{
		"home":       homeView{},
		"docs":       docsView{},
		"sdk":        sdkView{},
		"apps":       appsView{},
		"app":        appView{},
		"failure":    failureView{},
		"problem":    problemView{},
		"signin":     signInView{},
		"link":       linkView{},
		"account":    &accountView{},
		"activity":   activityView{},
		"newkey":     newKeyView{},
		"key":        keyView{},
		"madekey":    madeKeyView{},
		"connection": &connectionView{},
		"connect":    connectView{},
		"outcome":    outcomeView{},
		"approval":   &approvalView{},
		"connector":  &connectorView{},
		"consent":    consentView{},
	}
	for _, name := range page.Names() {
		view, ok := views[name]
		if !ok {
			t.Errorf("the page %s has no view here", name)
			continue
		}
		if err := templatecheck.CheckHTML(all.Template(name), view); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
