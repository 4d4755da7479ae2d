package oauthclient_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"testing"
	"time"

	"ace/internal/platform/connection"
)

const hour = time.Hour

// The numbers are rows of the table of quirks. Each vendor refuses a client that
// does not do as its definition says.
func TestQuirksOfConsent(t *testing.T) {
	t.Parallel()
	basic := base64.StdEncoding.EncodeToString([]byte("cid:s3cret%2F%2B%3A%26x"))
	shopify := hmac.New(sha256.New, []byte(operators.Secret))
	shopify.Write([]byte("code=c-1&shop=bobs.shop.example&state=s&timestamp=1"))
	signed := hex.EncodeToString(shopify.Sum(nil))
	runQuirks(t, []quirk{
		{
			row:    "1 tenant in addresses",
			params: map[string]string{"subdomain": "bobs", "realm": "a/b c"},
			definition: `
params: {subdomain: {match: "[a-z0-9-]+", strip_suffix: .desk.example}, realm: {}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://{subdomain}.desk.example/r/{realm}/authorize?realm={realm}"},
  token: {url: "https://{subdomain}.desk.example/{realm}/token"}}}]`,
			vendor:   map[string]func(*seen) reply{"bobs.desk.example/a/b c/token": says(token)},
			callback: "code=c-1",
			address:  []string{"https://bobs.desk.example/r/a%2Fb%20c/authorize?realm=a%2Fb+c&"},
			sends:    []string{"POST https://bobs.desk.example/a%2Fb%20c/token\n"},
			lives:    hour,
		},
		{
			row:    "1 tenant that is no host name",
			params: map[string]string{"subdomain": "evil.example/"},
			definition: `
params: {subdomain: {}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://{subdomain}.desk.example/authorize"},
  token: {url: "https://{subdomain}.desk.example/token"}}}]`,
			fails: "sign_in_failed", silent: true,
		},
		{
			row:    "1 whole host that the person runs",
			params: map[string]string{"host": "git.bobs.example:8443"},
			client: &connection.Client{
				ID: "cid", Secret: operators.Secret,
				Extra: map[string]string{"host": "git.bobs.example:8443"},
			},
			definition: `
params: {host: {host: true}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://{host}/authorize"}, token: {url: "https://{host}/token"}}}]`,
			vendor:   map[string]func(*seen) reply{"git.bobs.example:8443/token": says(token)},
			callback: "code=c-1", address: []string{"https://git.bobs.example:8443/authorize?"}, lives: hour,
		},
		{
			row:    "1 whole host that the client is not of: its secret stays here",
			params: map[string]string{"host": "evil.example"},
			client: &connection.Client{
				ID: "cid", Secret: operators.Secret,
				Extra: map[string]string{"host": "git.bobs.example"},
			},
			definition: `
params: {host: {host: true}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://{host}/authorize"}, token: {url: "https://{host}/token"}}}]`,
			fails: "sign_in_failed", silent: true,
		},
		{
			row:    "1 whole host where the client is of the usual one",
			params: map[string]string{"host": "evil.example"},
			definition: `
params: {host: {host: true, default: git.example}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://{host}/authorize"}, token: {url: "https://{host}/token"}}}]`,
			fails: "sign_in_failed", silent: true,
		},
		{
			row:    "1 whole host among those of the vendor",
			params: map[string]string{"host": "bobs.force.example"},
			definition: `
params: {host: {host: true, match: "([a-z]+[.])+force[.]example", default: login.force.example}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://{host}/authorize"}, token: {url: "https://{host}/token"}}}]`,
			vendor:   map[string]func(*seen) reply{"bobs.force.example/token": says(token)},
			callback: "code=c-1", address: []string{"https://bobs.force.example/authorize?"}, lives: hour,
		},
		{
			row:    "1 whole host that the definition did not allow",
			params: map[string]string{"host": "evil.example"},
			definition: `
params: {host: {}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://{host}/authorize"}, token: {url: "https://{host}/token"}}}]`,
			fails: "sign_in_failed", silent: true,
		},
		{
			row: "2 data centre in the callback",
			definition: `
params: {accounts_server: {learned: true}}
auth:
  - type: oauth2
    oauth:
      authorize: {url: "https://accounts.zone.example/oauth/v2/auth"}
      callback: {capture: {accounts_server: accounts-server}, hosts: [zone.example, zone.test]}
      token: {url: "{accounts_server}/oauth/v2/token"}`,
			vendor:   map[string]func(*seen) reply{"accounts.zone.test/oauth/v2/token": says(token)},
			callback: "code=c-1&accounts-server=https%3A%2F%2Faccounts.zone.test",
			learned:  map[string]string{"accounts_server": "https://accounts.zone.test"}, lives: hour,
		},
		{
			row: "2 data centre elsewhere",
			definition: `
params: {accounts_server: {learned: true}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://accounts.zone.example/auth"},
  callback: {capture: {accounts_server: accounts-server},
    hosts: [zone.example]}, token: {url: "{accounts_server}/token"}}}]`,
			callback: "code=c-1&accounts-server=https%3A%2F%2Fzone.example.evil.test", fails: "sign_in_failed",
			silent: true,
		},
		{
			row: "3 base address in the token answer",
			definition: `
base: "{instance_url}/services/data"
params: {instance_url: {learned: true}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://login.force.example/authorize"},
  token: {url: "https://login.force.example/token", hosts: [.force.example], capture: {instance_url: /instance_url,
    bot: /bot/id}}}}]`,
			vendor: map[string]func(*seen) reply{
				"login.force.example/token": says(
					`{"access_token":"at-1","instance_url":"https://eu7.force.example","bot":{"id":42}}`),
			},
			callback: "code=c-1", learned: map[string]string{"instance_url": "https://eu7.force.example"},
			credentials: connection.Credentials{"bot": "42"},
		},
		{
			row: "3 base address elsewhere",
			definition: `
base: "{instance_url}/services/data"
params: {instance_url: {learned: true}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://login.force.example/authorize"},
  token: {url: "https://login.force.example/token", hosts: [.force.example],
    capture: {instance_url: /instance_url}}}}]`,
			vendor: map[string]func(*seen) reply{
				"login.force.example/token": says(
					`{"access_token":"at-1","instance_url":"https://force.example@evil.test"}`),
			},
			callback: "code=c-1", fails: "sign_in_failed",
		},
		{
			row: "4 ids in the callback",
			definition: `
params: {realm_id: {learned: true}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://books.example/a"}, token: {url: "https://books.example/t"},
  callback: {capture: {realm_id: realmId}}}}]`,
			vendor:   map[string]func(*seen) reply{"books.example/t": says(token)},
			callback: "code=c-1&realmId=9130", learned: map[string]string{"realm_id": "9130"}, lives: hour,
		},
		{
			row: "5 code under another name",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://seller.example/a"}, ` +
				`token: {url: "https://seller.example/t"}, callback: {code: spapi_oauth_code}}}]`,
			vendor: map[string]func(*seen) reply{
				"seller.example/t": when(func(s *seen) bool { return s.form.Get("code") == "c-1" }, token),
			},
			callback: "spapi_oauth_code=c-1&code=another",
			lives:    hour,
		},
		{
			row: "5 consent of an administrator, without a code",
			definition: `
params: {tenant: {learned: true}}
auth: [{type: oauth2, oauth: {authorize: {url: "https://login.example/adminconsent", drop: [response_type, scope]},
  pkce: off, scopes: {default: [graph/.default]}, callback: {no_code: true,
    capture: {tenant: tenant}}, token: {url: "https://login.example/{tenant}/token"}}}]`,
			vendor: map[string]func(*seen) reply{"login.example/t-1/token": when(func(s *seen) bool {
				return s.form.Get("grant_type") == "client_credentials" && s.form.Get("scope") == "graph/.default"
			}, `{"access_token":"at-1","expires_in":3600}`)},
			callback: "admin_consent=True&tenant=t-1", notAddress: []string{"response_type", "scope"},
			learned: map[string]string{"tenant": "t-1"}, lives: hour,
		},
		{
			row: "6 state under another name",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://chat.example/a"}, ` +
				`token: {url: "https://chat.example/t"}, callback: {state: payload}}}]`,
			address:    []string{"payload=state-of-the-attempt"},
			notAddress: []string{"&state="},
		},
		{
			row: "7 renamed parameters",
			definition: `
auth:
  - type: oauth2
    oauth:
      authorize: {url: "https://clips.example/a", rename: {client_id: client_key, redirect_uri: redirect_url},
        drop: [response_type]}
      token: {url: "https://clips.example/t", rename: {client_id: client_key}, drop: [redirect_uri]}`,
			vendor: map[string]func(*seen) reply{"clips.example/t": when(func(s *seen) bool {
				return s.form.Get("client_key") == "cid" && !s.form.Has("client_id") && !s.form.Has("redirect_uri")
			}, token)},
			callback: "code=c-1", address: []string{"client_key=cid", "redirect_url=https%3A"},
			notAddress: []string{"client_id", "response_type", "redirect_uri"}, lives: hour,
		},
		{
			row: "8 scopes with commas",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}, scopes: {default: [read, write], separator: ","}}}]`,
			vendor: map[string]func(*seen) reply{
				"a.example/t": says(`{"access_token":"at-1","scope":"read,write"}`),
			},
			callback: "code=c-1",
			address:  []string{"scope=read%2Cwrite"},
			granted:  []string{"read", "write"},
		},
		{
			row: "8 scopes with plus signs, as they are",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}, scopes: {default: ["https://a.example/read", "b:w"], ` +
				`separator: "+", raw: true}}}]`,
			address: []string{"&scope=https://a.example/read+b:w"},
		},
		{
			row: "8 scopes as they are, with what no scope holds",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}, scopes: {separator: "+", raw: true}}}]`,
			scopes: []string{"a&client_id=evil"},
			fails:  "invalid_request",
		},
		{
			row: "8 no scope, no parameter",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}, scopes: {default: [a], omit_empty: true}}}]`,
			scopes:     []string{},
			notAddress: []string{"scope"},
		},
		{
			row: "9 two lists of scopes",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}, scopes: {default: ["chat:write"], separator: ",", ` +
				`params: {user_scope: ["search:read", "users:read"]}}}}]`,
			address: []string{"scope=chat%3Awrite", "user_scope=search%3Aread%2Cusers%3Aread"},
		},
		{
			row: "10 lasting access",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a?tenant=1", ` +
				`params: {access_type: offline, prompt: consent, audience: "api.{client_id}"}}, ` +
				`token: {url: "https://a.example/t"}}}]`,
			address: []string{
				"https://a.example/a?tenant=1&", "access_type=offline", "prompt=consent",
				"audience=api.cid",
			},
		},
		{
			row: "11 PKCE refused",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}, pkce: off}}]`,
			vendor: map[string]func(*seen) reply{
				"a.example/t": when(func(s *seen) bool { return !s.form.Has("code_verifier") }, token),
			},
			callback:   "code=c-1",
			notAddress: []string{"code_challenge"},
			lives:      hour,
		},
		{
			row: "11 PKCE plain",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}, pkce: plain}}]`,
			vendor: map[string]func(*seen) reply{
				"a.example/t": when(func(s *seen) bool { return len(s.form.Get("code_verifier")) == 43 }, token),
			},
			callback: "code=c-1",
			address:  []string{"code_challenge_method=plain"},
			lives:    hour,
		},
		{
			row: "11 PKCE S256",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}}}]`,
			vendor: map[string]func(*seen) reply{
				"a.example/t": when(func(s *seen) bool { return len(s.form.Get("code_verifier")) == 43 }, token),
			},
			callback: "code=c-1",
			address:  []string{"code_challenge_method=S256"},
			lives:    hour,
		},
		{
			row: "12 Basic, as RFC 6749 writes it",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}, client: {method: basic}}}]`,
			vendor: map[string]func(*seen) reply{
				"a.example/t": when(func(s *seen) bool { return !s.form.Has("client_secret") }, token),
			},
			callback: "code=c-1",
			sends:    []string{"Authorization: Basic " + basic},
			lives:    hour,
		},
		{
			row: "12 Basic, raw",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}, client: {method: basic, encoding: raw, both: true}}}]`,
			vendor: map[string]func(*seen) reply{"a.example/t": when(func(s *seen) bool {
				id, secret, _ := s.BasicAuth()
				return id == "cid" && secret == operators.Secret && s.form.Get("client_secret") == operators.Secret
			}, token)},
			callback: "code=c-1",
			lives:    hour,
		},
		{
			row: "12 the secret as user name",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}, client: {method: basic, user: "{client_secret}", pass: "", ` +
				`encoding: raw}}}]`,
			vendor: map[string]func(*seen) reply{"a.example/t": when(func(s *seen) bool {
				id, secret, _ := s.BasicAuth()
				return id == "s3cret/+" && secret == ":&x:" || id+":"+secret == operators.Secret+":"
			}, token)},
			callback: "code=c-1",
			lives:    hour,
		},
		{
			row: "12 in a header",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}, client: {method: header, ` +
				`headers: {X-Client: "{client_id}:{client_secret|sha256_hex|substr:0:8}"}}}}]`,
			vendor: map[string]func(*seen) reply{
				"a.example/t": when(func(s *seen) bool { return !s.form.Has("client_id") }, token),
			},
			callback: "code=c-1",
			sends:    []string{"X-Client: cid:7b9b73e4"},
			lives:    hour,
		},
		{
			row: "12 public client",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
				`token: {url: "https://a.example/t"}}}]`,
			client: &connection.Client{ID: "cid"},
			vendor: map[string]func(*seen) reply{
				"a.example/t": when(func(s *seen) bool {
					return s.form.Get("client_id") == "cid" &&
						!s.form.Has("client_secret")
				}, token),
			},
			callback: "code=c-1",
			lives:    hour,
		},
		{
			row:        "27 signed callback",
			definition: shopDefinition,
			vendor:     map[string]func(*seen) reply{"bobs.shop.example/token": says(`{"access_token":"at-1"}`)},
			callback:   "code=c-1&shop=bobs.shop.example&state=s&timestamp=1&hmac=" + signed,
			params:     map[string]string{"shop": "bobs.shop.example"},
			learned:    map[string]string{"shop": "bobs.shop.example"},
		},
		{
			row: "27 callback that was changed", definition: shopDefinition,
			callback: "code=c-2&shop=bobs.shop.example&state=s&timestamp=1&hmac=" + signed,
			params:   map[string]string{"shop": "bobs.shop.example"}, fails: "sign_in_failed", silent: true,
		},
		{
			row: "28 parameters behind #",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://sales.example/#/oauth/authorize", ` +
				`fragment: true}, token: {url: "https://sales.example/t"}}}]`,
			address: []string{"https://sales.example/#/oauth/authorize?", "client_id=cid"},
		},
		{
			row: "28 code that is encoded twice",
			definition: `auth: [{type: oauth2, oauth: {authorize: {url: "https://pay.example/a"}, ` +
				`token: {url: "https://pay.example/t"}, callback: {decode: true}}}]`,
			vendor: map[string]func(*seen) reply{
				"pay.example/t": when(func(s *seen) bool { return s.form.Get("code") == "c/1+2" }, token),
			},
			callback: "code=c%252F1%252B2",
			lives:    hour,
		},
		{
			row:        "refused by the person",
			definition: plainDefinition, callback: "error=access_denied&error_description=no+no",
			fails: "sign_in_denied", silent: true,
		},
		{
			row:        "failed at the vendor",
			definition: plainDefinition, callback: "error=server_error", fails: "provider_unavailable", silent: true,
		},
		{
			row:        "without a code",
			definition: plainDefinition, callback: "state=s", fails: "sign_in_failed", silent: true,
		},
		{
			row:        "code that was used",
			definition: plainDefinition, callback: "code=c-1",
			vendor: map[string]func(*seen) reply{"a.example/t": func(*seen) reply {
				return reply{
					status: 400,
					body:   `{"error":"invalid_grant"}`,
				}
			}}, fails: "sign_in_failed",
		},
		{
			row:        "redirected at the token endpoint",
			definition: plainDefinition, callback: "code=c-1",
			vendor: map[string]func(*seen) reply{"a.example/t": func(*seen) reply {
				return reply{status: 307, header: map[string]string{"Location": "https://evil.example/t"}}
			}}, fails: "sign_in_failed", notSends: []string{"evil.example"},
		},
	})
}

const plainDefinition = `auth: [{type: oauth2, oauth: {authorize: {url: "https://a.example/a"}, ` +
	`token: {url: "https://a.example/t"}}}]`

const shopDefinition = `
params: {shop: {host: true, match: "[a-z0-9-]+\\.shop\\.example"}}
auth:
  - type: oauth2
    oauth:
      authorize: {url: "https://{shop}/authorize"}
      token: {url: "https://{shop}/token"}
      pkce: off
      callback: {verify: shopify_hmac, capture: {shop: shop}, hosts: [.shop.example]}`
