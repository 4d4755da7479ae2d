package connectiontest

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
)

// Store is a connection.Store whose connections are due to be renewed from time
// to time.
type Store interface {
	connection.Store
	// Refreshes returns what is due as jobs of the kind connection.JobRefresh.
	Refreshes() jobs.Source
}

// Fresh returns an empty store with two accounts.
type Fresh func(t *testing.T) (store Store, mine, theirs string)

// Run checks the promises of connection.Store against the stores that fresh
// returns.
func Run(t *testing.T, fresh Fresh) {
	t.Helper()
	tests := map[string]func(*testing.T, *bench){
		"sessions are found by their digests":       sessionsFound,
		"a session is inserted once":                sessionOnce,
		"a session changes by one writer":           sessionCAS,
		"a grant and its session are kept together": grantIsStored,
		"a grant for what has moved on is not":      grantIsNotStored,
		"a grant reconnects a connection":           grantReconnects,
		"one lease at a time":                       leases,
		"a lease that ran out tells of a crash":     leaseCrashed,
		"a renewal is fenced":                       renewalFenced,
		"a renewal leaves what the owner changed":   renewalLeaves,
		"lists":                                      lists,
		"one default for each app and end user":      defaults,
		"a deleted connection keeps nothing":         discarded,
		"what is old is forgotten, and nothing else": pruned,
		"connections are those of their account":     scoped,
		"use is noted":                               touched,
		"connections that are due are claimed":       refreshesDue,
		"the end of a claim that was overtaken":      refreshOvertaken,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &bench{}
			b.Store, b.mine, b.theirs = fresh(t)
			test(t, b)
		})
	}
}

// bench is a store under test.
type bench struct {
	Store
	mine, theirs string
	n            int
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bench) id(prefix string) string { b.n++; return prefix + "_" + strconv.Itoa(b.n) }

func (b *bench) entry(action string) audit.Entry {
	return audit.New(b.mine, audit.System(), action, "", nil)
}

// session keeps a new session.
func (b *bench) session(t *testing.T) *connection.Session {
	t.Helper()
	id := b.id("cs")
	s, inserted, err := b.InsertSession(t.Context(), &connection.Session{
		ID: id, AccountID: b.mine, App: "notes", Status: connection.SessionPending, TokenDigest: "token of " + id,
		CreatedAt: now(), ExpiresAt: now().Add(time.Hour),
		Options: connection.ConnectOptions{
			Label: "Work", Params: map[string]string{"team": "acme"},
			Verify: connection.VerifyAccount,
		}, AskedBy: audit.Actor{Kind: audit.ByKey, ID: "key_1"},
	}, b.entry("connect.asked"))
	check(t, err)
	if !inserted {
		t.Fatalf("session %s was there already", id)
	}
	return s
}

// connection keeps a new connection, changed by change.
func (b *bench) connection(t *testing.T, change func(*connection.Connection)) *connection.Connection {
	t.Helper()
	c := &connection.Connection{
		ID: b.id("con"), AccountID: b.mine, App: "notes", Scheme: "oauth2", Label: "Work",
		Params: map[string]string{"team": "acme"}, Status: connection.Active,
		Identity: connection.Identity{ID: "u1", Email: "Ann@acme.example"}, Scopes: []string{"read"},
		CreatedAt: now().Add(time.Duration(b.n) * time.Second), LastCheckedAt: now(),
		TokenExpiresAt: now().Add(time.Hour), RefreshedAt: now(), NextRefreshAt: now().Add(time.Hour),
	}
	if change != nil {
		change(c)
	}
	saved, err := b.KeepGrant(t.Context(), c, "secret of "+c.ID, b.session(t), b.entry("connection.made"))
	check(t, err)
	if !saved {
		t.Fatalf("connection %s was not kept", c.ID)
	}
	return c
}

func (b *bench) get(t *testing.T, id string) *connection.Connection {
	t.Helper()
	c, err := b.Connection(t.Context(), b.mine, id)
	check(t, err)
	return c
}

func (b *bench) lease(t *testing.T, c *connection.Connection, until time.Time) *connection.Lease {
	t.Helper()
	l, err := b.TakeLease(t.Context(), connection.Lease{
		AccountID: c.AccountID, ConnectionID: c.ID, Version: c.Version,
		Failed: c.RefreshFailed, Owner: "me", Until: until,
	})
	check(t, err)
	return l
}

func sessionsFound(t *testing.T, b *bench) {
	s := b.session(t)
	s.StateDigest, s.BrowserDigest = "state", "browser"
	s.FlowDigest, s.Status, s.Attempt = "flow", connection.SessionOpened, "sealed"
	saved, err := b.SaveSession(t.Context(), s, audit.Entry{})
	check(t, err)
	if !saved {
		t.Fatal("the session was not saved")
	}
	byID, err := b.Session(t.Context(), b.mine, s.ID)
	check(t, err)
	byToken, err := b.SessionByToken(t.Context(), s.TokenDigest)
	check(t, err)
	byState, err := b.SessionByState(t.Context(), "state")
	check(t, err)
	for name, got := range map[string]*connection.Session{"id": byID, "token": byToken, "state": byState} {
		if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", name, diff)
		}
	}
	for _, digest := range []string{"", "state", "none"} {
		if got, err := b.SessionByToken(t.Context(), digest); got != nil || err != nil {
			t.Errorf("SessionByToken(%q) = %v, %v, want none", digest, got, err)
		}
	}
	b.session(t) // has no state either
	if got, err := b.SessionByState(t.Context(), "none"); got != nil || err != nil {
		t.Errorf("SessionByState = %v, %v, want none", got, err)
	}
	if _, err := b.Session(t.Context(), b.theirs, s.ID); !problem.Is(err, "connect_session_not_found") {
		t.Errorf("Session of another account = %v", err)
	}
}

func sessionOnce(t *testing.T, b *bench) {
	s := b.session(t)
	again := *s
	again.Options.Label = "another"
	stored, inserted, err := b.InsertSession(t.Context(), &again, b.entry("connect.asked"))
	check(t, err)
	if diff := cmp.Diff(s, stored); inserted || diff != "" {
		t.Errorf("the second insert: %v (-want +got):\n%s", inserted, diff)
	}
}

func sessionCAS(t *testing.T, b *bench) {
	s := b.session(t)
	late := *s
	s.Status = connection.SessionCanceled
	saved, err := b.SaveSession(t.Context(), s, b.entry("connect.cancelled"))
	check(t, err)
	late.Status = connection.SessionOpened
	lost, err := b.SaveSession(t.Context(), &late, audit.Entry{})
	check(t, err)
	got, err := b.Session(t.Context(), b.mine, s.ID)
	check(t, err)
	if !saved || lost || got.Status != connection.SessionCanceled || got.Version != s.Version {
		t.Errorf("saved %v and %v, session = %+v", saved, lost, got)
	}
}

func grantIsStored(t *testing.T, b *bench) {
	s := b.session(t)
	c := &connection.Connection{
		ID: "con_kept", AccountID: b.mine, App: "notes", Scheme: "key",
		Status: connection.Active, CreatedAt: now(), EndUser: "ann",
	}
	s.Status, s.ConnectionID, s.EndedAt = connection.SessionConnected, c.ID, now()
	saved, err := b.KeepGrant(t.Context(), c, "sealed", s, b.entry("connection.made"))
	check(t, err)
	stored, err := b.Secret(t.Context(), b.mine, c.ID)
	check(t, err)
	session, err := b.Session(t.Context(), b.mine, s.ID)
	check(t, err)
	if diff := cmp.Diff(c, stored.Connection); !saved || stored.Secret != "sealed" || c.Version != 1 || diff != "" {
		t.Errorf("kept %v %q version %d (-want +got):\n%s", saved, stored.Secret, c.Version, diff)
	}
	if diff := cmp.Diff(s, session); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
}

func grantIsNotStored(t *testing.T, b *bench) {
	s := b.session(t)
	moved := *s
	moved.Status = connection.SessionCanceled
	_, err := b.SaveSession(t.Context(), &moved, audit.Entry{})
	check(t, err)
	saved, err := b.KeepGrant(t.Context(), &connection.Connection{ID: "con_late", AccountID: b.mine}, "sealed", s,
		b.entry("connection.made"))
	check(t, err)
	if _, err := b.Connection(t.Context(), b.mine, "con_late"); saved || !problem.Is(err, "connection_not_found") {
		t.Errorf("a session that moved on made a connection: %v, %v", saved, err)
	}
	gone := b.connection(t, nil)
	check(t, b.Discard(t.Context(), gone, "", b.entry("connection.deleted")))
	second := b.session(t)
	second.Status = connection.SessionConnected
	saved, err = b.KeepGrant(t.Context(), gone, "sealed", second, b.entry("connection.mended"))
	check(t, err)
	session, err := b.Session(t.Context(), b.mine, second.ID)
	check(t, err)
	if saved || session.Status != connection.SessionPending || b.get(t, gone.ID).Status != connection.Revoked {
		t.Errorf("a deleted connection was reconnected: %v, session %s", saved, session.Status)
	}
}

func grantReconnects(t *testing.T, b *bench) {
	c := b.connection(t, nil)
	_, err := b.ChangeConnection(t.Context(), b.mine, c.ID,
		func(c *connection.Connection) error { c.Default = true; return nil }, audit.Entry{})
	check(t, err)
	lease := b.lease(t, c, now().Add(time.Minute))
	mended := *c
	mended.Label, mended.Status, mended.Scopes = "Home", connection.Active, []string{"read", "write"}
	saved, err := b.KeepGrant(t.Context(), &mended, "new", b.session(t), b.entry("connection.mended"))
	check(t, err)
	stored, err := b.Secret(t.Context(), b.mine, c.ID)
	check(t, err)
	if !saved || stored.Secret != "new" || stored.Connection.Version != 2 || mended.Version != 2 ||
		stored.Connection.Label != "Home" || !stored.Connection.Default ||
		!stored.Connection.CreatedAt.Equal(c.CreatedAt) {
		t.Errorf("reconnected = %+v", stored.Connection)
	}
	late, err := b.KeepRefresh(t.Context(), c, "late", lease, audit.Entry{})
	check(t, err)
	if late {
		t.Error("a refresh of the old credentials was written over the new ones")
	}
}

func leases(t *testing.T, b *bench) {
	c := b.connection(t, nil)
	first := b.lease(t, c, now().Add(time.Minute))
	if first == nil || first.Crashed {
		t.Fatalf("the first lease = %+v", first)
	}
	stale, failed, other := *c, *c, *c
	stale.Version++
	failed.RefreshFailed++
	other.AccountID = b.theirs
	for name, who := range map[string]*connection.Connection{
		"a second": c, "for another version": &stale,
		"after another failure": &failed, "of another account": &other,
	} {
		if l := b.lease(t, who, now().Add(time.Minute)); l != nil {
			t.Errorf("a lease %s = %+v, want none", name, l)
		}
	}
	c.RefreshFailed, c.RefreshClass, c.RefreshTriedAt = 1, connection.Temporary, now()
	ended, err := b.EndLease(t.Context(), c, first, audit.Entry{})
	check(t, err)
	if got := b.get(t, c.ID); !ended || got.RefreshFailed != 1 || got.RefreshClass != connection.Temporary ||
		!got.RefreshTriedAt.Equal(c.RefreshTriedAt) || got.Version != c.Version {
		t.Errorf("after a refresh that failed: %v, %+v", ended, got)
	}
	if again := b.lease(t, c, now().Add(time.Minute)); again == nil || again.Seq <= first.Seq || again.Crashed {
		t.Errorf("the lease after it = %+v", again)
	}
}

func leaseCrashed(t *testing.T, b *bench) {
	c := b.connection(t, nil)
	first := b.lease(t, c, now().Add(-time.Second))
	second := b.lease(t, c, now().Add(time.Minute))
	if first == nil || second == nil || !second.Crashed || second.Seq <= first.Seq {
		t.Fatalf("leases %+v, %+v, want the second to tell of a crash", first, second)
	}
}

func renewalFenced(t *testing.T, b *bench) {
	c := b.connection(t, nil)
	late := b.lease(t, c, now().Add(-time.Second))
	owner := b.lease(t, c, now().Add(time.Minute))
	next := *c
	next.TokenExpiresAt, next.Params, next.Scopes = now().Add(2*time.Hour), map[string]string{
		"team":     "acme",
		"instance": "eu",
	}, []string{"read", "write"}
	if saved, err := b.KeepRefresh(t.Context(), &next, "late", late, audit.Entry{}); saved || err != nil {
		t.Errorf("a lease that was lost wrote: %v, %v", saved, err)
	}
	if ended, err := b.EndLease(t.Context(), &next, late, b.entry("connection.needs_reconnect")); ended || err != nil {
		t.Errorf("a lease that was lost ended another's: %v, %v", ended, err)
	}
	saved, err := b.KeepRefresh(t.Context(), &next, "renewed", owner, audit.Entry{})
	check(t, err)
	stored, err := b.Secret(t.Context(), b.mine, c.ID)
	check(t, err)
	if diff := cmp.Diff(
		&next,
		stored.Connection,
	); !saved || stored.Secret != "renewed" || next.Version != 2 ||
		diff != "" {
		t.Errorf("renewed %v %q (-want +got):\n%s", saved, stored.Secret, diff)
	}
	if saved, err := b.KeepRefresh(t.Context(), &next, "twice", owner, audit.Entry{}); saved || err != nil {
		t.Errorf("one lease wrote twice: %v, %v", saved, err)
	}
	if again := b.lease(t, &next, now().Add(time.Minute)); again == nil || again.Crashed {
		t.Errorf("the lease after a renewal = %+v", again)
	}
}

func renewalLeaves(t *testing.T, b *bench) {
	c := b.connection(t, nil)
	lease := b.lease(t, c, now().Add(time.Minute))
	_, err := b.ChangeConnection(t.Context(), b.mine, c.ID, func(c *connection.Connection) error {
		c.Label, c.Status, c.Reason, c.Default = "Home", connection.Disabled, connection.ReasonDisabledByUser, true
		return nil
	}, audit.Entry{})
	check(t, err)
	saved, err := b.KeepRefresh(t.Context(), c, "renewed", lease, audit.Entry{})
	check(t, err)
	got := b.get(t, c.ID)
	if !saved || got.Status != connection.Disabled || got.Reason != connection.ReasonDisabledByUser ||
		got.Label != "Home" || !got.Default {
		t.Errorf("after the renewal: %v, %+v", saved, got)
	}
}

func lists(t *testing.T, b *bench) {
	var ids []string
	for i, change := range []func(*connection.Connection){
		nil,
		func(c *connection.Connection) { c.App, c.Label = "mail", "100%_sure" },
		func(c *connection.Connection) { c.EndUser = "ann" },
		func(c *connection.Connection) { c.Status = connection.NeedsReconnect },
	} {
		ids = append(ids, b.connection(t, change).ID)
		_ = i
	}
	gone := b.connection(t, nil)
	check(t, b.Discard(t.Context(), gone, "", b.entry("connection.deleted")))
	first := b.get(t, ids[0])
	tests := []struct {
		name string
		q    connection.Query
		want []string
	}{
		{"all", connection.Query{AnyEndUser: true}, ids},
		{"the account's own", connection.Query{}, []string{ids[0], ids[1], ids[3]}},
		{"an end user's", connection.Query{EndUser: "ann"}, []string{ids[2]}},
		{"an app's", connection.Query{App: "mail", AnyEndUser: true}, []string{ids[1]}},
		{"by status", connection.Query{Status: "needs_reconnect"}, []string{ids[3]}},
		{"deleted ones", connection.Query{Status: "revoked"}, []string{gone.ID}},
		{"by e-mail, whatever the case", connection.Query{Search: "aNN@ACME", App: "mail"}, []string{ids[1]}},
		{"by label, with wildcards as they are", connection.Query{Search: "0%_s"}, []string{ids[1]}},
		{"a wildcard that finds nothing", connection.Query{Search: "w%k"}, nil},
		{"of some apps", connection.Query{AnyEndUser: true, Apps: []string{"none", "mail"}}, []string{ids[1]}},
		{"of some apps, by e-mail", connection.Query{Search: "ann@acme", Apps: []string{"none", "other"}}, nil},
		{"a page", connection.Query{AnyEndUser: true, Limit: 2}, ids[:2]},
		{
			"the page after it",
			connection.Query{AnyEndUser: true, AfterTime: first.CreatedAt, AfterID: first.ID, Limit: 2},
			ids[1:3],
		},
	}
	for _, tt := range tests {
		found, err := b.Connections(t.Context(), b.mine, tt.q)
		check(t, err)
		var got []string
		for _, c := range found {
			got = append(got, c.ID)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func defaults(t *testing.T, b *bench) {
	byDefault := func(c *connection.Connection) error { c.Default = true; return nil }
	one, two := b.connection(t, nil), b.connection(t, nil)
	ann := b.connection(t, func(c *connection.Connection) { c.EndUser = "ann" })
	mail := b.connection(t, func(c *connection.Connection) { c.App = "mail" })
	for _, c := range []*connection.Connection{one, ann, mail, two, two} {
		_, err := b.ChangeConnection(t.Context(), b.mine, c.ID, byDefault, audit.Entry{})
		check(t, err)
	}
	for c, want := range map[*connection.Connection]bool{one: false, two: true, ann: true, mail: true} {
		if got := b.get(t, c.ID).Default; got != want {
			t.Errorf("connection %s of %s and %q is the default: %v, want %v", c.ID, c.App, c.EndUser, got, want)
		}
	}
	stop := problem.New(problem.Conflict, "not_now", "")
	if _, err := b.ChangeConnection(t.Context(), b.mine, one.ID,
		func(c *connection.Connection) error { c.Default = true; return stop }, audit.Entry{}); !problem.Is(err,
		"not_now") || b.get(t, one.ID).Default {
		t.Errorf("a change that was refused: %v", err)
	}
}

func discarded(t *testing.T, b *bench) {
	c := b.connection(t, func(c *connection.Connection) { c.Default = true })
	lease := b.lease(t, c, now().Add(time.Minute))
	check(t, b.Discard(t.Context(), c, "farewell", b.entry("connection.deleted")))
	check(t, b.Discard(t.Context(), c, "farewell", b.entry("connection.deleted")))
	if _, err := b.Secret(t.Context(), b.mine, c.ID); !problem.Is(err, "connection_not_found") {
		t.Errorf("its secret: %v", err)
	}
	if got := b.get(t, c.ID); got.Status != connection.Revoked || got.Identity != (connection.Identity{}) ||
		len(got.Params) != 0 || got.Default || !got.NextRefreshAt.IsZero() {
		t.Errorf("what is left = %+v", got)
	}
	if saved, err := b.KeepRefresh(t.Context(), c, "late", lease, audit.Entry{}); saved || err != nil {
		t.Errorf("a renewal that was under way: %v, %v", saved, err)
	}
	if other, err := b.Farewell(t.Context(), b.theirs, c.ID); other != nil || err != nil {
		t.Errorf("another account's farewell = %v, %v", other, err)
	}
	stored, err := b.Farewell(t.Context(), b.mine, c.ID)
	check(t, err)
	if stored == nil || stored.Secret != "farewell" || stored.Connection.Identity != c.Identity ||
		stored.Connection.Scheme != c.Scheme {
		t.Fatalf("Farewell = %+v", stored)
	}
	check(t, b.EndFarewell(t.Context(), b.mine, c.ID, b.entry("connection.ended_at_vendor")))
	if stored, err = b.Farewell(t.Context(), b.mine, c.ID); stored != nil || err != nil {
		t.Errorf("Farewell after its end = %+v, %v", stored, err)
	}
}

func pruned(t *testing.T, b *bench) {
	s := b.session(t)
	alive := b.connection(t, nil)
	gone, waiting := b.connection(t, nil), b.connection(t, nil)
	check(t, b.Discard(t.Context(), gone, "", b.entry("connection.deleted")))
	check(t, b.Discard(t.Context(), waiting, "farewell", b.entry("connection.deleted")))
	b.prune(t, now(), now().Add(-time.Hour))
	if _, err := b.Session(t.Context(), b.mine, s.ID); err != nil {
		t.Errorf("a session of now was forgotten: %v", err)
	}
	b.prune(t, now().Add(2*time.Hour), now().Add(time.Hour))
	if _, err := b.Session(t.Context(), b.mine, s.ID); !problem.Is(err, "connect_session_not_found") {
		t.Errorf("an old session: %v", err)
	}
	for c, there := range map[*connection.Connection]bool{alive: true, waiting: true, gone: false} {
		if _, err := b.Connection(t.Context(), b.mine, c.ID); (err == nil) != there {
			t.Errorf("connection %s: %v, want it there: %v", c.ID, err, there)
		}
	}
}

func (b *bench) prune(t *testing.T, sessions, connections time.Time) {
	t.Helper()
	for more := true; more; {
		var err error
		more, err = b.PruneSessions(t.Context(), sessions, connections)
		check(t, err)
	}
}

func scoped(t *testing.T, b *bench) {
	c := b.connection(t, nil)
	calls := map[string]func() error{
		"Connection": func() error { _, err := b.Connection(t.Context(), b.theirs, c.ID); return err },
		"Secret":     func() error { _, err := b.Secret(t.Context(), b.theirs, c.ID); return err },
		"ChangeConnection": func() error {
			_, err := b.ChangeConnection(t.Context(), b.theirs, c.ID,
				func(*connection.Connection) error { t.Error("changed"); return nil }, audit.Entry{})
			return err
		},
	}
	for name, call := range calls {
		if err := call(); !problem.Is(err, "connection_not_found") {
			t.Errorf("%s for another account = %v", name, err)
		}
	}
	if list, err := b.Connections(t.Context(), b.theirs, connection.Query{AnyEndUser: true}); len(list) != 0 ||
		err != nil {
		t.Errorf("another account lists %v, %v", list, err)
	}
	taken := *c
	taken.AccountID = b.theirs
	s := b.session(t)
	if saved, err := b.KeepGrant(t.Context(), &taken, "stolen", s, audit.Entry{}); saved && err == nil {
		if stored, err := b.Secret(t.Context(), b.mine, c.ID); err != nil || stored.Secret == "stolen" {
			t.Error("another account's grant took the place of the connection's")
		}
	}
}

func touched(t *testing.T, b *bench) {
	c := b.connection(t, nil)
	at := now()
	for _, used := range []time.Time{at, at.Add(-time.Minute)} {
		check(t, b.TouchConnections(t.Context(), map[string]time.Time{c.ID: used, "con_none": used}))
	}
	if got := b.get(t, c.ID).LastUsedAt; !got.Equal(at) {
		t.Errorf("last used at %v, want %v", got, at)
	}
}
