// Package reportpage shows a readiness report as one HTML page that works
// alone: no script, no picture, nothing fetched from anywhere.
//
//	readiness.Report -> view: numbers of the charts, words, colors by class
//	                 -> report.html (html/template) with report.css inside
//	                 -> one file: on screen, light and dark, on a phone, on paper
//
// All that stems from the website is text to the template. The page forbids
// itself everything but its own styles.
package reportpage

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"

	"ace/internal/website/readiness"
)

//go:embed report.html report.css
var files embed.FS

// Page renders reports. It is safe for concurrent use.
type Page struct {
	all *template.Template
	css template.CSS
}

// New returns a page. It fails only if the template in the binary is broken.
func New() (*Page, error) {
	all, err := template.ParseFS(files, "report.html")
	if err != nil {
		return nil, fmt.Errorf("reading the report's template: %w", err)
	}
	css, err := files.ReadFile("report.css")
	if err != nil {
		return nil, fmt.Errorf("reading the report's styles: %w", err)
	}
	return &Page{all: all, css: template.CSS(css)}, nil //nolint:gosec // our own file
}

// Render returns the page of a report. The same report gives the same bytes.
func (p *Page) Render(r *readiness.Report) ([]byte, error) {
	var b bytes.Buffer
	if err := p.all.ExecuteTemplate(&b, "report.html", newView(r, p.css)); err != nil {
		return nil, fmt.Errorf("writing a report: %w", err)
	}
	return b.Bytes(), nil
}
