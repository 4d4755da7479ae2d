package agenttool_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/ratelimit"
	"ace/internal/protocol/webbotauth"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/admission"
	"ace/internal/storefront/storehttp/mcphttp"
	"ace/internal/storefront/storehttp/storetest"
)

// bot is an agent that signs its requests.
type bot struct {
	url    string // that identifies it
	signer *httpsig.Signer
}

func newBot(t *testing.T) *bot {
	t.Helper()
	return &bot{"https://bot.example" + webbotauth.DirectoryPath, storetest.NewEd25519(t)}
}

// Do responds with its key directory.
func (b *bot) Do(*http.Request) (*http.Response, error) {
	body, err := json.Marshal(map[string]any{"keys": []httpsig.JWK{b.signer.JWK()}})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {webbotauth.MediaType}},
		Body: io.NopCloser(strings.NewReader(string(body))),
	}, nil
}

// join lets a store know signed agents.
func (b *bot) join(t *testing.T, d *storehttp.Deps) {
	t.Helper()
	keys := webbotauth.NewKeys(b, slog.New(slog.DiscardHandler), nil)
	t.Cleanup(keys.Close)
	off := ratelimit.Unlimited{}
	base, err := url.Parse(d.Site.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	d.Gate = admission.New(admission.Limits{API: off, Document: off, Lifecycle: off, Address: off}, &admission.Options{
		Scheme: "http", MCP: []string{mcphttp.Path}, Bots: webbotauth.NewVerifier(keys, []string{base.Host}, nil),
	})
}

// sign returns the header fields, name, value, …, of a signed POST.
func (b *bot) sign(t *testing.T, address string) []string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Signature-Agent", `a="https://bot.example"`)
	components := []httpsig.Component{httpsig.Field("@authority"), {Name: "signature-agent", Key: "a"}}
	err = b.signer.Sign(httpsig.RequestMessage(r, "http"), "sig1", components,
		httpsig.Params{Created: time.Now(), Expires: time.Now().Add(time.Minute), Tag: webbotauth.Tag})
	if err != nil {
		t.Fatal(err)
	}
	var fields []string
	for _, name := range []string{"Signature-Agent", "Signature-Input", "Signature"} {
		fields = append(fields, name, r.Header.Get(name))
	}
	return fields
}
