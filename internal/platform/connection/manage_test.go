package connection_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/connectiontest"
)

func asProblem(t *testing.T, err error) *problem.Problem {
	t.Helper()
	p, known := problem.From(err)
	if err == nil || !known {
		t.Fatalf("%v is no problem", err)
	}
	return p
}

func contains(text, part string) bool { return strings.Contains(text, part) }

// runJobs works on the jobs of a store until stop is called.
func runJobs(t *testing.T, store *connectiontest.Memory, handlers map[string]jobs.Handler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		jobs.NewWorker(store.Jobs, nil, handlers, slog.New(slog.DiscardHandler), &jobs.Options{
			Sources: map[string]jobs.Source{connection.JobRefresh: store.Refreshes()},
		}).Run(ctx)
	}()
	return func() { cancel(); <-done }
}

// TestChoose is which connection a call goes over.
func TestChoose(t *testing.T) {
	t.Parallel()
	on, off := ptr(true), ptr(true)
	tests := []struct {
		name     string
		appID    string
		make     []connection.Change // one connection each, changed so
		endUsers []string
		named    int // 1 is the first; 0: none is named
		endUser  string
		want     int // 1 is the first; 0: a problem
		code     string
	}{
		{"nothing is connected", "keyed", nil, nil, 0, "", 0, "not_connected"},
		{"an app that needs none", "weather", nil, nil, 0, "", -1, ""},
		{"the only one", "keyed", []connection.Change{{}}, nil, 0, "", 1, ""},
		{"several", "keyed", []connection.Change{{}, {}}, nil, 0, "", 0, "connection_ambiguous"},
		{"the default", "keyed", []connection.Change{{}, {Default: on}}, nil, 0, "", 2, ""},
		{"the last default counts", "keyed", []connection.Change{{Default: on}, {Default: on}}, nil, 0, "", 2, ""},
		{"by name, past the default", "keyed", []connection.Change{{}, {Default: on}}, nil, 1, "", 1, ""},
		{"the one that is not switched off", "keyed", []connection.Change{{Disabled: off}, {}}, nil, 0, "", 2, ""},
		{"all switched off", "keyed", []connection.Change{{Disabled: off}}, nil, 0, "", 0, "connection_disabled"},
		{
			"a default that is switched off is not passed over", "keyed",
			[]connection.Change{{}, {Default: on, Disabled: off}},
			nil, 0, "", 0, "connection_disabled",
		},
		{"by name, switched off", "keyed", []connection.Change{{Disabled: off}}, nil, 1, "", 0, "connection_disabled"},
		{"by name, of another app", "notes", []connection.Change{{}}, nil, 1, "", 0, "connection_not_found"},
		{"an end user's own", "keyed", []connection.Change{{}, {}}, []string{"ann", "bob"}, 0, "bob", 2, ""},
		{
			"another end user's, by name", "keyed",
			[]connection.Change{{}, {}},
			[]string{"ann", "bob"},
			1, "bob", 0,
			"connection_not_found",
		},
		{"an end user does not get the account's", "keyed", []connection.Change{{}}, nil, 0, "bob", 0, "not_connected"},
		{"the account names an end user's", "keyed", []connection.Change{{}}, []string{"ann"}, 1, "", 1, ""},
		{
			"the account does not get an end user's", "keyed",
			[]connection.Change{{}},
			[]string{"ann"},
			0, "",
			0, "not_connected",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			ids := []string{""}
			for i, change := range tt.make {
				w.vendor.Identity.ID = "u" + string(rune('1'+i))
				wish := connection.ConnectOptions{}
				if tt.endUsers != nil {
					wish.EndUser = tt.endUsers[i]
				}
				c := w.typeKey(t, "keyed", wish, "sk_1")
				if _, err := w.Update(t.Context(), agent(), account, c.ID, change); err != nil {
					t.Fatal(err)
				}
				ids = append(ids, c.ID)
			}
			got, err := w.choose(t, account, tt.appID, ids[tt.named], tt.endUser)
			if code(err) != tt.code {
				t.Fatalf("Choose = %v, want %q", err, tt.code)
			}
			if tt.want > 0 && got.ID != ids[tt.want] || tt.want < 0 && got.ID != "" {
				t.Errorf("Choose = %s, want %s of %v", got.ID, ids[max(tt.want, 0)], ids)
			}
			if tt.named > 0 {
				if _, err := w.choose(t, stranger, tt.appID, ids[tt.named], ""); code(err) != "connection_not_found" {
					t.Errorf("another account chooses it: %v", err)
				}
			}
		})
	}
}

func (w *world) choose(t *testing.T, accountID, appID, connectionID, endUser string) (*connection.Connection, error) {
	t.Helper()
	a, err := connectiontest.Catalog().App(t.Context(), accountID, appID)
	if err != nil {
		t.Fatal(err)
	}
	return w.Choose(t.Context(), accountID, a, connectionID, endUser)
}

func TestAmbiguousNamesTheChoices(t *testing.T) {
	t.Parallel()
	w := setup(t)
	first := w.typeKey(t, "keyed", connection.ConnectOptions{Label: "Work"}, "sk_1")
	w.vendor.Identity = connection.Identity{ID: "u2", Email: "bob@acme.example"}
	w.typeKey(t, "keyed", connection.ConnectOptions{}, "sk_2")
	_, err := w.choose(t, account, "keyed", "", "")
	p := asProblem(t, err)
	choices, _ := p.Members["connections"].([]connection.Choice)
	slices.SortFunc(choices, func(a, b connection.Choice) int { return cmp.Compare(b.Label, a.Label) })
	if len(choices) != 2 || choices[0].ID != first.ID || choices[0].Label != "Work" ||
		choices[1].Account.Email != "bob@acme.example" || p.NextAction != "choose_connection" {
		t.Errorf("problem = %+v", p)
	}
}

func TestChooseOneThatNeedsThePerson(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		c := w.signIn(t, connection.ConnectOptions{})
		w.vendor.Fail = &connection.RefreshError{Class: connection.GrantOver, Code: "invalid_grant"}
		time.Sleep(2 * time.Hour)
		_, _ = w.Use(t.Context(), account, c.ID)
		_, err := w.choose(t, account, "notes", "", "")
		p := asProblem(t, err)
		if p.Code != "reconnect_required" || p.Members["connection_id"] != c.ID || p.NextAction != "reconnect_app" {
			t.Errorf("Choose = %+v", p)
		}
		// Another that works is taken: nothing was the default.
		w.vendor.Set(func(v *connectiontest.Vendor) { v.Fail, v.Identity.ID = nil, "u2" })
		second := w.signIn(t, connection.ConnectOptions{})
		if got, err := w.choose(t, account, "notes", "", ""); err != nil || got.ID != second.ID {
			t.Errorf("Choose = %+v, %v, want the one that works", got, err)
		}
	})
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	w := setup(t)
	c := w.typeKey(t, "keyed", connection.ConnectOptions{}, "sk_1")
	if _, err := w.Update(t.Context(), agent(), stranger,
		c.ID, connection.Change{Label: ptr("x")}); code(err) != "connection_not_found" {
		t.Errorf("another account: %v", err)
	}
	if _, err := w.Update(t.Context(), agent(), account, c.ID,
		connection.Change{Label: ptr(strings.Repeat("x", 61))}); code(err) != "invalid_request" {
		t.Errorf("a long label: %v", err)
	}
	got, err := w.Update(t.Context(), agent(), account, c.ID,
		connection.Change{Label: ptr(" Home "), Disabled: ptr(true)})
	if err != nil || got.Label != "Home" || got.Status != connection.Disabled ||
		got.Reason != connection.ReasonDisabledByUser {
		t.Errorf("Update = %+v, %v", got, err)
	}
	if _, err := w.Check(t.Context(), agent(), account, c.ID); code(err) != "connection_disabled" {
		t.Errorf("Check of one that is switched off: %v", err)
	}
	if got, err = w.Update(t.Context(), agent(), account, c.ID, connection.Change{Disabled: ptr(false)}); err != nil ||
		got.Status != connection.Active || got.Reason != "" || got.Label != "Home" {
		t.Errorf("Update = %+v, %v", got, err)
	}
}

// TestCheck is what a check makes of the app's response.
func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		answer string
		status connection.Status
		reason string
	}{
		{"", connection.Active, ""},
		{"app_unauthorized", connection.NeedsReconnect, "user_revoked"},
		{"app_forbidden", connection.Failing, "check_failed"},
		{"app_response_invalid", connection.Failing, "check_failed"},
		{"app_unavailable", connection.Failing, "provider_unavailable"},
		{"app_rate_limited", connection.Failing, "provider_unavailable"},
	}
	for _, tt := range tests {
		t.Run("answers "+tt.answer, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			c := w.typeKey(t, "keyed", connection.ConnectOptions{}, "sk_1")
			if tt.answer != "" {
				w.vendor.Answer = connectiontest.Refusal(tt.answer)
			}
			got, err := w.Check(t.Context(), agent(), account, c.ID)
			if err != nil || got.Status != tt.status || got.Reason != tt.reason || got.LastCheckedAt.IsZero() {
				t.Errorf("Check = %+v, %v, want %s, %s", got, err, tt.status, tt.reason)
			}
			w.vendor.Answer = nil
			if got, err = w.Check(t.Context(), agent(), account, c.ID); err != nil || got.Status != connection.Active ||
				got.Reason != "" {
				t.Errorf("Check after the app recovered = %+v, %v", got, err)
			}
			if _, err := w.Check(t.Context(), agent(), stranger, c.ID); code(err) != "connection_not_found" {
				t.Errorf("another account checks: %v", err)
			}
		})
	}
	t.Run("a fault of our own", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		c := w.typeKey(t, "keyed", connection.ConnectOptions{}, "sk_1")
		w.vendor.Answer = errors.New("no route")
		if _, err := w.Check(t.Context(), agent(), account, c.ID); err == nil {
			t.Error("Check hides a fault of our own")
		}
		if got := w.stored(t, c.ID); got.Status != connection.Active {
			t.Errorf("connection is %s", got.Status)
		}
	})
}

func TestCheckRenewsWhatTheAppRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		c := w.signIn(t, connection.ConnectOptions{})
		time.Sleep(10 * time.Minute)
		w.vendor.Set(func(v *connectiontest.Vendor) { v.Stale = "access-1" })
		got, err := w.Check(t.Context(), agent(), account, c.ID)
		if err != nil || got.Status != connection.Active || got.Version != 2 {
			t.Errorf("Check = %+v, %v, want a newer token", got, err)
		}
		time.Sleep(10 * time.Minute)
		w.vendor.Set(func(v *connectiontest.Vendor) {
			v.Stale, v.Fail = "access-2", &connection.RefreshError{Class: connection.GrantOver, Code: "invalid_grant"}
		})
		if got, err = w.Check(t.Context(), agent(), account, c.ID); err != nil ||
			got.Status != connection.NeedsReconnect {
			t.Errorf("Check = %+v, %v, want needs_reconnect", got, err)
		}
	})
}

func TestWorked(t *testing.T) {
	t.Parallel()
	w := setup(t)
	c := w.typeKey(t, "keyed", connection.ConnectOptions{}, "sk_1")
	w.vendor.Answer = connectiontest.Refusal("app_timeout")
	if _, err := w.Check(t.Context(), agent(), account, c.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.Worked(t.Context(), w.mustUse(t, c.ID)); err != nil {
		t.Fatal(err)
	}
	if got := w.stored(t, c.ID); got.Status != connection.Active || got.Reason != "" {
		t.Errorf("connection is %s, %s after a call that succeeded", got.Status, got.Reason)
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		stop := w.work(t)
		defer stop()
		c := w.signIn(t, connection.ConnectOptions{Label: "Work"})
		if err := w.Delete(t.Context(), agent(), stranger, c.ID, true); code(err) != "connection_not_found" {
			t.Errorf("another account deletes: %v", err)
		}
		w.vendor.Set(func(v *connectiontest.Vendor) { v.Revoking = errors.New("vendor away") })
		for range 2 { // a second time is no error
			if err := w.Delete(t.Context(), agent(), account, c.ID, true); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Use(t.Context(), account, c.ID); code(err) != "connection_not_found" {
			t.Errorf("Use of a deleted connection: %v", err)
		}
		if got := w.stored(t, c.ID); got.Status != connection.Revoked || got.Identity != (connection.Identity{}) ||
			len(got.Params) > 0 {
			t.Errorf("what is left = %+v", got)
		}
		time.Sleep(time.Hour)
		if got := w.vendor.Revoked(); got != nil {
			t.Fatalf("revoked %v while the vendor is unavailable", got)
		}
		w.vendor.Set(func(v *connectiontest.Vendor) { v.Revoking = nil })
		time.Sleep(5 * time.Hour)
		if got := w.vendor.Revoked(); len(got) != 1 || got[0] != "access-1" {
			t.Errorf("revoked %v, want access-1 once the vendor is back", got)
		}
		if kept, err := w.store.Farewell(t.Context(), account, c.ID); kept != nil || err != nil {
			t.Errorf("kept for the end at the vendor: %v, %v", kept, err)
		}
		if got := strings.Join(w.store.Actions(), " "); !contains(got,
			"connection.deleted connection.ended_at_vendor") {
			t.Errorf("recorded %s", got)
		}
	})
}

// TestDeleteWithoutRevocation: only the user can revoke an API key. Nothing of
// it is stored, and nothing claims that its app was notified.
func TestDeleteWithoutRevocation(t *testing.T) {
	t.Parallel()
	w := setup(t)
	c := w.typeKey(t, "keyed", connection.ConnectOptions{}, "sk_1")
	if err := w.Delete(t.Context(), agent(), account, c.ID, true); err != nil {
		t.Fatal(err)
	}
	if kept, err := w.store.Farewell(t.Context(), account, c.ID); kept != nil || err != nil {
		t.Errorf("kept of a deleted connection: %v, %v", kept, err)
	}
	if got := strings.Join(w.store.Actions(), " "); !contains(got, "connection.deleted") || contains(got, "at_vendor") {
		t.Errorf("recorded %s", got)
	}
}

func TestDeleteGivesUpAtTheVendor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		stop := w.work(t)
		defer stop()
		w.vendor.Revoking = errors.New("vendor gone")
		c := w.signIn(t, connection.ConnectOptions{})
		if err := w.Delete(t.Context(), agent(), account, c.ID, true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * 24 * time.Hour)
		if kept, err := w.store.Farewell(t.Context(), account, c.ID); kept != nil || err != nil {
			t.Errorf("secrets of a deleted connection are kept for five days: %v, %v", kept, err)
		}
		if got := strings.Join(w.store.Actions(), " "); !contains(got, "connection.not_ended_at_vendor") {
			t.Errorf("recorded %s", got)
		}
	})
}

func TestDeleteLeavesASharedGrantAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		stop := w.work(t)
		defer stop()
		mine := w.signIn(t, connection.ConnectOptions{})
		theirs := w.signIn(t, connection.ConnectOptions{EndUser: "ann"}) // the same account at the vendor
		if mine.ID == theirs.ID {
			t.Fatal("connections of two end users are one")
		}
		if err := w.Delete(t.Context(), agent(), account, mine.ID, true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := w.vendor.Revoked(); got != nil {
			t.Errorf("revoked %v, which another connection stands on", got)
		}
		if err := w.Delete(t.Context(), agent(), account, theirs.ID, true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if got := w.vendor.Revoked(); len(got) != 1 {
			t.Errorf("revoked %v, want the last one's", got)
		}
	})
}

func TestLastUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		c := w.typeKey(t, "keyed", connection.ConnectOptions{}, "sk_1")
		used := time.Now()
		for range 3 {
			w.mustUse(t, c.ID)
		}
		if err := w.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.stored(t, c.ID).LastUsedAt; !got.Equal(used) {
			t.Errorf("last used at %v, want %v", got, used)
		}
	})
}
