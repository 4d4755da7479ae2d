package ucphttp_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/storetest"
	"ace/internal/storefront/ucpprofile"
)

func TestUCPNegotiation(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		mode    string // of the store; "" is lenient
		profile string
		version string // declared beside the profile
		status  int
		answers ucp.Version // 0-length: a failure of the protocol
		code    ucp.Code    // of the failure, or of a note in the response
	}{
		{"the profile says the version", "", "/2026-04-08", "", 201, "2026-04-08", ""},
		{"the header wins", "", "/2026-04-08", "2026-04-08", 201, "2026-04-08", ""},
		{"newest", "", "/2026-08-25", "", 201, "2026-08-25", ""},
		{
			"the profile has another version than the header", "", "/2026-04-08", "2026-08-25", 200, "2026-08-25",
			ucp.CapabilitiesIncompatible,
		},
		{"profile away", "", "/away", "", 201, "2026-08-25", ucp.ProfileUnreachable},
		{"profile away, version declared", "", "/away", "2026-04-08", 201, "2026-04-08", ucp.ProfileUnreachable},
		{"profile moved", "", "/moved", "", 201, "2026-08-25", ucp.ProfileUnreachable},
		{"profile broken", "", "/broken", "", 201, "2026-08-25", ucp.ProfileMalformed},
		{"old profile", "", "/2026-01-23", "", 422, "", ucp.VersionUnsupported},
		{"old profile, served version declared", "", "/2026-01-23", "2026-04-08", 201, "2026-04-08", ""},
		{"unknown version", "", "/2026-04-08", "2031-01-01", 422, "", ucp.VersionUnsupported},
		{"nothing in common", "", "/incompatible", "", 200, "2026-08-25", ucp.CapabilitiesIncompatible},

		{"strict", "strict", "/2026-04-08", "", 201, "2026-04-08", ""},
		{"strict, profile away", "strict", "/away", "", 424, "", ucp.ProfileUnreachable},
		{"strict, profile moved", "strict", "/moved", "", 424, "", ucp.ProfileUnreachable},
		{"strict, profile broken", "strict", "/broken", "", 422, "", ucp.ProfileMalformed},
		{"strict, old profile", "strict", "/2026-01-23", "2026-04-08", 422, "", ucp.VersionUnsupported},

		{"strict, no profile", "strict", "", "", 400, "", ucp.InvalidProfileURL},
		{"strict, nothing in common", "strict", "/incompatible", "", 200, "2026-08-25", ucp.CapabilitiesIncompatible},

		{"off", "off", "/away", "", 201, "2026-08-25", ""},
		{"off, version declared", "off", "/away", "2026-04-08", 201, "2026-04-08", ""},
		{"off, unknown version", "off", "/away", "2026-01-11", 422, "", ucp.VersionUnsupported},
	}
	platform := newUCPPlatform(t)
	worlds := map[string]*storetest.Store{}
	for _, mode := range []string{"", "strict", "off"} {
		worlds[mode] = storetest.Start(t, platform.join(t), func(d *storehttp.Deps) { d.Site.UCPNegotiation = mode })
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			header := `profile="` + platform.URL + tt.profile + `"`
			if tt.version != "" {
				header += `; version="` + tt.version + `"`
			}
			headers := []string{"UCP-Agent", header}
			if tt.profile == "" {
				headers = nil
			}
			r := worlds[tt.mode].Do(http.MethodPost, ucpBase+"/checkout-sessions", wish("setup_call", 1), headers...)
			var answer struct {
				UCP      ucp.Meta
				Code     ucp.Code
				Messages []ucp.Message
			}
			r.Into(t, &answer)
			if r.Status != tt.status || answer.UCP.Version != tt.answers {
				t.Fatalf("answer = %d %s, want %d in version %q", r.Status, r.Body, tt.status, tt.answers)
			}
			if tt.status >= 400 && answer.Code != tt.code {
				t.Errorf("code = %s, want %s", answer.Code, tt.code)
			}
			if text := strings.Join(said(answer.Messages), " "); tt.code != "" && !strings.Contains(text,
				string(tt.code)) {
				t.Errorf("messages = %s, want %s among them", text, tt.code)
			} else if tt.code == "" && strings.Contains(text, "profile_") {
				t.Errorf("messages = %s, want nothing about the profile", text)
			}
		})
	}
	t.Cleanup(func() {
		if n := platform.readsOf("/away"); n != 2 { // lenient and strict have a reader each
			t.Errorf("the unreachable profile was read %d times, want once per store", n)
		}
	})
}

// TestLoopbackProfile names a profile on the caller's own machine, over plain
// http: it is for development.
func TestLoopbackProfile(t *testing.T) {
	t.Parallel()
	profiles := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(ucp.NewProfile(ucp.Version20260408, ucp.ProfileConfig{}))
	}))
	t.Cleanup(profiles.Close)
	reader := func(allow ...netip.Prefix) func(*storehttp.Deps) {
		guard := egress.New(&egress.Options{Allow: allow})
		return func(d *storehttp.Deps) { d.Platforms = ucpprofile.New(guard.Client(egress.UCPProfile()), nil) }
	}
	loopback := netip.MustParsePrefix("127.0.0.0/8")
	tests := []struct {
		name   string
		store  []func(*storehttp.Deps)
		status int
		says   string
	}{
		{"allowed", []func(*storehttp.Deps){reader(loopback)}, 200, `"version":"2026-04-08"`},
		{"not allowed", []func(*storehttp.Deps){reader()}, 200, "ACE_EGRESS_ALLOW=127.0.0.0/8"},
		{"public store", []func(*storehttp.Deps){
			reader(loopback), func(d *storehttp.Deps) { d.Site.BaseURL = "https://store.example" },
		}, 400, string(ucp.InvalidProfileURL)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := storetest.Start(t, tt.store...)
			r := w.Do(http.MethodPost, ucpBase+"/catalog/search", `{"query":"handbook"}`, "UCP-Agent",
				`profile="`+profiles.URL+`/profile"`)
			if r.Status != tt.status || !strings.Contains(string(r.Body), tt.says) {
				t.Errorf("search = %d %s, want %d with %s", r.Status, r.Body, tt.status, tt.says)
			}
		})
	}
}

// TestEmptySearch finds nothing: the response has an empty list and no message,
// whatever there is to say about the exchange.
func TestEmptySearch(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	for _, headers := range [][]string{nil, {"UCP-Agent", `profile="` + a.platform.URL + `/away"`}} {
		r := a.judge(a.Do(http.MethodPost, ucpBase+"/catalog/search", `{"query":"submarine"}`, headers...))
		var answer ucp.SearchResponse
		r.Into(t, &answer)
		if r.Status != 200 || len(answer.Products) > 0 || strings.Contains(string(r.Body), "messages") {
			t.Errorf("search for nothing = %d %s", r.Status, r.Body)
		}
	}
}

// TestErrorPaths refuses each spelling of an item, and points at what was sent.
func TestErrorPaths(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	tests := []struct{ body, path string }{
		{`{"offer_id":"no_such"}`, "$.offer_id"},
		{`{"item":{"id":"no_such"}}`, "$.item.id"},
		{`{"line_items":[{"id":"no_such"}]}`, "$.line_items[0].id"},
		{`{"line_items":[{"offer_id":"no_such"}]}`, "$.line_items[0].offer_id"},
		{`{"line_items":[{"item":{"id":"no_such"},"quantity":1}]}`, "$.line_items[0].item.id"},
		{`{"offer_id":"prompt_handbook","quantity":500}`, "$.quantity"},
		{`{"line_items":[{"id":"prompt_handbook"}],"quantity":2}`, "$.quantity"},
	}
	opened := a.order("setup_call", 1)
	for _, tt := range tests {
		for _, tool := range []string{ucp.ToolCreateCheckout, ucp.ToolUpdateCheckout} {
			var answer struct{ Messages []ucp.Message }
			a.call(tool, opened.ID, tt.body).Into(t, &answer)
			if len(answer.Messages) == 0 || answer.Messages[0].Path != tt.path {
				t.Errorf("%s %s = %+v, want the path %s", tool, tt.body, answer.Messages, tt.path)
			}
		}
	}
}

// signedUCP signs a request as a platform does.
type signedUCP struct {
	agent string // UCP-Agent
	key   string // Idempotency-Key
	sign  func(m *httpsig.Message)
}

func (s signedUCP) post(t *testing.T, w *storetest.Store, path, body string) storetest.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if s.agent != "" {
		req.Header.Set("UCP-Agent", s.agent)
	}
	if s.key != "" {
		req.Header.Set("Idempotency-Key", s.key)
	}
	req.Header.Set("Content-Digest", httpsig.ContentDigest([]byte(body)))
	s.sign(httpsig.RequestMessage(req, "http"))
	headers := []string{}
	for name := range req.Header {
		headers = append(headers, name, req.Header.Get(name))
	}
	return w.Do(http.MethodPost, path, body, headers...)
}

// signWith signs all that a UCP signature has to cover.
func signWith(t *testing.T, signer *httpsig.Signer, change func(*httpsig.Params)) func(*httpsig.Message) {
	t.Helper()
	return func(m *httpsig.Message) {
		params := httpsig.Params{Created: time.Now()}
		if change != nil {
			change(&params)
		}
		if err := signer.Sign(m, "sig1", ucp.RequestComponents(m, true), params); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUCPSignedRequests(t *testing.T) {
	t.Parallel()
	known, stranger := storetest.NewP256(t), storetest.NewP256(t)
	bot := func(m *httpsig.Message) {
		params := httpsig.Params{Created: time.Now(), Expires: time.Now().Add(time.Minute), Tag: "web-bot-auth"}
		if err := stranger.Sign(m, "bot", []httpsig.Component{httpsig.Field("@authority")}, params); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		sign   func(*httpsig.Message)
		plain  bool
		status int
		code   ucp.Code
		signed bool
	}{
		{"signed", signWith(t, known, nil), false, 201, "", true},
		{"unsigned", func(*httpsig.Message) {}, false, 201, "", false},
		{"by a stranger", signWith(t, stranger, nil), false, 401, ucp.KeyNotFound, false},
		{
			"by a stranger in the name of a known key",
			signWith(t, stranger, func(p *httpsig.Params) { p.KeyID = known.JWK().KID }), false, 401,
			ucp.SignatureInvalid, false,
		},
		{"too old", signWith(t, known, func(p *httpsig.Params) {
			p.Created, p.Expires = time.Now().Add(-time.Hour), time.Now().Add(-time.Minute*30)
		}), false, 401, ucp.SignatureInvalid, false},
		{"changed afterwards", func(m *httpsig.Message) {
			signWith(t, known, nil)(m)
			m.Header.Set("Content-Digest", httpsig.ContentDigest([]byte("{}")))
		}, false, 400, ucp.DigestMismatch, false},
		{"too little covered", func(m *httpsig.Message) {
			if err := known.Sign(m, "sig1", []httpsig.Component{httpsig.Field("@method")},
				httpsig.Params{Created: time.Now()}); err != nil {
				t.Fatal(err)
			}
		}, false, 401, ucp.SignatureInvalid, false},
		{"no signature at all", func(m *httpsig.Message) {
			m.Header.Set("Signature-Input",
				"sig1=()")
			m.Header.Set("Signature", "x")
		}, false, 401, ucp.SignatureInvalid, false},
		{"only the name of a bot", bot, false, 201, "", false},
		{"a bot beside the platform", func(m *httpsig.Message) {
			bot(m)
			m.Header["Signature-Input"] = nil
			m.Header["Signature"] = nil
			signWith(t, known, nil)(m)
		}, false, 201, "", true},
		{"plain mode asks for no keys", signWith(t, stranger, nil), true, 201, "", false},
	}
	platform := newUCPPlatform(t)
	platform.publish(known.JWK())
	w := storetest.Start(t, platform.join(t))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			call := signedUCP{agent: `profile="` + platform.URL + `/2026-08-25"`, sign: tt.sign}
			if tt.plain {
				call.agent = ""
			}
			r := call.post(t, w, ucpBase+"/checkout-sessions", wish("setup_call", 1))
			var answer struct {
				ID   string
				Code ucp.Code
			}
			r.Into(t, &answer)
			if r.Status != tt.status || answer.Code != tt.code {
				t.Fatalf("answer = %d %s, want %d %s", r.Status, r.Body, tt.status, tt.code)
			}
			if r.Status != 201 {
				return
			}
			session, err := w.Storage.Session(t.Context(), answer.ID)
			if err != nil || session.Agent.Signed != tt.signed {
				t.Errorf("session.Agent = %+v, %v, want signed = %t", session.Agent, err, tt.signed)
			}
		})
	}
}

// TestUCPSignedTools signs a call of a tool: the profile is in its body.
func TestUCPSignedTools(t *testing.T) {
	t.Parallel()
	known := storetest.NewP256(t)
	platform := newUCPPlatform(t)
	platform.publish(known.JWK())
	w := storetest.Start(t, platform.join(t))
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_checkout",` +
		`"arguments":{"meta":{"ucp-agent":{"profile":"` + platform.URL +
		`/2026-04-08"}},"checkout":` + wish(
		"setup_call",
		1,
	) + `}}}`
	tests := []struct {
		name   string
		signer *httpsig.Signer
		status int
		want   string
	}{
		{"known", known, 200, `"requires_escalation"`},
		{"stranger", storetest.NewP256(t), 401, `"code":-32000`},
	}
	for _, tt := range tests {
		r := signedUCP{sign: signWith(t, tt.signer, nil)}.post(t, w, ucpBase+"/mcp", body)
		if r.Status != tt.status || !strings.Contains(string(r.Body), tt.want) {
			t.Errorf("%s: %d %s, want %d with %s", tt.name, r.Status, r.Body, tt.status, tt.want)
		}
	}
}

// TestUCPSignedKeys gives a signer his own room of keys.
func TestUCPSignedKeys(t *testing.T) {
	t.Parallel()
	one, two := storetest.NewP256(t), storetest.NewP256(t)
	platform := newUCPPlatform(t)
	platform.publish(one.JWK(), two.JWK())
	w := storetest.Start(t, platform.join(t))
	ids := map[string]string{}
	for name, sign := range map[string]func(*httpsig.Message){
		"one": signWith(t, one, nil), "two": signWith(t, two, nil), "nobody": func(*httpsig.Message) {},
		"one again": signWith(t, one, nil),
	} {
		r := signedUCP{
			agent: `profile="` + platform.URL + `/2026-08-25"`, key: "the-same-key-for-all",
			sign: sign,
		}.post(t, w, ucpBase+"/checkout-sessions", wish("setup_call", 1))
		var c ucp.Checkout
		r.Into(t, &c)
		if r.Status != 201 {
			t.Fatalf("%s: %d %s", name, r.Status, r.Body)
		}
		ids[name] = c.ID
	}
	if ids["one"] != ids["one again"] || ids["one"] == ids["two"] || ids["one"] == ids["nobody"] {
		t.Errorf("checkouts by signer = %v, want one each and the same for a repetition", ids)
	}
}

// TestUCPSignedAnswers verifies what the store signs with the keys that it
// publishes.
func TestUCPSignedAnswers(t *testing.T) {
	t.Parallel()
	a := ucpPlain(t)
	var profile ucp.Profile
	a.Do(http.MethodGet, "/.well-known/ucp", "").Into(t, &profile)
	opened := a.order("prompt_handbook", 1)
	answers := map[string]storetest.Response{
		"complete":               a.call(ucp.ToolCompleteCheckout, opened.ID, "{}"),
		"complete, kept":         a.call(ucp.ToolCompleteCheckout, opened.ID, "{}", "Idempotency-Key", "k"),
		"complete, again":        a.call(ucp.ToolCompleteCheckout, opened.ID, "{}", "Idempotency-Key", "k"),
		"complete of no session": a.call(ucp.ToolCompleteCheckout, "chk_x", "{}"),
	}
	for name, r := range answers {
		signatures, err := httpsig.Parse(r.Header)
		if err != nil || len(signatures) != 1 {
			t.Fatalf("%s: signatures = %v, %v", name, signatures, err)
		}
		s := signatures[0]
		key, ok := httpsig.FindKey(profile.Keys, s.Params.KeyID)
		if !ok || key.Alg != "ES256" || !s.Covers(httpsig.Field("@status"), httpsig.Field("content-digest"),
			httpsig.Field("content-type")) {
			t.Errorf("%s: %+v by %+v", name, s, key)
		}
		if err := s.VerifyJWK(httpsig.ResponseMessage(r.Status, r.Header, nil), key); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := httpsig.VerifyContentDigest(r.Header, r.Body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r := a.call(ucp.ToolGetCheckout, opened.ID, ""); r.Header.Get("Signature") != "" {
		t.Error("get is signed, want complete alone")
	}
}
