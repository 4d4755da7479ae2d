package datapack

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"time"

	"ace/internal/website/datapack/ld"
)

// File is one file of the pack.
type File struct {
	Name      string // with folders, as in the zip
	MediaType string
	Data      []byte
}

// Files are the files of the pack: the snippets, graphs and diffs of the pages,
// what the pages share, how to put it in, and all of it as one zip. The same
// pages give the same bytes.
func (p *Pack) Files() []File { return p.files }

const (
	typeJSONLD   = "application/ld+json"
	typeHTML     = "text/html; charset=utf-8"
	typePatch    = "text/x-diff; charset=utf-8"
	typeMarkdown = "text/markdown; charset=utf-8"
	zipName      = "structured-data-pack.zip"
)

func (p *Pack) writeFiles() error {
	files := []File{{"README.md", typeMarkdown, []byte(p.Markdown())}}
	for _, shared := range []struct {
		name string
		node ld.Node
	}{{"site/organization.jsonld", p.Site.Organization}, {"site/website.jsonld", p.Site.WebSite}} {
		if len(shared.node) > 0 {
			doc := append(ld.Node{{Name: "@context", Value: "https://schema.org"}}, shared.node...)
			files = append(files, File{shared.name, typeJSONLD, []byte(ld.Encode(doc) + "\n")})
		}
	}
	used := map[string]bool{}
	for _, page := range p.Pages {
		if len(page.Generated) == 0 {
			continue
		}
		name := "pages/" + strings.TrimSuffix(fileName(page.URL), ".html")
		for used[name] { // two addresses that look alike as names
			name += "-2"
		}
		used[name] = true
		files = append(files,
			File{name + ".jsonld", typeJSONLD, []byte(ld.Encode(page.Generated) + "\n")},
			File{name + ".snippet.html", typeHTML, []byte(page.Install)})
		if page.Patch != "" {
			files = append(files, File{name + ".diff", typePatch, []byte(page.Patch)})
		}
	}
	data, err := pack(files)
	if err != nil {
		return err
	}
	p.Zip = data
	p.files = append(files, File{zipName, "application/zip", data})
	return nil
}

// pack writes a zip without times, so that equal files give equal bytes.
func pack(files []File) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: time.Time{}}
		h.SetMode(0o644)
		out, err := w.CreateHeader(h)
		if err == nil {
			_, err = out.Write(f.Data)
		}
		if err != nil {
			return nil, fmt.Errorf("packing %s: %w", f.Name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("packing the files: %w", err)
	}
	return b.Bytes(), nil
}

// fileName makes a name out of the path of a page: small letters, digits and
// dashes.
func fileName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "page.html"
	}
	var b strings.Builder
	for _, c := range strings.ToLower(strings.TrimSuffix(strings.Trim(u.Path, "/"), ".html")) {
		switch {
		case b.Len() == maxName:
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_':
			b.WriteRune(c)
		default:
			b.WriteByte('-')
		}
	}
	if b.Len() == 0 {
		return "index.html"
	}
	return b.String() + ".html"
}

const maxName = 80
