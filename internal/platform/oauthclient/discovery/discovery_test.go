package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/platform/connection"
	"ace/internal/platform/oauthclient/discovery"

	"github.com/google/go-cmp/cmp"
)

func TestChallengeParams(t *testing.T) {
	t.Parallel()
	tests := map[string]map[string]string{
		`Bearer resource_metadata="https://a/x?y=1,2", scope="a b"`: {
			"resource_metadata": "https://a/x?y=1,2",
			"scope":             "a b",
		},
		`Bearer realm="x\"y", error=invalid_token,scope=a`: {
			"realm": `x"y`, "error": "invalid_token",
			"scope": "a",
		},
		`Basic realm="a", Bearer Resource_Metadata = "b", realm="c"`: {"realm": "a", "": ""},
		`Bearer`:                   {},
		`Bearer scope="never ends`: {"scope": "never ends"},
	}
	for field, want := range tests {
		got := discovery.ChallengeParams(field)
		for name, value := range want {
			if name != "" && got[name] != value {
				t.Errorf("ChallengeParams(%s)[%s] = %q, want %q", field, name, got[name], value)
			}
		}
	}
}

func FuzzChallengeParams(f *testing.F) {
	f.Add(`Bearer a="b", c=d`)
	f.Add(`="`)
	f.Fuzz(func(t *testing.T, field string) {
		for name := range discovery.ChallengeParams(field) {
			if name == "" || name != strings.ToLower(name) {
				t.Errorf("ChallengeParams(%q) has the name %q", field, name)
			}
		}
	})
}

// host returns requests by path; what it does not know is 404.
type host map[string]string

func (h host) Do(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	body, known := h[r.URL.Host+r.URL.Path]
	status := http.StatusOK
	switch {
	case !known:
		status = http.StatusNotFound
	case strings.HasPrefix(body, "401 "):
		w.Header().Set("WWW-Authenticate", body[4:])
		status = http.StatusUnauthorized
	case body == "500":
		status = http.StatusInternalServerError
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
	return w.Result(), nil
}

const issuer = `{"issuer":"https://mcp.example","authorization_endpoint":"https://mcp.example/a",` +
	`"token_endpoint":"https://mcp.example/t","code_challenge_methods_supported":["S256"]}`

// The places where a server and an issuer are asked, in their order.
func TestFind(t *testing.T) {
	t.Parallel()
	const resource = `{"resource":"https://mcp.example/mcp","authorization_servers":["https://mcp.example"]}`
	found := &discovery.Server{
		Resource: "https://mcp.example/mcp", Issuer: "https://mcp.example",
		Authorize: "https://mcp.example/a", Token: "https://mcp.example/t",
	}
	usual := &discovery.Server{
		Resource: "https://mcp.example/mcp", Issuer: "https://mcp.example",
		Authorize: "https://mcp.example/authorize", Token: "https://mcp.example/token",
		Register: "https://mcp.example/register",
	}
	with := func(pairs ...string) host {
		h := host{}
		for i := 0; i+1 < len(pairs); i += 2 {
			h["mcp.example"+pairs[i]] = pairs[i+1]
		}
		return h
	}
	const at, wellKnown, server, openid = "/mcp", "/.well-known/" +
		"oauth-protected-resource", "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	tests := []struct {
		name    string
		address string
		host    host
		want    *discovery.Server
		fails   string // class and code
	}{
		{"behind its path", "", with(at, "401 Bearer", wellKnown+"/mcp", resource, server, issuer), found, ""},
		{"at its root", "", with(at, "401 Bearer", wellKnown, resource, server, issuer), found, ""},
		{"by OpenID", "", with(at, "401 Bearer", wellKnown, resource, openid, issuer), found, ""},
		{"an address with capitals and a slash", "https://MCP.example/mcp/", with(at+"/", "401 Bearer"), usual, ""},
		{"its own issuer, with metadata", "", with(at, "401 Bearer", server, issuer), found, ""},
		{"its own issuer, without", "", with(at, "401 Bearer"), usual, ""},
		{"open", "", with(at, "{}"), nil, "unknown no_authorization_server"},
		{"open, but with an issuer", "", with(at, "{}", server, issuer), found, ""},
		{"away", "", with(at, "500"), nil, "temporary "},
		{"unavailable metadata", "", with(at, "401 Bearer", wellKnown+"/mcp", "500"), nil, "temporary "},
		{"no address", "mcp", nil, nil, "unknown metadata_invalid"},
		{"a page for metadata", "", with(at, "401 Bearer", wellKnown+"/mcp", "<html>", wellKnown, "[]"), usual, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			address := tt.address
			if address == "" {
				address = "https://mcp.example/mcp"
			}
			got, err := discovery.Find(t.Context(), tt.host, address)
			if failed, _ := errors.AsType[*connection.RefreshError](err); failed != nil &&
				string(failed.Class)+" "+failed.Code != tt.fails {
				t.Fatalf("Find fails with %+v, want %q", failed, tt.fails)
			}
			if (err != nil) != (tt.fails != "") {
				t.Fatalf("Find = %+v, %v, want %q", got, err, tt.fails)
			}
			if diff := cmp.Diff(tt.want, got); tt.fails == "" && diff != "" {
				t.Errorf("Find (-want +got):\n%s", diff)
			}
		})
	}
}

func ExampleFind() {
	server, err := discovery.Find(context.Background(), host{
		"mcp.example/mcp": `401 Bearer scope="files:read"`,
		"mcp.example/.well-known/oauth-authorization-server": issuer,
	}, "https://mcp.example/mcp")
	fmt.Println(server.Issuer, server.Scopes, err)
	// Output: https://mcp.example [files:read] <nil>
}
