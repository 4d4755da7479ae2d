package ucp_test

import (
	"testing"
	"time"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/jcs"
	"ace/internal/foundation/jsonread"
	"ace/internal/protocol/ucp"
)

func BenchmarkReadCreate(b *testing.B) {
	body := []byte(
		`{"line_items":[{"item":{"id":"a"},"quantity":1}],"buyer":{"email":"a@b.example"},` +
			`"context":{"currency":"USD"}}`,
	)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readCreate(body, strict); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeCheckout(b *testing.B) {
	c := checkout(ucp.Newest, ucp.RequiresEscalation)
	b.ReportAllocs()
	for b.Loop() {
		encode(b, c)
	}
}

func BenchmarkVerifyRequest(b *testing.B) {
	const body = `{"offer_id":"a"}`
	signer := newSigner(b)
	r := signable(b, body)
	m := httpsig.RequestMessage(r, "https")
	if err := signer.Sign(m, "sig1", ucp.RequestComponents(m, true), httpsig.Params{}); err != nil {
		b.Fatal(err)
	}
	keys := []httpsig.JWK{signer.JWK()}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ucp.VerifyRequest(m, []byte(body), &ucp.PlatformProfile{Keys: keys}, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRequestBody is what a keyed request costs before anything is done:
// parsed once, compared by its canonical form, read.
func BenchmarkRequestBody(b *testing.B) {
	const body = `{"line_items":[{"item":{"id":"offer_monthly"},"quantity":1},{"item":{"id":"handbook"},` +
		`"quantity":2}],"buyer":{"first_name":"Ada","last_name":"Lovelace","email":"ada@example.com"},` +
		`"context":{"address_country":"GB","language":"en","intent":"a gift for the \u201cteam\u201d"},` +
		`"attribution":{"source":"agent","campaign":"spring"}}`
	b.ReportAllocs()
	for b.Loop() {
		v, err := jsonread.Parse([]byte(body))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := jcs.Encode(v); err != nil {
			b.Fatal(err)
		}
		if _, err := ucp.ReadCreate(v, ucp.Reading{Version: ucp.Newest}); err != nil {
			b.Fatal(err)
		}
	}
}
