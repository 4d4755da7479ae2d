package ucp_test

import (
	"encoding/json"
	"fmt"

	"ace/internal/foundation/jsonread"
	"ace/internal/protocol/ucp"
)

func ExampleReadCreate() {
	agent, err := ucp.ParseAgent(nil) // no header: plain mode
	if err != nil {
		fmt.Println(err)
		return
	}
	version, _ := ucp.Negotiate(agent.Version)
	body, err := jsonread.Parse([]byte(`{"offer_id":"pro"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	request, err := ucp.ReadCreate(body, ucp.Reading{Version: version, Plain: agent.Plain()})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(version, request.LineItems[0].ItemID, request.LineItems[0].Quantity)
	// Output: 2026-08-25 pro 1
}

func ExampleNewErrorResponse() {
	envelope := ucp.NewErrorResponse(ucp.Version20260408, ucp.CapabilityCheckout,
		ucp.Error(ucp.OutOfStock, ucp.OutOfStock.Severity(), "$.line_items[0]", "The tins are gone."))
	text, _ := json.Marshal(envelope)
	fmt.Println(envelope.Status(), string(text))
	// Output: 200 {"ucp":{"version":"2026-04-08","status":"error","capabilities":{"dev.ucp.shopping.checkout":[{"version":"2026-04-08"}]}},"messages":[{"type":"error","code":"out_of_stock","severity":"unrecoverable","path":"$.line_items[0]","content":"The tins are gone."}]}
}
