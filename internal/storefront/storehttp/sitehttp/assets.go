package sitehttp

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"

	"ace/internal/storefront/storehttp/answer"
)

// cardPicture draws the picture that stands for pages without one of their
// own where they are shared: 1200 by 630 pixels, the size that is asked for.
func cardPicture() ([]byte, error) {
	const width, height = 1200, 630
	palette := color.Palette{
		color.RGBA{0xf6, 0xf5, 0xf2, 0xff},
		color.RGBA{0xff, 0xff, 0xff, 0xff},
		color.RGBA{0xde, 0xdb, 0xd3, 0xff},
		color.RGBA{0x1f, 0x4f, 0xd1, 0xff},
		color.RGBA{0x1c, 0x1b, 0x19, 0xff},
	}
	picture := image.NewPaletted(image.Rect(0, 0, width, height), palette)
	fill := func(x0, y0, x1, y1, radius int, c uint8) {
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				dx, dy := max(x0+radius-x, x-(x1-1-radius), 0), max(y0+radius-y, y-(y1-1-radius), 0)
				if dx*dx+dy*dy <= radius*radius {
					picture.SetColorIndex(x, y, c)
				}
			}
		}
	}
	for i := range 3 { // three cards, each with a picture, two lines and a button
		x := 120 + i*330
		fill(x-2, 133, x+302, 497, 30, 2)
		fill(x, 135, x+300, 495, 28, 1)
		fill(x+30, 165, x+270, 305, 16, 2)
		fill(x+30, 333, x+230, 351, 9, 4)
		fill(x+30, 371, x+180, 385, 7, 2)
		fill(x+30, 417, x+150, 465, 14, 3)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		return nil, fmt.Errorf("drawing the picture of the site: %w", err)
	}
	return out.Bytes(), nil
}

// icon is the mark of the site in the tab of a browser.
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">` +
	`<rect width="32" height="32" rx="8" fill="#1f4fd1"/>` +
	`<path d="M9 12h14l-1.3 11.2a2 2 0 0 1-2 1.8h-7.4a2 2 0 0 1-2-1.8z" fill="#fff"/>` +
	`<path d="M12.5 14v-3a3.5 3.5 0 0 1 7 0v3" fill="none" stroke="#fff" stroke-width="2"/></svg>` + "\n"

// asset is a document that does not change while the process runs.
func asset(mediaType string, body []byte) (*answer.Document, error) {
	return answer.NewDocument(mediaType, body, &answer.Options{MaxAge: 86400, Header: http.Header{
		"X-Content-Type-Options": {"nosniff"}, "Access-Control-Allow-Origin": {"*"},
	}})
}

func iconDocument() (*answer.Document, error) { return asset("image/svg+xml", []byte(icon)) }

func cardDocument() (*answer.Document, error) {
	picture, err := cardPicture()
	if err != nil {
		return nil, err
	}
	return asset("image/png", picture)
}

func (f *Handler) writeIcon(w http.ResponseWriter, r *http.Request) { f.writeAsset(w, r, f.icon) }

// writeCard writes the picture of the site. It is drawn at the first request.
func (f *Handler) writeCard(w http.ResponseWriter, r *http.Request) { f.writeAsset(w, r, f.card) }

func (f *Handler) writeAsset(w http.ResponseWriter, r *http.Request, asset func() (*answer.Document, error)) {
	d, err := asset()
	if err != nil {
		f.writeFailure(w, r, err)
		return
	}
	d.Write(w, r)
}
