package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/excerpt"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/tooltest"
)

func TestRun(t *testing.T) {
	t.Parallel()
	w := setup(t)
	res, err := w.Run(t.Context(), w.by(nil), request("desk__search", `{"query":"broken"}`))
	if err != nil {
		t.Fatal(err)
	}
	if !res.OK() || string(res.Output) != `{"id":"t1"}` || res.Cursor != "" || res.Run.AppStatus != 200 ||
		res.Run.Attempts != 1 || res.Run.ConnectionID != "con_1" {
		t.Errorf("Run = %+v %s", res.Run, res.Output)
	}
	if diff := cmp.Diff([]string{`desk__search {"limit":20,"query":"broken"} s3cret-0`}, w.called()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	again, err := w.Get(t.Context(), w.by(nil), res.Run.ID)
	if err != nil || string(again.Output) != string(res.Output) || again.Run.Status != tool.Succeeded {
		t.Errorf("Get = %+v, %v", again, err)
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	conflict := func(code string) error {
		return problem.New(problem.Conflict, code, "No.").With("connection_id", "con_1")
	}
	restrict := func(change func(*apikey.Restrictions)) func(*apikey.Key) {
		return func(k *apikey.Key) { change(&k.Restrict) }
	}
	tests := []struct {
		name, tool, arguments string
		key                   func(*apikey.Key)
		choose                error
		change                func(*tool.Request)
		want                  string // code, then items or members
	}{
		{"no such tool", "desk__serach", `{}`, nil, nil, nil, "tool_not_found find_tools did_you_mean=[desk__search]"},
		{"no such app", "dseks__create", `{}`, nil, nil, nil, "tool_not_found find_tools did_you_mean=[desk__create]"},
		{"nothing like it", "qqqqqqqq", `{}`, nil, nil, nil, "tool_not_found find_tools"},
		{
			"too short", "desk__search", `{"query":"a"}`, nil, nil, nil,
			"invalid_arguments fix_arguments /arguments/query invalid_length",
		},
		{
			"missing and unknown", "desk__search", `{"q":"ab","kind":"lost"}`, nil, nil, nil,
			"invalid_arguments fix_arguments /arguments/kind invalid_choice /arguments/q unknown_field " +
				"/arguments/query required",
		},
		{
			"deep", "desk__create", `{"title":"a","tags":["x",1]}`, nil, nil,
			nil, "invalid_arguments fix_arguments /arguments/tags/1 invalid_type",
		},
		{"no object", "desk__search", `[]`, nil, nil, nil, "invalid_arguments fix_arguments /arguments invalid_type"},
		{"null", "desk__search", `null`, nil, nil, nil, "invalid_arguments fix_arguments /arguments invalid_type"},
		{
			"another app's key", "desk__search", `{"query":"ab"}`,
			restrict(func(r *apikey.Restrictions) { r.Apps = []string{"mail"} }), nil, nil,
			"key_restricted ask_owner_for_permission",
		},
		{
			"another tool's key", "desk__search", `{"query":"ab"}`,
			restrict(func(r *apikey.Restrictions) { r.Tools = []string{"desk__create"} }), nil, nil,
			"key_restricted ask_owner_for_permission",
		},
		{
			"before the arguments are read", "desk__create",
			`{}`, restrict(func(r *apikey.Restrictions) { r.ReadOnlyTools = true }), nil,
			nil, "key_restricted ask_owner_for_permission",
		},
		{
			"no requests of one's own", "desk__request", `{"path":"/a"}`,
			restrict(func(r *apikey.Restrictions) { r.RawRequests = false }), nil,
			nil, "key_restricted ask_owner_for_permission",
		},
		{
			"reading only, by request", "desk__request", `{"method":"POST","path":"/"}`,
			restrict(func(r *apikey.Restrictions) { r.ReadOnlyTools = true }), nil,
			nil, "key_restricted ask_owner_for_permission",
		},
		{
			"another user's key", "desk__search", `{"query":"ab"}`,
			restrict(func(r *apikey.Restrictions) { r.EndUser = "u1" }), nil,
			func(r *tool.Request) { r.EndUser = "u2" },
			"key_restricted ask_owner_for_permission /end_user key_restricted",
		},
		{
			"the key's own user has none", "desk__search", `{"query":"ab"}`,
			restrict(func(r *apikey.Restrictions) { r.EndUser = "u1" }), nil, nil, "connection_not_found ",
		},
		{
			"not connected", "desk__search", `{"query":"ab"}`,
			nil, problem.New(problem.Conflict, "not_connected", "No.").Advise("connect_app"), nil,
			"not_connected connect_app connect=https://platform.example/connect/desk--",
		},
		{
			"not connected, may not connect", "desk__search", `{"query":"ab"}`,
			func(k *apikey.Key) { k.Permissions = apikey.Run },
			problem.New(problem.Conflict, "not_connected", "No.").Advise("connect_app"), nil,
			"not_connected ask_owner_to_connect",
		},
		{
			"needs a reconnect", "desk__search", `{"query":"ab"}`, nil, conflict("reconnect_required"), nil,
			"reconnect_required  connect=https://platform.example/connect/desk-con_1-",
		},
		{
			"switched off", "desk__search", `{"query":"ab"}`, nil, conflict("connection_disabled"), nil,
			"connection_disabled ",
		},
		{
			"too patient", "desk__search", `{"query":"ab"}`, nil, nil, func(r *tool.Request) { r.Timeout = time.Hour },
			"invalid_request  /timeout_seconds invalid_request",
		},
		{
			"too small a part", "desk__search", `{"query":"ab"}`, nil, nil,
			func(r *tool.Request) { r.Output.MaxBytes = 10 }, "invalid_request  /output/max_bytes invalid_request",
		},
		{
			"no field", "desk__search", `{"query":"ab"}`, nil,
			nil, func(r *tool.Request) { r.Output.Fields = []string{""} },
			"invalid_request  /output/fields invalid_request",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.connections.refuse = tt.choose
			in := request(tt.tool, tt.arguments)
			if tt.change != nil {
				tt.change(&in)
			}
			_, err := w.Run(t.Context(), w.by(tt.key), in)
			p, ok := problem.From(err)
			if err == nil || !ok {
				t.Fatalf("Run = %v, want a problem", err)
			}
			got := p.Code + " " + p.NextAction
			for _, item := range p.Items {
				got += " " + item.Pointer + " " + item.Code
			}
			if near, ok := p.Members["did_you_mean"]; ok {
				got += " did_you_mean=" + fmt.Sprint(near)
			}
			if link, ok := p.Members["connect"].(*tool.Link); ok {
				got += " connect=" + link.URL
			}
			if strings.TrimRight(got, " ") != strings.TrimRight(tt.want, " ") {
				t.Errorf("Run is refused with\n got %s\nwant %s", got, tt.want)
			}
			if len(w.called()) > 0 || len(w.store.All()) > 0 {
				t.Errorf("a refused run was sent or kept: %v", w.called())
			}
		})
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		granted []string
		want    string
	}{
		{nil, ""}, // not known
		{[]string{"desk.read", "desk.write"}, ""},
		{[]string{"desk.read"}, "insufficient_scope"},
	}
	for _, tt := range tests {
		w := setup(t)
		w.connections.chosen.Scopes = tt.granted
		res, err := w.Run(t.Context(), w.by(nil), request("desk__create", `{"title":"a"}`))
		if got := code(res, err); got != tt.want {
			t.Errorf("with %v: %q, want %q", tt.granted, got, tt.want)
		}
		if p, ok := problem.From(err); ok &&
			(fmt.Sprint(p.Members["missing_scopes"]) != "[desk.write]" || p.Members["connect"] == nil) {
			t.Errorf("members = %v", p.Members)
		}
	}
}

// What happens to a call that the app refuses, by what the tool does.
func TestAttempts(t *testing.T) {
	t.Parallel()
	busy := failure(tool.CodeUnavailable,
		func(f *tool.Failure) { f.AppStatus, f.RetryAfter, f.Retryable = 503, 2*time.Second, true })
	slow := failure(tool.CodeRateLimited, func(f *tool.Failure) {
		f.AppStatus, f.RetryAfter, f.Retryable, f.Unsent = 429, 3*time.Second, true, true
	})
	silent := failure(tool.CodeUnavailable,
		func(f *tool.Failure) { f.AppStatus, f.Retryable, f.Unsent, f.Unanswered = 0, true, true, true })
	unknown := failure(tool.CodeUnauthorized, func(f *tool.Failure) { f.AppStatus, f.Unsent = 401, true })
	forever := failure(tool.CodeRateLimited,
		func(f *tool.Failure) { f.AppStatus, f.RetryAfter, f.Unsent = 429, 10*time.Minute, true })
	const read, write, put = `desk__search {"query":"ab"}`, `desk__create {"title":"a"}`, `desk__replace {"id":"1"}`
	tests := []struct {
		name, call string
		replies    []any
		others     int // credentials that can be renewed
		code       string
		calls      int
		took       time.Duration
	}{
		{"a success", write, []any{"ok"}, 0, "", 1, 0},
		{"busy, reading", read, []any{busy, "ok"}, 0, "", 2, 2 * time.Second},
		{"busy, writing", write, []any{busy, "ok"}, 0, tool.CodeUnavailable, 1, 0},
		{"busy, replacing", put, []any{busy, "ok"}, 0, "", 2, 2 * time.Second},
		{"busy for good", read, []any{busy}, 0, tool.CodeUnavailable, 4, 6 * time.Second},
		{"too fast, writing", write, []any{slow, "ok"}, 0, "", 2, 3 * time.Second},
		{"longer than there is time", read, []any{forever, "ok"}, 0, tool.CodeRateLimited, 1, 0},
		{"not reached, writing", write, []any{silent, "ok"}, 0, "", 2, -1},
		{"refused for what it says", read, []any{failure(tool.CodeBadRequest, nil)}, 0, tool.CodeBadRequest, 1, 0},
		{"expired, renewed", write, []any{unknown, "ok"}, 1, "", 2, 0},
		{"expired, not to be renewed", write, []any{unknown, "ok"}, 0, tool.CodeUnauthorized, 1, 0},
		{"refused, renewed and refused again", write, []any{unknown, unknown, "ok"}, 5, tool.CodeUnauthorized, 2, 0},
		{"renewed, then busy", read, []any{unknown, busy, "ok"}, 1, "", 3, 2 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := setup(t)
				w.script(tt.replies...)
				w.connections.others = tt.others
				id, arguments, _ := strings.Cut(tt.call, " ")
				began := time.Now()
				res, err := w.Run(t.Context(), w.by(nil), request(id, arguments))
				took := time.Since(began)
				if got := code(res, err); got != tt.code || len(w.called()) != tt.calls || tt.took >= 0 &&
					took != tt.took {
					t.Errorf("%q after %d calls and %v, want %q after %d and %v", got, len(w.called()), took, tt.code,
						tt.calls, tt.took)
				}
				if res != nil && (res.Run.Attempts != tt.calls || res.OK() != (tt.code == "")) {
					t.Errorf("run = %+v", res.Run)
				}
			})
		})
	}
}

// TestConnectionsAreTold is what the connection hears of a run: that it works, with
// the credentials that did, and each refusal of the first two.
func TestConnectionsAreTold(t *testing.T) {
	t.Parallel()
	unknown := failure(tool.CodeUnauthorized, func(f *tool.Failure) { f.Unsent = true })
	tests := []struct {
		name    string
		replies []any
		others  int
		refused int
		worked  string // the key that did; empty: none
	}{
		{"a success", []any{"ok"}, 0, 0, "s3cret-0"},
		{"a success after a renewal", []any{unknown, "ok"}, 1, 1, "s3cret-1"},
		{"new credentials are refused too", []any{unknown}, 5, 2, ""},
		{"there are no others", []any{unknown}, 0, 1, ""},
		{"the app refuses for another reason", []any{failure(tool.CodeForbidden, nil)}, 0, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.script(tt.replies...)
			w.connections.others = tt.others
			if _, err := w.Run(t.Context(), w.by(nil), request("desk__create", `{"title":"a"}`)); err != nil {
				t.Fatal(err)
			}
			worked := ""
			if n := len(w.connections.worked); n == 1 {
				worked, _ = w.connections.worked[0].Values.Value("key")
			} else if n > 1 {
				t.Errorf("told %d times that it works", n)
			}
			if w.connections.refused != tt.refused || worked != tt.worked {
				t.Errorf("told of %d refusals and that %q works, want %d and %q", w.connections.refused, worked,
					tt.refused, tt.worked)
			}
		})
	}
}

// TestEndedWhileRefused is a connection that turns out to have ended once new
// credentials are refused too.
func TestEndedWhileRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.script(failure(tool.CodeUnauthorized, func(f *tool.Failure) { f.Unsent = true }))
	w.connections.others, w.connections.ended = 1, true
	res, err := w.Run(t.Context(), w.by(nil), request("desk__create", `{"title":"a"}`))
	p, _ := problem.From(err)
	if p == nil || p.Code != "reconnect_required" || p.Members["connect"] == nil || len(w.called()) != 2 {
		t.Errorf("Run = %+v, %v after %d calls, want reconnect_required with a link after 2", res, err, len(w.called()))
	}
}

func TestRenewedCredentialsAreUsed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.script(failure(tool.CodeUnauthorized, func(f *tool.Failure) { f.Unsent = true }), "ok")
	w.connections.others = 1
	if _, err := w.Run(t.Context(), w.by(nil), request("desk__create", `{"title":"a"}`)); err != nil {
		t.Fatal(err)
	}
	if calls := w.called(); len(calls) != 2 || !strings.HasSuffix(calls[0], "s3cret-0") || !strings.HasSuffix(calls[1],
		"s3cret-1") {
		t.Errorf("calls = %v", calls)
	}
}

func TestRunTimeout(t *testing.T) {
	t.Parallel()
	hang := func(ctx context.Context, _ int, _ *tool.Call) (*tool.Answer, error) {
		<-ctx.Done()
		return nil, &tool.Failure{Code: tool.CodeTimeout, Unanswered: true}
	}
	for id, safe := range map[string]bool{`desk__search {"query":"ab"}`: true, `desk__create {"title":"a"}`: false} {
		synctest.Test(t, func(t *testing.T) {
			w := setup(t)
			w.reply = hang
			name, arguments, _ := strings.Cut(id, " ")
			in := request(name, arguments)
			in.Timeout = 7 * time.Second
			began := time.Now()
			_, err := w.Run(t.Context(), w.by(nil), in)
			p, _ := problem.From(err)
			if p.Code != "run_timeout" || p.Kind != problem.Timeout || p.Members["safe_to_retry"] != safe ||
				time.Since(began) != 7*time.Second {
				t.Errorf("%s: %v %v after %v", name, err, p.Members, time.Since(began))
			}
			kept, err := w.Get(t.Context(), w.by(nil), p.Members["run_id"].(string))
			if err != nil || kept.Run.Status != tool.Failed || kept.Failure.Code != "run_timeout" ||
				kept.Failure.Retryable != safe {
				t.Errorf("%s: kept %+v, %v", name, kept, err)
			}
		})
	}
}

// A caller who goes away does not end what was begun: what became of it can be
// read.
func TestTheCallerGoesAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		w.reply = func(ctx context.Context, _ int, _ *tool.Call) (*tool.Answer, error) {
			time.Sleep(5 * time.Second)
			return &tool.Answer{Status: 201, Output: "done"}, ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if res, err := w.Run(ctx, w.by(nil), request("desk__create", `{"title":"a"}`)); err != nil || !res.OK() {
			t.Errorf("Run = %v, %v", res, err)
		}
	})
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.connections.useErr = errors.New("credentials were opened")
	in := request("desk__create", `{"title":"a"}`)
	in.DryRun = true
	res, err := w.Run(t.Context(), w.by(func(k *apikey.Key) { k.Approval = apikey.ApproveWrites }), in)
	if err != nil || res.Preview == nil || res.Preview.URL != "/tickets" || !res.NeedsApproval || res.Run.Status != "" {
		t.Errorf("Run = %+v, %v", res, err)
	}
	in.Arguments = json.RawMessage(`{}`)
	if _, err := w.Run(t.Context(), w.by(nil), in); !problem.Is(err, "invalid_arguments") {
		t.Errorf("a dry run checks nothing: %v", err)
	}
	if len(w.called()) > 0 || len(w.store.All()) > 0 {
		t.Errorf("a dry run was sent or kept")
	}
}

func TestAppsWithoutCredentials(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.connections.useErr = errors.New("there are no credentials to open")
	res, err := w.Run(t.Context(), w.by(nil), request("weather__now", ""))
	if err != nil || !res.OK() || res.Run.ConnectionID != "" {
		t.Errorf("Run = %+v, %v", res, err)
	}
	// An app that does not tell whose account it is: what is known is answered.
	if res, err = w.Run(t.Context(), w.by(nil), request("weather__whoami", `{}`)); err != nil ||
		string(res.Output) != `{}` {
		t.Errorf("whoami = %s, %v", res.Output, err)
	}
}

// The same id is the same run, whatever becomes of the process in between.
func TestOneRunPerID(t *testing.T) {
	t.Parallel()
	type crash struct{ at string }
	tests := []struct {
		name, call string
		crashAt    string // step at which the first process ends
		running    bool   // the first process is alive, still at it
		want       string // status, or code of the refusal
		calls      int
	}{
		{"finished", `desk__create {"title":"a"}`, "", false, "succeeded", 1},
		{"died before it was sent", `desk__create {"title":"a"}`, "run: recorded", false, "interrupted", 0},
		{"died after it was sent", `desk__create {"title":"a"}`, "run: answered", false, "interrupted", 1},
		{"reading, died after it was sent", `desk__search {"query":"ab"}`, "run: answered", false, "interrupted", 1},
		{"still at it", `desk__create {"title":"a"}`, "run: recorded", true, "idempotency_in_progress", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := tooltest.NewMemory()
				first := setupOn(t, store, tool.Options{Step: func(name string) {
					if name == tt.crashAt {
						panic(crash{name})
					}
				}})
				id, arguments, _ := strings.Cut(tt.call, " ")
				in := request(id, arguments)
				in.IdempotencyKey = "k1"
				func() {
					defer func() { _ = recover() }()
					_, _ = first.Run(t.Context(), first.by(nil), in)
				}()
				if !tt.running {
					wait(2 * time.Minute) // the hold of the dead process is over
				}
				second := setupOn(t, store, tool.Options{})
				res, err := second.Run(t.Context(), second.by(nil), in)
				got := code(nil, err)
				if err == nil {
					got = string(res.Run.Status)
				}
				if n := len(first.called()) + len(second.called()); got != tt.want || n != tt.calls {
					t.Errorf("the second process answers %s after %d calls, want %s after %d", got, n, tt.want,
						tt.calls)
				}
			})
		})
	}
}

func TestNothingSecretIsKept(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.script(map[string]any{"private": "the answer"},
		failure(tool.CodeBadRequest, func(f *tool.Failure) { f.Detail, f.AppBody = "private words", "private body" }))
	for range 2 {
		if _, err := w.Run(t.Context(), w.by(nil), request("desk__create", `{"title":"private title"}`)); err != nil {
			t.Fatal(err)
		}
	}
	in := request("desk__create", `{"title":"private title"}`)
	in.Async = true
	if _, err := w.Run(t.Context(), w.by(nil), in); err != nil {
		t.Fatal(err)
	}
	if list, err := w.List(t.Context(), w.by(nil), tool.Query{Limit: 10}); err != nil || len(list) != 3 {
		t.Errorf("%d runs, %v", len(list), err)
	}
	for _, r := range w.store.All() {
		text, _ := json.Marshal(r)
		if strings.Contains(string(text), "private") || strings.Contains(string(text), "s3cret") {
			t.Errorf("kept in plain: %s", text)
		}
	}
	if strings.Contains(w.log.String(), "private") {
		t.Errorf("logged: %s", w.log.String())
	}
}

// A sealed output that is moved to another run, or account, does not open.
func TestOutputsAreBoundToTheirRun(t *testing.T) {
	t.Parallel()
	w := setup(t)
	one, err := w.Run(t.Context(), w.by(nil), request("desk__create", `{"title":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	moved := *one.Run
	moved.ID = typeid.New(tool.RunPrefix)
	if _, _, err := w.store.InsertRun(t.Context(), &moved, false); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Get(t.Context(), w.by(nil), moved.ID); !errors.Is(err, seal.ErrOpen) {
		t.Errorf("Get of a run with another's output = %v", err)
	}
}

// TestOldIDs runs a tool by the id that it had, also with a key that is for that
// id alone.
func TestOldIDs(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*apikey.Key){
		"every key":             nil,
		"a key for the old id":  func(k *apikey.Key) { k.Restrict.Tools = []string{"desk__overwrite"} },
		"a key for the new one": func(k *apikey.Key) { k.Restrict.Tools = []string{"desk__replace"} },
	} {
		w := setup(t)
		res, err := w.Run(t.Context(), w.by(change), request("desk__overwrite", `{"id":"1"}`))
		if err != nil || !res.OK() || res.Run.Tool != "desk__replace" {
			t.Errorf("%s: %+v, %v, want a run of desk__replace", name, res, err)
			continue
		}
		// What it ran, and what it may run, it also sees.
		by := w.by(change)
		if got, err := w.Get(t.Context(), by, res.Run.ID); err != nil || got.Run.ID != res.Run.ID {
			t.Errorf("%s: Get = %+v, %v", name, got, err)
		}
		if runs, err := w.List(t.Context(), by, tool.Query{Limit: 5}); err != nil || len(runs) != 1 {
			t.Errorf("%s: List = %d runs, %v, want 1", name, len(runs), err)
		}
		if n, err := w.Count(t.Context(), by, tool.Query{}); err != nil || n != 1 {
			t.Errorf("%s: Count = %d, %v, want 1", name, n, err)
		}
		_, tools, err := w.Tools.List(t.Context(), by.AccountID, by.Key, "desk", nil)
		if err != nil || !slices.ContainsFunc(tools, func(one *app.Tool) bool { return one.ID == "desk__replace" }) ||
			change != nil && len(tools) != 1 {
			t.Errorf("%s: Tools = %d tools, %v, want desk__replace among them", name, len(tools), err)
		}
		if _, err := w.Run(t.Context(), by, request("desk__replaec", `{}`)); change != nil &&
			code(nil, err) != "tool_not_found" {
			t.Errorf("%s: a slip of the hand: %v", name, err)
		} else if p, _ := problem.From(err); fmt.Sprint(p.Members["did_you_mean"]) != "[desk__replace]" {
			t.Errorf("%s: suggested %v, want desk__replace", name, p.Members["did_you_mean"])
		}
	}
	w := setup(t)
	if _, err := w.Run(t.Context(), w.by(func(k *apikey.Key) { k.Restrict.Tools = []string{"desk__create"} }),
		request("desk__overwrite", `{"id":"1"}`)); code(nil, err) != "key_restricted" {
		t.Errorf("a key for another tool: %v, want key_restricted", err)
	}
	gone := w.by(func(k *apikey.Key) { k.Restrict.Tools = []string{"desk__gone"} })
	if runs, err := w.List(t.Context(), gone, tool.Query{Limit: 5}); err != nil || len(runs) != 0 {
		t.Errorf("a key for a tool that is gone: List = %d runs, %v, want none", len(runs), err)
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"aéb", 2, "a…"}, {"é", 1, "…"}} {
		if got := excerpt.Bytes(tt.text, tt.n); got != tt.want {
			t.Errorf("excerpt.Bytes(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}
