package platformhttp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/catalog"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/platform/apikey"
	"ace/internal/platform/app"
	"ace/internal/platform/audit"
	"ace/internal/platform/library"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/findhttp"
	"ace/internal/platform/platformhttp/gate"
)

// pages follows Link from page to page and counts what they hold.
func pages(t *testing.T, target, member string,
	call func(target string) *httptest.ResponseRecorder,
) (entries, count int, total any) {
	t.Helper()
	for target != "" && count < 50 {
		got := call(target)
		page := decode(t, got)
		list, _ := page[member].([]any)
		link, rest, linked := strings.Cut(strings.TrimPrefix(got.Header().Get("Link"), "<"), ">")
		if got.Code != http.StatusOK || linked != (page["next_cursor"] != nil) ||
			linked && (rest != `; rel="next"` || !strings.HasPrefix(link, base+"/api/v1/")) {
			t.Fatalf("%s: %d, Link %q, %s", target, got.Code, got.Header().Get("Link"), got.Body)
		}
		if _, told := page["next_cursor"]; !told {
			t.Errorf("%s: no next_cursor", target)
		}
		entries, count, total = entries+len(list), count+1, page["total"]
		target = strings.TrimPrefix(link, base)
	}
	return entries, count, total
}

func TestListsHaveNextAndTotal(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	key := w.by(t, apikey.All)
	for i := range 3 {
		w.vendor.Identity.ID = string(rune('a' + i))
		key.make(t, `{"auth":"key"}`)
	}
	cookie, _ := w.signIn(t)
	log, err := w.store.AuditEntries(t.Context(), w.account.ID, audit.Query{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	byKey := func(target string) *httptest.ResponseRecorder { return key.do(http.MethodGet, target, "") }
	byPerson := func(target string) *httptest.ResponseRecorder {
		return w.call(http.MethodGet, target, "", "Cookie", cookie)
	}
	tests := []struct {
		target, member string
		call           func(string) *httptest.ResponseRecorder
		want, pages    int
	}{
		{"/api/v1/tools?app=demo-notes&limit=2", "tools", byKey, 6, 3},
		{"/api/v1/connections?app=demo-notes&limit=2", "connections", byKey, 3, 2},
		{"/api/v1/connections?app=demo-notes&limit=3", "connections", byKey, 3, 1},
		{"/api/v1/connections?search=nobody", "connections", byKey, 0, 1},
		{"/api/v1/apps?limit=1", "apps", byKey, 1, 1},
		{"/api/v1/runs?limit=2", "runs", byKey, 0, 1},
		{
			"/api/v1/audit-log?action=connection.made&limit=2",
			"entries",
			byPerson,
			countActions(log, "connection.made"),
			0,
		},
		{"/api/v1/audit-log?limit=1", "entries", byPerson, len(log), len(log)},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			entries, count, total := pages(t, tt.target, tt.member, tt.call)
			if entries != tt.want || tt.pages > 0 && count != tt.pages || total != nil {
				t.Errorf("%d entries on %d pages, total %v; want %d on %d, none", entries, count, total, tt.want,
					tt.pages)
			}
			// The last page alone tells whether include came along all the way.
			if entries, _, total = pages(t, tt.target+"&include=total", tt.member, tt.call); entries != tt.want ||
				total != float64(tt.want) {
				t.Errorf("with include: %d entries, total %v; want %d", entries, total, tt.want)
			}
		})
	}
}

func countActions(log []audit.Entry, action string) (n int) {
	for _, e := range log {
		if e.Action == action {
			n++
		}
	}
	return n
}

// TestNarrowKeysHaveFullPages counts and cuts what a key may see, and not what
// there is.
func TestNarrowKeysHaveFullPages(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	w.by(t, apikey.All).make(t, `{"auth":"key"}`)
	for app, want := range map[string]float64{"demo-notes": 1, "gmail": 0} {
		_, secret, err := w.keys.Create(t.Context(), audit.Operator(), w.account.ID,
			apikey.Settings{
				Name: "narrow", Permissions: apikey.All,
				Restrict: apikey.Restrictions{Apps: []string{app}},
			})
		if err != nil {
			t.Fatal(err)
		}
		page := decode(t,
			w.call(http.MethodGet, "/api/v1/connections?include=total", "", "Authorization", "Bearer "+secret))
		if page["total"] != want || float64(len(page["connections"].([]any))) != want {
			t.Errorf("a key for %s sees %v, want %v", app, page, want)
		}
	}
}

// TestPagesOfApps walks over an installation with many apps.
func TestPagesOfApps(t *testing.T) {
	t.Parallel()
	apps, err := library.Read(catalog.Files, "curated", strings.NewReplacer())
	if err != nil {
		t.Fatal(err)
	}
	shelf, err := library.New(apps, nil)
	if err != nil {
		t.Fatal(err)
	}
	mux := httpserver.NewMux(nil)
	face := &findhttp.Handler{BaseURL: base, Operations: operation.New(operation.Ports{Library: shelf}, base)}
	face.Describe(openapi.New(mux, "Test", "1", nil), "/api/v1", "key")
	call := func(target string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(gate.With(
			t.Context(),
			&gate.Caller{
				Account: "acc_1",
				Key:     &apikey.Key{AccountID: "acc_1", Permissions: apikey.Read},
			},
		), http.MethodGet, target, nil)
		got := httptest.NewRecorder()
		mux.ServeHTTP(got, r)
		return got
	}
	var all struct {
		Total int `json:"total"`
	}
	if err := json.Unmarshal(call("/api/v1/catalog?category=email").Body.Bytes(), &all); err != nil || all.Total < 2 {
		t.Fatalf("%d apps for e-mail, %v", all.Total, err)
	}
	if entries, count, total := pages(t, "/api/v1/catalog?category=email&limit=1", "apps",
		call); entries != all.Total || count != all.Total || total != float64(all.Total) {
		t.Errorf("catalog: %d entries on %d pages, total %v; want %d, always counted", entries, count, total, all.Total)
	}
	if entries, count, total := pages(t, "/api/v1/apps?category=email&limit=1", "apps", call); entries != all.Total ||
		count != all.Total || total != nil {
		t.Errorf("apps: %d entries on %d pages, total %v; want %d and none", entries, count, total, all.Total)
	}
	if _, _, total := pages(t, "/api/v1/apps?category=email&limit=1&include=total", "apps",
		call); total != float64(all.Total) {
		t.Errorf("apps with include: total %v, want %d", total, all.Total)
	}
}

// TestOldIDsFind holds that a key which is for a tool by an id that it had finds
// the tool, and no other.
func TestOldIDsFind(t *testing.T) {
	t.Parallel()
	a, err := app.Parse([]byte(`
id: desk
name: Desk
base: https://desk.example
auth: [{id: open, type: none}]
tools:
  find_tickets: {call: GET /a, about: Finds tickets., phrases: [find the tickets of a customer], was: [search]}
  create_ticket: {call: POST /b, about: Creates a ticket., phrases: [make a ticket of a customer]}
`))
	if err != nil {
		t.Fatal(err)
	}
	shelf, err := library.New([]*app.App{a}, nil)
	if err != nil {
		t.Fatal(err)
	}
	mux := httpserver.NewMux(nil)
	face := &findhttp.Handler{BaseURL: base, Operations: operation.New(operation.Ports{Library: shelf}, base)}
	face.Describe(openapi.New(mux, "Test", "1", nil), "/api/v1", "key")
	for id, want := range map[string]string{
		"desk__search":       "[desk__find_tickets]",
		"desk__find_tickets": "[desk__find_tickets]", "desk__create_ticket": "[desk__create_ticket]",
		"desk__gone": "[]",
	} {
		caller := &gate.Caller{
			Account: "acc_1",
			Key: &apikey.Key{
				AccountID:   "acc_1",
				Permissions: apikey.Read,
				Restrict:    apikey.Restrictions{Tools: []string{id}},
			},
		}
		r := httptest.NewRequestWithContext(gate.With(t.Context(), caller), http.MethodPost, "/api/v1/tools/find",
			strings.NewReader(`{"task":"tickets of a customer"}`))
		r.Header.Set("Content-Type", "application/json")
		got := httptest.NewRecorder()
		mux.ServeHTTP(got, r)
		found := []string{}
		for _, one := range decode(t, got)["tools"].([]any) {
			found = append(found, one.(map[string]any)["tool"].(string))
		}
		if fmt.Sprint(found) != want {
			t.Errorf("a key for %s finds %v, want %s", id, found, want)
		}
	}
}
