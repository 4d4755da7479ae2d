package discovery_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

// TestDocuments holds each document to the rules of all.
func TestDocuments(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	for _, d := range documents() {
		t.Run(d.path, func(t *testing.T) {
			r := w.Do(http.MethodGet, d.path, "", "Accept-Encoding", "identity")
			tag, modified := r.Header.Get("ETag"), r.Header.Get("Last-Modified")
			want := map[string]string{
				"Content-Type": d.mediaType, "Cache-Control": "public, max-age=" + d.maxAge,
				"Access-Control-Allow-Origin": "*", "X-Content-Type-Options": "nosniff", "WWW-Authenticate": "",
			}
			for name, value := range want {
				if got := r.Header.Get(name); got != value {
					t.Errorf("%s = %q, want %q", name, got, value)
				}
			}
			if since, err := http.ParseTime(modified); r.Status != http.StatusOK || !strings.HasPrefix(tag, `"`) ||
				err != nil || time.Since(since) < -time.Second || len(r.Body) == 0 {
				t.Fatalf("answer = %d with ETag %s, Last-Modified %s, %d bytes", r.Status, tag, modified, len(r.Body))
			}
			seeConditions(t, w, d, r)
			for accept, mediaType := range d.others {
				other := w.Do(http.MethodGet, d.path, "", "Accept", accept, "Accept-Encoding", "identity")
				if other.Header.Get("Content-Type") != mediaType || !bytes.Equal(other.Body, r.Body) ||
					mediaType != d.mediaType && other.Header.Get("ETag") == tag {
					t.Errorf("Accept: %s = %s with ETag %s and the same bytes: %t, want %s and an ETag of its own",
						accept, other.Header.Get("Content-Type"), other.Header.Get("ETag"), bytes.Equal(other.Body,
							r.Body), mediaType)
				}
				if mediaType != d.mediaType && !strings.Contains(r.Header.Get("Vary"), "Accept") {
					t.Errorf("Vary = %q, want Accept", r.Header.Get("Vary"))
				}
			}
			for _, alias := range d.aliases {
				other := w.Do(http.MethodGet, alias, "", "Accept-Encoding", "identity")
				if other.Status != http.StatusOK || other.Header.Get("ETag") != tag || !bytes.Equal(other.Body,
					r.Body) {
					t.Errorf("%s = %d, other than %s", alias, other.Status, d.path)
				}
			}
		})
	}
}

// seeConditions asks for a document in each way that does not read it again.
func seeConditions(t *testing.T, w *storetest.Store, d document, r storetest.Response) {
	t.Helper()
	tag, modified := r.Header.Get("ETag"), r.Header.Get("Last-Modified")
	if head := w.Do(http.MethodHead, d.path, "", "Accept-Encoding", "identity"); head.Status != http.StatusOK ||
		len(head.Body) != 0 || head.Header.Get("ETag") != tag || head.Header.Get("Content-Type") != d.mediaType {
		t.Errorf("HEAD = %d %v with %d bytes", head.Status, head.Header, len(head.Body))
	}
	for _, known := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		if again := w.Do(http.MethodGet, d.path, "", "If-None-Match", known, "Accept-Encoding",
			"identity"); again.Status != http.StatusNotModified || len(again.Body) != 0 ||
			again.Header.Get("ETag") != tag || again.Header.Get("Cache-Control") == "" {
			t.Errorf("If-None-Match: %s = %d with %d bytes", known, again.Status, len(again.Body))
		}
	}
	if other := w.Do(http.MethodGet, d.path, "", "If-None-Match", `"other"`, "If-Modified-Since",
		modified); other.Status != http.StatusOK {
		t.Errorf("another ETag = %d, want 200: a tag goes before a time", other.Status)
	}
	refused := w.Do(http.MethodPost, d.path, "{}")
	if refused.Status != http.StatusMethodNotAllowed || !strings.HasPrefix(refused.Header.Get("Allow"), "GET, HEAD") ||
		!strings.HasSuffix(refused.Header.Get("Content-Type"), "json") {
		t.Errorf("POST = %d %v", refused.Status, refused.Header)
	}
	packed := w.Do(http.MethodGet, d.path, "", "Accept-Encoding", "gzip")
	if packed.Header.Get("Content-Encoding") == "gzip" {
		zip, err := gzip.NewReader(bytes.NewReader(packed.Body))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(zip); err != nil || !bytes.Equal(body, r.Body) || packed.Header.Get("ETag") == tag ||
			!strings.Contains(packed.Header.Get("Vary"), "Accept-Encoding") {
			t.Errorf("packed: ETag %s, Vary %s, %v", packed.Header.Get("ETag"), packed.Header.Get("Vary"), err)
		}
	} else if len(r.Body) > 20_000 {
		t.Errorf("%d bytes are not packed", len(r.Body))
	}
	if !d.settled {
		return
	}
	if old := w.Do(http.MethodGet, d.path, "", "If-Modified-Since", modified); old.Status != http.StatusNotModified {
		t.Errorf("If-Modified-Since = %d, want 304", old.Status)
	}
	asked := w.Do(http.MethodOptions, d.path, "", "Origin", "https://page.example", "Access-Control-Request-Method",
		"GET", "Access-Control-Request-Headers", "if-none-match")
	if asked.Status != http.StatusNoContent || !strings.Contains(asked.Header.Get("Access-Control-Allow-Headers"),
		"If-None-Match") || !strings.Contains(asked.Header.Get("Access-Control-Allow-Methods"), "GET") {
		t.Errorf("OPTIONS = %d %v", asked.Status, asked.Header)
	}
}

// Nothing here leads a client to sign in: no metadata of OAuth, no challenge.
func TestNoSignIn(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	for _, path := range []string{
		"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
		"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration",
	} {
		r := w.Do(http.MethodGet, path, "", "Accept", "text/html")
		if r.Status != http.StatusNotFound || r.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s = %d %s, want 404 as a problem", path, r.Status, r.Header.Get("Content-Type"))
		}
	}
	for _, path := range []string{
		"/", "/nope", "/mcp", "/agent/a2a", "/agent/search", "/agent/commerce/products",
		"/openapi.json",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodOptions, http.MethodDelete} {
			if r := w.Do(method, path, "", "Authorization", "Bearer nothing"); r.Status == http.StatusUnauthorized ||
				r.Header.Get("WWW-Authenticate") != "" {
				t.Errorf("%s %s = %d %v", method, path, r.Status, r.Header)
			}
		}
	}
}

// TestEveryLinkResolves follows each address of the store in each document, and
// what those lead to as documents.
func TestEveryLinkResolves(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	// Endpoints answer as their method asks.
	posted := map[string]string{
		"/mcp": `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"/agent/a2a": `{"jsonrpc":"2.0","id":1,"method":"ListTasks",` +
			`"params":{"contextId":"none"}}`,
		"/agent/commerce/ucp/mcp":               `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"/agent/commerce/ucp/checkout-sessions": "",
		"/agent/commerce/acp/checkout_sessions": "",
	}
	// Roots of protocols, which append the paths of their operations.
	roots := map[string]bool{"/agent/commerce/ucp": true, "/agent/commerce/acp": true}
	seen := map[string]bool{}
	for _, d := range documents() {
		body := string(w.Do(http.MethodGet, d.path, "").Body)
		found := addresses(w, body)
		for _, address := range found {
			u, err := url.Parse(address)
			if err != nil {
				t.Errorf("%s names %s: %v", d.path, address, err)
				continue
			}
			if seen[u.RequestURI()] || roots[strings.TrimSuffix(u.Path, "/")] {
				continue
			}
			seen[u.RequestURI()] = true
			want := http.StatusOK
			if body, ok := posted[u.Path]; ok {
				want = http.StatusMethodNotAllowed
				if body != "" {
					if r := w.Do(http.MethodPost, u.Path, body, "A2A-Version", "1.0", "Accept",
						"application/json"); r.Status != http.StatusOK {
						t.Errorf("%s names POST %s = %d %s", d.path, u.Path, r.Status, r.Body)
					}
				}
			}
			if (u.Path == "/agent/search" || u.Path == "/agent/read") && u.RawQuery == "" {
				want = http.StatusBadRequest // they need to be asked something
			}
			if r := w.Do(http.MethodGet, u.RequestURI(), ""); r.Status != want {
				t.Errorf("%s names %s = %d, want %d", d.path, address, r.Status, want)
			}
		}
	}
	if len(seen) < 45 {
		t.Errorf("%d addresses found: %v", len(seen), seen)
	}
}

// TestStatedTypes compares the media type that a link states with the one that
// its target answers.
func TestStatedTypes(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	type target struct{ Href, Type string }
	var catalog struct {
		Linkset []map[string]json.RawMessage
	}
	w.Do(http.MethodGet, "/.well-known/api-catalog", "").Into(t, &catalog)
	var targets []target
	anchors := map[string]bool{}
	for i, set := range catalog.Linkset {
		var anchor string
		if err := json.Unmarshal(set["anchor"], &anchor); err != nil {
			t.Fatal(err)
		}
		anchors[strings.TrimPrefix(anchor, w.URL)] = true
		for rel, links := range set {
			var list []target
			if rel == "anchor" {
				continue
			}
			if err := json.Unmarshal(links, &list); err != nil || len(list) == 0 {
				t.Fatalf("%s of %s: %v", rel, anchor, err)
			}
			for _, l := range list {
				if rel != "item" && l.Type == "" {
					t.Errorf("%s of %s states no type for %s", rel, anchor, l.Href)
				}
				targets = append(targets, l)
			}
		}
		if i > 0 && set["service-desc"] == nil {
			t.Errorf("%s has no service-desc", anchor)
		}
	}
	if diff := cmp.Diff(map[string]bool{
		"/.well-known/api-catalog": true, "/agent": true, "/mcp": true,
		"/agent/a2a": true,
	}, anchors); diff != "" {
		t.Errorf("anchors (-want +got):\n%s", diff)
	}
	var ai struct {
		SpecVersion string
		Entries     []struct{ Type, MediaType, URL string }
	}
	w.Do(http.MethodGet, "/.well-known/ai-catalog.json", "").Into(t, &ai)
	for _, e := range ai.Entries {
		if e.Type != e.MediaType || ai.SpecVersion != "1.0" {
			t.Errorf("entry = %+v", e)
		}
		if e.Type != "application/a2a-agent-card+json" { // a type of catalogs alone: A2A serves its card as JSON
			targets = append(targets, target{e.URL, e.Type})
		}
	}
	if len(targets) < 12 || len(ai.Entries) != 2 {
		t.Errorf("%d targets, %d entries", len(targets), len(ai.Entries))
	}
	for _, l := range targets {
		if l.Type == "" {
			continue
		}
		if r := w.Do(http.MethodGet, l.Href, ""); r.Status != http.StatusOK ||
			!strings.HasPrefix(r.Header.Get("Content-Type"), l.Type) {
			t.Errorf("%s = %d %s, want %s", l.Href, r.Status, r.Header.Get("Content-Type"), l.Type)
		}
	}
}

// TestDocumentsHaveTheirClass counts the documents apart from the calls of the
// API.
func TestDocumentsHaveTheirClass(t *testing.T) {
	t.Parallel()
	w := storetest.Start(t, storetest.Discoverable(t), storetest.Limited(1, 1000, 1000))
	for _, d := range documents() {
		if strings.HasSuffix(d.path, "/support.md") { // there are no pages
			continue
		}
		if r := w.Do(http.MethodGet, d.path, ""); r.Status != http.StatusOK || r.Header.Get("RateLimit") != "" {
			t.Errorf("%s = %d with RateLimit %q, want it to count as a document", d.path, r.Status,
				r.Header.Get("RateLimit"))
		}
	}
}
