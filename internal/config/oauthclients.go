package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// OAuthClient is an OAuth client that the operator has registered with the vendor of an app.
type OAuthClient struct {
	ID     string            `json:"client_id"`
	Secret string            `json:"client_secret"`
	Extra  map[string]string `json:"extra"` // additional values that the app requires
}

// OAuthClients reads the operator's OAuth clients by app; it returns none if no file is set. Its
// errors contain nothing of the file's content.
func (s *Settings) OAuthClients() (map[string]OAuthClient, error) {
	if s.OAuthClientsFile == "" {
		return nil, nil
	}
	info, err := os.Stat(s.OAuthClientsFile)
	if err != nil {
		return nil, fmt.Errorf("ACE_OAUTH_CLIENTS_FILE names %q, which cannot be read", s.OAuthClientsFile)
	}
	if info.Mode().Perm()&0o007 != 0 {
		return nil,
			fmt.Errorf(
				"ACE_OAUTH_CLIENTS_FILE names %q, which other users of this machine can read: run chmod 600 on it",
				s.OAuthClientsFile,
			)
	}
	text, err := os.ReadFile(s.OAuthClientsFile)
	if err != nil {
		return nil, fmt.Errorf("ACE_OAUTH_CLIENTS_FILE names %q, which cannot be read", s.OAuthClientsFile)
	}
	var clients map[string]OAuthClient
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&clients); err != nil {
		return nil,
			fmt.Errorf(
				`ACE_OAUTH_CLIENTS_FILE names %q, which is no JSON of the form {"APP": {"client_id": "…", `+
					`"client_secret": "…"}} (near byte %d)`,
				s.OAuthClientsFile,
				decoder.InputOffset(),
			)
	}
	for app, client := range clients {
		if client.ID == "" {
			return nil, fmt.Errorf("ACE_OAUTH_CLIENTS_FILE has no client_id for %s", app)
		}
	}
	return clients, nil
}

// checkOAuthClients checks the file at the start.
func (s *Settings) checkOAuthClients() error {
	_, err := s.OAuthClients()
	return err
}
