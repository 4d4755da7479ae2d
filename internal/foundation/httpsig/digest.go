package httpsig

import (
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/dunglas/httpsfv"
)

// HeaderContentDigest carries digests of the body, RFC 9530
// (https://www.rfc-editor.org/rfc/rfc9530).
const HeaderContentDigest = "Content-Digest"

// ContentDigest is the value of Content-Digest for a body: its SHA-256.
func ContentDigest(body []byte) string {
	sum := sha256.Sum256(body)
	return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

// VerifyContentDigest checks the field against the bytes of the body as they
// came. Every digest of a known algorithm, sha-256 and sha-512, has to match,
// and there has to be one. The errors wrap ErrDigest, or ErrAlgorithm where no
// algorithm is known.
func VerifyContentDigest(h http.Header, body []byte) error {
	lines := h.Values(HeaderContentDigest)
	if len(lines) == 0 {
		return fmt.Errorf("%w: the field is missing", ErrDigest)
	}
	digests, err := dictionary(lines, 0)
	if err != nil {
		return fmt.Errorf("%w: the field cannot be read", ErrDigest)
	}
	known := 0
	for _, name := range digests.Names() {
		var want []byte
		switch name {
		case "sha-256":
			sum := sha256.Sum256(body)
			want = sum[:]
		case "sha-512":
			sum := sha512.Sum512(body)
			want = sum[:]
		default:
			continue
		}
		known++
		member, _ := digests.Get(name)
		item, _ := member.(httpsfv.Item)
		got, _ := item.Value.([]byte)
		if subtle.ConstantTimeCompare(got, want) != 1 {
			return fmt.Errorf("%w: %s", ErrDigest, name)
		}
	}
	if known == 0 {
		return fmt.Errorf("%w: Content-Digest has neither sha-256 nor sha-512", ErrAlgorithm)
	}
	return nil
}
