package toolhttp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
)

// What the app refuses is 200 with ok false; what the platform refuses is a
// problem.
func TestRefusalsOfTheApp(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status    int
		code      string
		retryable bool
		next      string
	}{
		{400, "app_bad_request", false, "fix_arguments"},
		{403, "app_forbidden", false, "ask_owner_for_permission"},
		{404, "app_not_found", false, "fix_arguments"},
		{408, "app_timeout", true, "retry_later"},
		{409, "app_conflict", false, "fix_arguments"},
		{422, "app_bad_request", false, "fix_arguments"},
		{429, "app_rate_limited", true, "retry_later"},
		{500, "app_unavailable", true, "retry_later"},
		{503, "app_unavailable", true, "retry_later"},
		{504, "app_timeout", true, "retry_later"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.provider.set(func(p *provider) { p.fails, p.retry = []int{tt.status}, "3600" })
			status, run := w.run(w.key(nil), "desk__create", `{"arguments":{"title":"a"}}`)
			failure, _ := run["error"].(map[string]any)
			if status != 200 || run["ok"] != false || run["status"] != "failed" || failure["code"] != tt.code ||
				failure["retryable"] != tt.retryable || failure["next_action"] != tt.next ||
				failure["app_status"] != float64(tt.status) || failure["detail"] != fmt.Sprint("no: ", tt.status) ||
				!strings.Contains(failure["app_body"].(string), "no: ") {
				t.Errorf("%d %v", status, run)
			}
			if tt.retryable && tt.status != 408 && tt.status != 504 && failure["retry_after_seconds"] == nil {
				t.Errorf("%v does not say when to come back", failure)
			}
		})
	}
}

func TestRefusalsOfThePlatform(t *testing.T) {
	t.Parallel()
	notConnected := problem.New(problem.Conflict, "not_connected", "Desk is not connected.").With("app",
		"desk").Advise("connect_app")
	tests := []struct {
		name, tool, body string
		key              func(*apikey.Settings)
		refuse           error
		status           int
		want             string // code, next action, pieces of the body
	}{
		{"no tool", "desk__serach", `{}`, nil, nil, 404, `tool_not_found find_tools "did_you_mean":["desk__search"]`},
		{
			"arguments", "desk__create", `{"arguments":{"title":"","x":1}}`, nil, nil,
			422, `invalid_arguments fix_arguments "pointer":"/arguments/title" "pointer":"/arguments/x"`,
		},
		{
			"arguments are no object", "desk__create", `{"arguments":"x"}`, nil, nil,
			422, `invalid_arguments fix_arguments "pointer":"/arguments"`,
		},
		{"no JSON", "desk__create", `{`, nil, nil, 400, `invalid_json`},
		{"unknown member", "desk__create", `{"argument":{}}`, nil, nil, 400, `invalid_request`},
		{"too patient", "desk__create", `{"timeout_seconds":301}`, nil, nil, 400, `invalid_request`},
		{
			"no permission", "desk__create", `{"arguments":{"title":"a"}}`,
			func(s *apikey.Settings) { s.Permissions = apikey.Read }, nil,
			403, `permission_required ask_owner_for_permission "required":["run"] "has":["read"]`,
		},
		{
			"another tool", "desk__create", `{"arguments":{"title":"a"}}`,
			func(s *apikey.Settings) { s.Restrict.Tools = []string{"desk__search"} }, nil,
			403, `key_restricted ask_owner_for_permission`,
		},
		{
			"not connected",
			"desk__create",
			`{"arguments":{"title":"a"}}`,
			nil,
			notConnected,
			409,
			`not_connected connect_app "app":"desk" "connect":{"url":"http://127.0.0.1:8081/connect/secret-link",` +
				`"session_id":"cs_1","expires_at":"2033-05-18T03:33:20Z"}`,
		},
		{
			"not connected, may not connect", "desk__create", `{"arguments":{"title":"a"}}`,
			func(s *apikey.Settings) { s.Permissions = apikey.Run }, notConnected,
			409, `not_connected ask_owner_to_connect`,
		},
		{
			"another's connection", "desk__create", `{"arguments":{"title":"a"},"connection_id":"con_2"}`, nil, nil,
			404, `connection_not_found`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.conns.refuse = tt.refuse
			got := w.call(http.MethodPost, "/api/v1/tools/"+tt.tool+"/run", tt.body, bearer(w.key(tt.key))...)
			body := w.decode(got)
			wants := strings.Split(tt.want, ` `)
			if got.Code != tt.status || body["code"] != wants[0] || len(wants) > 1 && body["next_action"] != wants[1] {
				t.Errorf("%d %s", got.Code, got.Body)
			}
			for _, piece := range wants[min(2, len(wants)):] {
				if !strings.Contains(got.Body.String(), piece) {
					t.Errorf("%s lacks %s", got.Body, piece)
				}
			}
			if tt.name == "not connected, may not connect" && strings.Contains(got.Body.String(), "secret-link") {
				t.Error("a key that may not connect was given a link")
			}
			if calls := w.provider.seen(); len(calls) > 0 {
				t.Errorf("the app was called: %v", calls)
			}
		})
	}
}

func TestRenewal(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	w.provider.set(func(p *provider) { p.valid = "token-secret-2" })
	w.conns.renewed = "token-secret-2"
	if status, run := w.run(key, "desk__create", `{"arguments":{"title":"a"}}`); status != 200 || run["ok"] != true ||
		run["attempts"] != 2.0 {
		t.Errorf("%d %v", status, run)
	}
	w.provider.set(func(p *provider) { p.valid = "another" })
	status, run := w.run(key, "desk__create", `{"arguments":{"title":"a"}}`)
	failure, _ := run["error"].(map[string]any)
	if status != 200 || failure["code"] != "app_unauthorized" || failure["next_action"] != "reconnect_app" {
		t.Errorf("%d %v", status, run)
	}
	if strings.Contains(fmt.Sprint(run), "token-secret") {
		t.Errorf("the app's echo shows the token: %v", run)
	}
}

func TestPagesOfTheApp(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	_, run := w.run(key, "desk__search", `{"arguments":{"query":"x"}}`)
	next, _ := json.Marshal(run["next_arguments"])
	if string(next) != `{"cursor":"page2","n":3,"query":"x"}` {
		t.Fatalf("next_arguments = %s", next)
	}
	if _, run = w.run(key, "desk__search", `{"arguments":`+string(next)+`}`); run["next_arguments"] != nil ||
		run["ok"] != true {
		t.Errorf("the last page: %v", run)
	}
}

func TestOutputInParts(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	_, run := w.run(key, "desk__search", `{"arguments":{"n":300},"output":{"fields":["results.id"],"max_bytes":1000}}`)
	if run["truncated"] != true || run["next_output_cursor"] == nil || len(run["omitted"].(map[string]any)) == 0 {
		t.Fatalf("run = %v", run)
	}
	var ids []any
	take := func(output any) {
		for _, one := range output.(map[string]any)["results"].([]any) {
			ids = append(ids, one.(map[string]any)["id"])
		}
	}
	take(run["output"])
	calls := len(w.provider.seen())
	cursor, _ := run["next_output_cursor"].(string)
	for cursor != "" {
		part := w.decode(w.call(http.MethodGet, "/api/v1/runs/"+run["run_id"].(string)+"/output?cursor="+cursor, "",
			bearer(key)...))
		take(part["output"])
		cursor, _ = part["next_output_cursor"].(string)
	}
	for i, id := range ids {
		if id != float64(i) {
			t.Fatalf("entry %d is %v", i, id)
		}
	}
	if len(ids) != 300 || len(w.provider.seen()) != calls {
		t.Errorf("%d entries, want 300; %d calls, want %d", len(ids), len(w.provider.seen()), calls)
	}
}

func TestIdempotency(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	run := func(key, name, body string) (int, string, map[string]any) {
		got := w.call(http.MethodPost, "/api/v1/tools/desk__create/run", body,
			append(bearer(key), "Idempotency-Key", name)...)
		return got.Code, got.Header().Get("Idempotency-Replayed"), w.decode(got)
	}
	status, replayed, first := run(key, "k1", `{"arguments":{"title":"a"}}`)
	if status != 200 || replayed != "" {
		t.Fatalf("%d %q %v", status, replayed, first)
	}
	again, replayed, second := run(key, "k1", `{"arguments":{"title":"a"}}`)
	if again != 200 || replayed != "true" || fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("repeated: %d %q\n%v\n%v", again, replayed, first, second)
	}
	if status, _, body := run(key, "k1", `{"arguments":{"title":"b"}}`); status != 422 ||
		body["code"] != "idempotency_key_reused" {
		t.Errorf("another body: %d %v", status, body)
	}
	if status, _, other := run(w.key(nil), "k1", `{"arguments":{"title":"a"}}`); status != 200 ||
		other["run_id"] == first["run_id"] {
		t.Errorf("another API key: %d %v", status, other)
	}
	// The platform's refusals are not kept: the same request works once it can.
	w.conns.refuse = problem.New(problem.Conflict, "not_connected", "No.")
	if status, _, body := run(key, "k2", `{"arguments":{"title":"a"}}`); status != 409 {
		t.Errorf("refused: %d %v", status, body)
	}
	w.conns.refuse = nil
	if status, _, body := run(key, "k2", `{"arguments":{"title":"a"}}`); status != 200 || body["ok"] != true {
		t.Errorf("after the refusal: %d %v", status, body)
	}
	if calls := w.provider.seen(); len(calls) != 3 {
		t.Errorf("the app was called %d times, want 3: %v", len(calls), calls)
	}
}

func TestIdempotencyAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	var mu sync.Mutex
	codes := map[string]int{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			got := w.call(http.MethodPost, "/api/v1/tools/desk__create/run", `{"arguments":{"title":"a"}}`,
				append(bearer(key), "Idempotency-Key", "k")...)
			mu.Lock()
			defer mu.Unlock()
			codes[fmt.Sprint(got.Code)]++
		})
	}
	all.Wait()
	if len(w.provider.seen()) != 1 || codes["200"] == 0 || codes["200"]+codes["409"] != 8 {
		t.Errorf("%d calls, answers %v", len(w.provider.seen()), codes)
	}
}

func TestAsync(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	for _, in := range []struct{ body, prefer string }{
		{`{"arguments":{"title":"a"}}`, "respond-async, wait=5"}, {
			`{"arguments":{"title":"a"},"timeout_seconds":61}`,
			"",
		},
	} {
		got := w.call(http.MethodPost, "/api/v1/tools/desk__create/run", in.body,
			append(bearer(key), "Prefer", in.prefer)...)
		run := w.decode(got)
		id, _ := run["run_id"].(string)
		if got.Code != 202 || run["status"] != "running" || got.Header().Get("Location") != "/api/v1/runs/"+id ||
			(got.Header().Get("Preference-Applied") == "respond-async") != (in.prefer != "") {
			t.Errorf("%s: %d %v %s", in.body, got.Code, got.Header(), got.Body)
		}
		if end := w.until(key, id); end["status"] != "succeeded" || end["output"].(map[string]any)["id"] != "t1" {
			t.Errorf("%s: %v", in.body, end)
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	w.provider.set(func(p *provider) { p.gate = hold })
	_, run := w.run(key, "desk__create", `{"arguments":{"title":"a"}}`, "Prefer", "respond-async")
	id := run["run_id"].(string)
	if got := w.call(http.MethodPost, "/api/v1/runs/"+id+"/cancel", "", bearer(key)...); got.Code != 200 {
		t.Errorf("cancel: %d %s", got.Code, got.Body)
	}
	if end := w.until(key, id); end["status"] != "canceled" ||
		end["error"].(map[string]any)["code"] != "run_cancelled" {
		t.Errorf("run = %v", end)
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	w := setup(t)
	got := w.call(http.MethodPost, "/api/v1/tools/desk__create/run", `{"arguments":{"title":"a"},"dry_run":true}`,
		bearer(w.key(nil))...)
	run := w.decode(got)
	request, _ := run["request"].(map[string]any)
	if got.Code != 200 || run["status"] != "dry_run" || run["run_id"] != nil || request["method"] != "POST" ||
		request["body"] != `{"title":"a"}` ||
		request["headers"].(map[string]any)["Authorization"] != "Bearer ***" || strings.Contains(got.Body.String(),
		"token-secret") || len(w.provider.seen()) > 0 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

func TestRequestsOfOnesOwn(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	send := func(key, body string) (int, map[string]any) {
		got := w.call(http.MethodPost, "/api/v1/apps/desk/request", body, bearer(key)...)
		return got.Code, w.decode(got)
	}
	status, answer := send(
		key,
		`{"method":"POST","path":"/echo?a=1","query":{"b":2},"headers":{"X-Own":"mine",`+
			`"Authorization":"Bearer stolen"},"body":{"c":[3]}}`,
	)
	echo, _ := answer["body"].(map[string]any)
	if status != 200 || answer["status"] != 200.0 || echo["method"] != "POST" || echo["query"] != "a=1&b=2" ||
		echo["body"] != `{"c":[3]}` || echo["own"] != "mine" || echo["auth"] != "Bearer ***" {
		t.Errorf("%d %v", status, answer)
	}
	w.provider.set(func(p *provider) { p.fails = []int{404} })
	if status, answer = send(key, `{"path":"/nothing"}`); status != 200 || answer["status"] != 404.0 ||
		answer["run_status"] != "failed" || answer["error"].(map[string]any)["code"] != "app_not_found" ||
		answer["body"].(map[string]any)["error"] == nil {
		t.Errorf("%d %v", status, answer)
	}
	if status, answer = send(key, `{"path":"/download"}`); status != 200 || answer["body"] != nil ||
		answer["file"].(map[string]any)["size"] != 6.0 {
		t.Errorf("%d %v", status, answer)
	}
	for name, tt := range map[string]struct {
		key, path, body string
		status          int
		code            string
	}{
		"another host":   {key, "desk", `{"path":"//evil.example/"}`, 422, "invalid_arguments"},
		"no path":        {key, "desk", `{}`, 400, "invalid_request"},
		"another method": {key, "desk", `{"path":"/a","method":"TRACE"}`, 400, "invalid_request"},
		"no app":         {key, "dsek", `{"path":"/a"}`, 404, "app_not_found"},
		"not for this key": {
			w.key(func(s *apikey.Settings) { s.Restrict.RawRequests = false }), "desk",
			`{"path":"/a"}`, 403, "key_restricted",
		},
	} {
		got := w.call(http.MethodPost, "/api/v1/apps/"+tt.path+"/request", tt.body, bearer(tt.key)...)
		if got.Code != tt.status || w.decode(got)["code"] != tt.code {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
	}
}

func TestListOfRuns(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	for range 5 {
		w.run(key, "desk__search", `{}`)
	}
	w.provider.set(func(p *provider) { p.fails = []int{404} })
	w.run(key, "desk__create", `{"arguments":{"title":"a"}}`)
	list := func(query string) []any {
		return w.decode(w.call(http.MethodGet, "/api/v1/runs?"+query, "", bearer(key)...))["runs"].([]any)
	}
	all := list("")
	if len(all) != 6 {
		t.Errorf("%d runs, want 6", len(all))
	}
	for i, one := range all {
		r := one.(map[string]any)
		failure, failed := r["error"].(map[string]any)
		if r["output"] != nil || failed != (r["tool"] == "desk__create") ||
			failed && failure["code"] != "app_not_found" || i > 0 && created(t, one).After(created(t, all[i-1])) {
			t.Errorf("run %d = %v", i, r)
		}
	}
	for query, want := range map[string]int{
		"status=failed": 1, "tool=desk__search": 5, "app=mail": 0,
		"connection_id=con_1&limit=2": 2,
	} {
		if got := len(list(query)); got != want {
			t.Errorf("%s: %d runs, want %d", query, got, want)
		}
	}
	seen := map[any]bool{}
	for cursor := ""; ; {
		page := w.decode(w.call(http.MethodGet, "/api/v1/runs?limit=4&cursor="+cursor, "", bearer(key)...))
		for _, r := range page["runs"].([]any) {
			seen[r.(map[string]any)["run_id"]] = true
		}
		if page["next_cursor"] == nil {
			break
		}
		cursor = page["next_cursor"].(string)
	}
	if len(seen) != 6 {
		t.Errorf("pages held %d runs, want 6", len(seen))
	}
	first := w.call(http.MethodGet, "/api/v1/runs?limit=2&tool=desk__search", "", bearer(key)...)
	next, _, _ := strings.Cut(strings.TrimPrefix(first.Header().Get("Link"), "<"+base), ">")
	second := w.call(http.MethodGet, next, "", bearer(key)...)
	if !strings.HasSuffix(first.Header().Get("Link"), `rel="next"`) || second.Code != http.StatusOK ||
		len(w.decode(second)["runs"].([]any)) != 2 {
		t.Errorf("Link %q leads to %d %s", first.Header().Get("Link"), second.Code, second.Body)
	}
	if other := w.call(http.MethodGet, strings.Replace(next, "desk__search", "desk__create", 1), "",
		bearer(key)...); other.Code != http.StatusBadRequest || w.decode(other)["code"] != "invalid_cursor" {
		t.Errorf("a cursor of another list: %d %s", other.Code, other.Body)
	}
	if got := w.decode(w.call(http.MethodGet, "/api/v1/runs?limit=2&tool=desk__search&include=total", "",
		bearer(key)...)); got["total"] != 5.0 || w.decode(first)["total"] != nil {
		t.Errorf("total = %v, without include %v; want 5 and none", got["total"], w.decode(first)["total"])
	}
	narrow := w.key(func(s *apikey.Settings) { s.Restrict.Tools = []string{"desk__create"} })
	if got := w.decode(w.call(http.MethodGet, "/api/v1/runs?include=total", "", bearer(narrow)...))["total"]; got !=
		1.0 {
		t.Errorf("a key for one tool counts %v runs, want 1", got)
	}
	named := w.key(func(s *apikey.Settings) { s.Restrict.EndUser = "u_1" })
	if got := w.decode(w.call(http.MethodGet, "/api/v1/runs?include=total&end_user=u_2", "",
		bearer(named)...))["total"]; got != 0.0 {
		t.Errorf("a key for one user counts %v runs of another, want 0", got)
	}
	if got := w.decode(w.call(http.MethodGet, "/api/v1/runs", "", bearer(narrow)...))["runs"].([]any); len(got) != 1 {
		t.Errorf("a key for one tool sees %d runs, want 1", len(got))
	}
}

func created(t *testing.T, run any) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, run.(map[string]any)["created_at"].(string))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Ids of another account are not there, on any route.
func TestAnotherAccount(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(func(s *apikey.Settings) { s.Approval = apikey.ApproveDestructive })
	_, run := w.run(key, "desk__search", `{"output":{"max_bytes":500},"arguments":{"n":100}}`)
	_, waiting := w.run(key, "desk__remove", `{"arguments":{"id":"1"}}`)
	file := w.decode(w.upload(key, "file", "a.txt", []byte("x")))
	other, _, err := w.accounts.Create(t.Context(), audit.Operator(), "other", "")
	if err != nil {
		t.Fatal(err)
	}
	stranger := w.keyOf(other.ID, nil)
	id := run["run_id"].(string)
	for path, code := range map[string]string{
		"GET /api/v1/runs/" + id: "run_not_found", "GET /api/v1/runs/" + id + "/output": "run_not_found",
		"POST /api/v1/runs/" + id + "/cancel":                                             "run_not_found",
		"GET /api/v1/runs/" + id + "/output?cursor=" + run["next_output_cursor"].(string): "run_not_found",
		"POST /api/v1/runs/" + waiting["run_id"].(string) + "/cancel":                     "run_not_found",
		"GET /api/v1/files/" + file["file_id"].(string):                                   "file_not_found",
		"GET /api/v1/runs/run_none":                                                       "run_not_found",
		"GET /api/v1/files/file_none":                                                     "file_not_found",
	} {
		method, path, _ := strings.Cut(path, " ")
		got := w.call(method, path, "", bearer(stranger)...)
		if got.Code != 404 || w.decode(got)["code"] != code {
			t.Errorf("%s %s: %d %s, want 404 %s", method, path, got.Code, got.Body, code)
		}
	}
	if got := w.decode(w.call(http.MethodGet, "/api/v1/runs", "", bearer(stranger)...))["runs"].([]any); len(got) != 0 {
		t.Errorf("another account's runs are listed: %v", got)
	}
	attach := `{"arguments":{"file":"` + file["file_id"].(string) + `"}}`
	if status, body := w.run(stranger, "desk__attach", attach); status != 404 || body["code"] != "file_not_found" {
		t.Errorf("a run with another account's file: %d %v", status, body)
	}
	if end := w.until(key, id); end["status"] != "succeeded" {
		t.Errorf("the run itself = %v", end)
	}
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	for _, decision := range []string{"approve", "deny"} {
		t.Run(decision, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			key := w.key(func(s *apikey.Settings) { s.Approval = apikey.ApproveDestructive })
			person := w.person()
			status, run := w.run(key, "desk__remove", `{"arguments":{"id":"7"}}`)
			approval, _ := run["approval"].(map[string]any)
			if status != 202 || run["status"] != "awaiting_approval" ||
				approval["url"] != base+"/approvals/"+approval["id"].(string) {
				t.Fatalf("%d %v", status, run)
			}
			path := "/api/v1/approvals/" + approval["id"].(string)
			if got := w.call(http.MethodPost, path, `{"decision":"approve"}`, bearer(key)...); got.Code != 401 {
				t.Errorf("a key agrees to its own run: %d", got.Code)
			}
			list := w.decode(w.call(http.MethodGet, "/api/v1/approvals", "", person...))["approvals"].([]any)
			if len(list) != 1 || list[0].(map[string]any)["arguments"].(map[string]any)["id"] != "7" ||
				list[0].(map[string]any)["annotations"].(map[string]any)["destructive"] != true {
				t.Errorf("approvals = %v", list)
			}
			if got := w.call(http.MethodPost, path, `{"decision":"`+decision+`","reason":"because"}`,
				person...); got.Code != 200 {
				t.Fatalf("%d %s", got.Code, got.Body)
			}
			end := w.until(key, run["run_id"].(string))
			if decision == "approve" && (end["status"] != "succeeded" || len(w.provider.seen()) != 1) ||
				decision == "deny" &&
					(end["status"] != "denied" || end["error"].(map[string]any)["code"] != "approval_denied" ||
						len(w.provider.seen()) != 0) {
				t.Errorf("run = %v after %v", end, w.provider.seen())
			}
			if got := w.call(http.MethodPost, path, `{"decision":"approve"}`, person...); got.Code != 409 ||
				w.decode(got)["code"] != "approval_over" {
				t.Errorf("a second decision: %d %s", got.Code, got.Body)
			}
			if got := w.call(http.MethodGet, "/api/v1/approvals/apr_none", "", person...); got.Code != 404 {
				t.Errorf("an approval that is not there: %d", got.Code)
			}
			entries, err := w.store.AuditEntries(t.Context(), w.account.ID,
				audit.Query{Target: run["run_id"].(string), Limit: 10})
			if err != nil || len(entries) != 1 || entries[0].Actor.Kind != audit.ByUser {
				t.Errorf("audit entries = %v, %v", entries, err)
			}
		})
	}
}

// Whatever happens, no credential is in a response or in the log.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	w := setup(t)
	key := w.key(nil)
	var shown strings.Builder
	see := func(path, body string) {
		got := w.call(http.MethodPost, path, body, bearer(key)...)
		fmt.Fprintln(&shown, got.Body, got.Header())
	}
	see("/api/v1/apps/desk/request", `{"path":"/echo"}`)
	see("/api/v1/tools/desk__create/run", `{"arguments":{"title":"a"},"dry_run":true}`)
	w.provider.set(func(p *provider) { p.valid = "another" })
	see("/api/v1/tools/desk__create/run", `{"arguments":{"title":"a"}}`)
	see("/api/v1/apps/desk/request", `{"path":"/echo"}`)
	fmt.Fprintln(&shown, w.call(http.MethodGet, "/api/v1/runs", "", bearer(key)...).Body)
	w.provider.server.Close()
	see("/api/v1/tools/desk__create/run", `{"arguments":{"title":"a"}}`)
	if strings.Contains(shown.String(), "token-secret") || strings.Contains(w.log.String(), "token-secret") ||
		strings.Contains(w.log.String(), key) {
		t.Errorf("answers %s\nlog %s", shown.String(), w.log)
	}
}
