package app_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/app"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	values := app.Join(app.Map{
		"key": "abc-us6", "user": "Ann Lee", "empty": "", "path": "/é\"😀",
		"account": `{"client_email":"robot@example.com"}`,
	}, nil, app.Map{"key": "shadowed", "secret": "k"})
	tests := []struct {
		template string
		encode   func(string) string
		want     string // an error where it begins with "error: "
	}{
		{"plain", nil, "plain"},
		{"Bearer {key}", nil, "Bearer abc-us6"},
		{"https://{key|after:-}.api.example/3.0", nil, "https://us6.api.example/3.0"},
		{"{key|before:-}", nil, "abc"},
		{"{user|before:-}|{user|after:-}", nil, "Ann Lee|"},
		{"/u/{user}/a b", url.PathEscape, "/u/Ann%20Lee/a b"},
		{"{user|base64}", nil, "QW5uIExlZQ=="},
		{"{user|lower|urlencode}", nil, "ann+lee"},
		{"{empty|default:none}{missing|default:0}", nil, "none0"},
		{"{{user}}", nil, "{user}"},
		{"{user|substr:0:3}{user|substr:4}{user|substr:90:3}", nil, "AnnLee"},
		{"{user|sha1_base64}", nil, "tan/cl3Ndk4qFCaWEOVTswFSLuM="},
		{"{account|json:/client_email}{account|json:/missing}{user|json:/x}", nil, "robot@example.com"},
		{"{{\"path\": {path|quote}}}", nil, `{"path": "/\u00e9\"\ud83d\ude00"}`},
		{"{user|substr:x}", nil, "error: names no part"},
		{"{user|ed25519:user}", nil, "error: is no Ed25519 key"},
		{"{user|ed25519:nobody}", nil, `error: there is no value "nobody"`},
		{"{nobody}", nil, `error: there is no value "nobody"`},
		{"{user|shout}", nil, `error: there is no filter "shout"`},
		{"{user|hmac_sha1:nobody}", nil, `error: there is no value "nobody"`},
		{"{user", nil, "error: brace"},
		{"user}", nil, "error: brace"},
	}
	for _, tt := range tests {
		t.Run(tt.template, func(t *testing.T) {
			t.Parallel()
			got, err := app.Expand(tt.template, values, tt.encode)
			if want, failing := strings.CutPrefix(tt.want, "error: "); failing {
				if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Ann") {
					t.Errorf("Expand = %q, %v, want an error about %q", got, err, want)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("Expand(%q) = %q, %v, want %q", tt.template, got, err, tt.want)
			}
		})
	}
}

// The digests are those of openssl dgst.
func TestExpandDigests(t *testing.T) {
	t.Parallel()
	values := app.Map{"text": "The quick brown fox jumps over the lazy dog", "secret": "key"}
	tests := map[string]string{
		"{text|sha256_hex}":                "d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592",
		"{text|md5_hex}":                   "9e107d9d372bb6826bd81d3542a419d6",
		"{text|hmac_sha256:secret:hex}":    "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8",
		"{text|hmac_sha1:secret}":          "de7c9b85b8b78aa6bc8a7a36f70a90701c9db4d9",
		"{text|hmac_sha256:secret:base64}": "97yD9DBThCSxMpjmqm+xQ+9NWaFJRhdZl0edvC0aPNg=",
	}
	for template, want := range tests {
		if got, err := app.Expand(template, values, nil); err != nil || got != want {
			t.Errorf("Expand(%s) = %q, %v, want %q", template, got, err, want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	got := app.Names("{a}/{{b}}/{c|lower|hmac_sha1:d:hex}{e")
	if diff := cmp.Diff([]string{"a", "c", "d"}, got); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	var document any
	if err := json.Unmarshal([]byte(`{"a":{"b/c":[1,{"d":"x"},null]},"n":12345678901,"f":false}`),
		&document); err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"/a/b~1c/1/d": "x", "a/b~1c/1/d": "x", "/a/b~1c/0": "1", "/a/b~1c/-2/d": "x", "/a/b~1c/2": "", "/a/b~1c/3": "",
		"/a/x": "", "/n": "12345678901", "/f": "false", "/n/x": "", "": "",
	}
	for pointer, want := range tests {
		if got := app.PickText(document, pointer); got != want {
			t.Errorf("PickText(%s) = %q, want %q", pointer, got, want)
		}
	}
}

func TestExpect(t *testing.T) {
	t.Parallel()
	document := map[string]any{"ok": true, "code": float64(0), "error": nil}
	tests := []struct {
		name   string
		expect app.Expect
		status int
		want   bool
	}{
		{"by default 2xx", app.Expect{}, 204, true},
		{"nothing else", app.Expect{}, 302, false},
		{"these", app.Expect{Status: []int{201, 302}}, 302, true},
		{"not these", app.Expect{Status: []int{201}}, 200, false},
		{"a value", app.Expect{Pointer: "/code", Equals: "0"}, 200, true},
		{"another value", app.Expect{Pointer: "/ok", Equals: "false"}, 200, false},
		{"a value, and the status", app.Expect{Pointer: "/ok", Equals: "true"}, 500, false},
		{"there", app.Expect{Pointer: "/ok", Present: true}, 200, true},
		{"null is not there", app.Expect{Pointer: "/error", Present: true}, 200, false},
		{"absent", app.Expect{Pointer: "/error", Absent: true}, 200, true},
		{"not absent", app.Expect{Pointer: "/ok", Absent: true}, 200, false},
	}
	for _, tt := range tests {
		if got := tt.expect.Met(tt.status, document); got != tt.want {
			t.Errorf("%s: Met = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// The signature is that of RFC 8032, 7.1, test 2.
func TestExpandEd25519(t *testing.T) {
	t.Parallel()
	values := app.Map{"text": "\x72", "seed": "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"}
	const want = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da" +
		"085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
	got, err := app.Expand("{text|ed25519:seed}", values, nil)
	if err != nil || got != want {
		t.Errorf("Expand = %q, %v, want %q", got, err, want)
	}
}

func TestLet(t *testing.T) {
	t.Parallel()
	values := app.Let(app.Map{"key": "k", "body": "b"}, map[string]string{
		"whole": "{body}.{key}", "digest": "{whole|sha256_hex|substr:0:6}", "key": "own", "round": "{about}",
		"about": "{round}",
	})
	if got, err := app.Expand("{whole} {digest} {body}", values, nil); err != nil || got != "b.own 288f1a b" {
		t.Errorf("Expand = %q, %v", got, err)
	}
	if _, err := app.Expand("{round}", values, nil); err == nil {
		t.Error("values that are made of each other were made")
	}
	if app.Let(app.Map{"a": "1"}, nil) == nil {
		t.Error("Let without templates answers nothing")
	}
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	bearer := app.Send{Headers: map[string]string{"Authorization": "Bearer {access_token}"}}
	own := app.Send{Query: map[string]string{"key": "{key}"}}
	tests := map[string]struct {
		scheme app.Scheme
		want   app.Send
	}{
		"oauth2": {app.Scheme{Type: app.TypeOAuth2}, bearer},
		"mcp":    {app.Scheme{Type: app.TypeMCP}, bearer},
		"basic": {
			app.Scheme{Type: app.TypeBasic},
			app.Send{Basic: &app.BasicPair{User: "{username}", Pass: "{password}"}},
		},
		"its own":    {app.Scheme{Type: app.TypeOAuth2, Send: own}, own},
		"keys alone": {app.Scheme{Type: app.TypeKey}, app.Send{}},
	}
	for name, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.scheme.Credentials()); diff != "" {
			t.Errorf("%s: Credentials (-want +got):\n%s", name, diff)
		}
	}
}

func TestCallbackState(t *testing.T) {
	t.Parallel()
	a := &app.App{Schemes: []app.Scheme{
		{Type: app.TypeKey},
		{OAuth: &app.OAuth{Callback: app.Callback{State: "payload"}}},
	}}
	for query, want := range map[string]string{
		"state=s": "s", "payload=p": "p", "payload=p&state=s": "s",
		"code=c": "",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.CallbackState(values); got != want {
			t.Errorf("CallbackState(%s) = %q, want %q", query, got, want)
		}
	}
}
