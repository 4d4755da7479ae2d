package httpserver

import (
	"maps"
	"net/http"
)

// PagePolicy says what a browser may do with the HTML of a host.
type PagePolicy struct {
	// ContentSecurityPolicy. Empty: nothing but our own styles, images, fonts,
	// scripts and forms, in no frame.
	ContentSecurityPolicy string
	// HTTPSOnly sends Strict-Transport-Security for a year. Set it only where
	// the public address is https.
	HTTPSOnly bool
}

const defaultContentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// SecurePages sets the security headers of pages for people. A handler may
// replace one of them before it writes.
func SecurePages(p PagePolicy) Middleware {
	if p.ContentSecurityPolicy == "" {
		p.ContentSecurityPolicy = defaultContentPolicy
	}
	fields := http.Header{}
	fields.Set("Content-Security-Policy", p.ContentSecurityPolicy)
	fields.Set("X-Content-Type-Options", "nosniff")
	fields.Set("X-Frame-Options", "DENY")
	fields.Set("Referrer-Policy", "no-referrer")
	fields.Set("Cross-Origin-Opener-Policy", "same-origin")
	fields.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	if p.HTTPSOnly {
		fields.Set("Strict-Transport-Security", "max-age=31536000")
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			maps.Copy(w.Header(), fields)
			next.ServeHTTP(w, r)
		})
	}
}
