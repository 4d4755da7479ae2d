package console

import (
	"bytes"
	"net/http"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/console/page"
	"ace/internal/platform/sdkfiles"
)

// sdkView fills sdk.html.
type sdkView struct {
	page.Frame
	Base    string // URL of the folder, without a slash at the end
	Version string
	Files   []sdkfiles.File
	Sample  *sample // nil: no tool has an example
}

func (c *Console) sdk(w http.ResponseWriter, r *http.Request) {
	f, err := c.public(r, "JavaScript and Python clients")
	if err != nil {
		c.fail(w, r, err)
		return
	}
	f.Hidden, f.Description = false, "Clients for JavaScript and Python, without dependencies."
	view := sdkView{Frame: f, Base: c.clients.Base, Version: sdkfiles.Version, Files: c.clients.Files}
	if view.Sample, err = c.sample(); err != nil {
		c.fail(w, r, err)
		return
	}
	c.pages.Show(w, r, http.StatusOK, "sdk", view)
}

// sdkFile serves a file of the clients. A page of any origin may load it.
func (c *Console) sdkFile(w http.ResponseWriter, r *http.Request) {
	file, ok := c.clients.File(r.PathValue("file"))
	if !ok {
		c.lost(w, r, problem.New(problem.NotFound, "not_found", "The files of the clients are listed at /sdk/."))
		return
	}
	h := w.Header()
	h.Set("Content-Type", file.MediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Cache-Control", "public, max-age=3600")
	h.Set("ETag", `"`+file.SHA256[:32]+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.Body))
}
