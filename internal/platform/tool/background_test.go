package tool_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/tooltest"
)

func async(id, arguments string) tool.Request {
	in := request(id, arguments)
	in.Async = true
	return in
}

// status reads a run as its caller would.
func (w *world) status(t *testing.T, id string) *tool.Result {
	t.Helper()
	res, err := w.Get(t.Context(), w.by(nil), id)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func takes(d time.Duration, output any) func(context.Context, int, *tool.Call) (*tool.Answer, error) {
	return func(ctx context.Context, _ int, _ *tool.Call) (*tool.Answer, error) {
		select {
		case <-time.After(d):
			return &tool.Answer{Status: 200, Output: output}, nil
		case <-ctx.Done():
			return nil, &tool.Failure{Code: tool.CodeTimeout, Unanswered: true}
		}
	}
}

func TestRunsThatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	long := request("desk__create", `{"title":"a"}`)
	long.Timeout = 200 * time.Second
	tests := []struct {
		name   string
		in     tool.Request
		takes  time.Duration
		status tool.Status
		code   string
		sent   int
	}{
		{"asked for", async("desk__create", `{"title":"a"}`), 20 * time.Second, tool.Succeeded, "", 1},
		{"because it may take long", long, 150 * time.Second, tool.Succeeded, "", 1},
		{"longer than it may", long, 250 * time.Second, tool.Failed, tool.CodeRunTimeout, 1},
		{"arguments that do not fit", async("desk__create", `{}`), 0, "", "invalid_arguments", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := setup(t)
				w.reply = takes(tt.takes, "done")
				w.work(t)
				began := time.Now()
				res, err := w.Run(t.Context(), w.by(nil), tt.in)
				if tt.status == "" {
					if code(nil, err) != tt.code || len(w.store.All()) > 0 {
						t.Errorf("Run = %v, want %s at once", err, tt.code)
					}
					return
				}
				if err != nil || res.Run.Status != tool.Running || time.Since(began) > 0 {
					t.Fatalf("Run = %+v, %v after %v", res, err, time.Since(began))
				}
				wait(5 * time.Minute)
				end := w.status(t, res.Run.ID)
				if end.Run.Status != tt.status || code(end, nil) != tt.code || len(w.called()) != tt.sent ||
					end.Run.Request != "" {
					t.Errorf("run = %+v %q after %v", end.Run, code(end, nil), w.called())
				}
				if tt.status == tool.Succeeded && string(end.Output) != `"done"` {
					t.Errorf("output = %s", end.Output)
				}
			})
		})
	}
}

// A process that dies at any point between two steps leaves a run that another
// process ends rightly: one that may have been sent and is not safe to repeat is
// not sent again.
func TestCrashes(t *testing.T) {
	t.Parallel()
	const write, read = `desk__create {"title":"a"}`, `desk__search {"query":"ab"}`
	tests := []struct {
		name, call, at string
		status         tool.Status
		calls          int
	}{
		{"before it is noted that it is sent", write, "taken", tool.Succeeded, 1},
		{"after it is noted, before it is sent", write, "run: sent is noted", tool.Interrupted, 0},
		{"after it was answered", write, "run: answered", tool.Interrupted, 1},
		{"reading, after it is noted", read, "run: sent is noted", tool.Succeeded, 1},
		{"reading, after it was answered", read, "run: answered", tool.Succeeded, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := tooltest.NewMemory()
				first := setupOn(t, store, tool.Options{Replica: "first", Step: func(name string) {
					if name == tt.at {
						runtime.Goexit()
					}
				}})
				id, arguments, _ := strings.Cut(tt.call, " ")
				res, err := first.Run(t.Context(), first.by(nil), async(id, arguments))
				if err != nil {
					t.Fatal(err)
				}
				if tt.at == "taken" { // died with the run in its hands
					if _, taken, err := store.TakeRun(t.Context(), res.Run.ID, "first", time.Now(),
						time.Now().Add(30*time.Second)); err != nil || !taken {
						t.Fatal(taken, err)
					}
				} else if err := first.Jobs()[tool.JobRun].Run(t.Context(),
					jobs.Job{Kind: tool.JobRun, Ref: res.Run.ID}); err == nil {
					t.Fatal("the job does not come back")
				}
				synctest.Wait()
				second := setupOn(t, store, tool.Options{Replica: "second"})
				second.by(nil)
				second.work(t)
				wait(3 * time.Minute)
				end := second.status(t, res.Run.ID)
				if calls := len(first.called()) + len(second.called()); end.Run.Status != tt.status ||
					calls != tt.calls {
					t.Errorf("run is %s %q after %d calls, want %s after %d", end.Run.Status, end.Run.Code, calls,
						tt.status, tt.calls)
				}
			})
		})
	}
}

// What a stopping process cannot finish in time is left to the next one, where
// it may be sent again.
func TestStopping(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, call string
		takes      time.Duration
		status     tool.Status
		calls      int
	}{
		{"short enough", `desk__create {"title":"a"}`, 10 * time.Second, tool.Succeeded, 1},
		{"too long to wait for, writing", `desk__create {"title":"a"}`, 50 * time.Second, tool.Interrupted, 1},
		{"too long to wait for, reading", `desk__search {"query":"ab"}`, 50 * time.Second, tool.Succeeded, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := tooltest.NewMemory()
				first, second := setupOn(t, store, tool.Options{Replica: "first"}), setupOn(t, store,
					tool.Options{Replica: "second"})
				first.reply, second.reply = takes(tt.takes, "done"), takes(time.Second, "done")
				id, arguments, _ := strings.Cut(tt.call, " ")
				res, err := first.Run(t.Context(), first.by(nil), async(id, arguments))
				if err != nil {
					t.Fatal(err)
				}
				_ = first.Jobs()[tool.JobRun].Run(t.Context(), jobs.Job{Kind: tool.JobRun, Ref: res.Run.ID})
				wait(time.Second)
				first.Close()
				second.by(nil)
				second.work(t)
				wait(2 * time.Minute)
				end := second.status(t, res.Run.ID)
				if calls := len(first.called()) + len(second.called()); end.Run.Status != tt.status ||
					calls != tt.calls {
					t.Errorf("run is %s %q after %d calls, want %s after %d", end.Run.Status, end.Run.Code, calls,
						tt.status, tt.calls)
				}
			})
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		after  time.Duration
		remote bool // asked of another process than the one that works on it
		status tool.Status
		sent   int
		within time.Duration
	}{
		{"before it is taken", 0, false, tool.Canceled, 0, time.Second},
		{"while the app works", 5 * time.Second, false, tool.Canceled, 1, time.Second},
		{"of another process", 5 * time.Second, true, tool.Canceled, 1, 10 * time.Second},
		{"after its end", 2 * time.Minute, false, tool.Succeeded, 1, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := tooltest.NewMemory()
				w := setupOn(t, store, tool.Options{Replica: "first"})
				w.reply = takes(30*time.Second, "done")
				res, err := w.Run(t.Context(), w.by(nil), async("desk__create", `{"title":"a"}`))
				if err != nil {
					t.Fatal(err)
				}
				asked := w
				if tt.remote {
					asked = setupOn(t, store, tool.Options{Replica: "second"})
				}
				if tt.after > 0 {
					w.work(t)
					wait(tt.after)
				}
				if _, err := asked.Cancel(t.Context(), asked.by(nil), res.Run.ID); err != nil {
					t.Fatal(err)
				}
				if tt.after == 0 {
					w.work(t)
				}
				wait(tt.within)
				end := w.status(t, res.Run.ID)
				if end.Run.Status != tt.status || len(w.called()) != tt.sent {
					t.Errorf("run is %s after %d calls, want %s after %d", end.Run.Status, len(w.called()), tt.status,
						tt.sent)
				}
				if said := end.Failure != nil && strings.Contains(end.Failure.Detail,
					"may have been carried out"); end.Run.Status == tool.Canceled && said != (tt.sent > 0) {
					t.Errorf("its failure = %+v", end.Failure)
				}
			})
		})
	}
}

func TestCancelWhileTheCallerWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		w.reply = takes(50*time.Second, "done")
		time.AfterFunc(3*time.Second, func() {
			if _, err := w.Cancel(t.Context(), w.by(nil), w.store.All()[0].ID); err != nil {
				t.Errorf("Cancel = %v", err)
			}
		})
		began := time.Now()
		res, err := w.Run(t.Context(), w.by(nil), request("desk__create", `{"title":"a"}`))
		if err != nil || res.Run.Status != tool.Canceled || time.Since(began) > 4*time.Second {
			t.Errorf("Run = %+v, %v after %v", res, err, time.Since(began))
		}
	})
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	const read, write, remove = `desk__search {"query":"ab"}`, `desk__create {"title":"a"}`, `desk__remove {"id":"1"}`
	const get, del = `desk__request {"path":"/a"}`, `desk__request {"method":"DELETE","path":"/a"}`
	tests := []struct {
		call     string
		approval apikey.Approval
		waits    bool
	}{
		{read, apikey.ApproveNone, false},
		{write, apikey.ApproveNone, false},
		{remove, apikey.ApproveNone, false},
		{read, apikey.ApproveDestructive, false},
		{write, apikey.ApproveDestructive, false},
		{remove, apikey.ApproveDestructive, true},
		{read, apikey.ApproveWrites, false},
		{write, apikey.ApproveWrites, true},
		{remove, apikey.ApproveWrites, true},
		{get, apikey.ApproveWrites, false},
		{del, apikey.ApproveWrites, true},
		{del, apikey.ApproveDestructive, true},
	}
	for _, tt := range tests {
		w := setup(t)
		id, arguments, _ := strings.Cut(tt.call, " ")
		res, err := w.Run(t.Context(), w.by(func(k *apikey.Key) { k.Approval = tt.approval }), request(id, arguments))
		if err != nil {
			t.Fatal(err)
		}
		if waits := res.Run.Status == tool.AwaitingApproval; waits != tt.waits || waits != (len(w.called()) == 0) ||
			waits != (res.Run.Approval.ID != "") {
			t.Errorf("%s with %s: %s, want waiting %v", tt.call, tt.approval, res.Run.Status, tt.waits)
		}
	}
}

func TestDecisions(t *testing.T) {
	t.Parallel()
	person := audit.Actor{Kind: audit.ByUser, ID: "usr_1"}
	tests := []struct {
		name    string
		before  time.Duration
		agreed  bool
		key     func(*apikey.Key) // the key when the run goes on
		account string
		refused string // of the decision
		status  tool.Status
		code    string
		sent    int
	}{
		{"agreed", time.Hour, true, nil, account, "", tool.Succeeded, "", 1},
		{"denied", time.Hour, false, nil, account, "", tool.Denied, tool.CodeApprovalDenied, 0},
		{"too late", 25 * time.Hour, true, nil, account, "approval_over", tool.Denied, tool.CodeApprovalExpired, 0},
		{"by another account", time.Hour, true, nil, "acc_b", "approval_not_found", tool.AwaitingApproval, "", 0},
		{
			"of a key that was revoked since",
			time.Hour,
			true,
			func(k *apikey.Key) { k.RevokedAt = time.Now() },
			account,
			"",
			tool.Failed,
			tool.CodeRefused,
			0,
		},
		{
			"of a key that may no longer run", time.Hour, true, func(k *apikey.Key) { k.Permissions = apikey.Read },
			account, "", tool.Failed, tool.CodeRefused, 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := setup(t)
				w.work(t)
				res, err := w.Run(t.Context(), w.by(func(k *apikey.Key) { k.Approval = apikey.ApproveWrites }),
					request("desk__create", `{"title":"a"}`))
				if err != nil {
					t.Fatal(err)
				}
				listed, err := w.Approvals(t.Context(), account)
				if err != nil || len(listed) != 1 || string(listed[0].Arguments) != `{"title":"a"}` ||
					listed[0].Tool.ID != "desk__create" {
					t.Errorf("Approvals = %+v, %v", listed, err)
				}
				wait(tt.before)
				if tt.key != nil {
					w.by(tt.key)
				}
				_, err = w.Decide(t.Context(), person, tt.account, res.Run.Approval.ID, tt.agreed, "because")
				if got := code(nil, err); got != tt.refused {
					t.Errorf("Approve = %v, want %q", err, tt.refused)
				}
				wait(time.Minute)
				if _, err := w.store.SweepRuns(t.Context(), time.Now()); err != nil {
					t.Fatal(err)
				}
				end := w.status(t, res.Run.ID)
				if end.Run.Status != tt.status || code(end, nil) != tt.code || len(w.called()) != tt.sent {
					t.Errorf("run is %s %q after %d calls, want %s %q after %d", end.Run.Status, code(end, nil),
						len(w.called()), tt.status, tt.code, tt.sent)
				}
				if entries := w.store.Entries(); (len(entries) == 1) != (tt.refused == "") {
					t.Errorf("audit entries = %+v", entries)
				}
				if _, err := w.Decide(t.Context(), person, account, res.Run.Approval.ID,
					true, ""); tt.account == account && !problem.Is(err, "approval_over") {
					t.Errorf("a second decision = %v", err)
				}
			})
		})
	}
}

// One account cannot take all the places of a process.
func TestPlacesPerAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setupOn(t, tooltest.NewMemory(), tool.Options{Parallel: 4, PerAccount: 2})
		w.reply = takes(20*time.Second, "done")
		w.work(t)
		var ids []string
		for range 6 {
			res, err := w.Run(t.Context(), w.by(nil), async("desk__create", `{"title":"a"}`))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, res.Run.ID)
		}
		wait(10 * time.Second)
		if n := len(w.called()); n != 2 {
			t.Errorf("%d runs of one account at a time, want 2", n)
		}
		wait(5 * time.Minute)
		for _, id := range ids {
			if end := w.status(t, id); end.Run.Status != tool.Succeeded {
				t.Errorf("run = %+v", end.Run)
			}
		}
	})
}
