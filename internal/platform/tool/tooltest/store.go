// Package tooltest tests the promises of the stores of package tool, and provides
// a store in memory.
//
//	tooltest.Run(t, newStore)   <- platformstore on both engines, Memory
package tooltest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/audit"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
)

// Store is all that package tool stores.
type Store interface {
	tool.Runs
	tool.Queue
	tool.History
	file.Store
}

// Run tests a store; newStore returns an empty one.
func Run(t *testing.T, newStore func(t *testing.T) Store) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Store){
		"a run comes back as it was kept":       keeps,
		"one id is one run":                     once,
		"one key is one run":                    keyed,
		"a key expires":                         keyExpires,
		"runs are listed newest first":          lists,
		"one owner at a time":                   holds,
		"cancelling":                            cancels,
		"many ends at once":                     records,
		"approvals are decided once":            decides,
		"files":                                 files,
		"what is over is swept":                 sweeps,
		"a run of another account is not there": apart,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

func at() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// A is the account of most runs here.
const A = "acc_a"

// NewRun returns a run as a service would store it.
func NewRun(status tool.Status) *tool.Run {
	return &tool.Run{
		ID: typeid.New(tool.RunPrefix), AccountID: A, By: audit.Actor{Kind: audit.ByKey, ID: "key_1", IP: "192.0.2.1"},
		KeyID: "key_1", Tool: "desk__create", App: "desk", ConnectionID: "con_1",
		EndUser: "u1", Status: status, Timeout: time.Minute, CreatedAt: at(), Request: "sealed request",
	}
}

func insert(t *testing.T, s Store, r *tool.Run) *tool.Run {
	t.Helper()
	if _, inserted, err := s.InsertRun(t.Context(), r, false); err != nil || !inserted {
		t.Fatalf("InsertRun = %v, %v", inserted, err)
	}
	return r
}

func keeps(t *testing.T, s Store) {
	r := NewRun(tool.Running)
	r.Async, r.Safe, r.Sent = true, true, true
	r.Attempts, r.AppStatus, r.Code, r.OutputBytes = 2, 503, tool.CodeUnavailable, 17
	r.Approval = tool.Approval{ID: typeid.New(tool.ApprovalPrefix), ExpiresAt: at().Add(time.Hour)}
	r.Key, r.Fingerprint = "digest", "request"
	r.Owner, r.LeaseUntil, r.StartedAt, r.EndedAt, r.Result, r.StoredUntil = "p1", at().Add(time.Minute),
		at(), at().Add(
			time.Second),
		"sealed", at().Add(time.Hour)
	insert(t, s, r)
	got, err := s.Run(t.Context(), A, r.ID)
	if diff := cmp.Diff(r, got); err != nil || diff != "" {
		t.Errorf("Run (-kept +got):\n%s%v", diff, err)
	}
	byID, err := s.RunByID(t.Context(), r.ID)
	if diff := cmp.Diff(r, byID); err != nil || diff != "" {
		t.Errorf("RunByID (-kept +got):\n%s%v", diff, err)
	}
	if none, err := s.RunByID(t.Context(), typeid.New(tool.RunPrefix)); err != nil || none != nil {
		t.Errorf("RunByID of none = %v, %v", none, err)
	}
}

func once(t *testing.T, s Store) {
	r := NewRun(tool.Running)
	var inserted atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			mine := *r
			mine.Owner = fmt.Sprint(i)
			stored, fresh, err := s.InsertRun(t.Context(), &mine, true)
			if err != nil || stored == nil || stored.ID != r.ID {
				t.Errorf("InsertRun = %v, %v", stored, err)
			}
			if fresh {
				inserted.Add(1)
			}
		})
	}
	all.Wait()
	if inserted.Load() != 1 {
		t.Errorf("one id was inserted %d times", inserted.Load())
	}
}

func keyed(t *testing.T, s Store) {
	var inserted atomic.Int64
	var all sync.WaitGroup
	first := NewRun(tool.Running)
	first.Key, first.Fingerprint = "digest", "request"
	ids := make([]string, 8)
	for i := range ids {
		all.Go(func() {
			mine := *first
			mine.ID = typeid.New(tool.RunPrefix)
			stored, fresh, err := s.InsertRun(t.Context(), &mine, true)
			if err != nil || stored == nil || stored.Fingerprint != "request" {
				t.Errorf("InsertRun = %+v, %v", stored, err)
				return
			}
			if ids[i] = stored.ID; fresh {
				inserted.Add(1)
			}
		})
	}
	all.Wait()
	if inserted.Load() != 1 {
		t.Errorf("one key was inserted %d times", inserted.Load())
	}
	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("InsertRun returned the runs %v, want one", ids)
		}
	}
	if got, err := s.RunByKey(t.Context(), A, "digest"); err != nil || got == nil || got.ID != ids[0] {
		t.Errorf("RunByKey = %+v, %v, want %s", got, err, ids[0])
	}
	for account, key := range map[string]string{A: "other", "acc_b": "digest"} {
		if got, err := s.RunByKey(t.Context(), account, key); err != nil || got != nil {
			t.Errorf("RunByKey(%s, %s) = %+v, %v, want none", account, key, got, err)
		}
	}
	for range 2 { // no key is not the same key
		insert(t, s, NewRun(tool.Running))
	}
}

func keyExpires(t *testing.T, s Store) {
	old := NewRun(tool.Succeeded)
	old.Key, old.CreatedAt = "digest", at().Add(-tool.KeyLifetime)
	insert(t, s, old)
	if got, err := s.RunByKey(t.Context(), A, "digest"); err != nil || got != nil {
		t.Errorf("RunByKey after its lifetime = %+v, %v, want none", got, err)
	}
	fresh := NewRun(tool.Running)
	fresh.Key = "digest"
	insert(t, s, fresh)
	if got, err := s.RunByKey(t.Context(), A, "digest"); err != nil || got == nil || got.ID != fresh.ID {
		t.Errorf("RunByKey = %+v, %v, want %s", got, err, fresh.ID)
	}
	if got, err := s.Run(t.Context(), A, old.ID); err != nil || got.ID != old.ID {
		t.Errorf("Run of the old one = %+v, %v", got, err)
	}
}

func lists(t *testing.T, s Store) {
	base := at()
	var ids []string
	for i := range 7 {
		r := NewRun(tool.Succeeded)
		r.CreatedAt = base.Add(time.Duration(i/2) * time.Second) // two of one time each
		if i == 3 {
			r.Tool, r.App, r.Status = "mail__send", "mail", tool.Failed
			r.ConnectionID, r.KeyID, r.EndUser = "con_2", "key_2", "u2"
		}
		insert(t, s, r)
		ids = append(ids, r.ID)
	}
	odd := ids[3]
	for _, q := range []tool.Query{
		{Tool: "mail__send"},
		{App: "mail"},
		{Status: "failed"},
		{ConnectionID: "con_2"},
		{KeyID: "key_2"},
		{EndUser: "u2"},
		{Apps: []string{"mail", "none"}},
		{Tools: []string{"mail__send"}},
	} {
		q.Limit = 10
		if got, err := s.Runs(t.Context(), A, q); err != nil || len(got) != 1 || got[0].ID != odd {
			t.Errorf("Runs(%+v) = %d runs, %v", q, len(got), err)
		}
		q.Before = odd // of the page, which a count knows not
		if got, err := s.CountRuns(t.Context(), A, q); err != nil || got != 1 {
			t.Errorf("CountRuns(%+v) = %d, %v; want 1", q, got, err)
		}
	}
	if got, err := s.CountRuns(t.Context(), A, tool.Query{Limit: 1}); err != nil || got != len(ids) {
		t.Errorf("CountRuns = %d, %v; want %d", got, err, len(ids))
	}
	if got, err := s.CountRuns(t.Context(), "acc_b", tool.Query{}); err != nil || got != 0 {
		t.Errorf("CountRuns of another account = %d, %v", got, err)
	}
	seen := map[string]bool{}
	var last *tool.Run
	before := ""
	for {
		page, err := s.Runs(t.Context(), A, tool.Query{Before: before, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			if seen[r.ID] || last != nil && r.CreatedAt.After(last.CreatedAt) {
				t.Errorf("run %s at %v is behind %v", r.ID, r.CreatedAt, last)
			}
			seen[r.ID], last = true, r
		}
		before = page[len(page)-1].ID
	}
	if len(seen) != 7 {
		t.Errorf("pages held %d of 7 runs", len(seen))
	}
}

func holds(t *testing.T, s Store) {
	ctx := t.Context()
	r := insert(t, s, NewRun(tool.Running))
	var taken atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, mine, err := s.TakeRun(ctx, r.ID, fmt.Sprint("p", i), at(), at().Add(time.Minute)); err != nil {
				t.Errorf("TakeRun = %v", err)
			} else if mine {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if taken.Load() != 1 {
		t.Fatalf("one run was taken %d times", taken.Load())
	}
	got, err := s.RunByID(ctx, r.ID)
	if err != nil || got.Owner == "" || got.StartedAt.IsZero() || got.Sent {
		t.Fatalf("taken run = %+v, %v", got, err)
	}
	if held, _, err := s.HoldRun(ctx, r.ID, "stranger", at().Add(time.Hour), true); err != nil || held {
		t.Errorf("a stranger holds the run: %v, %v", held, err)
	}
	if held, cancel, err := s.HoldRun(ctx, r.ID, got.Owner, at().Add(time.Hour), true); err != nil || !held || cancel {
		t.Errorf("HoldRun = %v, %v, %v", held, cancel, err)
	}
	if held, _, err := s.HoldRun(ctx, r.ID, got.Owner, at().Add(-time.Second), false); err != nil || !held {
		t.Errorf("HoldRun = %v, %v", held, err)
	}
	if later, err := s.RunByID(ctx, r.ID); err != nil || !later.Sent {
		t.Errorf("that it was sent is forgotten: %+v, %v", later, err)
	}
	second, mine, err := s.TakeRun(ctx, r.ID, "second", at(), at().Add(time.Minute))
	if err != nil || !mine || second.Owner != "second" || !second.StartedAt.Equal(got.StartedAt) {
		t.Errorf("TakeRun after the hold = %+v, %v, %v", second, mine, err)
	}
	finish(t, s, r, got, second)
}

// finish ends a run: a worker that lost it cannot, its owner can, once.
func finish(t *testing.T, s Store, r, first, second *tool.Run) {
	t.Helper()
	end := *first
	end.Status, end.EndedAt, end.Result = tool.Succeeded, at(), "late"
	if done, err := s.FinishRun(t.Context(), &end); err != nil || done {
		t.Errorf("who lost the run ended it: %v, %v", done, err)
	}
	end.Owner, end.Result, end.StoredUntil, end.Attempts, end.AppStatus, end.OutputBytes = second.Owner, "sealed", at().
		Add(time.Hour), 2, 200, 5
	if done, err := s.FinishRun(t.Context(), &end); err != nil || !done {
		t.Errorf("FinishRun = %v, %v", done, err)
	}
	if done, err := s.FinishRun(t.Context(), &end); err != nil || done {
		t.Errorf("a run ended twice: %v, %v", done, err)
	}
	got, err := s.RunByID(t.Context(), r.ID)
	if err != nil || got.Status != tool.Succeeded || got.Result != "sealed" || got.Request != "" || got.Attempts != 2 ||
		got.AppStatus != 200 || !got.LeaseUntil.IsZero() {
		t.Errorf("ended run = %+v, %v", got, err)
	}
	if _, mine, err := s.TakeRun(t.Context(), r.ID, "third", at().Add(time.Hour), at().Add(2*time.Hour)); err != nil ||
		mine {
		t.Errorf("a run that is over was taken: %v, %v", mine, err)
	}
}

func records(t *testing.T, s Store) {
	end := func(r *tool.Run) *tool.Run {
		over := *r
		over.Status, over.EndedAt, over.Attempts, over.LeaseUntil = tool.Failed, at(), 3, time.Time{}
		over.Request, over.Result, over.StoredUntil = "", "sealed", at().Add(time.Hour)
		return &over
	}
	fresh := NewRun(tool.Running)
	mine := NewRun(tool.Running)
	mine.Owner, mine.LeaseUntil = "p1", at().Add(time.Minute)
	lost := NewRun(tool.Running)
	lost.Owner, lost.LeaseUntil = "p2", at().Add(time.Minute)
	over := NewRun(tool.Succeeded)
	over.Owner = "p1"
	for _, r := range []*tool.Run{mine, lost, over} {
		insert(t, s, r)
	}
	batch := []*tool.Run{end(fresh), end(mine), end(lost), end(over)}
	for _, r := range batch {
		r.Owner = "p1"
	}
	if err := s.RecordRuns(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		run    *tool.Run
		status tool.Status
	}{
		{"a new one", fresh, tool.Failed},
		{"one's own", mine, tool.Failed},
		{"another's", lost, tool.Running},
		{"one that is over", over, tool.Succeeded},
	} {
		got, err := s.RunByID(t.Context(), tt.run.ID)
		if err != nil || got == nil || got.Status != tt.status || (got.Status == tool.Failed) !=
			(got.Result == "sealed" && got.Request == "" && got.Attempts == 3 && got.LeaseUntil.IsZero()) {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
	if err := s.RecordRuns(t.Context(), nil); err != nil {
		t.Errorf("RecordRuns of none = %v", err)
	}
}

func cancels(t *testing.T, s Store) {
	ctx := t.Context()
	held := NewRun(tool.Running)
	held.Owner, held.LeaseUntil = "p1", at().Add(time.Minute)
	over := NewRun(tool.Succeeded)
	tests := []struct {
		name       string
		run        *tool.Run
		status     tool.Status
		cancelling bool
	}{
		{"waits for a person", NewRun(tool.AwaitingApproval), tool.Canceled, false},
		{"waits for its job", NewRun(tool.Running), tool.Canceled, false},
		{"is worked on", held, tool.Running, true},
		{"is over", over, tool.Succeeded, false},
	}
	for _, tt := range tests {
		insert(t, s, tt.run)
		got, err := s.CancelRun(ctx, A, tt.run.ID, at())
		if err != nil || got.Status != tt.status || got.Cancelling != tt.cancelling ||
			(got.Status == tool.Canceled) != (got.Request == "") {
			t.Errorf("%s: CancelRun = %+v, %v", tt.name, got, err)
		}
	}
	if _, cancel, err := s.HoldRun(ctx, held.ID, "p1", at().Add(time.Minute), false); err != nil || !cancel {
		t.Errorf("its worker does not hear of it: %v, %v", cancel, err)
	}
}

func decides(t *testing.T, s Store) {
	ctx := t.Context()
	r := NewRun(tool.AwaitingApproval)
	r.Approval = tool.Approval{ID: typeid.New(tool.ApprovalPrefix), ExpiresAt: at().Add(time.Hour)}
	insert(t, s, r)
	if got, err := s.RunByApproval(ctx, A, r.Approval.ID); err != nil || got.ID != r.ID {
		t.Errorf("RunByApproval = %v, %v", got, err)
	}
	if _, err := s.RunByApproval(ctx, "acc_b", r.Approval.ID); !problem.Is(err, "approval_not_found") {
		t.Errorf("RunByApproval another account = %v", err)
	}
	var decided atomic.Int64
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			as := *r
			as.Status = tool.Running
			if i%2 == 1 {
				as.Status, as.Code, as.EndedAt, as.Request = tool.Denied, tool.CodeApprovalDenied, at(), ""
			}
			as.Approval.DecidedBy, as.Approval.DecidedAt, as.Approval.Reason = audit.Actor{
				Kind: audit.ByUser,
				ID:   "usr_1",
			}, at(), "fine"
			ok, err := s.DecideRun(ctx, &as, audit.New(A, as.Approval.DecidedBy, "run.decided", r.ID, nil))
			if err != nil {
				t.Errorf("DecideRun = %v", err)
			}
			if ok {
				decided.Add(1)
			}
		})
	}
	all.Wait()
	got, err := s.Run(ctx, A, r.ID)
	if err != nil || decided.Load() != 1 || got.Approval.DecidedBy.ID != "usr_1" || got.Approval.Reason != "fine" ||
		got.Status == tool.AwaitingApproval {
		t.Errorf("decided %d times: %+v, %v", decided.Load(), got, err)
	}
	late := NewRun(tool.AwaitingApproval)
	late.Approval = tool.Approval{ID: typeid.New(tool.ApprovalPrefix), ExpiresAt: at().Add(-time.Second)}
	insert(t, s, late)
	late.Status, late.Approval.DecidedAt = tool.Running, at()
	if ok, err := s.DecideRun(ctx, late, audit.New(A, audit.System(), "run.approved", late.ID, nil)); err != nil || ok {
		t.Errorf("a decision after its time counts: %v, %v", ok, err)
	}
}

func newFile(account string, size int64) *file.Info {
	return &file.Info{
		ID: typeid.New(file.Prefix), AccountID: account, EndUser: "u1", Name: "ü.pdf", MediaType: "application/pdf",
		Size: size, SHA256: "abc", CreatedAt: at(), ExpiresAt: at().Add(time.Hour),
	}
}

func files(t *testing.T, s Store) {
	ctx := t.Context()
	f := newFile(A, 60)
	if err := s.InsertFile(ctx, f, []string{"one", "two", "three"}, 100); err != nil {
		t.Fatal(err)
	}
	got, err := s.File(ctx, A, f.ID, at())
	if diff := cmp.Diff(f, got); err != nil || diff != "" {
		t.Errorf("File (-kept +got):\n%s%v", diff, err)
	}
	pieces, err := s.Pieces(ctx, f.ID)
	if diff := cmp.Diff([]string{"one", "two", "three"}, pieces); err != nil || diff != "" {
		t.Errorf("Pieces (-kept +got):\n%s%v", diff, err)
	}
	if _, err := s.File(ctx, "acc_b", f.ID, at()); !problem.Is(err, "file_not_found") {
		t.Errorf("a file of another account = %v", err)
	}
	if _, err := s.FileByID(ctx, f.ID, at()); err != nil {
		t.Errorf("FileByID = %v", err)
	}
	if _, err := s.FileByID(ctx, f.ID, f.ExpiresAt); !problem.Is(err, "file_not_found") {
		t.Errorf("a file whose time is over = %v", err)
	}
	if err := s.InsertFile(ctx, newFile(A, 41), nil, 100); !problem.Is(err, "file_quota_reached") {
		t.Errorf("more than the quota = %v", err)
	}
	if err := s.InsertFile(ctx, newFile(A, 40), nil, 100); err != nil {
		t.Errorf("as much as the quota = %v", err)
	}
	if err := s.InsertFile(ctx, newFile("acc_b", 100), nil, 100); err != nil {
		t.Errorf("the quota of another account = %v", err)
	}
}

func sweeps(t *testing.T, s Store) {
	ctx := t.Context()
	now := at()
	make := func(status tool.Status, change func(*tool.Run)) *tool.Run {
		r := NewRun(status)
		if change != nil {
			change(r)
		}
		return insert(t, s, r)
	}
	tests := []struct {
		name   string
		run    *tool.Run
		status tool.Status // "": forgotten
		result string
	}{
		{
			"nobody is at it", make(tool.Running, func(r *tool.Run) { r.LeaseUntil = now.Add(-time.Second) }),
			tool.Interrupted, "",
		},
		{
			"somebody is at it", make(tool.Running, func(r *tool.Run) { r.LeaseUntil = now.Add(time.Minute) }),
			tool.Running, "",
		},
		{
			"its job continues it",
			make(tool.Running, func(r *tool.Run) { r.Async, r.LeaseUntil = true, now.Add(-time.Second) }), tool.Running,
			"",
		},
		{
			"nobody agreed",
			make(tool.AwaitingApproval, func(r *tool.Run) { r.Approval = tool.Approval{ID: "apr_1", ExpiresAt: now} }),
			tool.Denied, "",
		},
		{
			"waits",
			make(tool.AwaitingApproval, func(r *tool.Run) {
				r.Approval = tool.Approval{
					ID:        "apr_2",
					ExpiresAt: now.Add(time.Second),
				}
			}), tool.AwaitingApproval, "",
		},
		{
			"kept for a day",
			make(tool.Succeeded, func(r *tool.Run) { r.Result, r.StoredUntil = "sealed", now.Add(time.Second) }),
			tool.Succeeded, "sealed",
		},
		{
			"no longer kept", make(tool.Succeeded, func(r *tool.Run) { r.Result, r.StoredUntil = "sealed", now }),
			tool.Succeeded, "",
		},
		{
			"listed long enough",
			make(tool.Failed, func(r *tool.Run) { r.CreatedAt = now.Add(-tool.RunLifetime) }),
			"",
			"",
		},
	}
	gone := newFile(A, 1)
	gone.ExpiresAt = now
	if err := s.InsertFile(ctx, gone, []string{"x"}, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SweepRuns(ctx, now); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		got, err := s.RunByID(ctx, tt.run.ID)
		switch {
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case got == nil:
			if tt.status != "" {
				t.Errorf("%s: it is gone", tt.name)
			}
		case got.Status != tt.status || got.Result != tt.result || got.Status.Ended() && tt.run.Status != got.Status &&
			(got.Request != "" || got.EndedAt.IsZero() || got.Code == ""):
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
	if pieces, err := s.Pieces(ctx, gone.ID); err != nil || len(pieces) != 0 {
		t.Errorf("pieces of a file whose time is over: %v, %v", pieces, err)
	}
}

func apart(t *testing.T, s Store) {
	ctx := t.Context()
	r := insert(t, s, NewRun(tool.AwaitingApproval))
	if _, err := s.Run(ctx, "acc_b", r.ID); !problem.Is(err, "run_not_found") {
		t.Errorf("Run = %v", err)
	}
	if _, err := s.CancelRun(ctx, "acc_b", r.ID, at()); !problem.Is(err, "run_not_found") {
		t.Errorf("CancelRun = %v", err)
	}
	if list, err := s.Runs(ctx, "acc_b", tool.Query{Limit: 10}); err != nil || len(list) != 0 {
		t.Errorf("Runs = %v, %v", list, err)
	}
	same := *r
	same.AccountID = "acc_b"
	if stored, inserted, err := s.InsertRun(ctx, &same, false); inserted || stored != nil || !problem.Is(err,
		"run_not_found") {
		t.Errorf("InsertRun under the id of another account = %v, %v, %v", stored, inserted, err)
	}
	if got, err := s.Run(ctx, A, r.ID); err != nil || got.Status != tool.AwaitingApproval {
		t.Errorf("the run itself: %+v, %v", got, err)
	}
}
