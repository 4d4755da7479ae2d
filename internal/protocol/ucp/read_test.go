package ucp_test

import (
	"ace/internal/foundation/jsonread"
	"ace/internal/protocol/ucp"
)

// The helpers of this file read texts as a transport does: an empty body is an
// absent one.

func readCreate(body []byte, rd ucp.Reading) (*ucp.CheckoutRequest, error) {
	v, err := jsonread.Parse(body)
	if err != nil {
		return nil, err
	}
	return ucp.ReadCreate(v, rd)
}

func readUpdate(body []byte, rd ucp.Reading) (*ucp.CheckoutRequest, error) {
	v, err := jsonread.Parse(body)
	if err != nil {
		return nil, err
	}
	return ucp.ReadUpdate(v, rd)
}

func readComplete(body []byte) (*ucp.CheckoutRequest, error) {
	v, err := jsonread.ParseOptional(body)
	if err != nil {
		return nil, err
	}
	return ucp.ReadComplete(v)
}

func readCancel(body []byte) error {
	v, err := jsonread.ParseOptional(body)
	if err != nil {
		return err
	}
	return ucp.ReadCancel(v)
}

func readSearch(body []byte, rd ucp.Reading) (*ucp.SearchRequest, error) {
	v, err := jsonread.ParseOptional(body)
	if err != nil {
		return nil, err
	}
	return ucp.ReadSearch(v, rd)
}

func readLookup(body []byte) (*ucp.LookupRequest, error) {
	v, err := jsonread.Parse(body)
	if err != nil {
		return nil, err
	}
	return ucp.ReadLookup(v)
}

func readProduct(body []byte) (*ucp.ProductRequest, error) {
	v, err := jsonread.Parse(body)
	if err != nil {
		return nil, err
	}
	return ucp.ReadProduct(v)
}

func readToolCall(tool string, arguments []byte) (*ucp.ToolCall, error) {
	v, err := jsonread.ParseOptional(arguments)
	if err != nil {
		return nil, err
	}
	return ucp.ReadToolCall(tool, v)
}
