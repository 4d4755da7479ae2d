package paidservice_test

import (
	"fmt"

	"ace/internal/storefront/paidservice"
)

// Every list of services tells what a run costs and whether it can be had.
func ExampleService_List() {
	s := paidservice.New(paidservice.Deps{Definitions: paidservice.Definitions()}, paidservice.Options{})
	defer s.Close()
	for _, service := range s.List().Services {
		fmt.Println(service.Tool, service.Definition.Price, service.Available, service.Reason)
	}
	// Output:
	// run_ai_search_audit 0.10 false payments_not_configured
	// run_structured_data_pack 0.08 false payments_not_configured
	// run_llms_txt_draft 0.05 false payments_not_configured
}

// Calls that mean the same have one fingerprint, however they are written.
func ExampleFingerprint() {
	one, _ := paidservice.Fingerprint(paidservice.LLMsTxtDraft, []byte(`{"url":"https://a.example","max_pages":10}`))
	same, _ := paidservice.Fingerprint(paidservice.LLMsTxtDraft,
		[]byte(`{ "max_pages": 1e1, "url": "https:\/\/a.example" }`))
	other, _ := paidservice.Fingerprint(paidservice.AISearchAudit, []byte(`{"url":"https://a.example","max_pages":10}`))
	fmt.Println(one == same, one == other)
	// Output: true false
}

// Where an order may go from each state.
func ExampleState_Moves() {
	fmt.Println(paidservice.Settling.Moves())
	fmt.Println(paidservice.Unknown.Moves())
	// Output:
	// [settled unpaid unknown]
	// [settled unpaid settling]
}
