package sandbox

import (
	"net/http"
	"strings"
	"testing"

	"ace/internal/browsertest"
)

// TestLedgerInBrowser looks at the pages of the x402 ledger as people do: on a
// desk, on a narrow phone, in both schemes, without scripts.
func TestLedgerInBrowser(t *testing.T) {
	t.Parallel()
	w := setup(t)
	browser := browsertest.Start(t)
	screens := []struct {
		name string
		opts browsertest.Options
	}{
		{"desktop", browsertest.Options{}},
		{"desktop, dark", browsertest.Options{Dark: true}},
		{"phone", browsertest.Phone()},
		{
			"phone, dark, without scripts",
			browsertest.Options{Width: 360, Height: 740, Mobile: true, Dark: true, NoScript: true},
		},
	}
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) {
			tab := browser.Tab(t, screen.opts)
			tab.Open(w.url + "/")
			tab.Press(`main a[href="/x402/"]`)
			tab.See("x402 ledger")
			tab.See("eip155:31337")
			fits(t, tab)
			tab.Shot("x402-ledger-" + strings.ReplaceAll(screen.name, " ", "-"))
			tab.Fill("#address", "0x90F79bf6EB2c4f870365E785982E1f101E93b906")
			tab.Press(".faucet button")
			tab.See("Dev USD")
			tab.See("No payments yet")
			fits(t, tab)
			if status := tab.Open(w.url + "/x402/tx/0x12"); status != http.StatusNotFound {
				t.Errorf("unknown transaction = %d, want 404", status)
			}
			tab.See("There is no such transaction.")
		})
	}
}

// fits fails where a page is wider than the screen.
func fits(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	if over := browsertest.Eval[int](tab,
		"document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		t.Errorf("%s is %d pixels wider than the screen", tab.URL(), over)
	}
}
