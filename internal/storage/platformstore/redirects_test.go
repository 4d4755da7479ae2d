package platformstore_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/password"
	"ace/internal/foundation/problem"
	"ace/internal/platform/account"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/storage/platformstore"
)

func TestRedirectURLs(t *testing.T) {
	t.Parallel()
	eachWithQueue(t, func(t *testing.T, s *platformstore.Store, _ queue) {
		service := account.New(s, password.New(), func(label string, _ ...[]byte) string { return label })
		ann, _, err := service.Create(t.Context(), audit.Operator(), "ann", "")
		if err != nil {
			t.Fatal(err)
		}
		bob, _, err := service.Create(t.Context(), audit.Operator(), "bob", "")
		if err != nil {
			t.Fatal(err)
		}
		if list, err := service.RedirectURLs(t.Context(), ann.ID); err != nil || len(list) != 0 {
			t.Errorf("a new account's list = %v, %v", list, err)
		}
		set, err := service.SetRedirectURLs(t.Context(), audit.Operator(), ann.ID,
			[]string{"https://A.example", "https://a.example/"})
		if err != nil {
			t.Fatal(err)
		}
		got, err := service.RedirectURLs(t.Context(), ann.ID)
		if diff := cmp.Diff([]string{"https://a.example/"}, got); diff != "" || err != nil || !cmp.Equal(set, got) {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
		if list, err := service.RedirectURLs(t.Context(), bob.ID); err != nil || len(list) != 0 {
			t.Errorf("another account's list = %v, %v", list, err)
		}
		if _, err := service.SetRedirectURLs(t.Context(), audit.Operator(), ann.ID,
			[]string{"http://a.example/"}); !problem.Is(err, "invalid_request") {
			t.Errorf("an address that is none: %v", err)
		}
		if list, err := service.SetRedirectURLs(t.Context(), audit.Operator(), ann.ID, nil); err != nil ||
			len(list) != 0 {
			t.Errorf("an empty list = %v, %v", list, err)
		}
		if _, err := service.SetRedirectURLs(t.Context(), audit.Operator(), "acc_none", nil); !problem.Is(err,
			"account_not_found") {
			t.Errorf("an account that is none: %v", err)
		}
		entries, err := s.AuditEntries(t.Context(), ann.ID, audit.Query{Action: "account.redirect_urls_set", Limit: 10})
		if err != nil || len(entries) != 2 {
			t.Errorf("%d entries in the audit log, %v, want 2", len(entries), err)
		}
	})
}

// TestRedirectListsAreEdited adds and takes off addresses, several people at a
// time.
func TestRedirectListsAreEdited(t *testing.T) {
	t.Parallel()
	eachWithQueue(t, func(t *testing.T, s *platformstore.Store, _ queue) {
		service := account.New(s, password.New(), func(label string, _ ...[]byte) string { return label })
		ann, _, err := service.Create(t.Context(), audit.Operator(), "ann", "")
		if err != nil {
			t.Fatal(err)
		}
		steps := []struct {
			name        string
			add, remove []string
			want        []string
			code        string
		}{
			{"the first", []string{"https://A.example"}, nil, []string{"https://a.example/"}, ""},
			{"the same again", []string{"https://a.example/"}, nil, []string{"https://a.example/"}, ""},
			{
				"one in place of another",
				[]string{"https://b.example/x"},
				[]string{"https://a.example"},
				[]string{"https://b.example/x"},
				"",
			},
			{
				"one that is not there",
				[]string{"https://c.example/"},
				[]string{"https://a.example"},
				[]string{"https://b.example/x"},
				"invalid_request",
			},
			{"no address", []string{"agent.example"}, nil, []string{"https://b.example/x"}, "invalid_request"},
			{"the last one", nil, []string{"https://b.example/x"}, []string{}, ""},
		}
		for _, step := range steps {
			_, err := service.EditRedirectURLs(t.Context(), audit.Operator(), ann.ID, step.add, step.remove)
			if (err != nil) != (step.code != "") || step.code != "" && !problem.Is(err, step.code) {
				t.Errorf("%s: %v, want %q", step.name, err, step.code)
			}
			got, err := service.RedirectURLs(t.Context(), ann.ID)
			if diff := cmp.Diff(step.want, got); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got)\n%s", step.name, err, diff)
			}
		}
		entries, err := s.AuditEntries(t.Context(), ann.ID, audit.Query{Action: "account.redirect_urls_set", Limit: 10})
		if err != nil || len(entries) != 3 {
			t.Errorf("%d entries, %v, want one for each change", len(entries), err)
		}
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				if _, err := service.EditRedirectURLs(t.Context(), audit.Operator(), ann.ID,
					[]string{fmt.Sprintf("https://h%d.example/", i)}, nil); err != nil {
					t.Errorf("adding the %dth: %v", i, err)
				}
			})
		}
		all.Wait()
		if got, err := service.RedirectURLs(t.Context(), ann.ID); err != nil || len(got) != 8 {
			t.Errorf("8 people added %v, %v", got, err)
		}
		if _, err := service.EditRedirectURLs(t.Context(), audit.Operator(), "acc_none", nil, nil); !problem.Is(err,
			"account_not_found") {
			t.Errorf("an account that is none: %v", err)
		}
	})
}

// TestNoticesAreScheduled holds that a notice of a session's end is scheduled, whatever ends it.
func TestNoticesAreScheduled(t *testing.T) {
	t.Parallel()
	eachWithQueue(t, func(t *testing.T, s *platformstore.Store, queue queue) {
		store := platformstore.Connections{Store: s}
		a, _, err := account.New(s, password.New(), func(label string, _ ...[]byte) string { return label }).Create(
			t.Context(), audit.Operator(), "ann", "")
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now().UTC().Truncate(time.Millisecond)
		open := func(id, notify string) *connection.Session {
			t.Helper()
			kept, _, err := store.InsertSession(t.Context(), &connection.Session{
				ID: id, AccountID: a.ID, App: "notes", Status: connection.SessionPending, TokenDigest: id,
				CreatedAt: now, ExpiresAt: now.Add(time.Hour), Options: connection.ConnectOptions{NotifyURL: notify},
			}, audit.New(a.ID, audit.Operator(), "connect.asked", id, nil))
			if err != nil {
				t.Fatal(err)
			}
			return kept
		}
		open("cs_silent", "")
		next := queue.Lane(jobs.LaneHouse).Next
		if wait, found, err := next(t.Context()); err != nil || found {
			t.Errorf("a session that nobody wants to hear of has a job in %v, %v", wait, err)
		}
		told := open("cs_told", "https://agent.example/in")
		if wait, found, err := next(t.Context()); err != nil || !found || wait < 50*time.Minute || wait > time.Hour {
			t.Errorf("the job is due in %v, %v, want at %v", wait, err, told.ExpiresAt)
		}
		told.Status, told.EndedAt = connection.SessionFailed, now
		if saved, err := store.SaveSession(t.Context(), told, audit.Entry{}); err != nil || !saved {
			t.Fatalf("SaveSession = %v, %v", saved, err)
		}
		if wait, found, err := next(t.Context()); err != nil || !found || wait > 0 {
			t.Errorf("after its end the job is due in %v, %v, want now", wait, err)
		}
	})
}
