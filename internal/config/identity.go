package config

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// checkIdentity checks the settings of the OpenID provider.
func (s *Settings) checkIdentity() error {
	set := 0
	for _, v := range []string{s.OIDCIssuer, s.OIDCClientID, s.OIDCSecretFile} {
		if v != "" {
			set++
		}
	}
	if set == 0 {
		return nil
	}
	if set < 3 {
		return errors.New(
			"ACE_OIDC_ISSUER, ACE_OIDC_CLIENT_ID and ACE_OIDC_CLIENT_SECRET_FILE go together: set all three or none")
	}
	u, err := url.Parse(s.OIDCIssuer)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" &&
		!(u.Scheme == "http" && Local(s.OIDCIssuer)) {
		return errors.New(
			"ACE_OIDC_ISSUER cannot be used: write the https:// URL of the provider, exactly as its discovery " +
				"document names it")
	}
	_, err = s.OIDCSecret()
	return err
}

// OIDCSecret reads the client secret for the OpenID provider.
func (s *Settings) OIDCSecret() (string, error) {
	text, err := os.ReadFile(s.OIDCSecretFile)
	if err != nil {
		return "",
			fmt.Errorf(
				"ACE_OIDC_CLIENT_SECRET_FILE names %q, which cannot be read: put the client secret into this file",
				s.OIDCSecretFile)
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "",
			fmt.Errorf("ACE_OIDC_CLIENT_SECRET_FILE names %q, which is empty: put the client secret into this file",
				s.OIDCSecretFile)
	}
	return secret, nil
}
