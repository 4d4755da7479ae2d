package acp_test

import (
	"encoding/json"
	"fmt"

	"ace/internal/foundation/jsonread"
	"ace/internal/protocol/acp"
)

func ExampleNegotiate() {
	exchange, err := acp.Negotiate([]string{"2026-01-30"}, false)
	fmt.Println(exchange.Version, exchange.Plain, err)
	exchange, err = acp.Negotiate(nil, false)
	fmt.Println(exchange.Version, exchange.Plain, err)
	// Output:
	// 2026-01-30 false <nil>
	// 2026-04-17 true <nil>
}

func ExampleReadCreate() {
	exchange, _ := acp.Negotiate(nil, false)
	body, err := jsonread.Parse([]byte(`{"items":[{"id":"pro","quantity":2}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	request, err := acp.ReadCreate(body, exchange)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(request.LineItems[0].ItemID, request.LineItems[0].Quantity)
	// Output: pro 2
}

func ExampleNewError() {
	failure := acp.NewError(acp.InvalidItemID, "$.line_items[0].id", "Nothing here is called tea.")
	text, _ := json.Marshal(failure)
	fmt.Println(failure.Status(), string(text))
	// Output: 400 {"type":"invalid_request","code":"invalid_item_id","message":"Nothing here is called tea.","param":"$.line_items[0].id"}
}
