package platformstore_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/tool"
	"ace/internal/platform/tool/tooltest"
	"ace/internal/platform/usage"
	"ace/internal/storage/platformstore"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	eachWithQueue(t, func(t *testing.T, s *platformstore.Store, _ queue) {
		runs := platformstore.Runs{Store: s}
		start := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
		for i, one := range []struct {
			account, app, tool, key, user string
			at                            time.Duration
			status                        tool.Status
		}{
			{"acc_a", "desk", "desk__search", "key_1", "", 0, tool.Succeeded},
			{"acc_a", "desk", "desk__search", "key_1", "ann", 23 * time.Hour, tool.Failed},
			{"acc_a", "desk", "desk__create", "key_2", "ann", 24 * time.Hour, tool.Succeeded},
			{"acc_a", "notes", "notes__list", "key_2", "", 25 * time.Hour, tool.Running},
			{"acc_a", "notes", "notes__list", "key_2", "", 72 * time.Hour, tool.Succeeded}, // later than the range
			{"acc_b", "desk", "desk__search", "key_3", "", time.Hour, tool.Succeeded},      // another account's
		} {
			r := tooltest.NewRun(one.status)
			r.AccountID, r.App, r.Tool, r.KeyID, r.EndUser = one.account, one.app, one.tool, one.key, one.user
			r.CreatedAt, r.StartedAt, r.EndedAt = start.Add(one.at), start.Add(one.at), start.Add(one.at+time.Second)
			r.Attempts, r.OutputBytes = i+1, 10
			if _, inserted, err := runs.InsertRun(t.Context(), r, false); err != nil || !inserted {
				t.Fatalf("InsertRun = %v, %v", inserted, err)
			}
		}
		at := func(d time.Duration) time.Time { return start.Add(d) }
		search := usage.Count{
			Group: "desk__search", Runs: 2, Succeeded: 1, Failed: 1, Attempts: 3, OutputBytes: 20,
			Duration: 2 * time.Second, LastRunAt: at(23 * time.Hour),
		}
		created := usage.Count{
			Group: "desk__create", Runs: 1, Succeeded: 1, Attempts: 3, OutputBytes: 10,
			Duration: time.Second, LastRunAt: at(24 * time.Hour),
		}
		listed := usage.Count{
			Group: "notes__list", Runs: 1, Attempts: 4, OutputBytes: 10, Duration: time.Second,
			LastRunAt: at(25 * time.Hour),
		}
		named := func(c usage.Count, group string) usage.Count { c.Group = group; return c }
		both := usage.Count{
			Runs: 2, Succeeded: 1, Attempts: 7, OutputBytes: 20, Duration: 2 * time.Second,
			LastRunAt: at(25 * time.Hour),
		}
		tests := []struct {
			name string
			q    usage.Query
			want []usage.Count
		}{
			{"by tool", usage.Query{By: usage.ByTool}, []usage.Count{search, created, listed}},
			{
				"by app",
				usage.Query{By: usage.ByApp},
				[]usage.Count{
					{
						Group:       "desk",
						Runs:        3,
						Succeeded:   2,
						Failed:      1,
						Attempts:    6,
						OutputBytes: 30,
						Duration:    3 * time.Second,
						LastRunAt:   at(24 * time.Hour),
					},
					named(listed, "notes"),
				},
			},
			{"by key", usage.Query{By: usage.ByKey}, []usage.Count{named(search, "key_1"), named(both, "key_2")}},
			{
				"by day",
				usage.Query{By: usage.ByDay},
				[]usage.Count{named(search, "2026-11-20"), named(both, "2026-11-21")},
			},
			{"the busiest alone", usage.Query{By: usage.ByTool, Limit: 1}, []usage.Count{search}},
			{
				"of one app",
				usage.Query{By: usage.ByKey, Apps: []string{"notes", "none"}},
				[]usage.Count{named(listed, "key_2")},
			},
			{
				"of one tool",
				usage.Query{By: usage.ByKey, Tools: []string{"desk__create"}},
				[]usage.Count{named(created, "key_2")},
			},
			{
				"of one user",
				usage.Query{By: usage.ByTool, EndUser: "ann", Tools: []string{"desk__create"}},
				[]usage.Count{created},
			},
			{"the end is left out", usage.Query{By: usage.ByTool, To: at(24 * time.Hour)}, []usage.Count{search}},
			{"nothing", usage.Query{By: usage.ByTool, From: at(26 * time.Hour)}, nil},
		}
		for _, tt := range tests {
			if tt.q.From.IsZero() {
				tt.q.From = start
			}
			if tt.q.To.IsZero() {
				tt.q.To = at(48 * time.Hour)
			}
			if tt.q.Limit == 0 {
				tt.q.Limit = 100
			}
			got, err := runs.Usage(t.Context(), "acc_a", tt.q)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
		if got, err := runs.Usage(t.Context(), "acc_a",
			usage.Query{By: "1; DROP TABLE tool_run", To: at(1)}); err == nil {
			t.Errorf("grouped by a statement: %v", got)
		}
	})
}
