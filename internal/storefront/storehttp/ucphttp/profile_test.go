package ucphttp_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/ucp"
	"ace/internal/schematest"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/storetest"
)

func TestUCPProfile(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	tests := []struct {
		path    string
		version ucp.Version
		keys    func(p ucp.Profile) (there, elsewhere []httpsig.JWK)
		leaves  map[ucp.Version]string
	}{
		{
			"/.well-known/ucp", ucp.Version20260825,
			func(p ucp.Profile) (there, elsewhere []httpsig.JWK) { return p.Keys, p.SigningKeys },
			map[ucp.Version]string{ucp.Version20260408: a.URL + "/.well-known/ucp/2026-04-08"},
		},
		{
			"/.well-known/ucp/2026-04-08", ucp.Version20260408,
			func(p ucp.Profile) (there, elsewhere []httpsig.JWK) { return p.SigningKeys, p.Keys }, nil,
		},
	}
	for _, tt := range tests {
		r := a.Do(http.MethodGet, tt.path, "")
		var p ucp.Profile
		r.Into(t, &p)
		there, elsewhere := tt.keys(p)
		algorithms := []string{}
		for _, key := range there {
			thumbprint, err := key.Thumbprint()
			if err != nil || thumbprint != key.KID {
				t.Errorf("key %+v: thumbprint %s, %v", key, thumbprint, err)
			}
			algorithms = append(algorithms, key.Alg)
		}
		if p.UCP.Version != tt.version || !slices.Equal(algorithms, []string{"ES256", "EdDSA"}) || elsewhere != nil ||
			len(p.UCP.SupportedVersions) != len(tt.leaves) {
			t.Errorf("%s = %s", tt.path, r.Body)
		}
		for v, leaf := range tt.leaves {
			if p.UCP.SupportedVersions[v] != leaf {
				t.Errorf("leaf of %s = %q, want %q", v, p.UCP.SupportedVersions[v], leaf)
			}
		}
		endpoints := map[ucp.Transport]string{}
		for _, s := range p.UCP.Services[ucp.ServiceShopping] {
			endpoints[s.Transport] = s.Endpoint
		}
		if endpoints[ucp.TransportREST] != a.URL+ucpBase || endpoints[ucp.TransportMCP] != a.URL+ucpBase+"/mcp" {
			t.Errorf("endpoints = %v", endpoints)
		}
		if got := r.Header.Get("Cache-Control"); got != "public, max-age=300" || strings.Contains(string(r.Body),
			"draft") {
			t.Errorf("Cache-Control = %q of %s", got, r.Body)
		}
		if again := a.Do(http.MethodGet, tt.path, "", "If-None-Match", r.Header.Get("ETag")); again.Status != 304 {
			t.Errorf("%s with its ETag = %d, want 304", tt.path, again.Status)
		}
		// The schemas ask for https endpoints, which a public store has.
		public := strings.ReplaceAll(string(r.Body), a.URL, "https://store.example")
		storetest.ValidUCP(t, tt.version, schematest.UCPBusinessProfile(string(tt.version)), []byte(public))
	}
}

func TestUCPInOpenAPI(t *testing.T) {
	t.Parallel()
	data, err := storehttp.Document()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Responses   map[string]json.RawMessage
			RequestBody json.RawMessage `json:"requestBody"`
		}
	}
	if err := json.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		method, path, id string
		statuses         []string
		body             bool
	}{
		{"post", "/checkout-sessions", "ucpCreateCheckout", []string{"200", "201", "409", "429", "default"}, true},
		{"get", "/checkout-sessions/{id}", "ucpGetCheckout", []string{"200", "409", "429", "default"}, false},
		{"put", "/checkout-sessions/{id}", "ucpUpdateCheckout", []string{"200", "409", "429", "default"}, true},
		{
			"post", "/checkout-sessions/{id}/complete", "ucpCompleteCheckout",
			[]string{"200", "409", "429", "default"},
			true,
		},
		{
			"post", "/checkout-sessions/{id}/cancel", "ucpCancelCheckout",
			[]string{"200", "409", "429", "default"},
			false,
		},
		{"post", "/catalog/search", "ucpSearchCatalog", []string{"200", "409", "429", "default"}, true},
		{"post", "/catalog/lookup", "ucpLookupCatalog", []string{"200", "409", "429", "default"}, true},
		{"post", "/catalog/product", "ucpGetProduct", []string{"200", "409", "429", "default"}, true},
		{"post", "/mcp", "ucpMCP", []string{"429", "default"}, true},
	}
	for _, tt := range tests {
		op := document.Paths[ucpBase+tt.path][tt.method]
		var statuses []string
		for status := range op.Responses {
			statuses = append(statuses, status)
		}
		slices.Sort(statuses)
		if op.OperationID != tt.id || !slices.Equal(statuses, tt.statuses) || (op.RequestBody != nil) != tt.body {
			t.Errorf("%s %s = %s %v with body %t, want %s %v %t", tt.method, tt.path, op.OperationID, statuses,
				op.RequestBody != nil, tt.id, tt.statuses, tt.body)
		}
	}
}
