package payments_test

import (
	"fmt"
	"time"

	"ace/internal/sandbox/payments"
)

func ExampleSign() {
	fmt.Println(payments.Sign("whsec_example", time.Unix(1_790_000_000, 0), []byte("{}"))[:16])
	// Output: t=1790000000,v1=
}
