package httpsig_test

import (
	"crypto/ed25519"
	"fmt"
	"net/http"
	"time"

	"ace/internal/foundation/httpsig"
)

func Example() {
	seed := make([]byte, ed25519.SeedSize) // a real key comes from crypto/rand
	signer, err := httpsig.NewSigner(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		fmt.Println(err)
		return
	}
	body := []byte(`{"status":"completed"}`)
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set(httpsig.HeaderContentDigest, httpsig.ContentDigest(body))
	answer := httpsig.ResponseMessage(http.StatusOK, header, nil)
	components := []httpsig.Component{
		httpsig.Field("@status"), httpsig.Field("content-digest"),
		httpsig.Field("content-type"),
	}
	if err := signer.Sign(answer, "sig1", components,
		httpsig.Params{Created: time.Unix(1_800_000_000, 0)}); err != nil {
		fmt.Println(err)
		return
	}

	signatures, err := httpsig.Parse(header)
	if err != nil {
		fmt.Println(err)
		return
	}
	key, _ := httpsig.FindKey([]httpsig.JWK{signer.JWK()}, signatures[0].Params.KeyID)
	fmt.Println(signatures[0].Covers(components...), signatures[0].VerifyJWK(answer, key),
		httpsig.VerifyContentDigest(header, body))
	// Output: true <nil> <nil>
}
