package oauthclient_test

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"ace/internal/platform/connection"
)

// code is a definition whose profile has these members besides its addresses.
func code(members string) string {
	return "auth: [{type: oauth2, oauth: {authorize: {url: \"https://a.example/a\"}, " + members + "}}]"
}

func TestQuirksOfTokens(t *testing.T) {
	t.Parallel()
	at := func(handler func(*seen) reply) map[string]func(*seen) reply {
		return map[string]func(*seen) reply{"a.example/t": handler}
	}
	inJSON := func(want map[string]string) func(*seen) bool {
		return func(s *seen) bool {
			got := map[string]string{}
			if json.Unmarshal([]byte(s.body), &got) != nil || s.Header.Get("Content-Type") != "application/json" {
				return false
			}
			for name, value := range want {
				if got[name] != value {
					return false
				}
			}
			return true
		}
	}
	day := 24 * hour
	inTenMinutes := start.Add(10 * time.Minute)
	runQuirks(t, []quirk{
		{
			row: "13 JSON body", definition: code(`token: {url: "https://a.example/t", body: json}`),
			callback: "code=c-1", lives: hour,
			vendor: at(
				when(inJSON(map[string]string{
					"code": "c-1", "client_secret": operators.Secret,
					"grant_type": "authorization_code",
				}), token)),
		},
		{
			row: "13 everything in the query", definition: code(`token: {url: "https://a.example/t?v=2", body: query}`),
			callback: "code=c-1", lives: hour,
			vendor: at(when(func(s *seen) bool {
				return s.query.Get("code") == "c-1" && s.query.Get("v") == "2" && s.body == ""
			}, token)),
		},
		{
			row: "13 by GET", definition: code(`token: {url: "https://a.example/t", method: GET}`),
			callback: "code=c-1", lives: hour,
			vendor: at(when(func(s *seen) bool { return s.Method == http.MethodGet && s.query.Get("code") == "c-1" },
				token)),
		},
		{
			row: "13 one parameter in the query and a JSON body",
			definition: code(
				`token: {url: "https://a.example/t", body: json, drop: [redirect_uri], ` +
					`query: {redirect_uri: "{redirect_uri}"}}`,
			), callback: "code=c-1", lives: hour,
			vendor: at(when(func(s *seen) bool {
				return s.query.Get("redirect_uri") == redirect &&
					inJSON(map[string]string{"code": "c-1", "redirect_uri": ""})(s)
			}, token)),
		},
		{
			row: "13 XML",
			definition: code(
				`token: {url: "https://a.example/t", body: xml, ` +
					`xml: "<r><code>{code}</code><s>{client_secret}</s></r>", ` +
					`map: {access_token: [/response/data/api/sessionid]}}`,
			), callback: "code=c-1",
			vendor: at(when(
				func(s *seen) bool { return s.body == "<r><code>c-1</code><s>s3cret/+:&amp;x</s></r>" },
				`<?xml version="1.0"?><response><status>ok</status><data><api><sessionid>at-1</sessionid></api>`+
					`</data></response>`,
			)),
			credentials: connection.Credentials{"access_token": "at-1"},
		},
		{
			row: "14 further headers",
			definition: code(
				`token: {url: "https://a.example/t", headers: {X-Version: "2026-01-01", ` +
					`User-Agent: "ace:{client_id}:1"}}`,
			), callback: "code=c-1", lives: hour,
			vendor: at(when(func(s *seen) bool {
				return s.Header.Get("X-Version") != "" &&
					s.UserAgent() == "ace:cid:1"
			}, token)),
		},
		{
			row: "15 JSON where it is asked for, else a form", definition: code(`token: {url: "https://a.example/t"}`),
			callback: "code=c-1", lives: hour,
			vendor: at(when(func(s *seen) bool { return s.Header.Get("Accept") == "application/json" }, token)),
		},
		{
			row: "15 a form in spite of that", definition: code(`token: {url: "https://a.example/t"}`),
			callback: "code=c-1", lives: hour,
			vendor:      at(says("access_token=at%2B1&scope=repo%2Cuser&expires_in=3600&token_type=bearer")),
			credentials: connection.Credentials{"access_token": "at+1"}, granted: []string{"repo", "user"},
		},
		{
			row: "15 JSON as text, behind a byte order mark", definition: code(`token: {url: "https://a.example/t"}`),
			callback: "code=c-1", lives: hour,
			vendor: at(func(*seen) reply {
				return reply{body: "\ufeff " + token, header: map[string]string{"Content-Type": "text/plain"}}
			}),
		},
		{
			row:        "15 nothing but the token",
			definition: code(`token: {url: "https://a.example/t", response: text, expires: {default: 3600}}`),
			callback:   "code=c-1", lives: hour,
			vendor: at(says("at-1\n")), credentials: connection.Credentials{"access_token": "at-1"},
		},
		{
			row: "16 wrapped, renamed and 201",
			definition: code(
				`token: {url: "https://a.example/t", map: {access_token: [/data/accessToken, /data/token], ` +
					`refresh_token: [/data/refreshToken], expires: [/data/expiresAt], scope: [/data/scopes]}, ` +
					`expires: {kind: at, parse: iso}, ok: {status: [201]}}`,
			), callback: "code=c-1",
			vendor: at(func(*seen) reply {
				return reply{
					status: 201,
					body: `{"data":{"token":"at-1","refreshToken":"rt-1","expiresAt":"` +
						inTenMinutes.UTC().Format(time.RFC3339) + `","scopes":["a","b"]}}`,
				}
			}),
			credentials: connection.Credentials{"access_token": "at-1", "refresh_token": "rt-1"}, granted: []string{
				"a",
				"b",
			}, lives: 10 * time.Minute,
		},
		{
			row:        "17 an error with status 200",
			definition: code(`token: {url: "https://a.example/t", ok: {pointer: /ok, equals: "true"}}`),
			callback:   "code=c-1",
			vendor:     at(says(`{"ok":false,"error":"invalid_code"}`)), fails: "sign_in_failed",
		},
		{
			row: "17 an error by number, at a refresh",
			definition: code(
				`token: {url: "https://a.example/t", ok: {pointer: /code, equals: "0"}, ` +
					`map: {access_token: [/data/access_token], error: [/code]}}, refresh: {gone: ["10010"]}`,
			),
			old:    connection.Credentials{"refresh_token": "rt-1"},
			vendor: at(says(`{"code":10010,"message":"expired"}`)), fails: "grant_over 10010",
		},
		{
			row: "18 tokens of the person beside the bot's",
			definition: code(
				`token: {url: "https://a.example/t", alternates: [/authed_user]}, ` +
					`extra: {user: {path: /authed_user, refresh: independent}}`,
			), callback: "code=c-1",
			vendor: at(
				says(
					`{"ok":true,"access_token":"xoxb-1","refresh_token":"xoxe-1","expires_in":43200,` +
						`"authed_user":{"id":"U1","access_token":"xoxp-1","refresh_token":"xoxe-u","expires_in":3600}}`,
				)),
			credentials: connection.Credentials{
				"access_token": "xoxb-1", "refresh_token": "xoxe-1", "user": "xoxp-1",
				"user_refresh_token": "xoxe-u",
			}, lives: hour,
		},
		{
			row: "18 tokens of the person alone",
			definition: code(
				`token: {url: "https://a.example/t", alternates: [/authed_user]}, ` +
					`extra: {user: {path: /authed_user, refresh: independent}}`,
			), callback: "code=c-1",
			vendor: at(
				says(`{"ok":true,"authed_user":{"access_token":"xoxp-1","refresh_token":"xoxe-u","expires_in":3600}}`)),
			credentials: connection.Credentials{"access_token": "xoxp-1", "refresh_token": "xoxe-u", "user": "xoxp-1"},
			lives:       hour,
		},
		{
			row: "18 both are renewed, each by its own",
			definition: code(
				`token: {url: "https://a.example/t"}, refresh: {rotation: always}, ` +
					`extra: {user: {path: /authed_user, refresh: independent}}`,
			),
			old: connection.Credentials{
				"access_token": "xoxb-1", "refresh_token": "xoxe-1", "user": "xoxp-1",
				"user_refresh_token": "xoxe-u",
			},
			vendor: at(func(s *seen) reply {
				if s.form.Get("refresh_token") == "xoxe-u" {
					return reply{body: `{"access_token":"xoxp-2","refresh_token":"xoxe-u2","expires_in":1800}`}
				}
				return reply{body: `{"access_token":"xoxb-2","refresh_token":"xoxe-2","expires_in":43200}`}
			}),
			credentials: connection.Credentials{
				"access_token": "xoxb-2", "refresh_token": "xoxe-2",
				"previous_refresh_token": "xoxe-1", "user": "xoxp-2", "user_refresh_token": "xoxe-u2",
			},
			lives: 30 * time.Minute,
		},
		{
			row: "18 the person's is over, the bot's goes on",
			definition: code(
				`token: {url: "https://a.example/t"}, extra: {user: {path: /authed_user, refresh: independent}}`),
			old: connection.Credentials{
				"access_token": "xoxb-1", "refresh_token": "xoxe-1", "user": "xoxp-1",
				"user_refresh_token": "xoxe-u", "user_expires_at": "1",
			},
			vendor: at(func(s *seen) reply {
				if s.form.Get("refresh_token") == "xoxe-u" {
					return reply{body: `{"ok":false,"error":"invalid_refresh_token"}`}
				}
				return reply{body: `{"access_token":"xoxb-2","expires_in":43200}`}
			}),
			credentials: connection.Credentials{
				"access_token": "xoxb-2", "refresh_token": "xoxe-1", "user": "",
				"user_expires_at": "",
			}, lives: 12 * hour,
		},
		{
			row: "18 the person's cannot be renewed just now",
			definition: code(
				`token: {url: "https://a.example/t"}, extra: {user: {path: /authed_user, refresh: independent}}`),
			old: connection.Credentials{
				"access_token": "xoxb-1", "refresh_token": "xoxe-1", "user": "xoxp-1",
				"user_refresh_token": "xoxe-u", "user_expires_at": "1",
			},
			vendor: at(func(s *seen) reply {
				if s.form.Get("refresh_token") == "xoxe-u" {
					return reply{status: 503}
				}
				return reply{body: `{"access_token":"xoxb-2","expires_in":43200}`}
			}),
			credentials: connection.Credentials{
				"access_token": "xoxb-2", "user": "xoxp-1",
				"user_refresh_token": "xoxe-u",
			}, lives: 10 * time.Minute,
		},
		{
			row:        "19 no expiry is sent",
			definition: code(`token: {url: "https://a.example/t", expires: {default: 3600}}`),
			callback:   "code=c-1",
			vendor:     at(says(`{"access_token":"at-1"}`)),
			lives:      hour,
		},
		{
			row: "20 a number as text", definition: code(`token: {url: "https://a.example/t"}`), callback: "code=c-1",
			vendor: at(says(`{"access_token":"at-1","expires_in":"3600.0"}`)), lives: hour,
		},
		{
			row: "20 milliseconds", definition: code(`token: {url: "https://a.example/t", expires: {unit: ms}}`),
			callback: "code=c-1", vendor: at(says(`{"access_token":"at-1","expires_in":3600000}`)), lives: hour,
		},
		{
			row:        "20 a time in seconds",
			definition: code(`token: {url: "https://a.example/t", expires: {path: /expires_on, kind: at}}`),
			callback:   "code=c-1",
			vendor: at(says(`{"access_token":"at-1","expires_on":` + strconv.FormatInt(inTenMinutes.Unix(),
				10) + `}`)), lives: 10 * time.Minute,
		},
		{
			row:        "20 a time in milliseconds",
			definition: code(`token: {url: "https://a.example/t", expires: {path: /exp, kind: at, unit: ms}}`),
			callback:   "code=c-1",
			vendor: at(says(`{"access_token":"at-1","exp":"` + strconv.FormatInt(inTenMinutes.UnixMilli(),
				10) + `"}`)), lives: 10 * time.Minute,
		},
		{
			row:        "20 days and hours",
			definition: code(`token: {url: "https://a.example/t", expires: {path: /estimated, parse: dhms}}`),
			callback:   "code=c-1", vendor: at(says(`{"access_token":"at-1","estimated":"1:02:30:00"}`)),
			lives: day + 2*hour + 30*time.Minute,
		},
		{
			row:        "20 inside the token alone",
			definition: code(`token: {url: "https://a.example/t", expires: {jwt: true}}`), callback: "code=c-1",
			vendor: at(says(`{"access_token":"` + unsigned(`{"exp":`+strconv.FormatInt(inTenMinutes.Unix(), 10)+`}`) +
				`"}`)), lives: 10 * time.Minute,
		},
		{
			row: "20 never", definition: code(`token: {url: "https://a.example/t", expires: {never: true}}`),
			callback: "code=c-1", vendor: at(says(token)),
		},
		{
			row: "20 nonsense", definition: code(`token: {url: "https://a.example/t"}`), callback: "code=c-1",
			vendor: at(says(`{"access_token":"at-1","expires_in":"soon"}`)),
		},
		{
			row: "20 further than any calendar", definition: code(`token: {url: "https://a.example/t"}`),
			callback: "code=c-1", vendor: at(says(`{"access_token":"at-1","expires_in":1e300}`)),
		},
		{
			row:        "21 the session decides",
			definition: code(`token: {url: "https://a.example/t"}, introspect: "https://a.example/introspect"`),
			callback:   "code=c-1", lives: 10 * time.Minute, granted: []string{"api", "web"},
			vendor: map[string]func(*seen) reply{
				"a.example/t": says(`{"access_token":"at-1"}`),
				"a.example/introspect": when(func(s *seen) bool {
					return s.form.Get("token") == "at-1" && s.form.Get("client_secret") == operators.Secret
				}, `{"active":true,"scope":"api web","exp":`+strconv.FormatInt(inTenMinutes.Unix(), 10)+`}`),
			},
		},
		{
			row:        "an ID token says whose account it is",
			definition: code(`token: {url: "https://a.example/t"}`), callback: "code=c-1",
			vendor: at(
				says(`{"access_token":"at-1","id_token":"` +
					unsigned(`{"sub":"u1","name":"Ann","email":"ann@a.example","tid":"t1"}`) + `"}`)),
			identity: connection.Identity{ID: "u1", Name: "Ann", Email: "ann@a.example", Tenant: "t1"},
		},
	})
}

// ago is a time in Unix seconds, before the start.
func ago(d time.Duration) string { return strconv.FormatInt(start.Add(-d).Unix(), 10) }

// unsigned is a JWT with these claims that nobody signed.
func unsigned(claims string) string {
	return "eyJhbGciOiJub25lIn0." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln"
}

func TestQuirksOfRefreshes(t *testing.T) {
	t.Parallel()
	at := func(handler func(*seen) reply) map[string]func(*seen) reply {
		return map[string]func(*seen) reply{"a.example/r": handler, "a.example/t": handler}
	}
	old := connection.Credentials{"access_token": "at-0", "refresh_token": "rt-0"}
	runQuirks(t, []quirk{
		{
			row: "22 another address, other parameters",
			definition: code(
				`token: {url: "https://a.example/t", params: {only: first}, headers: {X-V: "1"}}, ` +
					`refresh: {url: "https://a.example/r", params: {type: refresh, resource: "https://a.example/", ` +
					`scope: all}, headers: {X-W: "2"}, drop: [grant_type]}`,
			),
			old: old, lives: hour,
			vendor: at(when(func(s *seen) bool {
				return s.URL.Path == "/r" && s.form.Get("type") == "refresh" &&
					s.form.Get("resource") == "https://a.example/" && s.form.Get("scope") == "all" &&
					!s.form.Has("grant_type") && !s.form.Has("only") && s.Header.Get("X-V")+s.Header.Get("X-W") == "12"
			}, token)),
		},
		{
			row: "23 a short token for a long one",
			definition: code(
				`token: {url: "https://a.example/t"}, after_code: [{call: "GET https://a.example/x", ` +
					`query: {grant_type: fb_exchange_token, client_id: "{client_id}", ` +
					`client_secret: "{client_secret}", fb_exchange_token: "{access_token}"}, ` +
					`keep: {access_token: /access_token, "expires_in?": /expires_in}}]`,
			),
			callback: "code=c-1", lives: 60 * 24 * hour,
			credentials: connection.Credentials{"access_token": "long-1"},
			vendor: map[string]func(*seen) reply{
				"a.example/t": says(`{"access_token":"short-1","expires_in":3600}`),
				"a.example/x": when(func(s *seen) bool { return s.query.Get("fb_exchange_token") == "short-1" },
					`{"access_token":"long-1","expires_in":5184000}`),
			},
		},
		{
			row: "23 a living token buys the next",
			definition: code(
				`token: {url: "https://a.example/t"}, refresh: {kind: exchange_access_token, ` +
					`url: "https://a.example/r", method: GET, params: {grant_type: ig_refresh_token, ` +
					`access_token: "{access_token}"}, min_age: 86400}`,
			),
			old: connection.Credentials{"access_token": "long-1", "access_token_at": ago(25 * hour)}, lives: 60 *
				24 * hour, credentials: connection.Credentials{"access_token": "long-2", "refresh_token": ""},
			vendor: at(when(func(s *seen) bool {
				return s.query.Get("access_token") == "long-1" && s.query.Get("grant_type") == "ig_refresh_token"
			}, `{"access_token":"long-2","expires_in":5184000}`)),
		},
		{
			row: "23 but not on its first day",
			definition: code(
				`token: {url: "https://a.example/t"}, refresh: {kind: exchange_access_token, min_age: 86400}`),
			old:   connection.Credentials{"access_token": "long-1", "access_token_at": ago(hour)},
			fails: "temporary too_young", silent: true,
		},
		{
			row: "24 kept where none comes back", definition: code(`token: {url: "https://a.example/t"}`), old: old,
			lives:  hour,
			vendor: at(says(`{"access_token":"at-1","expires_in":3600}`)),
			credentials: connection.Credentials{
				"access_token": "at-1", "refresh_token": "rt-0",
				"previous_refresh_token": "",
			},
		},
		{
			row: "24 good once", definition: code(`token: {url: "https://a.example/t"}, refresh: {rotation: always}`),
			old: old, lives: hour,
			vendor: at(says(token)), credentials: connection.Credentials{
				"refresh_token":          "rt-1",
				"previous_refresh_token": "rt-0",
			},
		},
		{
			row:        "24 what comes back is ignored",
			definition: code(`token: {url: "https://a.example/t"}, refresh: {rotation: keep}`), old: old, lives: hour,
			vendor: at(says(token)), credentials: connection.Credentials{
				"access_token":  "at-1",
				"refresh_token": "rt-0", "previous_refresh_token": "",
			},
		},
		{
			row: "25 the administrator's consent is used again",
			definition: code(
				`pkce: off, scopes: {default: [all/.default]}, callback: {no_code: true}, ` +
					`token: {url: "https://a.example/t"}`,
			), old: connection.Credentials{"access_token": "at-0"}, lives: hour,
			vendor: at(when(func(s *seen) bool {
				return s.form.Get("grant_type") == "client_credentials" && s.form.Get("scope") == "all/.default"
			}, token)),
			credentials: connection.Credentials{"access_token": "at-1"},
		},
		{
			row: "25 a signed request", old: old, lives: hour,
			definition: code(
				`token: {url: "https://a.example/t"}, refresh: {kind: signed, url: "https://a.example/r", ` +
					`body: json, params: {}, headers: {appkey: "{client_id}", timestamp: "{ts}"}, ` +
					`sign: {alg: hmac_sha256, key: "{client_secret}", over: "{body}{ts}", header: sign}}`,
			),
			vendor: at(when(func(s *seen) bool {
				mac := hmac.New(sha256.New, []byte(operators.Secret))
				mac.Write([]byte(s.body + s.Header.Get("timestamp")))
				return s.Header.Get("sign") == hex.EncodeToString(mac.Sum(nil)) && s.Header.Get("appkey") == "cid" &&
					s.body == "{}"
			}, token)),
		},
		{
			row: "25 a call that lets the same token live on",
			definition: code(
				`token: {url: "https://a.example/t", ok: {pointer: /result, equals: "0000"}, ` +
					`expires: {default: 2592000}}, refresh: {kind: extend, url: "https://a.example/r", ` +
					`params: {refreshToken: "{refresh_token}"}}`,
			),
			old: old, lives: 30 * 24 * hour, credentials: connection.Credentials{
				"access_token":  "at-0",
				"refresh_token": "rt-0",
			},
			vendor: at(when(func(s *seen) bool { return s.form.Get("refreshToken") == "rt-0" }, `{"result":"0000"}`)),
		},
		{
			row: "26 a digest with a prefix",
			definition: code(
				`token: {url: "https://a.example/t", params: {hash: "{client_id}-{client_secret|md5_hex}"}, ` +
					`drop: [client_secret]}`,
			), callback: "code=c-1", lives: hour,
			vendor: at(when(func(s *seen) bool {
				sum := md5.Sum([]byte(operators.Secret))
				return s.form.Get("hash") == "cid-"+hex.EncodeToString(sum[:]) && !s.form.Has("client_secret")
			}, token)),
		},
		{
			row: "26 WSSE", callback: "code=c-1", lives: hour,
			definition: `
auth:
  - type: oauth2
    let: {whole: "{nonce}{now_iso}{client_secret}", digest: "{whole|sha1_base64}"}
    oauth:
      authorize: {url: "https://a.example/a"}
      client: {method: header, headers: {X-WSSE: "UsernameToken Username=\"{client_id}\", ` +
				`PasswordDigest=\"{digest}\", Nonce=\"{nonce|base64}\", Created=\"{now_iso}\""}}
      token: {url: "https://a.example/t"}`,
			vendor: at(when(func(s *seen) bool {
				part := func(name string) string {
					_, rest, _ := strings.Cut(s.Header.Get("X-Wsse"), name+`="`)
					value, _, _ := strings.Cut(rest, `"`)
					return value
				}
				nonce, _ := base64.StdEncoding.DecodeString(part("Nonce"))
				sum := sha1.Sum([]byte(string(nonce) + part("Created") + operators.Secret))
				return part("Username") == "cid" && part("PasswordDigest") == base64.StdEncoding.EncodeToString(sum[:])
			}, token)),
		},
		{
			row: "26 the query is signed, with its time", callback: "code=c-1", lives: hour,
			definition: code(
				`token: {url: "https://a.example/t", body: query, sign: {alg: hmac_sha1, key: "{client_secret}", ` +
					`over: "{query}", query: sig, enc: base64, ts: at}}`,
			),
			vendor: at(when(func(s *seen) bool {
				signed := s.query.Get("sig")
				s.query.Del("sig")
				mac := hmac.New(sha1.New, []byte(operators.Secret))
				mac.Write([]byte(s.query.Encode()))
				return signed == base64.StdEncoding.EncodeToString(mac.Sum(nil)) && s.query.Get("at") == "946684800000"
			}, token)),
		},
		{
			row: "26 Signature Version 4", callback: "code=c-1", lives: hour,
			definition: code(
				`token: {url: "https://a.example/t", sign: {alg: sigv4, id: "{client_id}", key: "{client_secret}", ` +
					`region: eu-west-1, service: execute-api}}`,
			),
			vendor: at(when(func(s *seen) bool {
				return strings.HasPrefix(s.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=cid/") &&
					strings.Contains(s.Header.Get("Authorization"),
						"/eu-west-1/execute-api/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=")
			}, token)),
		},
		{
			row: "33 several audiences",
			definition: code(
				`token: {url: "https://a.example/t"}, extra: {sharepoint: {fatal: true, url: "https://a.example/r", ` +
					`grant: {grant_type: refresh_token, refresh_token: "{refresh_token}", ` +
					`scope: "https://bobs.sharepoint.example/.default"}}}`,
			),
			callback: "code=c-1", lives: hour, credentials: connection.Credentials{
				"access_token": "at-1",
				"sharepoint":   "sp-1", "refresh_token": "rt-2", "previous_refresh_token": "rt-1",
			},
			vendor: map[string]func(*seen) reply{
				"a.example/t": says(token),
				"a.example/r": when(func(s *seen) bool {
					return s.form.Get("refresh_token") == "rt-1" && strings.HasPrefix(s.form.Get("scope"),
						"https://bobs.")
				}, `{"access_token":"sp-1","refresh_token":"rt-2","expires_in":4000}`),
			},
		},
		{
			row: "33 without which the connection does not stand",
			definition: code(
				`token: {url: "https://a.example/t"}, extra: {bot: {fatal: true, url: "https://a.example/r", ` +
					`grant: {grant_type: client_credentials}}}`,
			),
			callback: "code=c-1", fails: "sign_in_failed",
			vendor: map[string]func(*seen) reply{"a.example/t": says(token)},
		},
		{
			row:        "nothing to renew with",
			definition: plainDefinition,
			old:        connection.Credentials{"access_token": "at-0"},
			fails:      "grant_over no_refresh_token",
			silent:     true,
		},
		{
			row:        "never renewed",
			definition: code(`token: {url: "https://a.example/t"}, refresh: {kind: none}`),
			old:        old,
			fails:      "grant_over not_renewable",
			silent:     true,
		},
	})
}
