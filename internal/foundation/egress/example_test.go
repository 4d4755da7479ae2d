package egress_test

import (
	"fmt"

	"ace/internal/foundation/egress"
)

func ExampleGuard_Check() {
	guard := egress.New(nil)
	for _, address := range []string{
		"https://hooks.example.com/ace", "http://hooks.example.com/ace",
		"https://10.0.0.7/admin",
	} {
		fmt.Println(egress.Reason(guard.Check(egress.Webhook(), address)), address)
	}
	// Output:
	//  https://hooks.example.com/ace
	// scheme http://hooks.example.com/ace
	// private_address https://10.0.0.7/admin
}
