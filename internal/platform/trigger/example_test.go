package trigger_test

import (
	"fmt"

	"ace/internal/platform/trigger"
)

// One event of an app has one id, however often the app sends or lists it.
func ExampleEventID() {
	first := trigger.EventID("trg_abc", "delivery-1")
	fmt.Println(trigger.EventID("trg_abc", "delivery-1") == first, trigger.EventID("trg_xyz", "delivery-1") == first)
	// Output: true false
}
