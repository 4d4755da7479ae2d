package page

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"
)

//go:embed assets
var assetFiles embed.FS

// assets are what pages load: their names hold a digest, so that browsers may
// keep them for good.
type assets struct {
	style, script string
	files         map[string]asset
}

type asset struct {
	mediaType string
	body      []byte
}

func loadAssets() (assets, error) {
	a := assets{files: map[string]asset{}}
	for name, mediaType := range map[string]string{
		"console.css": "text/css; charset=utf-8",
		"console.js":  "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
	} {
		body, err := fs.ReadFile(assetFiles, "assets/"+name)
		if err != nil {
			return a, fmt.Errorf("reading what pages load: %w", err)
		}
		file := name
		if name != "icon.svg" {
			sum := sha256.Sum256(body)
			base, extension, _ := strings.Cut(name, ".")
			file = base + "-" + hex.EncodeToString(sum[:4]) + "." + extension
		}
		a.files[file] = asset{mediaType, body}
		switch name {
		case "console.css":
			a.style = "/assets/" + file
		case "console.js":
			a.script = "/assets/" + file
		}
	}
	return a, nil
}

func (a assets) serve(w http.ResponseWriter, r *http.Request) {
	file, ok := a.files[r.PathValue("file")]
	if !ok {
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", file.mediaType)
	h.Set("Cache-Control", "public, max-age=86400")
	if strings.Contains(r.PathValue("file"), "-") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file.body))
}

func (a assets) favicon(w http.ResponseWriter, r *http.Request) {
	r.SetPathValue("file", "icon.svg")
	a.serve(w, r)
}

// SecurityTxt returns whom to tell about a vulnerability (RFC 9116), or "" where
// there is no contact. It is valid for at least half a year.
func (s Site) SecurityTxt(now time.Time) string {
	contact := cmp.Or(s.SecurityContact, s.Contact)
	if contact == "" {
		return ""
	}
	if !strings.Contains(contact, "://") {
		contact = "mailto:" + contact
	}
	expires := time.Date(now.UTC().Year(), now.UTC().Month()+7, 1, 0, 0, 0, 0, time.UTC)
	return "Contact: " + contact + "\nExpires: " + expires.Format(time.RFC3339) +
		"\nPreferred-Languages: en\nCanonical: " + s.BaseURL + SecurityPath + "\n"
}

// SecurityPath is where SecurityTxt is published.
const SecurityPath = "/.well-known/security.txt"

// robots lets search engines read what is for everybody.
func robots(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, _ = w.Write(
		[]byte(
			"User-agent: *\nDisallow: /account\nDisallow: /approvals/\nDisallow: /connect/\nDisallow: " +
				"/oauth/\nDisallow: /sign-in\nDisallow: /api/\nAllow: /\n"))
}
