package platformstore_test

import (
	"testing"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/platform/trigger"
	"ace/internal/platform/trigger/triggertest"
	"ace/internal/storage"
	"ace/internal/storage/platformstore"
)

func TestTriggers(t *testing.T) {
	t.Parallel()
	const account = "acc_triggers"
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			triggertest.Run(t, account, func(t *testing.T) trigger.Store {
				db, err := sqldb.Open(t.Context(), address(t), &sqldb.Options{MaxConns: 8})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
					t.Fatal(err)
				}
				insertAccount(t, db, account)
				return platformstore.Triggers{Store: platformstore.New(db, jobs.NewLanes(nil))}
			})
		})
	}
}

// TestReplacedCredentials makes the registrations due that were made with the
// former ones, also those of a trigger that is paused.
func TestReplacedCredentials(t *testing.T) {
	t.Parallel()
	const account = "acc_replaced"
	sqldbtest.Run(t, storage.Migrations(), func(t *testing.T, db *sqldb.DB) {
		insertAccount(t, db, account)
		store := platformstore.New(db, jobs.NewLanes(nil))
		triggers, connections := platformstore.Triggers{Store: store}, platformstore.Connections{Store: store}
		now := time.Now().UTC().Truncate(time.Millisecond)
		insert := func(mode trigger.Mode, connectionID string) string {
			one := &trigger.Trigger{
				ID: trigger.NewID(), AccountID: account, App: "a", Event: "e", ConnectionID: connectionID, Mode: mode,
				Status: trigger.Paused, Reason: trigger.ByUser, CreatedAt: now, UpdatedAt: now,
			}
			if _, _, err := triggers.InsertTrigger(t.Context(), one, audit.Entry{}); err != nil {
				t.Fatal(err)
			}
			return one.ID
		}
		hook, poll := insert(trigger.ModeHook, "con_a"), insert(trigger.ModePoll, "con_a")
		other := insert(trigger.ModeHook, "con_b")
		s := &connection.Session{
			ID: "cs_a", AccountID: account, TokenDigest: "d", App: "a", Status: connection.SessionPending,
			CreatedAt: now, ExpiresAt: now.Add(time.Hour),
		}
		s, _, err := connections.InsertSession(t.Context(), s, audit.Entry{})
		if err != nil {
			t.Fatal(err)
		}
		s.Status, s.ConnectionID = connection.SessionConnected, "con_a"
		if saved, err := connections.KeepGrant(t.Context(), &connection.Connection{
			ID: "con_a", AccountID: account, App: "a", Status: connection.Active, CreatedAt: now,
		}, "sealed", s, audit.Entry{}); err != nil || !saved {
			t.Fatalf("KeepGrant = %t, %v", saved, err)
		}
		for id, want := range map[string][2]bool{hook: {true, true}, poll: {true, false}, other: {false, false}} {
			one, err := triggers.AnyTrigger(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if got := [2]bool{!one.NextAt.IsZero(), !one.RenewAt.IsZero()}; got != want {
				t.Errorf("trigger of %s by %s: tended and renewed %v, want %v", one.ConnectionID, one.Mode, got, want)
			}
		}
	})
}

func insertAccount(t *testing.T, db *sqldb.DB, id string) {
	t.Helper()
	if _, err := db.Light(
		t.Context(),
		nil,
		`INSERT INTO account (id, name, created_at, disabled_at) VALUES ($1, $1, 1, 0)`,
		id,
	); err != nil {
		t.Fatal(err)
	}
}
