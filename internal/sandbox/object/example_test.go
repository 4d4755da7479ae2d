package object_test

import (
	"fmt"

	"ace/internal/sandbox/object"
)

func ExampleDisplay() {
	fmt.Println(object.Display(1900, "usd"))
	fmt.Println(object.Display(4200, "jpy"))
	fmt.Println(object.Display(50000, "isk")) // has no decimals, is sent with two
	// Output:
	// USD 19.00
	// JPY 4200
	// ISK 500
}
