package operation

import (
	"context"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/connection"
)

// ConnectRequest says how an app is connected. Everything may be left out.
type ConnectRequest struct {
	ConnectionID string `json:"connection_id,omitempty" maxLength:"64" doc:"Reconnect this connection instead of adding one."`
	ReconnectRequest
	EndUser string `json:"end_user,omitempty" maxLength:"200" doc:"Your own user who owns the connection. Empty: the account itself."`
}

// ReconnectRequest says how a connection is reconnected. Everything may be left
// out.
type ReconnectRequest struct {
	Label       string            `json:"label,omitempty" maxLength:"60" doc:"Names the connection where an app has several."`
	Auth        string            `json:"auth,omitempty" maxLength:"64" doc:"One of the app's ways to sign in, by kind (oauth2, key) or id. Empty: the user chooses."`
	Scopes      []string          `json:"scopes,omitempty" maxItems:"100" doc:"Scopes to ask for. Empty: the app's usual ones."`
	Profile     string            `json:"scope_profile,omitempty" maxLength:"64" doc:"A named set of the app's scopes, such as read_only."`
	Params      map[string]string `json:"params,omitempty" doc:"Values that are no secrets, such as a subdomain. Keys and passwords are typed on the page behind the link, never here."`
	RedirectURL string            `json:"redirect_url,omitempty" maxLength:"2048" doc:"Where the browser goes afterwards, with session_id, status, connection_id or error, and state."`
	State       string            `json:"state,omitempty" maxLength:"500" doc:"Sent back with redirect_url."`
	Verify      string            `json:"verify,omitempty" enum:"account,link,callback" default:"account" doc:"Who may use the link. account: a user signed in to this account; link: the first browser that opens it; callback: the user that your page at verify_url finds."`
	VerifyURL   string            `json:"verify_url,omitempty" maxLength:"2048" doc:"For callback: your page, which is opened with flow_id and session_id. It must be on the list of the account (PUT /redirect-urls)."`
	NotifyURL   string            `json:"notify_webhook_url,omitempty" maxLength:"2048" doc:"Receives how the session ended (connect_session.connected, failed, expired, canceled), signed with notify_secret of the response by the rules of Standard Webhooks: at most three attempts, within six minutes."`
	ExpiresIn   int               `json:"expires_in,omitempty" minimum:"60" maximum:"86400" default:"900" doc:"Seconds that the link works."`
}

// ConnectLink is a link that connects an app.
type ConnectLink struct {
	URL        string    `json:"url" doc:"Show it to the user, and to nobody else. It makes one connection."`
	SessionID  string    `json:"session_id" example:"cs_01jabc"`
	App        string    `json:"app" example:"github"`
	Status     string    `json:"status" enum:"pending,opened,connected,failed,expired,canceled"`
	ExpiresAt  time.Time `json:"expires_at"`
	Reconnects *string   `json:"reconnects" nullable:"true" doc:"Id of the connection that is reconnected."`
	Existing   []string  `json:"existing_connections" doc:"Connections of the app that exist already."`
	StatusURL  string    `json:"status_url"`
	Secret     string    `json:"notify_secret,omitempty" doc:"Where notify_webhook_url was given: the secret that its messages are signed with. It belongs to the account and is the same for each link."`
}

// ConnectSession is the state of a link.
type ConnectSession struct {
	ID           string        `json:"id" example:"cs_01jabc"`
	App          string        `json:"app" example:"github"`
	Status       string        `json:"status" enum:"pending,opened,connected,failed,expired,canceled"`
	ConnectionID *string       `json:"connection_id" nullable:"true"`
	Error        *SessionError `json:"error" null:"true" doc:"Why it failed; while it is open, what went wrong last: the user can try again."`
	ExpiresAt    time.Time     `json:"expires_at"`
}

// SessionError is why a session failed.
type SessionError struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// Confirmation says who opened a link.
type Confirmation struct {
	FlowID  string `json:"flow_id" example:"flow_01jabc" minLength:"1" maxLength:"100"`
	EndUser string `json:"end_user" example:"u_42" minLength:"1" maxLength:"200" doc:"The user that your page found. It has to be the one the link was created for."`
}

// Confirmed is where the browser goes next.
type Confirmed struct {
	URL string `json:"url" doc:"Send the browser here."`
}

// ConnectApp creates a link that connects an app, once for each idempotency key.
// Its problems are those of connection.Service.Open, key_restricted (Forbidden)
// and those of Idempotency.Create.
func (s *Service) ConnectApp(ctx context.Context, c *Caller, idempotencyKey, appID string,
	in ConnectRequest,
) (link *ConnectLink, replayed bool, err error) {
	if err := Authorize(c, ConnectApp); err != nil {
		return nil, false, err
	}
	return s.openSession(ctx, c, "connect "+appID, idempotencyKey, appID, in)
}

// Reconnect creates a link that reconnects a connection, which keeps its id, and
// its credentials until it has new ones. Its problems are those of ConnectApp
// and connection_not_found (NotFound).
func (s *Service) Reconnect(ctx context.Context, c *Caller, idempotencyKey, id string,
	in ReconnectRequest,
) (link *ConnectLink, replayed bool, err error) {
	if err := Authorize(c, Reconnect); err != nil {
		return nil, false, err
	}
	found, err := s.visibleConnection(ctx, c, id)
	if err != nil {
		return nil, false, err
	}
	return s.openSession(ctx, c, "reconnect "+id, idempotencyKey, found.App,
		ConnectRequest{ReconnectRequest: in, ConnectionID: id, EndUser: found.EndUser})
}

func (s *Service) openSession(ctx context.Context, c *Caller, scope, idempotencyKey, appID string,
	in ConnectRequest,
) (*ConnectLink, bool, error) {
	if own := c.Restrictions().EndUser; own != "" && in.EndUser == "" {
		in.EndUser = own
	}
	if !c.reaches(appID, in.EndUser) {
		return nil, false, problem.New(problem.Forbidden, "key_restricted",
			"This key may not connect this app, or not for this end user.").With("app", appID).
			Advise("ask_owner_for_permission")
	}
	created, err := s.Idempotency.Create(ctx, c.Account+" "+scope, idempotencyKey, in, connection.NewSessionID,
		func(id string) error {
			_, err := s.Connections.Open(ctx, c.Actor, c.Account, in.request(id, appID))
			return err
		})
	if err != nil {
		return nil, false, err
	}
	session, err := s.Connections.Session(ctx, c.Account, created.ID)
	if err != nil {
		return nil, false, err
	}
	link, err := s.connectLink(ctx, session)
	return link, created.Replayed, err
}

func (r *ConnectRequest) request(id, appID string) connection.Request {
	return connection.Request{
		ID: id, App: appID, Profile: r.Profile, TTL: time.Duration(r.ExpiresIn) * time.Second,
		Options: connection.ConnectOptions{
			Scheme: r.Auth, Label: r.Label, Scopes: r.Scopes, Params: r.Params, EndUser: r.EndUser,
			Reconnects: r.ConnectionID,
			Verify:     connection.Verify(r.Verify), VerifyURL: r.VerifyURL, RedirectURL: r.RedirectURL, State: r.State,
			NotifyURL: r.NotifyURL,
		},
	}
}

func (s *Service) connectLink(ctx context.Context, session *connection.Session) (*ConnectLink, error) {
	there, err := s.Connections.List(ctx, session.AccountID,
		connection.Query{App: session.App, EndUser: session.Options.EndUser})
	if err != nil {
		return nil, err
	}
	existing := []string{}
	for _, one := range there {
		existing = append(existing, one.ID)
	}
	secret := ""
	if session.Options.NotifyURL != "" && s.Connections.Notices != nil {
		secret = s.Connections.Notices.Secret(session.AccountID)
	}
	return &ConnectLink{
		URL: s.Connections.Link(session.ID), SessionID: session.ID, App: session.App,
		Status: string(session.StatusAt(time.Now())), ExpiresAt: inSeconds(session.ExpiresAt),
		Reconnects: optionalText(session.Options.Reconnects), Existing: existing,
		StatusURL: s.baseURL + "/api/v1/connect-sessions/" + session.ID, Secret: secret,
	}, nil
}

// ConnectSession returns the state of a link, at once or, with wait, as soon as
// the session has ended. Its problem is connect_session_not_found (NotFound).
func (s *Service) ConnectSession(ctx context.Context, c *Caller, id string,
	wait time.Duration,
) (*ConnectSession, error) {
	if err := Authorize(c, GetConnectSession); err != nil {
		return nil, err
	}
	if err := s.visibleSession(ctx, c, id); err != nil {
		return nil, err
	}
	session, err := s.Connections.Wait(ctx, c.Account, id, wait)
	if err != nil {
		return nil, err
	}
	return showSession(session), nil
}

// CancelConnectSession cancels a link. Its problems are those of
// connection.Service.Cancel.
func (s *Service) CancelConnectSession(ctx context.Context, c *Caller, id string) error {
	if err := Authorize(c, CancelConnectSession); err != nil {
		return err
	}
	if err := s.visibleSession(ctx, c, id); err != nil {
		return err
	}
	return s.Connections.Cancel(ctx, c.Actor, c.Account, id)
}

// ConfirmConnectSession confirms who opened a link whose request had verify
// callback. Its problems are those of connection.Service.Confirm.
func (s *Service) ConfirmConnectSession(ctx context.Context, c *Caller, id string,
	in Confirmation,
) (*Confirmed, error) {
	if err := Authorize(c, ConfirmConnectSession); err != nil {
		return nil, err
	}
	if err := s.visibleSession(ctx, c, id); err != nil {
		return nil, err
	}
	next, err := s.Connections.Confirm(ctx, c.Actor, c.Account, id, in.FlowID, in.EndUser)
	if err != nil {
		return nil, err
	}
	return &Confirmed{next}, nil
}

// visibleSession returns connect_session_not_found (NotFound) for a session that
// the caller may not know of.
func (s *Service) visibleSession(ctx context.Context, c *Caller, id string) error {
	session, err := s.Connections.Session(ctx, c.Account, id)
	if err == nil && !c.reaches(session.App, session.Options.EndUser) {
		err = problem.New(problem.NotFound, "connect_session_not_found",
			"There is no connect session with this id. Sessions are stored for a week after their end.")
	}
	return err
}

func showSession(s *connection.Session) *ConnectSession {
	out := &ConnectSession{
		ID: s.ID, App: s.App, Status: string(s.StatusAt(time.Now())),
		ConnectionID: optionalText(s.ConnectionID), ExpiresAt: inSeconds(s.ExpiresAt),
	}
	if s.Status != connection.SessionConnected && s.Code != "" {
		out.Error = &SessionError{s.Code, s.Detail}
	}
	return out
}
