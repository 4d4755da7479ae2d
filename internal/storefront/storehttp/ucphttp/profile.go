package ucphttp

import "ace/internal/protocol/ucp"

// Profile is the document that says what the store offers in version v.
func (f *Handler) Profile(v ucp.Version) []byte {
	config := ucp.ProfileConfig{
		RESTEndpoint: f.Site.BaseURL + Base, MCPEndpoint: f.Site.BaseURL + MCPPath,
		Older: map[ucp.Version]string{},
	}
	for _, signer := range f.Signers {
		config.Keys = append(config.Keys, signer.JWK())
	}
	for _, version := range ucp.Versions() {
		if version != ucp.Newest {
			config.Older[version] = f.Site.BaseURL + ProfilePath(version)
		}
	}
	body, err := encode(ucp.NewProfile(v, config))
	if err != nil {
		panic(err) // texts alone
	}
	return body
}

// ProfilePath is the path of the profile of a version: older ones are
// leaves of the newest.
func ProfilePath(v ucp.Version) string {
	if v == ucp.Newest {
		return ucp.ProfilePath
	}
	return ucp.ProfilePath + "/" + string(v)
}
