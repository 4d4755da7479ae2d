package admission_test

import (
	"crypto/ed25519"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/webbotauth"
	"ace/internal/storefront/storehttp/admission"
)

const botURL = "https://bot.example" + webbotauth.DirectoryPath

// directory returns the keys of every agent: they all have the same one.
type directory struct{ body string }

func (d directory) Do(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {webbotauth.MediaType}},
		Body: io.NopCloser(strings.NewReader(d.body)),
	}, nil
}

func signer(t *testing.T) *httpsig.Signer {
	t.Helper()
	s, err := httpsig.NewSigner(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// withBots is a host that knows signed agents. It must run in a bubble.
func withBots(t *testing.T, enforce bool) *host {
	t.Helper()
	body, err := json.Marshal(map[string]any{"keys": []httpsig.JWK{signer(t).JWK()}})
	if err != nil {
		t.Fatal(err)
	}
	keys := webbotauth.NewKeys(directory{string(body)}, slog.New(slog.DiscardHandler), nil)
	t.Cleanup(keys.Close)
	return open(t,
		5, &admission.Options{Bots: webbotauth.NewVerifier(keys, []string{"store.example"}, nil), Enforce: enforce})
}

// signed is a request of an agent, sound until change makes it otherwise.
func signed(t *testing.T, agent, path, body string, change func(*http.Request)) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "https://store.example"+path,
		strings.NewReader(body))
	r.TLS, r.RemoteAddr = nil, client
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Digest", httpsig.ContentDigest([]byte(body)))
	r.Header.Set("Signature-Agent", `a="`+agent+`"`)
	components := []httpsig.Component{
		httpsig.Field("@authority"),
		{Name: "signature-agent", Key: "a"},
		httpsig.Field("content-digest"),
	}
	err := signer(t).Sign(httpsig.RequestMessage(r, "https"), "sig1", components,
		httpsig.Params{Created: time.Now(), Expires: time.Now().Add(time.Minute), Tag: webbotauth.Tag})
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(r)
	}
	return r
}

// met sends a request of an agent, so that its keys are known from now on.
func (h *host) met(agent string) {
	h.send(signed(h.t, agent, "/", "", nil))
	synctest.Wait()
}

// A verified agent has a quota of its own, is named in the log and known to
// the handlers.
func TestVerifiedAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := withBots(t, false)
		w := h.send(signed(t, "https://bot.example", search, "", nil))
		if w.Code != http.StatusOK || w.Header().Get("Accept-Signature") == "" || w.Header().Get("X-Agent") != "" {
			t.Errorf("the first request = %d %v, want it served as unsigned, with Accept-Signature", w.Code, w.Header())
		}
		synctest.Wait()
		if !strings.Contains(h.log.String(), `signature="unverified: pending"`) {
			t.Errorf("log = %s, want the reason", h.log)
		}
		served, _ := until(100, get(h, search))
		if served != 4 {
			t.Errorf("%d calls without a signature, want the 4 that are left of the address", served)
		}
		body := strings.Repeat("x", 1000)
		w = h.send(signed(t, "https://bot.example", search, body, nil))
		if w.Code != http.StatusOK || w.Header().Get("X-Agent") != botURL || w.Header().Get("Accept-Signature") != "" ||
			w.Body.String() != body {
			t.Errorf("the signed request = %d %v, want it served for the agent, with its body", w.Code, w.Header())
		}
		if got := w.Header().Get("RateLimit"); got != `"client";r=4;t=1` {
			t.Errorf("RateLimit = %s, want the agent's own quota", got)
		}
		if !strings.Contains(h.log.String(), "signature=verified agent="+botURL) {
			t.Errorf("log = %s, want the agent", h.log)
		}
		served, _ = until(100,
			func() *httptest.ResponseRecorder { return h.send(signed(t, "https://bot.example", search, "", nil)) })
		if served != 4 {
			t.Errorf("%d more calls, want 4", served)
		}
	})
}

// An agent is one client wherever it calls from, and its address is another.
func TestAgentFromTwoAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := withBots(t, false)
		h.met("https://bot.example")
		until(100,
			func() *httptest.ResponseRecorder { return h.send(signed(t, "https://bot.example", search, "", nil)) })
		w := h.send(signed(t, "https://bot.example", search,
			"", func(r *http.Request) { r.RemoteAddr = "198.51.100.1:1" }))
		if w.Code != http.StatusTooManyRequests {
			t.Errorf("from another address = %d, want 429", w.Code)
		}
	})
}

// Names are for free, addresses are not: many agents of one address share a
// ceiling of ten a second.
func TestCeilingOfAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := withBots(t, false)
		agents := []string{}
		for i := range 15 {
			agent := "https://bot" + string(rune('a'+i)) + ".example"
			h.met(agent)
			agents = append(agents, agent)
			time.Sleep(10 * time.Second)
		}
		served, last := 0, (*httptest.ResponseRecorder)(nil)
		for i := range 75 { // each stays under its own five
			if w := h.send(signed(t, agents[i%15], search, "", nil)); w.Code == http.StatusOK {
				served++
			} else {
				last = w
			}
		}
		if served != 60 || last == nil || last.Header().Get("RateLimit") != `"address";r=0;t=1` ||
			last.Header().Get("Retry-After") != "1" {
			t.Fatalf("%d served, then %v, want 60 and the policy of the address", served, last)
		}
		time.Sleep(time.Second)
		served, _ = until(100, func() *httptest.ResponseRecorder { return h.send(signed(t, agents[0], "/", "", nil)) })
		if served != 10 {
			t.Errorf("%d served a second later, want 10", served)
		}
	})
}

// False signatures cost the address what they are: ten a second are looked at.
func TestFalseSignatures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := withBots(t, false)
		h.met("https://bot.example")
		served, w := until(100, func() *httptest.ResponseRecorder {
			return h.send(signed(t, "https://bot.example", search,
				"", func(r *http.Request) { r.Host = "STORE.example" }))
		})
		if served != 5 { // the authority is normal again: sound
			t.Errorf("%d served, %v, want 5 of the agent", served, w)
		}
		served, w = until(100, func() *httptest.ResponseRecorder {
			return h.send(signed(t, "https://bot.example", search,
				"", func(r *http.Request) { r.Header.Set("Signature", "sig1=:AAAA:") }))
		})
		if served != 5 || w.Header().Get("Accept-Signature") != webbotauth.AcceptSignature {
			t.Errorf("%d served, %v, want 5 of the address and Accept-Signature", served, w)
		}
	})
}

// What comes of a wrong signature in both modes.
func TestWrongSignatures(t *testing.T) {
	t.Parallel()
	const rpcError = `{"jsonrpc":"2.0","error":{"code":-32600,` +
		`"message":"The signature of the request does not hold (signature). Sign it as the header Accept-Signature ` +
		`says, or send it without a signature.","data":{"code":"signature_invalid"}}}`
	tests := []struct {
		name, path string
		change     func(*http.Request)
		observed   int
		enforced   int
		body       string // of the enforced answer, a part
		log        string
	}{
		{"sound", search, nil, 200, 200, "", "signature=verified"},
		{
			"unsigned", search, func(r *http.Request) { r.Header.Del("Signature-Input"); r.Header.Del("Signature") },
			200, 200, "", "",
		},
		{
			"malformed", search, func(r *http.Request) { r.Header.Set("Signature-Input", "sig1=(") }, 200, 400,
			`"code":"signature_invalid"`, `signature="invalid: malformed"`,
		},
		{
			"false", search, func(r *http.Request) { r.Header.Set("Signature", "sig1=:AAAA:") }, 200,
			403, `"code":"signature_invalid"`, `signature="invalid: signature"`,
		},
		{
			"another body", search, func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("other")) }, 200,
			403, "(digest)", `signature="invalid: digest"`,
		},
		{
			"another host", search, func(r *http.Request) { r.Host = "other.example" }, 200, 403, "(authority)",
			`signature="invalid: authority"`,
		},
		{
			"unverified", search, func(r *http.Request) { r.Header.Set("Signature-Agent", `a="http://bot.example"`) },
			200, 200, "", `signature="unverified: agent"`,
		},
		{"over plain http", search, func(r *http.Request) {
			r.Header.Set("X-Forwarded-Proto", "http")
			r.Header.Set("Signature", "sig1=:AAAA:")
		}, 200, 200, "", `signature="unsigned: plain_http"`},
		{
			"false at MCP", mcpPath, func(r *http.Request) { r.Header.Set("Signature", "sig1=:AAAA:") }, 200,
			403, rpcError, `signature="invalid: signature"`,
		},
		{
			"false at a webhook",
			"/webhooks/stripe",
			func(r *http.Request) { r.Header.Set("Signature", "sig1=:AAAA:") },
			200,
			200,
			"",
			"",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, enforce := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					h := withBots(t, enforce)
					h.met("https://bot.example")
					h.log.Reset()
					w := h.send(signed(t, "https://bot.example", tt.path, list, tt.change))
					want := tt.observed
					if enforce {
						want = tt.enforced
					}
					if w.Code != want || enforce && !strings.Contains(w.Body.String(), tt.body) {
						t.Errorf("enforce %t: answer = %d %s, want %d with %s", enforce, w.Code, w.Body, want, tt.body)
					}
					if !strings.Contains(h.log.String(), tt.log) || tt.log == "" && strings.Contains(h.log.String(),
						"signature=") {
						t.Errorf("enforce %t: log = %s, want %s", enforce, h.log, tt.log)
					}
					wrong := strings.Contains(tt.log, "invalid") || strings.Contains(tt.log, "unverified")
					if got := w.Header().Get("Accept-Signature"); (got != "") != wrong {
						t.Errorf("enforce %t: Accept-Signature = %q", enforce, got)
					}
				})
			}
		})
	}
}

// A body that is longer than the gate reads, and one that breaks off, come to
// the handler as they are.
func TestBodiesThatCannotBeVerified(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := withBots(t, false)
		h.met("https://bot.example")
		long := strings.Repeat("x", 1<<20+10)
		if w := h.send(signed(t, "https://bot.example", search, long, nil)); w.Code != 200 || w.Body.String() != long {
			t.Errorf("a long body = %d with %d bytes, want all of them", w.Code, w.Body.Len())
		}
		w := h.send(signed(t, "https://bot.example", search, strings.Repeat("x", 1<<21+10),
			func(r *http.Request) { r.ContentLength = -1 }))
		if w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("a body over the limit of the host = %d, want 413", w.Code)
		}
		if strings.Count(h.log.String(), `signature="invalid: digest"`) != 2 {
			t.Errorf("log = %s, want two digests that are not verified", h.log)
		}
	})
}
