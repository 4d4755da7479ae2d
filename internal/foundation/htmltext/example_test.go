package htmltext_test

import (
	"fmt"
	"net/url"
	"strings"

	"ace/internal/foundation/htmltext"
)

func ExampleParse() {
	page := `<title>Lamps</title><nav><a href="/">Home</a></nav><main><h1>Lamps</h1>` +
		`<p>We sell <a href="desk">desk lamps</a>.</p></main>`
	base, err := url.Parse("https://shop.example/lamps/")
	if err != nil {
		return
	}
	d, err := htmltext.Parse(strings.NewReader(page), base, nil)
	if err != nil {
		return
	}
	fmt.Print(d.Markdown())
	// Output:
	// # Lamps
	//
	// We sell [desk lamps](https://shop.example/lamps/desk).
}
