package openapiimport_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/problem"
	"ace/internal/platform/openapiimport"
)

func TestFlows(t *testing.T) {
	t.Parallel()
	code := openapiimport.Flow{
		Scheme: "login", Grant: openapiimport.GrantCode,
		AuthorizeURL: "https://id.example/authorize?tenant=a", TokenURL: "https://api.example/oauth/token",
		Scopes: []string{"read", "write"},
	}
	client := openapiimport.Flow{
		Scheme: "machine", Grant: openapiimport.GrantClient,
		TokenURL: "https://api.example/v1/token",
	}
	tests := []struct {
		name, document string
		want           []openapiimport.Flow
	}{
		{
			"version 3",
			`{"openapi":"3.1.0","security":[{"login":["read"]},{"login":["write","read"],"key":[]}],` +
				`"components":{"securitySchemes":{
			"machine":{"$ref":"#/components/securitySchemes/there"},"there":{"type":"apiKey"},
			"login":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"https://id.example/` +
				`authorize?tenant=a","tokenUrl":"/oauth/token","scopes":{"read":"","admin":""}}}},
			"key":{"type":"apiKey"}}}}`,
			[]openapiimport.Flow{code},
		},
		{"a reference", `{"openapi":"3.0.0","components":{"securitySchemes":{"machine":{"$ref":"#/components/x"}},
			"x":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"token"}}}}}`, []openapiimport.Flow{client}},
		{
			"version 2", `{"swagger":"2.0","security":[{"login":["read","write"]}],"securityDefinitions":{
			"login":{"type":"oauth2","flow":"accessCode","authorizationUrl":"https://id.example/` +
				`authorize?tenant=a","tokenUrl":"https://api.example/oauth/token"},
			"machine":{"type":"oauth2","flow":"application","tokenUrl":"https://api.example/v1/token"},` +
				`"old":{"type":"oauth2","flow":"implicit","authorizationUrl":"https://id.example/"}}}`,
			[]openapiimport.Flow{code, client},
		},
		{"hostile addresses", `{"openapi":"3.1.0","components":{"securitySchemes":{
			"a":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"file:///etc/passwd"}}},` +
			`"b":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://u:p@api.example/"}}},
			"c":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://{tenant}.example/"}}},` +
			`"d":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"javascript:alert(1)",` +
			`"tokenUrl":"/t"}}},
			"e":{"type":"oauth2","flows":[]},"f":"x","g":{"type":"oauth2",` +
			`"flows":{"clientCredentials":{"tokenUrl":7}}},"h":{"$ref":"#/components/securitySchemes/h"}}}}`, nil},
		{"none", `{"openapi":"3.1.0"}`, nil},
	}
	for _, tt := range tests {
		got, err := openapiimport.Flows([]byte(tt.document), "https://api.example/v1/openapi.json")
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got, err := openapiimport.Flows([]byte(tests[1].document), ""); err != nil || len(got) != 0 {
		t.Errorf("a relative address of a document that was sent: %v, %v", got, err)
	}
	if _, err := openapiimport.Flows([]byte(strings.Repeat("[", 100)), ""); !problem.Is(err, "import_failed") {
		t.Errorf("no document: %v, want import_failed", err)
	}
}
