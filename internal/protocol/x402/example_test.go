package x402_test

import (
	"fmt"
	"net/http"

	"ace/internal/protocol/x402"
)

func ExampleFromHTTP() {
	h := http.Header{}
	h.Set(x402.HeaderSignature, encode(validPayment))
	payment, err := x402.FromHTTP(h)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(payment)
	fmt.Println(x402.FormatUnits(payment.Authorization.Value, 6), payment.Accepted.Network)
	// Output:
	// payment of 0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc on eip155:31337, nonce 0xc1326e18534ee5a8d6c4c1611bea9d2bfb0749cfbb8c9b468ad2bb6e9418cb7a
	// 0.25 eip155:31337
}

func ExampleSettleResponse_Class() {
	terms := x402.PaymentRequirements{Network: "eip155:8453", Amount: "100000"}
	for _, answer := range []x402.SettleResponse{
		{
			Success: true, Network: "eip155:8453",
			Transaction: "0xea42715e7c014d0dafb38b71513e2ed4cb8c01dd542f4ca19d5a2b5c1baaf595",
		},
		{Success: true, Network: "eip155:8453"},
		{ErrorReason: x402.ReasonNonceUsed},
		{ErrorReason: x402.ReasonTransactionFailed},
	} {
		fmt.Println(answer.Class(terms))
	}
	// Output:
	// accepted
	// ambiguous
	// ambiguous
	// transient
}
