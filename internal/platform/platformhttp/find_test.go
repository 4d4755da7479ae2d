package platformhttp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"ace/internal/platform/apikey"
	"ace/internal/platform/audit"
)

func TestCatalog(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	got := w.call(http.MethodGet, "/api/v1/catalog", "")
	list := decode(t, got)
	apps := list["apps"].([]any)
	if got.Code != 200 || list["total"] != 1.0 || len(apps) != 1 || list["next_cursor"] != nil ||
		got.Header().Get("Cache-Control") != "public, max-age=300" {
		t.Fatalf("catalog: %d %s", got.Code, got.Body)
	}
	one := apps[0].(map[string]any)
	if one["app"] != "demo-notes" || fmt.Sprint(one["auth"]) != "[oauth2 key]" || one["tools_count"] != 5.0 ||
		one["logo_url"] != base+"/logos/demo-notes.svg" {
		t.Errorf("app = %v", one)
	}
	again := w.call(http.MethodGet, "/api/v1/catalog", "", "If-None-Match", got.Header().Get("ETag"))
	if again.Code != 304 || again.Body.Len() != 0 {
		t.Errorf("unchanged: %d %q", again.Code, again.Body)
	}
	for query, want := range map[string]float64{
		"auth=basic": 0, "auth=key": 1, "has_triggers=false": 0,
		"category=productivity": 1, "category=none": 0,
	} {
		if got := decode(t, w.call(http.MethodGet, "/api/v1/catalog?"+query, ""))["total"]; got != want {
			t.Errorf("catalog?%s: total %v, want %v", query, got, want)
		}
	}
	if got := w.call(http.MethodGet, "/api/v1/catalog?cursor=x", ""); got.Code != 400 ||
		decode(t, got)["code"] != "invalid_cursor" {
		t.Errorf("a made-up cursor: %d %s", got.Code, got.Body)
	}
	if logo := w.call(http.MethodGet, "/logos/demo-notes.svg", ""); logo.Code != 200 ||
		logo.Header().Get("Content-Type") != "image/svg+xml" || !strings.Contains(logo.Body.String(), ">DN<") {
		t.Errorf("logo: %d %s", logo.Code, logo.Body)
	}
	if logo := w.call(http.MethodGet, "/logos/nothing.svg", ""); logo.Code != 404 {
		t.Errorf("a logo of nothing: %d", logo.Code)
	}
}

func TestAppsOfAnAccount(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	secret, _ := w.key(t, apikey.Read)
	for search, want := range map[string]int{"notes": 1, "dmeo notes": 1, "productivity": 1, "": 1, "zebra": 0} {
		got := decode(t, w.call(http.MethodGet, "/api/v1/apps?search="+strings.ReplaceAll(search, " ", "+"),
			"", "Authorization", "Bearer "+secret))
		apps := got["apps"].([]any)
		if len(apps) != want {
			t.Errorf("search %q: %v", search, got)
		}
		if len(apps) == 1 && apps[0].(map[string]any)["connection_status"] != "not_connected" {
			t.Errorf("search %q: %v", search, apps[0])
		}
	}
	_, narrow, err := w.keys.Create(t.Context(), audit.Operator(), w.account.ID,
		apikey.Settings{
			Name: "narrow", Permissions: apikey.Read,
			Restrict: apikey.Restrictions{Apps: []string{"gmail"}},
		})
	if err != nil {
		t.Fatal(err)
	}
	if got := decode(t,
		w.call(http.MethodGet, "/api/v1/apps", "", "Authorization", "Bearer "+narrow)); len(got["apps"].([]any)) != 0 {
		t.Errorf("a key for other apps sees %v", got)
	}
}

func TestFindTools(t *testing.T) {
	t.Parallel()
	w := setupFree(t)
	secret, _ := w.key(t, apikey.Read)
	find := func(body string) map[string]any {
		return decode(t, w.call(http.MethodPost, "/api/v1/tools/find", body, "Authorization", "Bearer "+secret))
	}
	tests := []struct{ task, want string }{
		{"write down that milk is out", "demo_notes__create_note"},
		{"show my latest notes", "demo_notes__list_notes"},
		{"which note mentions bread?", "demo_notes__search_notes"},
		{"throw a note away", "demo_notes__delete_note"},
		{"rename a note", "demo_notes__update_note"},
	}
	for _, tt := range tests {
		got := find(`{"task":"` + tt.task + `"}`)
		tools := got["tools"].([]any)
		if len(tools) == 0 || tools[0].(map[string]any)["tool"] != tt.want {
			t.Errorf("find(%q) = %v, want %s first", tt.task, got["tools"], tt.want)
		}
	}
	got := find(`{"task":"create a note","include":["input_schema"],"limit":1}`)
	first := got["tools"].([]any)[0].(map[string]any)
	if first["input_schema"].(map[string]any)["type"] != "object" || fmt.Sprint(first["required"]) != "[title]" ||
		first["connection_status"] != "not_connected" {
		t.Errorf("found %v", first)
	}
	connect := got["not_connected"].([]any)[0].(map[string]any)["connect"].(map[string]any)
	if connect["href"] != "/api/v1/apps/demo-notes/connect" || connect["method"] != "POST" {
		t.Errorf("connect = %v", connect)
	}
	if got := find(`{"task":"fly to the moon"}`); len(got["tools"].([]any)) != 0 || got["hint"] == nil {
		t.Errorf("nothing found: %v", got)
	}
	if got := find(`{"task":"create a note","connected_only":true}`); len(got["tools"].([]any)) != 0 ||
		!strings.Contains(got["hint"].(string), "connected_only") {
		t.Errorf("nothing connected: %v", got)
	}
	if got := find(`{"task":"a note","read_only":true}`); len(got["tools"].([]any)) != 2 {
		t.Errorf("read only: %v", got["tools"])
	}
	for body, code := range map[string]string{
		`{"task":" "}`: "invalid_request", `{}`: "invalid_request",
		`{"task":"a","apps":["demo-note"]}`: "app_not_found", `{"task":"a","limit":99}`: "invalid_request",
	} {
		if got := find(body); got["code"] != code {
			t.Errorf("find(%s) = %v, want %s", body, got, code)
		}
	}
}
