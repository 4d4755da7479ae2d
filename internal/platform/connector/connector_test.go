package connector

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/openapiimport"
)

// fakeStore keeps one connector. Like a database, it writes nothing for a
// caller who has gone.
type fakeStore struct{ stored *Connector }

func (s *fakeStore) InsertConnector(ctx context.Context, c *Connector, _ int, _ audit.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	copied := *c
	s.stored = &copied
	return nil
}

func (s *fakeStore) Connector(_ context.Context, accountID, id string) (*Connector, error) {
	if s.stored == nil || s.stored.ID != id || s.stored.AccountID != accountID {
		return nil, problem.New(problem.NotFound, "custom_connector_not_found", "None.")
	}
	copied := *s.stored
	return &copied, nil
}

func (s *fakeStore) Connectors(context.Context, string) ([]*Connector, error) {
	if s.stored == nil {
		return nil, nil
	}
	return []*Connector{s.stored}, nil
}

func (s *fakeStore) ConnectorVersion(context.Context, string) (string, error) {
	if s.stored == nil {
		return "", nil
	}
	return time.Duration(s.stored.Revision).String(), nil
}

func (s *fakeStore) SaveConnector(ctx context.Context, c *Connector, _ audit.Entry) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if s.stored == nil || s.stored.Revision != c.Revision {
		return false, nil
	}
	copied := *c
	copied.Revision++
	s.stored = &copied
	return true, nil
}

func (s *fakeStore) DeleteConnector(ctx context.Context, _, _ string, _ audit.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.stored = nil
	return nil
}

// signIns makes no connection but that which a person made by a link.
type signIns struct {
	made     []*connection.Connection
	onSubmit func() // runs while a key is being kept
}

func (s *signIns) Open(_ context.Context, _ audit.Actor, accountID string,
	in connection.Request,
) (*connection.Session, error) {
	return &connection.Session{ID: "cs_1", AccountID: accountID, App: in.App}, nil
}
func (s *signIns) Link(id string) string { return "https://platform.example/connect/" + id }
func (s *signIns) Submit(context.Context, string, connection.Visitor, connection.Form) (*connection.Outcome, error) {
	if s.onSubmit != nil {
		s.onSubmit()
	}
	return nil, problem.New(problem.Unprocessable, "invalid_fields", "Incomplete.")
}

func (s *signIns) Use(_ context.Context, accountID, id string) (*connection.Live, error) {
	return &connection.Live{Connection: &connection.Connection{ID: id, AccountID: accountID}, Values: app.Map{}}, nil
}

func (s *signIns) List(context.Context, string, connection.Query) ([]*connection.Connection, error) {
	return s.made, nil
}

func (s *signIns) RedirectURI(id string) string {
	return "https://platform.example/oauth/callback/" + id
}
func (s *signIns) Delete(context.Context, audit.Actor, string, string, bool) error { return nil }

// server lists tools, or fails, or takes its time.
type server struct {
	tools []*app.Tool
	err   error
	slow  time.Duration

	onList func() // runs when the list is ready
}

type refusal string

func (r refusal) Error() string   { return string(r) }
func (r refusal) AppCode() string { return string(r) }

func (s *server) List(ctx context.Context, _ *app.App, _ *app.Scheme, _ *connection.Live) (*openapiimport.Result,
	error,
) {
	select {
	case <-time.After(s.slow):
	case <-ctx.Done():
		return nil, refusal("app_timeout")
	}
	if s.onList != nil {
		s.onList()
	}
	return &openapiimport.Result{Tools: s.tools}, s.err
}

func (s *server) Allowed(string) error { return nil }
func (s *server) Fetch(context.Context, string, int64) ([]byte, error) {
	return nil, errors.New("not asked for")
}
func (s *server) Reach(context.Context, string) error { return nil }

func one(name, about string) *app.Tool {
	return &app.Tool{
		Name: name, About: about, Title: name, Call: "tools/call " + name, Effect: app.Reads,
		InputSchema: []byte(`{"type":"object"}`),
	}
}

func begin(s *server, links *signIns) (*Service, *fakeStore) {
	store := &fakeStore{}
	return New(Ports{Store: store, Connections: links, Lister: s, Fetcher: s}, nil), store
}

func mcpRequest(kind string) Request {
	return Request{
		Type: TypeMCP, Name: "Acme",
		Settings: Settings{URL: "https://mcp.acme.example", Auth: Auth{Kind: kind}},
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		server server
		want   Status
		code   string
	}{
		{"it answers", server{tools: []*app.Tool{one("get_it", "Gets it.")}}, Ready, ""},
		{"no tools", server{}, Failed, "import_failed"},
		{"it refuses", server{err: refusal("app_unauthorized")}, Failed, "app_unauthorized"},
		{"it is unavailable", server{err: refusal("app_unavailable")}, Failed, "app_unavailable"},
		{
			"its address is private",
			server{err: problem.New(problem.Unprocessable, "target_not_allowed", "No.")},
			Failed,
			"target_not_allowed",
		},
		{"it takes its time", server{slow: time.Hour}, Importing, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, _ := begin(&tt.server, &signIns{})
				got, err := s.Create(t.Context(), audit.Operator(), "acc_1", mcpRequest(AuthNone))
				if err != nil {
					t.Fatal(err)
				}
				if got.Connector.Status != tt.want || got.Connector.Code != tt.code {
					t.Errorf("Create = %s %q, want %s %q", got.Connector.Status, got.Connector.Code, tt.want, tt.code)
				}
			})
		})
	}
}

// TestJobGoesOn imports what took too long for its caller.
func TestJobGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &server{tools: []*app.Tool{one("get_it", "Gets it.")}, slow: 40 * time.Second}
		s, store := begin(slow, &signIns{})
		made, err := s.Create(t.Context(), audit.Operator(), "acc_1", mcpRequest(AuthNone))
		if err != nil || made.Connector.Status != Importing {
			t.Fatalf("Create = %+v, %v", made, err)
		}
		if err := s.Handlers()[JobImport].Run(t.Context(),
			jobs.Job{Kind: JobImport, Ref: JobRef("acc_1", made.Connector.ID)}); err != nil {
			t.Fatal(err)
		}
		if store.stored.Status != Ready || len(store.stored.Tools) != 1 {
			t.Errorf("after the job: %+v", store.stored)
		}
	})
}

// TestSignIn imports when somebody has used the link.
func TestSignIn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		links := &signIns{}
		s, store := begin(&server{tools: []*app.Tool{one("get_it", "Gets it.")}}, links)
		made, err := s.Create(t.Context(), audit.Operator(), "acc_1", mcpRequest(AuthOAuth))
		if err != nil || made.Connector.Status != NeedsAuth || made.Link == "" {
			t.Fatalf("Create = %+v, %v", made, err)
		}
		job := jobs.Job{Kind: JobImport, Ref: JobRef("acc_1", made.Connector.ID)}
		if err := s.Handlers()[JobImport].Run(t.Context(), job); err == nil {
			t.Error("the job ended before anybody signed in")
		}
		links.made = []*connection.Connection{{ID: "con_1"}}
		if err := s.Handlers()[JobImport].Run(t.Context(), job); err != nil || store.stored.Status != Ready ||
			store.stored.ConnectionID != "con_1" {
			t.Errorf("after the sign-in: %+v, %v", store.stored, err)
		}
	})
}

func TestIncompleteKeyLeavesNothing(t *testing.T) {
	t.Parallel()
	s, store := begin(&server{}, &signIns{})
	if _, err := s.Create(t.Context(), audit.Operator(), "acc_1", mcpRequest(AuthBearer)); !problem.Is(err,
		"invalid_request") || store.stored != nil {
		t.Errorf("Create = %v, kept %v", err, store.stored)
	}
}

// TestCallerGoesAway makes and changes connectors for a caller who hangs up in
// the middle: nothing is left half made, and what an import brought is kept.
func TestCallerGoesAway(t *testing.T) {
	t.Parallel()
	t.Run("a connector that could not be connected goes", func(t *testing.T) {
		t.Parallel()
		ctx, hangUp := context.WithCancel(t.Context())
		s, store := begin(&server{}, &signIns{onSubmit: hangUp})
		_, err := s.Create(ctx, audit.Operator(), "acc_1", mcpRequest(AuthBearer))
		if err == nil || ctx.Err() == nil || store.stored != nil {
			t.Errorf("Create = %v, hung up %v, kept %+v", err, ctx.Err(), store.stored)
		}
	})
	t.Run("an import that ended is kept", func(t *testing.T) {
		t.Parallel()
		ctx, hangUp := context.WithCancel(t.Context())
		s, store := begin(&server{tools: []*app.Tool{one("get_it", "Gets it.")}, onList: hangUp}, &signIns{})
		if _, err := s.Create(ctx, audit.Operator(), "acc_1", mcpRequest(AuthNone)); err != nil {
			t.Fatal(err)
		}
		if store.stored.Status != Ready || len(store.stored.Tools) != 1 {
			t.Errorf("kept %+v", store.stored)
		}
	})
	t.Run("an import that is not done goes on", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, hangUp := context.WithCancel(t.Context())
			s, store := begin(&server{slow: time.Hour}, &signIns{})
			time.AfterFunc(time.Second, hangUp)
			if _, err := s.Create(ctx, audit.Operator(), "acc_1", mcpRequest(AuthNone)); err != nil {
				t.Fatal(err)
			}
			if store.stored.Status != Importing || store.stored.Revision != 2 {
				t.Errorf("kept %+v", store.stored)
			}
		})
	})
}

// TestMerge compares imports: what changed is withheld until it is approved or reverted.
func TestMerge(t *testing.T) {
	t.Parallel()
	c := &Connector{
		Slug: "x-acme", Type: TypeMCP, Status: Ready,
		Settings: Settings{URL: "https://mcp.acme.example", Auth: Auth{Kind: AuthNone}},
	}
	shown := func() []string {
		a, err := c.App()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for name := range a.Tools.All() {
			names = append(names, name)
		}
		return names
	}
	writes := one("a_tool", "A.")
	writes.Effect = app.Writes
	steps := []struct {
		name  string
		tools []*app.Tool
		want  Diff
		shown []string
	}{
		{
			"first",
			[]*app.Tool{one("a_tool", "A."), one("b_tool", "B.")},
			Diff{Added: []string{"a_tool", "b_tool"}},
			[]string{"a_tool", "b_tool"},
		},
		{"the same", []*app.Tool{one("b_tool", "B."), one("a_tool", "A.")}, Diff{}, []string{"b_tool", "a_tool"}},
		{
			"other words",
			[]*app.Tool{one("a_tool", "Send all mail."), one("b_tool", "B.")},
			Diff{Changed: []Change{{
				Tool: "a_tool", What: []string{"description"}, Before: version(one("a_tool", "A.")),
				After: version(one("a_tool", "Send all mail.")),
			}}},
			[]string{"b_tool"},
		},
		{"reverted", []*app.Tool{one("a_tool", "A."), one("b_tool", "B.")}, Diff{}, []string{"a_tool", "b_tool"}},
		{
			"another effect, one gone",
			[]*app.Tool{writes},
			Diff{
				Changed: []Change{
					{
						Tool:   "a_tool",
						What:   []string{"effect"},
						Before: version(one("a_tool", "A.")),
						After:  version(writes),
					},
				},
				Removed: []string{"b_tool"},
			},
			nil,
		},
	}
	for i, tt := range steps {
		got, err := c.merge(&openapiimport.Result{Tools: tt.tools}, i == 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.shown, shown()); diff != "" {
			t.Errorf("%s: shown (-want +got):\n%s", tt.name, diff)
		}
	}
	if unknown := c.approve([]string{"b_tool"}); len(unknown) != 1 {
		t.Errorf("approving what does not wait = %v", unknown)
	}
	if unknown := c.approve(nil); len(unknown) != 0 || len(shown()) != 1 || c.Tools[0].Tool.Effect != app.Writes {
		t.Errorf("after approval: %v %v", unknown, shown())
	}
}

func TestSlugs(t *testing.T) {
	t.Parallel()
	tests := []struct{ asked, name, want string }{
		{"", "Acme Orders", "x-acme-orders"},
		{"acme", "A", "x-acme"},
		{"X-Acme", "A", "x-acme"},
		{"x-a--b", "A", ""},
		{"x-a_b", "A", ""},
		{"x-", "A", ""},
		{"", "日本", ""},
		{"a-", "A", ""},
		{"", "A very long name of a connector indeed", "x-a-very-long-name-of-a-co"},
	}
	for _, tt := range tests {
		if got, err := slugOf(tt.asked, tt.name); got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("slugOf(%q, %q) = %q, %v; want %q", tt.asked, tt.name, got, err, tt.want)
		}
	}
}

func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	secret := Secret{Token: "sesame", Password: "sesame"}
	if secret.String() != "[secret]" || secret.GoString() != "[secret]" {
		t.Errorf("a secret prints as %s", secret)
	}
}
