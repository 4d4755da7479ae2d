package acp_test

import (
	"ace/internal/foundation/jsonread"
	"ace/internal/protocol/acp"
)

// The helpers of this file read texts as a transport does: an empty body is an
// absent one.

func readCreate(body []byte, x acp.Exchange) (*acp.SessionRequest, error) {
	v, err := jsonread.Parse(body)
	if err != nil {
		return nil, err
	}
	return acp.ReadCreate(v, x)
}

func readUpdate(body []byte, x acp.Exchange) (*acp.SessionRequest, error) {
	v, err := jsonread.Parse(body)
	if err != nil {
		return nil, err
	}
	return acp.ReadUpdate(v, x)
}

func readComplete(body []byte) (*acp.CompleteRequest, error) {
	v, err := jsonread.ParseOptional(body)
	if err != nil {
		return nil, err
	}
	return acp.ReadComplete(v)
}

func readCancel(body []byte) (*acp.IntentTrace, error) {
	v, err := jsonread.ParseOptional(body)
	if err != nil {
		return nil, err
	}
	return acp.ReadCancel(v)
}

func canonical(body []byte) ([]byte, error) {
	v, err := jsonread.ParseOptional(body)
	if err != nil {
		return nil, err
	}
	return acp.Canonical(v)
}
