package webbotauth

import (
	"net/http"
	"testing"
	"time"
)

// FuzzKeySet parses the response of a hostile server.
func FuzzKeySet(f *testing.F) {
	const set = `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"Kb29PoKF6HzDo9rDUodpixEBeKN20sGZ3IrObGLriB8",` +
		`"x":"UWWj9OT73tmZuQKu9ABXMpFfUwxK0H_LilgiB7M2E7U"}]}`
	const at = "https://bot.example/card"
	f.Add(set, "max-age=60")
	f.Add(`{"client_id":"`+at+`","jwks":`+set+`}`, "no-store")
	f.Add(`{"client_id":"`+at+`","jwks_uri":"`+at+`"}`, `max-age="5"`)
	f.Add(`{"keys":[1,null,{"kty":"RSA","n":"AQ","e":"AQAB"}]}`, "max-age=-1")
	f.Fuzz(func(t *testing.T, body, cache string) {
		for _, kind := range []Kind{Directory, JWKSURI} {
			keys, err := readKeySet([]byte(body), kind)
			if err == nil && keys == nil || len(keys) > 32 {
				t.Errorf("readKeySet(%q) = %v, %v", body, keys, err)
			}
			for thumbprint, k := range keys {
				if _, err := k.Public(); err != nil || kind == Directory && k.KID != thumbprint {
					t.Errorf("readKeySet(%q) holds %+v", body, k)
				}
			}
		}
		if keys, next, err := readCard([]byte(body), at); err == nil && (keys == nil) == (next.URL == "") {
			t.Errorf("readCard(%q) = %v, %v: want keys or an address", body, keys, next)
		}
		if d := freshness(http.Header{"Cache-Control": {cache}}); d < time.Minute || d > 24*time.Hour {
			t.Errorf("freshness(%q) = %s", cache, d)
		}
	})
}
