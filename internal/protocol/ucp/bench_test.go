package ucp_test

import (
	"testing"
	"time"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/ucp"
)

func BenchmarkReadCreate(b *testing.B) {
	body := []byte(`{"line_items":[{"item":{"id":"a"},"quantity":1}],"buyer":{"email":"a@b.example"},"context":{"currency":"USD"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ucp.ReadCreate(body, strict); err != nil {
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
		if _, err := ucp.VerifyRequest(m, []byte(body), keys, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}
