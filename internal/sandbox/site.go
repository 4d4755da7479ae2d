package sandbox

import (
	"net/http"

	"ace/internal/sandbox/demosite"
)

// sitePrefix is where the practice website is mounted.
const sitePrefix = "/site"

// mountSite serves the practice website, and robots.txt for the whole listener:
// crawlers look for it at the root alone.
func mountSite(mux *http.ServeMux, opts *Options) error {
	site, err := demosite.New(sitePrefix, opts.BaseURL)
	if err != nil {
		return err
	}
	mux.Handle(sitePrefix, site.Handler())
	mux.Handle(sitePrefix+"/", site.Handler())
	mux.Handle("GET /robots.txt", site.Robots())
	return nil
}
