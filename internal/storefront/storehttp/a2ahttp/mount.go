package a2ahttp

import (
	"encoding/json"
	"net/http"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/protocol/a2a"
)

// Mount serves the endpoint and its documents on mux and describes them in api.
// document serves bytes that do not change while the process runs, by the rules
// of the host. The card is left to who lists the documents of the host.
func (f *Handler) Mount(mux *httpserver.Mux, api *openapi.API, document func(body []byte) http.HandlerFunc) {
	mux.Handle(Path, f)
	mux.Handle(Path+"/{$}", f)
	mux.HandleFunc("GET "+SkillsPath, document(f.schemas))
	mux.HandleFunc("GET "+KeySetPath, document(f.keys))
	mux.ErrorsUnder(Path, a2a.WriteProblem)
	describe(api)
}

// The schemas of the envelope. The extension has those of the actions.
const (
	requestSchema = `{"type":"object","required":["jsonrpc","id","method"],"properties":{"jsonrpc":{"const":"2.0"},` +
		`"id":{"type":["string","integer"]},
		"method":{"type":"string","enum":["SendMessage","GetTask","ListTasks","CancelTask"]},` +
		`"params":{"type":"object"}},
		"example":{"jsonrpc":"2.0","id":1,"method":"SendMessage",` +
		`"params":{"message":{"messageId":"5f0c8e0e-6d0f-4b8e-8a52-3f6f0f6f4c11","role":"ROLE_USER",
		"parts":[{"data":{"skill":"site","action":"search_pages","input":{"query":"refund policy"}},` +
		`"mediaType":"application/json"}]}}}}`
	answerSchema = `{"type":"object","required":["jsonrpc","id"],"properties":{"jsonrpc":{"const":"2.0"},` +
		`"id":{"type":["string","integer","null"]},
		"result":{"type":"object","description":"{task} of SendMessage, a task of GetTask and CancelTask, ` +
		`{tasks,nextPageToken,pageSize,totalSize} of ListTasks"},
		"error":{"type":"object","required":["code","message"],"properties":{"code":{"type":"integer"},` +
		`"message":{"type":"string"},
		"data":{"type":"array","items":{"type":"object","description":"google.rpc.ErrorInfo, ` +
		`BadRequest or RetryInfo, distinguished by @type"}}}}}}`
)

func describe(api *openapi.API) {
	openapi.Describe(api, openapi.Operation{
		Method: http.MethodPost, Path: Path, ID: "a2a", Tags: []string{"a2a"},
		Summary: "The agent of the store over A2A 1.0",
		Description: "JSON-RPC 2.0, one request in a body. Send a message with one data part {skill, action, input}; " +
			SkillsPath +
			" lists the actions with their schemas. Failures of the protocol have status 200 and an error in the body.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{
			{
				Name: a2a.HeaderVersion, In: "header", Required: true,
				Description: "1.0. It may also be a query parameter of this name.",
				Schema:      json.RawMessage(`{"type":"string","const":"1.0"}`),
			},
			{
				Name: a2a.HeaderExtensions, In: "header",
				Description: "URIs of extensions to activate, with commas between them. Unknown ones are ignored.",
			},
		},
		Request: &openapi.Content{Schema: json.RawMessage(requestSchema)},
		Responses: map[int]openapi.Content{
			http.StatusOK: {
				Description: "The result, or an error of the protocol.",
				Schema:      json.RawMessage(answerSchema),
			},
			0: {
				Description: "An error: 405, 413, or 429 with Retry-After.",
				Schema:      json.RawMessage(answerSchema),
			},
		},
	})
	for _, d := range []struct{ path, id, summary, about string }{
		{
			SkillsPath, "a2aSkills", "The actions of the A2A skills with the schemas of their inputs and outputs",
			"The document of the extension that the agent card names. An agent reads it to send structured requests.",
		},
		{
			KeySetPath, "jwks", "The keys that sign the A2A agent card (JWK Set, RFC 7517)",
			"The kid of a signature in the agent card names one of them.",
		},
	} {
		openapi.Describe(api, openapi.Operation{
			Method: http.MethodGet, Path: d.path, ID: d.id, Tags: []string{"a2a"},
			Summary: d.summary, Description: d.about,
		},
			openapi.Description{Responses: map[int]openapi.Content{http.StatusOK: {
				Description: "The document.",
				Schema:      json.RawMessage(`{"type":"object"}`),
			}}})
	}
}
