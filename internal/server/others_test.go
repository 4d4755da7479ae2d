package server

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/typeid"
	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
	"ace/internal/platform/console"
	"ace/internal/platform/platformhttp"
	"ace/internal/platform/platformhttp/gate"
)

// Where an id is in a request.
const (
	inPath  = "path"
	inQuery = "query "
	inBody  = "body "
)

// foreign is one place of a route that takes an id: another account's has to be
// answered like one that does not exist.
type foreign struct {
	route string
	in    string // inPath; inQuery or inBody with the name
	kind  string // of the id
	body  string // $ID is the id
	want  int
}

// foreigns are all places of all routes that take the id of something that
// belongs to an account. TestOthersIDs fails for a route that is missing here.
var foreigns = []foreign{
	{"POST /api/v1/apps/{app}/connect", inPath, "slug", ``, 404},
	{"POST /api/v1/apps/{app}/connect", inBody + "connection_id", "connection", `{"connection_id":"$ID"}`, 404},
	{"POST /api/v1/apps/{app}/connect", inBody + "end_user", "end_user", `{"end_user":"$ID"}`, 201},
	{"POST /api/v1/apps/{app}/request", inPath, "slug", `{"method":"GET","path":"/"}`, 404},
	{
		"POST /api/v1/apps/{app}/request", inBody + "connection_id", "connection",
		`{"method":"GET","path":"/","connection_id":"$ID"}`, 404,
	},
	{
		"POST /api/v1/apps/{app}/request",
		inBody + "end_user",
		"end_user",
		`{"method":"GET","path":"/","end_user":"$ID"}`,
		409,
	},
	{"GET /api/v1/apps", inQuery + "end_user", "end_user", ``, 200},
	{"GET /api/v1/connect-sessions/{id}", inPath, "session", ``, 404},
	{"DELETE /api/v1/connect-sessions/{id}", inPath, "session", ``, 404},
	{"POST /api/v1/connect-sessions/{id}/confirm", inPath, "session", `{"flow_id":"f","end_user":"ann"}`, 404},
	{"GET /api/v1/connections", inQuery + "app", "slug", ``, 200},
	{"GET /api/v1/connections", inQuery + "end_user", "end_user", ``, 200},
	{"GET /api/v1/connections/{id}", inPath, "connection", ``, 404},
	{"PATCH /api/v1/connections/{id}", inPath, "connection", `{"disabled":true}`, 404},
	{"DELETE /api/v1/connections/{id}", inPath, "connection", ``, 404},
	{"POST /api/v1/connections/{id}/check", inPath, "connection", ``, 404},
	{"POST /api/v1/connections/{id}/reconnect", inPath, "connection", ``, 404},
	{"PUT /api/v1/oauth-clients/{app}", inPath, "slug", `{"client_id":"c"}`, 404},
	{"DELETE /api/v1/oauth-clients/{app}", inPath, "slug", ``, 404},
	{"GET /api/v1/custom-connectors/{id}", inPath, "connector", ``, 404},
	{"PATCH /api/v1/custom-connectors/{id}", inPath, "connector", `{"enabled":false}`, 404},
	{"DELETE /api/v1/custom-connectors/{id}", inPath, "connector", ``, 404},
	{"POST /api/v1/custom-connectors/{id}/refresh", inPath, "connector", ``, 404},
	{"POST /api/v1/custom-connectors/{id}/approve", inPath, "connector", ``, 404},
	{"PUT /api/v1/custom-connectors/{id}/read-only-tools", inPath, "connector", `{"tools":[]}`, 404},
	{"POST /api/v1/custom-connectors/{id}/test", inPath, "connector", ``, 404},
	{"GET /api/v1/tools", inQuery + "app", "slug", ``, 404},
	{"GET /api/v1/tools", inQuery + "tools", "tool", ``, 404},
	{"GET /api/v1/tools/{tool}", inPath, "tool", ``, 404},
	{"POST /api/v1/tools/{tool}/run", inPath, "tool", `{"arguments":{}}`, 404},
	{
		"POST /api/v1/tools/{tool}/run",
		inBody + "connection_id",
		"connection",
		`{"arguments":{},"connection_id":"$ID"}`,
		404,
	},
	{"POST /api/v1/tools/{tool}/run", inBody + "end_user", "end_user", `{"arguments":{},"end_user":"$ID"}`, 409},
	{"POST /api/v1/tools/find", inBody + "apps", "slug", `{"task":"list notes","apps":["$ID"]}`, 404},
	{"POST /api/v1/tools/find", inBody + "end_user", "end_user", `{"task":"list notes","end_user":"$ID"}`, 200},
	{"GET /api/v1/runs", inQuery + "connection_id", "connection", ``, 200},
	{"GET /api/v1/runs", inQuery + "key_id", "key", ``, 200},
	{"GET /api/v1/runs", inQuery + "app", "slug", ``, 200},
	{"GET /api/v1/runs", inQuery + "tool", "tool", ``, 200},
	{"GET /api/v1/runs", inQuery + "end_user", "end_user", ``, 200},
	{"GET /api/v1/runs/{id}", inPath, "run", ``, 404},
	{"GET /api/v1/runs/{id}/output", inPath, "run", ``, 404},
	{"POST /api/v1/runs/{id}/cancel", inPath, "waiting", ``, 404},
	{"GET /api/v1/files/{id}", inPath, "file", ``, 404},
	{"GET /api/v1/approvals/{id}", inPath, "approval", ``, 404},
	{"POST /api/v1/approvals/{id}", inPath, "approval", `{"decision":"approve"}`, 404},
	{"GET /api/v1/keys/{id}", inPath, "key", ``, 404},
	{"PATCH /api/v1/keys/{id}", inPath, "key", `{"name":"mine now"}`, 404},
	{"DELETE /api/v1/keys/{id}", inPath, "key", ``, 404},
	{"POST /api/v1/keys/{id}/rotate", inPath, "key", `{}`, 404},
	{"GET /api/v1/audit-log", inQuery + "target", "connection", ``, 200},
	{"GET /api/v1/audit-log", inQuery + "actor", "key", ``, 200},

	{"GET /api/v1/apps/{app}/triggers", inPath, "slug", ``, 404},
	{"GET /api/v1/triggers", inQuery + "app", "slug", ``, 200},
	{"GET /api/v1/triggers", inQuery + "connection_id", "connection", ``, 200},
	{
		"POST /api/v1/triggers", inBody + "app", "slug",
		`{"app":"$ID","event":"new_note","webhook_url":"https://hooks.acme.example/in"}`, 404,
	},
	{
		"POST /api/v1/triggers", inBody + "connection_id", "connection",
		`{"app":"demo-notes","event":"new_note","webhook_url":"https://hooks.acme.example/in","connection_id":"$ID"}`,
		404,
	},
	{
		"POST /api/v1/triggers", inBody + "end_user", "end_user",
		`{"app":"demo-notes","event":"new_note","webhook_url":"https://hooks.acme.example/in","end_user":"$ID"}`, 409,
	},
	{"GET /api/v1/triggers/{id}", inPath, "trigger", ``, 404},
	{"PATCH /api/v1/triggers/{id}", inPath, "trigger", `{"status":"paused"}`, 404},
	{"DELETE /api/v1/triggers/{id}", inPath, "trigger", ``, 404},
	{"POST /api/v1/triggers/{id}/rotate-secret", inPath, "trigger", ``, 404},
	{"POST /api/v1/triggers/{id}/test", inPath, "trigger", ``, 404},
	{"POST /api/v1/triggers/{id}/replay-failed", inPath, "trigger", ``, 404},
	{"GET /api/v1/triggers/{id}/events", inPath, "trigger", ``, 404},
	{"GET /api/v1/triggers/{id}/events/{event}", inPath, "trigger", ``, 404},
	{"POST /api/v1/triggers/{id}/events/{event}/replay", inPath, "trigger", ``, 404},

	{"POST /mcp", inQuery + "apps", "slug", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 200},
	{"POST /mcp", inQuery + "tools", "tool", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, 200},

	{"GET /apps/{app}", inPath, "slug", ``, 404},
	{"POST /apps/{app}/connect", inPath, "slug", ``, 404},
	{"GET /account/keys/{id}", inPath, "key", ``, 404},
	{"POST /account/keys/{id}/rotate", inPath, "key", `grace=0`, 404},
	{"POST /account/keys/{id}/revoke", inPath, "key", ``, 404},
	{"GET /account/connections/{id}", inPath, "connection", ``, 404},
	{"POST /account/connections/{id}", inPath, "connection", `do=delete`, 404},
	{"GET /approvals/{id}", inPath, "approval", ``, 404},
	{"POST /approvals/{id}", inPath, "approval", `decision=approve`, 404},
	{"GET /connectors/{id}", inPath, "connector", ``, 404},
	{"POST /connectors/{id}/approve", inPath, "connector", `revision=1&tool=x`, 404},
	{"POST /connectors/{id}/read-only", inPath, "connector", `revision=1&tool=x`, 404},
}

// possessed are routes whose wildcard is no id but a secret, or a name of the
// platform's own, with why it tells nothing of other accounts.
var possessed = map[string]string{
	"GET /api/v1/files/{id}/{signature}": "the holder of the signature may read the file; a test of package toolhttp " +
		"guesses it",
	"GET /sign-in/{token}":            "a secret",
	"POST /sign-in/{token}":           "a secret",
	"GET /connect/{token}":            "a secret",
	"POST /connect/{token}":           "a secret",
	"POST /connect/{token}/deny":      "a secret",
	"POST /connect/{token}/undo":      "a secret",
	"GET /oauth/callback/{app}":       "the state is the secret",
	"POST /oauth/callback/{app}":      "the state is the secret",
	"GET /hooks/t/{trigger}/{token}":  "a secret of the URL that the app posts to",
	"POST /hooks/t/{trigger}/{token}": "a secret",
	"GET /logos/{file}":               "the platform's own",
	"GET /assets/{file}":              "the platform's own",
	"GET /problems/{code}":            "the platform's own",
	"GET /sdk/{file}":                 "the platform's own",
}

// idName are names of parameters and members that hold ids of accounts' things.
var idName = regexp.MustCompile(
	`(^|_)ids?$|^(app|apps|tool|tools|actor|target|end_user|key|connection|run|file|session)$`)

// free are such names that hold no id of anybody's: what they name is made by
// the request, or judged by its path.
var free = map[string]bool{
	"PUT /api/v1/oauth-clients/{app} body client_id":                true,
	"POST /api/v1/connect-sessions/{id}/confirm body flow_id":       true,
	"POST /api/v1/connect-sessions/{id}/confirm body end_user":      true,
	"POST /api/v1/files body file":                                  true,
	"POST /api/v1/custom-connectors body tools":                     true,
	"PATCH /api/v1/custom-connectors/{id} body tools":               true,
	"POST /api/v1/custom-connectors/{id}/approve body tools":        true,
	"PUT /api/v1/custom-connectors/{id}/read-only-tools body tools": true,
	"POST /mcp body id":     true, // of the message; package mcphttp shows what its tools say about ids
	"POST /mcp query apps":  true,
	"POST /mcp query tools": true, // as GET /tools has them
}

// TestOthersIDs walks over every route that takes an id, with the key and the
// session of one account and the ids of another: the response is that for an id
// which does not exist, word by word, and nothing of the other account changes.
func TestOthersIDs(t *testing.T) {
	t.Parallel()
	h := newHost(t, Options{}, "127.0.0.0/8")
	ann, bob := h.party(t, "ann"), h.party(t, "bob")
	ids := ann.belongings()
	missing := map[string]string{"slug": "x-vvvvvv", "tool": "x_vvvvvv__request", "end_user": "nobody"}
	for kind, id := range ids {
		if prefix, _, ok := strings.Cut(id, "_"); ok && missing[kind] == "" {
			missing[kind] = typeid.New(prefix)
		}
	}
	before := h.rows(t, ann.account.ID)
	for _, f := range foreigns {
		t.Run(f.route+" "+f.in, func(t *testing.T) {
			theirs, none := bob.ask(f, ids[f.kind]), bob.ask(f, missing[f.kind])
			if theirs.status != f.want {
				t.Errorf("with another account's %s: %d %s, want %d", f.kind, theirs.status, theirs.body, f.want)
			}
			if diff := cmp.Diff(none, theirs, cmp.AllowUnexported(told{})); diff != "" {
				t.Errorf("the answer tells another account's %s from one that does not exist (-none +theirs):\n%s",
					f.kind, diff)
			}
		})
	}
	if diff := cmp.Diff(before, h.rows(t, ann.account.ID)); diff != "" {
		t.Errorf("the other account's rows changed:\n%s", diff)
	}
	if len(before) < 8 {
		t.Errorf("rows of %d tables were compared, want those of all that belongs to an account", len(before))
	}
}

// TestOthersIDsAreWhole holds that no route is missing in the table: those with
// a wildcard in the path, and parameters and members that hold ids.
func TestOthersIDsAreWhole(t *testing.T) {
	t.Parallel()
	rules := platformhttp.Rules()
	maps.Copy(rules, console.Rules())
	covered := map[string]bool{}
	for _, f := range foreigns {
		if _, known := rules[f.route]; !known && !rules[pathOf(f.route)].Own {
			t.Errorf("%s is no route any more", f.route)
		}
		covered[f.route+" "+f.in] = true
	}
	for pattern := range rules {
		if strings.Contains(pattern, "{") && !strings.HasSuffix(pattern, "{$}") && !covered[pattern+" "+inPath] &&
			possessed[pattern] == "" {
			t.Errorf("%s takes an id, and nothing here shows what it answers to another account's", pattern)
		}
	}
	for _, place := range places(t) {
		if !covered[place] && !free[place] {
			t.Errorf("%s takes an id, and nothing here shows what it answers to another account's", place)
		}
	}
}

// places are the parameters and members of requests that hold ids, by the
// OpenAPI document.
func places(t *testing.T) (all []string) {
	t.Helper()
	text, err := PlatformDocument()
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Ref        string                     `json:"$ref"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string } `json:"parameters"`
			Body       struct {
				Content map[string]struct {
					Schema schema `json:"schema"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for target, methods := range document.Paths {
		for method, op := range methods {
			route := strings.ToUpper(method) + " " + target + " "
			for _, p := range op.Parameters {
				if p.In == "query" && idName.MatchString(p.Name) {
					all = append(all, route+inQuery+p.Name)
				}
			}
			for _, content := range op.Body.Content {
				s := content.Schema
				if s.Ref != "" {
					s = document.Components.Schemas[path.Base(s.Ref)]
				}
				for name := range s.Properties {
					if idName.MatchString(name) {
						all = append(all, route+inBody+name)
					}
				}
			}
		}
	}
	if len(all) < 20 {
		t.Fatalf("%d places of ids in the document, want more: is it read?", len(all))
	}
	slices.Sort(all)
	return all
}

// belongings makes one of everything and returns the ids.
func (p *party) belongings() map[string]string {
	p.t.Helper()
	ids := map[string]string{
		"end_user": "anns-user", "connection": p.connectNotes(), "key": p.key.ID,
		"slug": "x-qqqqqq", "tool": "x_qqqqqq__request",
	}
	made := p.must(http.StatusCreated, http.MethodPost, "/custom-connectors",
		`{"type":"rest","name":"Anns","slug":"x-qqqqqq","base_url":"`+p.sandbox+
			`/notes/api/v1","auth":{"kind":"bearer","token":"secret"}}`)
	ids["connector"] = made["id"].(string)
	ids["session"] = p.must(http.StatusCreated, http.MethodPost, "/apps/demo-notes/connect",
		`{"auth":"oauth2","end_user":"anns-user"}`)["session_id"].(string)
	ids["file"] = p.upload("a.txt", "anns file")
	ids["run"] = p.must(http.StatusOK, http.MethodPost, "/tools/demo_notes__create_note/run",
		`{"arguments":{"title":"Milk"}}`)["run_id"].(string)
	// A run that waits for a person, by a key whose runs do.
	_, careful, err := p.platform.keys.Create(p.t.Context(), audit.Operator(), p.account.ID,
		apikey.Settings{Name: "careful", Permissions: apikey.All, Approval: apikey.ApproveWrites})
	if err != nil {
		p.t.Fatal(err)
	}
	own := *p
	own.secret = careful
	waiting := own.must(http.StatusAccepted, http.MethodPost, "/tools/demo_notes__create_note/run",
		`{"arguments":{"title":"Bread"}}`)
	ids["waiting"] = waiting["run_id"].(string)
	ids["approval"] = waiting["approval"].(map[string]any)["id"].(string)
	p.must(http.StatusOK, http.MethodGet, "/runs/"+ids["run"], "") // its end is written
	address, _ := receiver(p.t)
	ids["trigger"] = p.must(http.StatusCreated, http.MethodPost, "/triggers",
		`{"app":"demo-notes","event":"new_note","webhook_url":"`+address+`"}`)["id"].(string)
	if got := p.send(true, http.MethodPut, "/api/v1/oauth-clients/x-qqqqqq", "application/json",
		[]byte(`{"client_id":"anns","client_secret":"hush"}`)); got.Code != http.StatusOK {
		p.t.Fatalf("setting an OAuth client = %d %s", got.Code, got.Body)
	}
	return ids
}

// told is a response without what differs between any two requests.
type told struct {
	status int
	body   string
}

var passing = regexp.MustCompile(
	`(req|cs|qry)_[0-9a-z]{26}|/connect/[A-Za-z0-9_-]{20,}|"expires_at":"[^"]*"|[0-9a-f]{32}`)

// ask makes the request of f with an id.
func (p *party) ask(f foreign, id string) told {
	p.t.Helper()
	method, target, _ := strings.Cut(f.route, " ")
	api := strings.HasPrefix(target, "/api/") || target == "/mcp"
	if name, ok := strings.CutPrefix(f.in, inQuery); ok {
		target += "?" + name + "=" + id
	}
	for _, wildcard := range []string{"{id}", "{app}", "{tool}", "{event}"} {
		with := id
		if f.in != inPath { // something that everybody has
			with = map[string]string{"{app}": "demo-notes", "{tool}": "demo_notes__list_notes"}[wildcard]
		}
		target = strings.ReplaceAll(target, wildcard, with)
	}
	kind, body := "application/json", strings.ReplaceAll(f.body, "$ID", id)
	if !api {
		kind = "application/x-www-form-urlencoded"
		body = strings.TrimPrefix(body+"&csrf_token="+p.token, "&")
		if method == http.MethodGet {
			body = ""
		}
	}
	need := rule(p.t, f.route)
	person := need.ByPerson() || !api
	got := p.send(person, method, target, kind, []byte(body))
	text := passing.ReplaceAllString(got.Body.String(), "…")
	if id != "" {
		text = strings.ReplaceAll(text, id, "ID")
	}
	return told{got.Code, text}
}

// pathOf returns the path of a route: that of the MCP server is registered
// without a method.
func pathOf(route string) string {
	_, path, _ := strings.Cut(route, " ")
	return path
}

func rule(t *testing.T, route string) gate.Need {
	t.Helper()
	for _, pattern := range []string{route, pathOf(route)} {
		if need, ok := platformhttp.Rules()[pattern]; ok {
			return need
		}
	}
	need, ok := console.Rules()[route]
	if !ok {
		t.Fatalf("%s is no route", route)
	}
	return need
}

// rows are all rows of an account, by table.
func (h *host) rows(t *testing.T, account string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, table := range column[string](t, h.db.Reader(),
		`SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'account_id' WHERE m.type `+
			`= 'table'`) {
		if kept := h.rowsOf(t, table, account); len(kept) > 0 {
			all[table] = kept
		}
	}
	return all
}

func (h *host) rowsOf(t *testing.T, table, account string) (all []string) {
	t.Helper()
	found, err := h.db.Reader().QueryContext(t.Context(), `SELECT * FROM `+table+` WHERE account_id = $1 ORDER BY 1, 2`,
		account)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	names, _ := found.Columns()
	for found.Next() {
		values := make([]any, len(names))
		into := make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(values))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func column[T any](t *testing.T, db *sql.DB, query string) (all []T) {
	t.Helper()
	found, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		var v T
		if err := found.Scan(&v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
