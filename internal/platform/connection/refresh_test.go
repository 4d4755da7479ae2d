package connection_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/connectiontest"
)

// stored is the connection as it is kept.
func (w *world) stored(t *testing.T, id string) *connection.Connection {
	t.Helper()
	c, err := w.Get(t.Context(), account, id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTokensAreRenewedBeforeTheyEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		c := w.signIn(t, connection.ConnectOptions{})
		steps := []struct {
			after     time.Duration // since the last step
			token     string
			refreshes int
		}{
			{50 * time.Minute, "access-1", 0},
			{5 * time.Minute, "access-2", 1}, // a tenth of its life is left
			{time.Minute, "access-2", 1},
			{2 * time.Hour, "access-3", 2}, // long over
		}
		for _, step := range steps {
			time.Sleep(step.after)
			live, err := w.Use(t.Context(), account, c.ID)
			if err != nil || value(live, "access_token") != step.token || w.vendor.Refreshes() != step.refreshes {
				t.Errorf("after %v more: %q, %v with %d refreshes, want %s with %d", step.after,
					value(live, "access_token"), err, w.vendor.Refreshes(), step.token, step.refreshes)
			}
		}
		if got := w.stored(t, c.ID); got.Version != 3 || got.Status != connection.Active ||
			!got.NextRefreshAt.After(time.Now()) {
			t.Errorf("stored = %+v", got)
		}
	})
}

// TestFiftyCallsRefreshOnce is many calls of three processes at the same time:
// with a vendor that takes its time, one that rotates, and one whose process is
// killed after the vendor answered.
func TestFiftyCallsRefreshOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		slow      time.Duration
		kill      string // step at which the first process dies
		reuse     bool
		lifetime  time.Duration
		refreshes int
		token     string
	}{
		{"at once", 0, "", false, time.Hour, 1, "access-2"},
		{"a vendor that takes twenty seconds", 20 * time.Second, "", false, time.Hour, 1, "access-2"},
		{"killed before the vendor was asked", time.Second, "lease taken", false, time.Hour, 1, "access-2"},
		{"killed after the vendor answered", time.Second, "vendor answered", true, time.Hour, 2, "access-3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := setup(t)
				w.vendor.Lifetime = tt.lifetime
				c := w.signIn(t, connection.ConnectOptions{})
				w.vendor.Set(func(v *connectiontest.Vendor) { v.Slow, v.Reuse = tt.slow, tt.reuse })
				time.Sleep(2 * time.Hour)
				if tt.kill != "" {
					w.die(t, c.ID, tt.kill)
					time.Sleep(61 * time.Second) // until the lease of the dead runs out
				}
				replicas := []*connection.Service{w.Service, w.replica(nil), w.replica(nil)}
				var wg sync.WaitGroup
				for i := range 50 {
					wg.Go(func() {
						live, err := replicas[i%3].Use(t.Context(), account, c.ID)
						if err != nil || value(live, "access_token") != tt.token {
							t.Errorf("call %d: %v, want %s", i, err, tt.token)
						}
					})
				}
				wg.Wait()
				if got := w.vendor.Refreshes(); got != tt.refreshes {
					t.Errorf("%d refreshes reached the vendor, want %d", got, tt.refreshes)
				}
			})
		})
	}
}

// die begins a refresh in a process that ends at a step.
func (w *world) die(t *testing.T, id, at string) {
	t.Helper()
	reached := make(chan struct{})
	doomed := w.replica(func(step string) {
		if step == at {
			close(reached)
			runtime.Goexit() // nothing comes after it
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { _, _ = doomed.Use(ctx, account, id) }()
	<-reached
	cancel()
}

// TestAfterACrash is what the next process makes of a lease that was never
// given back: the stored token, the one before it, then the person.
func TestAfterACrash(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reuse  bool
		status connection.Status
		code   string
	}{
		{"the vendor accepts the old token again", true, connection.Active, ""},
		{"the vendor does not", false, connection.NeedsReconnect, "reconnect_required"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			crash(t, tt.reuse, func(t *testing.T, w *world, id string) {
				_, err := w.Use(t.Context(), account, id)
				if got := w.stored(t, id); code(err) != tt.code || got.Status != tt.status {
					t.Errorf("Use = %v with a connection that is %s, want %q and %s", err, got.Status, tt.code,
						tt.status)
				}
			})
		})
	}
}

func crash(t *testing.T, reuse bool, then func(t *testing.T, w *world, id string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		box := setup(t)
		c := box.signIn(t, connection.ConnectOptions{})
		box.vendor.Reuse = reuse
		time.Sleep(time.Hour)
		box.die(t, c.ID, "vendor answered")
		time.Sleep(2 * time.Minute)
		then(t, box, c.ID)
	})
}

// TestPreviousTokenAfterACrash kills a process whose vendor never heard of the
// newest token: the one before it still opens the grant.
func TestPreviousTokenAfterACrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		c := w.signIn(t, connection.ConnectOptions{})
		time.Sleep(time.Hour)
		if _, err := w.Use(t.Context(), account, c.ID); err != nil { // refresh-2 is stored, refresh-1 before it
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		w.die(t, c.ID, "lease taken")
		w.vendor.Restore("refresh-1") // the vendor lost its last hours
		time.Sleep(2 * time.Minute)
		if live, err := w.Use(t.Context(), account, c.ID); err != nil || value(live, "access_token") != "access-3" {
			t.Errorf("Use = %v", err)
		}
		// Without a crash the token before the last is not tried.
		time.Sleep(time.Hour)
		w.vendor.Restore("refresh-2")
		if _, err := w.Use(t.Context(), account, c.ID); code(err) != "reconnect_required" {
			t.Errorf("Use = %v, want reconnect_required", err)
		}
	})
}

// TestLateWriterIsFenced lets a process sleep through its lease between the
// vendor's response and writing it down.
func TestLateWriterIsFenced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		w.vendor.Reuse = true
		c := w.signIn(t, connection.ConnectOptions{})
		time.Sleep(time.Hour)
		late := w.replica(func(step string) {
			if step == "vendor answered" {
				time.Sleep(2 * time.Minute)
			}
		})
		var wg sync.WaitGroup
		wg.Go(func() {
			live, err := late.Use(t.Context(), account, c.ID)
			if err != nil || value(live, "access_token") != "access-3" {
				t.Errorf("the late one: %q, %v, want what the other stored", value(live, "access_token"), err)
			}
		})
		time.Sleep(90 * time.Second)
		if live, err := w.Use(t.Context(), account, c.ID); err != nil || value(live, "access_token") != "access-3" {
			t.Errorf("the other: %v", err)
		}
		wg.Wait()
		if live, err := w.Use(t.Context(), account, c.ID); err != nil || value(live, "access_token") != "access-3" ||
			live.Connection.Version != 2 {
			t.Errorf("afterwards: %q version %d, %v", value(live, "access_token"), live.Connection.Version, err)
		}
	})
}

// TestFailedRefreshes is what each class of failures does, minutes before the
// token ends and after.
func TestFailedRefreshes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		fail   error
		living string // code of Use while the token lives
		over   string // and after
		status connection.Status
		reason string
		heals  bool // once the vendor recovers
	}{
		{
			"the grant is over", &connection.RefreshError{Class: connection.GrantOver, Code: "invalid_grant"},
			"reconnect_required", "reconnect_required", connection.NeedsReconnect, "invalid_grant", false,
		},
		{
			"the client is not known", &connection.RefreshError{Class: connection.ClientBroken, Code: "invalid_client"},
			"", "client_misconfigured", connection.Failing, "client_misconfigured", true,
		},
		{
			"the vendor is unavailable", &connection.RefreshError{Class: connection.Temporary, Status: 503},
			"", "provider_unavailable", connection.Failing, "provider_unavailable", true,
		},
		{
			"something nobody knows", &connection.RefreshError{Class: connection.Unknown, Status: 418},
			"", "reconnect_required", connection.Failing, "check_failed", true,
		},
		{
			"a fault of our own", fmt.Errorf("no route"), "", "provider_unavailable", connection.Failing,
			"provider_unavailable", true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := setup(t)
				c := w.signIn(t, connection.ConnectOptions{})
				w.vendor.Set(func(v *connectiontest.Vendor) { v.Fail = tt.fail })
				time.Sleep(56 * time.Minute)
				live, err := w.Use(t.Context(), account, c.ID)
				if code(err) != tt.living || err == nil && value(live, "access_token") != "access-1" {
					t.Errorf("while the token lives: %v, want %q", err, tt.living)
				}
				for range 20 { // a failed refresh is not retried at once
					_, _ = w.Use(t.Context(), account, c.ID)
				}
				if got := w.vendor.Refreshes(); got != 1 {
					t.Errorf("%d refreshes within a moment, want one", got)
				}
				time.Sleep(10 * time.Minute)
				if _, err = w.Use(t.Context(), account, c.ID); code(err) != tt.over {
					t.Errorf("after the token: %v, want %q", err, tt.over)
				}
				if got := w.stored(t, c.ID); got.Status != tt.status || got.Reason != tt.reason {
					t.Errorf("connection is %s, %s, want %s, %s", got.Status, got.Reason, tt.status, tt.reason)
				}
				w.vendor.Set(func(v *connectiontest.Vendor) { v.Fail = nil })
				time.Sleep(3 * time.Hour)
				_, err = w.Use(t.Context(), account, c.ID)
				if got := w.stored(t, c.ID); tt.heals != (err == nil) || tt.heals &&
					(got.Status != connection.Active || got.Reason != "") {
					t.Errorf("after the vendor's recovery: %v, connection %s %s", err, got.Status, got.Reason)
				}
			})
		})
	}
}

// TestUnknownRefusalsEnd counts the tries of a refusal that nobody knows.
func TestUnknownRefusalsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		c := w.signIn(t, connection.ConnectOptions{})
		w.vendor.Fail = &connection.RefreshError{Class: connection.Unknown, Status: 418}
		start := time.Now()
		stop := w.work(t)
		defer stop()
		for w.stored(t, c.ID).Status != connection.NeedsReconnect {
			time.Sleep(time.Hour)
			if time.Since(start) > 6*24*time.Hour {
				t.Fatalf("still %+v after six days", w.stored(t, c.ID))
			}
		}
		if took := time.Since(start); took < 3*24*time.Hour || w.vendor.Refreshes() != 10 {
			t.Errorf("given up after %v and %d tries, want ten in about four days", took, w.vendor.Refreshes())
		}
	})
}

func TestRetryAfterTellsWhenToComeBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		c := w.signIn(t, connection.ConnectOptions{})
		w.vendor.Fail = &connection.RefreshError{Class: connection.Temporary, Status: 429, After: 10 * time.Minute}
		time.Sleep(2 * time.Hour)
		_, err := w.Use(t.Context(), account, c.ID)
		p := asProblem(t, err)
		if p.Code != "provider_unavailable" || p.RetryAfter <= 0 || p.RetryAfter > time.Minute {
			t.Errorf("Use = %+v, want to come back within a minute", p)
		}
		if next := w.stored(t, c.ID).NextRefreshAt; time.Until(next) < 9*time.Minute {
			t.Errorf("by itself it is tried in %v, want what the vendor asked for", time.Until(next))
		}
	})
}

// TestRefused is an app that responds with 401 to a token that should be good.
func TestRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		c := w.signIn(t, connection.ConnectOptions{})
		time.Sleep(10 * time.Minute)
		replicas := []*connection.Service{w.Service, w.replica(nil), w.replica(nil)}
		old, err := w.Use(t.Context(), account, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				live, err := replicas[i%3].Refused(t.Context(), old)
				if err != nil || live == nil || value(live, "access_token") != "access-2" {
					t.Errorf("Refused %d = %v, %v", i, live, err)
				}
			})
		}
		wg.Wait()
		if got := w.vendor.Refreshes(); got != 1 {
			t.Errorf("%d refreshes for one version, want one", got)
		}
		newer, err := w.Use(t.Context(), account, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		if live, err := w.Refused(t.Context(), newer); live != nil || err != nil || w.vendor.Refreshes() != 1 {
			t.Errorf("an app that answers 401 to everything: %v, %v with %d refreshes, want none more", live, err,
				w.vendor.Refreshes())
		}
		time.Sleep(10 * time.Minute)
		w.vendor.Set(func(v *connectiontest.Vendor) {
			v.Fail = &connection.RefreshError{Class: connection.GrantOver, Code: "invalid_grant"}
		})
		if _, err := w.Refused(t.Context(), newer); code(err) != "reconnect_required" {
			t.Errorf("a grant that is over: %v, want reconnect_required", err)
		}
	})
}

// TestRefusedAfterARenewal is an app that refuses a token that was renewed a
// moment ago: the app is asked whose it is, and the connection ends where it
// does not know it.
func TestRefusedAfterARenewal(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]connection.Status{
		"": connection.Active, "app_forbidden": connection.Failing,
		"app_unauthorized": connection.NeedsReconnect,
	} {
		t.Run("whoami answers "+answer, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := setup(t)
				c := w.signIn(t, connection.ConnectOptions{})
				time.Sleep(10 * time.Minute)
				newer, err := w.Refused(t.Context(), w.mustUse(t, c.ID))
				if err != nil || newer == nil {
					t.Fatalf("Refused = %v, %v, want a newer token", newer, err)
				}
				if answer != "" {
					w.vendor.Set(func(v *connectiontest.Vendor) { v.Answer = connectiontest.Refusal(answer) })
				}
				checks := w.vendor.Checks()
				for range 3 {
					if other, err := w.Refused(t.Context(), newer); other != nil ||
						(code(err) == "reconnect_required") != (want == connection.NeedsReconnect) {
						t.Errorf("Refused again = %v, %v", other, err)
					}
				}
				if got := w.stored(t, c.ID); got.Status != want || w.vendor.Checks()-checks != 1 ||
					w.vendor.Refreshes() != 1 {
					t.Errorf("connection is %s after %d checks and %d refreshes, want %s after one of each", got.Status,
						w.vendor.Checks()-checks, w.vendor.Refreshes(), want)
				}
			})
		})
	}
}

func TestRefusedKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		c := w.typeKey(t, "keyed", connection.ConnectOptions{}, "sk_1")
		time.Sleep(10 * time.Minute)
		live, err := w.Use(t.Context(), account, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		checks := w.vendor.Checks()
		for range 5 { // whoami is right: the refusal is the tool's own
			if other, err := w.Refused(t.Context(), live); other != nil || err != nil {
				t.Errorf("Refused = %v, %v, want nothing newer", other, err)
			}
		}
		if got := w.vendor.Checks() - checks; got != 1 {
			t.Errorf("%d checks within a minute, want one", got)
		}
		time.Sleep(2 * time.Minute)
		w.vendor.Set(func(v *connectiontest.Vendor) { v.Answer = connectiontest.Refusal("app_unauthorized") })
		if _, err := w.Refused(t.Context(), live); code(err) != "reconnect_required" {
			t.Errorf("a key that opens nothing: %v, want reconnect_required", err)
		}
		if got := w.stored(t, c.ID); got.Status != connection.NeedsReconnect ||
			got.Reason != connection.ReasonUserRevoked {
			t.Errorf("connection is %s, %s", got.Status, got.Reason)
		}
		// The owner enables the key again.
		w.vendor.Set(func(v *connectiontest.Vendor) { v.Answer = nil })
		if got, err := w.Check(t.Context(), agent(), account, c.ID); err != nil || got.Status != connection.Active {
			t.Errorf("Check = %+v, %v", got, err)
		}
	})
}

// work runs the jobs of the store until stop is called.
func (w *world) work(t *testing.T) (stop func()) {
	t.Helper()
	return runJobs(t, w.store, w.Handlers())
}

func TestIdleConnectionsAreKeptAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		w.vendor.Lifetime = 30 * 24 * time.Hour
		c := w.signIn(t, connection.ConnectOptions{})
		stop := w.work(t)
		defer stop()
		time.Sleep(5 * 24 * time.Hour)
		if got := w.vendor.Refreshes(); got < 4 || got > 6 {
			t.Errorf("%d refreshes in five days, want one a day", got)
		}
		if err := w.Delete(t.Context(), agent(), account, c.ID, false); err != nil {
			t.Fatal(err)
		}
		before := w.vendor.Refreshes()
		time.Sleep(2 * 24 * time.Hour)
		if got := w.vendor.Refreshes(); got != before {
			t.Errorf("%d refreshes of a connection that was deleted", got-before)
		}
	})
}

func TestProactiveRefreshesSpareCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		c := w.signIn(t, connection.ConnectOptions{})
		stop := w.work(t)
		defer stop()
		w.vendor.Set(func(v *connectiontest.Vendor) { v.Slow = 20 * time.Second })
		for range 48 {
			time.Sleep(30 * time.Minute)
			start := time.Now()
			if _, err := w.Use(t.Context(), account, c.ID); err != nil || time.Since(start) > 0 {
				t.Errorf("Use = %v after %v, want no wait", err, time.Since(start))
			}
		}
		if got := w.vendor.Refreshes(); got < 25 || got > 40 {
			t.Errorf("%d refreshes in a day of tokens that live an hour, want one each 45 minutes", got)
		}
	})
}

func TestDisabledWhileItIsRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		c := w.signIn(t, connection.ConnectOptions{})
		w.vendor.Slow = 10 * time.Second
		time.Sleep(time.Hour)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = w.Use(t.Context(), account, c.ID) })
		time.Sleep(time.Second)
		if _, err := w.Update(t.Context(), agent(), account, c.ID, connection.Change{Disabled: ptr(true)}); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if got := w.stored(t, c.ID); got.Status != connection.Disabled || got.Version != 2 {
			t.Errorf("connection is %s at version %d, want disabled with the new token", got.Status, got.Version)
		}
		if _, err := w.Use(t.Context(), account, c.ID); code(err) != "connection_disabled" {
			t.Errorf("Use = %v", err)
		}
	})
}

// TestCallerLeaves ends the request that waits for a refresh: the refresh goes
// on, because its response is good only once.
func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		c := w.signIn(t, connection.ConnectOptions{})
		w.vendor.Slow = 10 * time.Second
		time.Sleep(time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.Use(ctx, account, c.ID); err == nil {
			t.Error("Use waited for longer than its caller")
		}
		time.Sleep(20 * time.Second)
		if live, err := w.Use(t.Context(), account, c.ID); err != nil || value(live, "access_token") != "access-2" ||
			w.vendor.Refreshes() != 1 {
			t.Errorf("afterwards: %v with %d refreshes", err, w.vendor.Refreshes())
		}
	})
}

func TestSwappedRowsDoNotOpen(t *testing.T) {
	t.Parallel()
	w := setup(t)
	mine := w.typeKey(t, "keyed", connection.ConnectOptions{}, "sk_mine")
	w.vendor.Identity.ID = "u2"
	other := w.typeKey(t, "keyed", connection.ConnectOptions{EndUser: "bob"}, "sk_other")
	w.store.Swap(mine.ID, other.ID)
	_, err := w.Use(t.Context(), account, mine.ID)
	if p := asProblem(t, err); p.Code != "reconnect_required" || p.Members["reason"] != connection.ReasonUndecryptable {
		t.Errorf("Use = %+v, want reconnect_required because of vault_undecryptable", p)
	}
	if got := w.stored(t, mine.ID); got.Status != connection.Failing || got.Reason != connection.ReasonUndecryptable {
		t.Errorf("connection is %s, %s", got.Status, got.Reason)
	}
	if got, err := w.Check(t.Context(), audit.Operator(), account, mine.ID); err != nil ||
		got.Reason != connection.ReasonUndecryptable {
		t.Errorf("Check = %+v, %v", got, err)
	}
	w.store.Swap(mine.ID, other.ID)
	if live, err := w.Use(t.Context(), account, mine.ID); err != nil || value(live, "key") != "sk_mine" {
		t.Errorf("in its place again: %v", err)
	}
	if got, err := w.Check(t.Context(), audit.Operator(), account, mine.ID); err != nil ||
		got.Status != connection.Active {
		t.Errorf("Check = %+v, %v, want it active again", got, err)
	}
}

func TestUseIsScoped(t *testing.T) {
	t.Parallel()
	w := setup(t)
	c := w.typeKey(t, "keyed", connection.ConnectOptions{}, "sk_1")
	if _, err := w.Use(t.Context(), stranger, c.ID); code(err) != "connection_not_found" {
		t.Errorf("Use by another account = %v", err)
	}
	if _, err := w.Use(t.Context(), account, "con_none"); code(err) != "connection_not_found" {
		t.Errorf("Use of nothing = %v", err)
	}
	if live := fmt.Sprintf("%v %+v %#v", w.mustUse(t, c.ID).Connection, connection.Credentials{"key": "sk_1"},
		connection.Credentials{"key": "sk_1"}); contains(live, "sk_1") {
		t.Errorf("printed: %s", live)
	}
}

func (w *world) mustUse(t *testing.T, id string) *connection.Live {
	t.Helper()
	live, err := w.Use(t.Context(), account, id)
	if err != nil {
		t.Fatal(err)
	}
	return live
}
