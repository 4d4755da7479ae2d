package connection

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/app"
)

// contents are what is sealed of a connection. The map has no type of its own
// because Credentials refuse to be encoded.
type contents struct {
	Credentials   map[string]string `json:"values"`
	PreviousUntil time.Time         `json:"previous_until,omitzero"` // how long previous_refresh_token is kept
	Issuer        string            `json:"issuer,omitempty"`        // of the client that was registered dynamically
}

// Names of credentials that refreshing knows.
const (
	accessToken     = "access_token"
	refreshToken    = "refresh_token"
	previousRefresh = "previous_refresh_token"
	// keepPrevious is how long a refresh token that was replaced is kept.
	keepPrevious = 24 * time.Hour
)

func connectionPlace(c *Connection) seal.Place {
	return seal.Place{Table: "connection", Column: "secret", Row: c.ID, Account: c.AccountID}
}

func farewellPlace(c *Connection) seal.Place {
	return seal.Place{Table: "farewell", Column: "secret", Row: c.ID, Account: c.AccountID}
}

func (s *Service) seal(c *Connection, in *contents) (string, error) {
	return s.sealAt(connectionPlace(c), in)
}

func (s *Service) sealAt(at seal.Place, in *contents) (string, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return "", fmt.Errorf("encoding credentials: %w", err)
	}
	return s.sealer.Seal(text, at)
}

// openAt returns seal.ErrOpen for a text that was moved or changed.
func (s *Service) openAt(at seal.Place, secret string) (*contents, error) {
	text, err := s.sealer.Open(secret, at)
	if err != nil {
		return nil, err
	}
	in := &contents{Credentials: map[string]string{}}
	if err := json.Unmarshal(text, in); err != nil {
		return nil, fmt.Errorf("decoding credentials: %w", err)
	}
	return in, nil
}

// values are what calls may name: credentials first, so that nothing learned
// from an app can take their place, then params, then the operator's client.
func (s *Service) values(c *Connection, credentials Credentials, client *Client) app.Values {
	shown := maps.Clone(credentials)
	delete(shown, refreshToken)
	delete(shown, previousRefresh)
	return app.Join(app.Map(shown), app.Map(c.Params), app.Map(client.values()))
}

func connectionNotFound() *problem.Problem {
	return problem.New(problem.NotFound, "connection_not_found",
		"There is no connection with this id.").Advise("connect_app")
}

// reconnectRequired says that only the person can repair the connection.
func reconnectRequired(a *app.App, c *Connection) error {
	detail := a.Name + " does not accept this connection any more. Ask the person to connect it again."
	if c.Reason == ReasonUndecryptable {
		detail = "The credentials of this connection to " + a.Name +
			" cannot be read. Connect it again; if this comes up more often, the operator has to look at the master " +
			"key."
	}
	return problem.New(problem.Conflict, "reconnect_required", detail).
		With("app", a.ID).With("connection_id", c.ID).With("reason", c.Reason).Advise("reconnect_app")
}

func disabled(a *app.App, c *Connection) error {
	return problem.New(problem.Conflict, "connection_disabled",
		"The owner of the account has switched this connection to "+a.Name+" off.").
		With("app", a.ID).With("connection_id", c.ID).Advise("ask_owner_for_permission")
}
