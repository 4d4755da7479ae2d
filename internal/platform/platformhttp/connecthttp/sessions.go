package connecthttp

import (
	"context"
	"time"

	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/platform/connection"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/once"
)

// ConnectRequest says how an app is to be connected. All of it may be left out.
type ConnectRequest struct {
	ConnectionID string `json:"connection_id,omitempty" maxLength:"64" doc:"Mend this connection instead of adding one."`
	ReconnectRequest
	EndUser string `json:"end_user,omitempty" maxLength:"200" doc:"Your own user whom the connection belongs to. Empty: the account itself."`
}

// ReconnectRequest says how a connection is to be mended. All of it may be left
// out.
type ReconnectRequest struct {
	Label       string            `json:"label,omitempty" maxLength:"60" doc:"Tells several connections of one app apart."`
	Auth        string            `json:"auth,omitempty" maxLength:"64" doc:"One of the app's ways to sign in, by kind (oauth2, key) or id. Empty: the person chooses."`
	Scopes      []string          `json:"scopes,omitempty" maxItems:"100" doc:"Scopes to ask for. Empty: the app's usual ones."`
	Profile     string            `json:"scope_profile,omitempty" maxLength:"64" doc:"A named set of the app's scopes, such as read_only."`
	Params      map[string]string `json:"params,omitempty" doc:"Values that are no secrets, such as a subdomain. Keys and passwords are typed on the page behind the link, never here."`
	RedirectURL string            `json:"redirect_url,omitempty" maxLength:"2048" doc:"Where the browser goes afterwards, with session_id, status, connection_id or error, and state."`
	State       string            `json:"state,omitempty" maxLength:"500" doc:"Handed back with redirect_url."`
	Verify      string            `json:"verify,omitempty" enum:"account,link,callback" doc:"Who may use the link: somebody signed in to this account (the default), whoever opens it first, or whom your page at verify_url finds."`
	VerifyURL   string            `json:"verify_url,omitempty" maxLength:"2048" doc:"For callback: your page, which is opened with flow_id and session_id."`
	NotifyURL   string            `json:"notify_webhook_url,omitempty" maxLength:"2048" doc:"Is posted how the session ended (connect_session.connected, failed, expired, cancelled), signed by notify_secret of the answer as Standard Webhooks say: at most three times, within six minutes."`
	ExpiresIn   int               `json:"expires_in,omitempty" minimum:"60" maximum:"86400" doc:"Seconds that the link works. Default 900."`
}

// ConnectLink is a link that connects an app.
type ConnectLink struct {
	URL       string    `json:"url" doc:"Show it to the person. It is good for one connection and belongs in nobody else's hands."`
	SessionID string    `json:"session_id"`
	App       string    `json:"app"`
	Status    string    `json:"status" enum:"pending,opened,connected,failed,expired,cancelled"`
	ExpiresAt time.Time `json:"expires_at"`
	// Reconnects is the connection that is mended.
	Reconnects *string  `json:"reconnects" nullable:"true"`
	Existing   []string `json:"existing_connections" doc:"Connections of the app that are there already."`
	StatusURL  string   `json:"status_url"`
	Secret     string   `json:"notify_secret,omitempty" doc:"Where notify_webhook_url was given: what its messages are signed with. It is the account's, and the same for each link."`
}

// ConnectSession is what became of a link.
type ConnectSession struct {
	SessionID    string                         `json:"session_id"`
	App          string                         `json:"app"`
	Status       string                         `json:"status" enum:"pending,opened,connected,failed,expired,cancelled"`
	ConnectionID *string                        `json:"connection_id" nullable:"true"`
	Error        openapi.Nullable[SessionError] `json:"error" doc:"Why it failed; while it is open, what went wrong last: the person can try again."`
	ExpiresAt    time.Time                      `json:"expires_at"`
}

// SessionError is why a session failed.
type SessionError struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

type connectInput struct {
	App  string `path:"app" maxLength:"64"`
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"A repetition with the same key answers the same link."`
	Body *ConnectRequest
}

type connectOutput struct {
	Location string `header:"Location"`
	Replayed string `header:"Idempotency-Replayed"`
	Body     ConnectLink
}

func (f *Face) connect(ctx context.Context, in *connectInput) (*connectOutput, error) {
	return f.open(ctx, "connect "+in.App, in.Key, *orEmpty(in.Body), in.App)
}

type reconnectInput struct {
	ID   string `path:"id" maxLength:"64"`
	Key  string `header:"Idempotency-Key" maxLength:"255" doc:"A repetition with the same key answers the same link."`
	Body *ReconnectRequest
}

func (f *Face) reconnect(ctx context.Context, in *reconnectInput) (*connectOutput, error) {
	c, err := f.scoped(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return f.open(ctx, "reconnect "+in.ID, in.Key, ConnectRequest{ReconnectRequest: *orEmpty(in.Body), ConnectionID: in.ID, EndUser: c.EndUser}, c.App)
}

// orEmpty is a body that may be left out.
func orEmpty[T any](body *T) *T {
	if body == nil {
		body = new(T)
	}
	return body
}

// open makes a session, once for each idempotency key.
func (f *Face) open(ctx context.Context, operation, key string, in ConnectRequest, appID string) (*connectOutput, error) {
	caller := gate.From(ctx)
	if own := caller.Key.Restrict.EndUser; own != "" && in.EndUser == "" {
		in.EndUser = own
	}
	if !allowed(caller, appID, in.EndUser) {
		return nil, problem.New(problem.Forbidden, "key_restricted", "This key may not connect this app, or not for this end user.").With("app", appID).Advise("ask_owner_for_permission")
	}
	made, err := f.Once.Make(ctx, caller.Account+" "+operation, key, in, connection.NewSessionID, func(id string) error {
		_, err := f.Connections.Open(ctx, caller.Actor, caller.Account, in.request(id, appID))
		return err
	})
	if err != nil {
		return nil, err
	}
	session, err := f.Connections.Session(ctx, caller.Account, made.ID)
	if err != nil {
		return nil, err
	}
	return f.link(ctx, session, made)
}

func (r *ConnectRequest) request(id, appID string) connection.Request {
	return connection.Request{
		ID: id, App: appID, Profile: r.Profile, TTL: time.Duration(r.ExpiresIn) * time.Second,
		Wish: connection.Wish{
			Scheme: r.Auth, Label: r.Label, Scopes: r.Scopes, Params: r.Params, EndUser: r.EndUser, Reconnects: r.ConnectionID,
			Verify: connection.Verify(r.Verify), VerifyURL: r.VerifyURL, RedirectURL: r.RedirectURL, State: r.State, NotifyURL: r.NotifyURL,
		},
	}
}

func (f *Face) link(ctx context.Context, s *connection.Session, made once.Made) (*connectOutput, error) {
	there, err := f.Connections.List(ctx, s.AccountID, connection.Query{App: s.App, EndUser: s.Wish.EndUser})
	if err != nil {
		return nil, err
	}
	existing := []string{}
	for _, c := range there {
		existing = append(existing, c.ID)
	}
	status := f.BaseURL + "/api/v1/connect-sessions/" + s.ID
	secret := ""
	if s.Wish.NotifyURL != "" && f.Connections.Notices != nil {
		secret = f.Connections.Notices.Secret(s.AccountID)
	}
	return &connectOutput{Location: status, Replayed: made.Replayed, Body: ConnectLink{
		URL: f.Connections.Link(s.ID), SessionID: s.ID, App: s.App, Status: string(s.StatusAt(time.Now())), ExpiresAt: s.ExpiresAt,
		Reconnects: text(s.Wish.Reconnects), Existing: existing, StatusURL: status, Secret: secret,
	}}, nil
}

type sessionInput struct {
	ID   string `path:"id" maxLength:"64"`
	Wait int    `query:"wait" minimum:"0" maximum:"30" doc:"Seconds to wait for the end of the session."`
}

func (f *Face) session(ctx context.Context, in *sessionInput) (*body[ConnectSession], error) {
	if err := f.ownSession(ctx, in.ID); err != nil {
		return nil, err
	}
	s, err := f.Connections.Wait(ctx, gate.From(ctx).Account, in.ID, time.Duration(in.Wait)*time.Second)
	if err != nil {
		return nil, err
	}
	return &body[ConnectSession]{wireSession(s)}, nil
}

// ownSession refuses the id of a session that the caller may not know of.
func (f *Face) ownSession(ctx context.Context, id string) error {
	caller := gate.From(ctx)
	s, err := f.Connections.Session(ctx, caller.Account, id)
	if err == nil && !allowed(caller, s.App, s.Wish.EndUser) {
		err = problem.New(problem.NotFound, "connect_session_not_found", "There is no connect session with this id. Sessions are kept for a week after their end.")
	}
	return err
}

func wireSession(s *connection.Session) ConnectSession {
	out := ConnectSession{SessionID: s.ID, App: s.App, Status: string(s.StatusAt(time.Now())), ConnectionID: text(s.ConnectionID), ExpiresAt: s.ExpiresAt}
	if s.Status != connection.SessionConnected && s.Code != "" {
		out.Error = openapi.NullableOf(&SessionError{s.Code, s.Detail})
	}
	return out
}

type idInput struct {
	ID string `path:"id" maxLength:"64"`
}

func (f *Face) cancel(ctx context.Context, in *idInput) (*struct{}, error) {
	if err := f.ownSession(ctx, in.ID); err != nil {
		return nil, err
	}
	caller := gate.From(ctx)
	return nil, f.Connections.Cancel(ctx, caller.Actor, caller.Account, in.ID)
}

// Confirmation says who opened a link.
type Confirmation struct {
	FlowID  string `json:"flow_id" minLength:"1" maxLength:"100"`
	EndUser string `json:"end_user" minLength:"1" maxLength:"200" doc:"Whom your page found. It has to be the one the link was made for."`
}

// Confirmed is where the browser goes on.
type Confirmed struct {
	URL string `json:"url" doc:"Send the browser here."`
}

type confirmInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body Confirmation
}

func (f *Face) confirm(ctx context.Context, in *confirmInput) (*body[Confirmed], error) {
	if err := f.ownSession(ctx, in.ID); err != nil {
		return nil, err
	}
	caller := gate.From(ctx)
	address, err := f.Connections.Confirm(ctx, caller.Actor, caller.Account, in.ID, in.Body.FlowID, in.Body.EndUser)
	if err != nil {
		return nil, err
	}
	return &body[Confirmed]{Confirmed{address}}, nil
}
