package browsertest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestTab(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w,
			`<!doctype html><title>x</title><h1>%s</h1><form action="/next"><input id="q" name="q" value="old">
			<select id="s" name="s"><option>a<option>b</select><p id="hid" style="display:none">hidden</p>`+
				`<button>Go</button></form>`, r.URL)
	}))
	t.Cleanup(server.Close)
	b := Start(t)
	tests := []struct {
		name string
		opts Options
	}{
		{"desktop", Options{}},
		{"phone in the dark", Options{Width: 360, Height: 740, Mobile: true, Dark: true}},
		{"without scripts", Options{NoScript: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tab := b.Tab(t, tt.opts)
			if got := tab.Open(server.URL + "/first"); got != http.StatusOK {
				t.Errorf("Open = %d, want 200", got)
			}
			tab.See("/first")
			tab.Fill("#q", "new")
			tab.Choose("#s", "b")
			if got := tab.Press("button"); got != http.StatusOK {
				t.Errorf("Press = %d, want 200", got)
			}
			if got, want := tab.URL(), server.URL+"/next?q=new&s=b"; got != want {
				t.Errorf("URL = %q, want %q", got, want)
			}
			tab.Back()
			tab.See("/first")
			if tab.Visible("#hid") || !tab.Visible("#q") {
				t.Errorf("Visible is wrong")
			}
		})
	}
}
