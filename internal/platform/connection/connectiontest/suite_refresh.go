package connectiontest

import (
	"testing"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
)

func (b *bench) due(t *testing.T, limit int, lease time.Duration) []jobs.Job {
	t.Helper()
	claimed, err := b.Refreshes().Claim(t.Context(), limit, lease)
	check(t, err)
	return claimed
}

func refreshesDue(t *testing.T, b *bench) {
	source := b.Refreshes()
	if wait, found, err := source.Next(t.Context()); err != nil || found {
		t.Errorf("Next of no connections = %v, %v, %v", wait, found, err)
	}
	at := func(next time.Time) func(*connection.Connection) {
		return func(c *connection.Connection) { c.NextRefreshAt = next }
	}
	due := b.connection(t, at(now().Add(-time.Minute)))
	later := b.connection(t, at(now().Add(time.Hour)))
	b.connection(t, at(time.Time{}))
	off := b.connection(t, at(now().Add(-time.Hour)))
	disable := func(c *connection.Connection) error { c.Status = connection.Disabled; return nil }
	_, err := b.ChangeConnection(t.Context(), b.mine, off.ID, disable, audit.Entry{})
	check(t, err)
	gone := b.connection(t, at(now().Add(-time.Hour)))
	check(t, b.Discard(t.Context(), gone, "", b.entry("connection.deleted")))

	if wait, found, err := source.Next(t.Context()); err != nil || !found || wait > 0 {
		t.Errorf("Next = %v, %v, %v, want one that is overdue", wait, found, err)
	}
	claimed := b.due(t, 10, time.Minute)
	if len(claimed) != 1 || claimed[0].Ref != connection.JobRef(b.mine, due.ID) ||
		claimed[0].Kind != connection.JobRefresh {
		t.Fatalf("Claim = %+v, want %s alone", claimed, due.ID)
	}
	if got := b.get(t, due.ID).NextRefreshAt; !got.Equal(claimed[0].LeaseUntil) ||
		time.Until(got) < 30*time.Second {
		t.Errorf("NextRefreshAt = %v, want the end of the lease, %v", got, claimed[0].LeaseUntil)
	}
	if again := b.due(t, 10, time.Minute); len(again) != 0 {
		t.Errorf("claimed again while it is leased: %+v", again)
	}
	if wait, found, err := source.Next(t.Context()); err != nil || !found || wait < 30*time.Second {
		t.Errorf("Next = %v, %v, %v, want the end of the lease", wait, found, err)
	}

	// Postponed, done, and enabled again.
	end := jobs.End{Job: claimed[0]}
	end.RunAt = now().Add(-time.Second)
	_, err = source.End(t.Context(), []jobs.End{end})
	check(t, err)
	if claimed = b.due(t, 10, time.Minute); len(claimed) != 1 {
		t.Fatalf("Claim of what was postponed = %+v, want one", claimed)
	}
	_, err = source.End(t.Context(), []jobs.End{{Job: claimed[0], Done: true}})
	check(t, err)
	if got := b.get(t, due.ID).NextRefreshAt; !got.IsZero() {
		t.Errorf("NextRefreshAt = %v after the job was done, want none", got)
	}
	enable := func(c *connection.Connection) error { c.Status = connection.Active; return nil }
	_, err = b.ChangeConnection(t.Context(), b.mine, off.ID, enable, audit.Entry{})
	check(t, err)
	if claimed = b.due(t, 10, time.Minute); len(claimed) != 1 ||
		claimed[0].Ref != connection.JobRef(b.mine, off.ID) {
		t.Errorf("Claim = %+v, want the connection that was enabled again", claimed)
	}
	if got := b.get(t, later.ID).NextRefreshAt; !got.Equal(later.NextRefreshAt) {
		t.Errorf("NextRefreshAt of one that is not due = %v, want %v", got, later.NextRefreshAt)
	}
}

// A refresh that was written meanwhile, or a claim after the lease expired, is
// not undone by how an older claim ends.
func refreshOvertaken(t *testing.T, b *bench) {
	c := b.connection(t, func(c *connection.Connection) { c.NextRefreshAt = now().Add(-time.Minute) })
	first := b.due(t, 1, -time.Second) // expires at once
	// The second lease ends a minute later, so that the tokens differ.
	second := b.due(t, 1, time.Minute)
	if len(first) != 1 || len(second) != 1 {
		t.Fatalf("claims = %+v, %+v, want one each", first, second)
	}
	postponed := jobs.End{Job: first[0]}
	postponed.RunAt = now().Add(-time.Hour)
	for _, stale := range []jobs.End{{Job: first[0], Done: true}, postponed} {
		_, err := b.Refreshes().End(t.Context(), []jobs.End{stale})
		check(t, err)
		if got := b.get(t, c.ID).NextRefreshAt; !got.Equal(second[0].LeaseUntil) {
			t.Errorf("NextRefreshAt = %v, want that of the second claim, %v", got, second[0].LeaseUntil)
		}
	}
	renewed := b.get(t, c.ID)
	renewed.NextRefreshAt = now().Add(time.Hour)
	lease := b.lease(t, renewed, now().Add(time.Minute))
	if saved, err := b.KeepRefresh(t.Context(), renewed, "s", lease, audit.Entry{}); err != nil || !saved {
		t.Fatalf("KeepRefresh = %v, %v", saved, err)
	}
	_, err := b.Refreshes().End(t.Context(), []jobs.End{{Job: second[0], Done: true}})
	check(t, err)
	if got := b.get(t, c.ID).NextRefreshAt; !got.Equal(renewed.NextRefreshAt) {
		t.Errorf("NextRefreshAt = %v, want the one of the refresh, %v", got, renewed.NextRefreshAt)
	}
}
