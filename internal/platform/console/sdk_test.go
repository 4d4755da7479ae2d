package console_test

import (
	"net/http"
	"testing"

	"ace/internal/platform/sdkfiles"
	"ace/sdk"
)

// TestFilesOfTheClients compares each file with what was built and with the page
// that lists it.
func TestFilesOfTheClients(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	built, err := sdkfiles.Build(sdk.Files, base)
	if err != nil {
		t.Fatal(err)
	}
	b := w.browser(t)
	listing := b.get("/sdk/")
	if listing.Code != http.StatusOK {
		t.Fatalf("GET /sdk/ = %d", listing.Code)
	}
	contains(t, "the page", listing.text,
		"npm install "+base+"/sdk/ace-1.0.0.tgz", "pip install "+base+"/sdk/ace-1.0.0-py3-none-any.whl",
		`import { ACE } from "ace"`, `ace.tools.run("desk__list_tickets"`)
	for _, file := range built.Files {
		contains(t, "the page", listing.text, `href="/sdk/`+file.Name+`"`, file.SHA256)
		got := b.get("/sdk/" + file.Name)
		if got.Code != http.StatusOK || got.text != string(file.Body) {
			t.Errorf("GET /sdk/%s = %d, %d bytes; want %d bytes", file.Name, got.Code, len(got.text), len(file.Body))
		}
		for name, want := range map[string]string{
			"Content-Type": file.MediaType, "X-Content-Type-Options": "nosniff",
			"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin",
			"Cache-Control": "public, max-age=3600", "ETag": `"` + file.SHA256[:32] + `"`,
		} {
			if value := got.Header().Get(name); value != want {
				t.Errorf("GET /sdk/%s: %s is %q, want %q", file.Name, name, value, want)
			}
		}
	}
	if got := b.get("/sdk/ace-0.9.0.mjs"); got.Code != http.StatusNotFound {
		t.Errorf("GET of a file that is not there = %d, want 404", got.Code)
	}
}
