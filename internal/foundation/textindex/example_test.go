package textindex_test

import (
	"fmt"

	"ace/internal/foundation/textindex"
)

func Example() {
	pages := []string{"/docs/refunds", "/products/desk-lamp", "/products/wall-lamps"}
	x := textindex.New(len(pages), func(i int, add textindex.Add) { add(pages[i], 1) })
	for _, query := range []string{"lamp", "refnud", "wall lam"} {
		fmt.Print(query, ":")
		for _, h := range x.Search(query, 10, nil).Hits {
			fmt.Print(" ", pages[h.Entry])
		}
		fmt.Println()
	}
	// Output:
	// lamp: /products/desk-lamp /products/wall-lamps
	// refnud: /docs/refunds
	// wall lam: /products/wall-lamps /products/desk-lamp
}
