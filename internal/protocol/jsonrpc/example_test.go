package jsonrpc_test

import (
	"encoding/json"
	"fmt"

	"ace/internal/protocol/jsonrpc"
)

func ExampleParse() {
	body, fault := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":7,"method":"ping"}`))
	if fault != nil {
		panic(fault)
	}
	m := body.Messages[0]
	fmt.Println(m.Kind == jsonrpc.Request, m.Method)
	fmt.Println(string(jsonrpc.AppendResult(nil, m.ID, json.RawMessage(`{}`))))
	// Output:
	// true ping
	// {"jsonrpc":"2.0","id":7,"result":{}}
}
