package storehttp

import (
	"net/http"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/ucp"
)

// ucpProfileMaxAge is how long platforms may keep the profile, in seconds. The
// protocol asks for 60 at least.
const ucpProfileMaxAge = 300

// ucpProfile serves what the store offers in version v.
func (s *server) ucpProfile(v ucp.Version) http.HandlerFunc {
	config := ucp.ProfileConfig{
		RESTEndpoint: s.Site.BaseURL + ucpBase, MCPEndpoint: s.Site.BaseURL + ucpMCPPath, Leaves: map[ucp.Version]string{},
		Keys: s.publicKeys(),
	}
	for _, version := range ucp.Versions() {
		if version != ucp.Newest {
			config.Leaves[version] = s.Site.BaseURL + ucpProfilePath(version)
		}
	}
	body, err := encode(ucp.NewProfile(v, config))
	if err != nil {
		panic(err) // texts alone
	}
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		writeCached(w, r, typeJSON, ucpProfileMaxAge, body, body)
	}
}

// ucpProfilePath is where the profile of a version stands: older ones are
// leaves of the newest.
func ucpProfilePath(v ucp.Version) string {
	if v == ucp.Newest {
		return ucp.ProfilePath
	}
	return ucp.ProfilePath + "/" + string(v)
}

// publicKeys are the keys that the store signs with.
func (s *server) publicKeys() []httpsig.JWK {
	var keys []httpsig.JWK
	for _, signer := range s.Signers {
		keys = append(keys, signer.JWK())
	}
	return keys
}
