package connectorhttp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ace/internal/platform/app"
)

// pocketBase runs the application with one collection, and returns its address
// and a token of its own.
func pocketBase(t *testing.T) (base, token string) {
	t.Helper()
	program := os.Getenv("ACE_POCKETBASE")
	if program == "" {
		t.Skip("left out: ACE_POCKETBASE is not set (scripts/install-test-needs pocketbase)")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), program, "superuser", "create", "root@acme.example", "s3cret-pass",
		"--dir", dir).CombinedOutput(); err != nil {
		t.Fatalf("making a user: %v\n%s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	_ = listener.Close()
	command := exec.Command(program, "serve", "--http", address, "--dir", dir)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	base = "http://" + address
	for range 200 {
		if res, err := http.Get(base + "/api/health"); err == nil {
			_ = res.Body.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	post := func(path, token string, body any) map[string]any {
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, bytes.NewReader(encoded))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		var v map[string]any
		if err := json.NewDecoder(res.Body).Decode(&v); err != nil || res.StatusCode >= 300 {
			t.Fatalf("POST %s = %d %v %v", path, res.StatusCode, v, err)
		}
		return v
	}
	signed := post("/api/collections/_superusers/auth-with-password", "",
		map[string]any{"identity": "root@acme.example", "password": "s3cret-pass"})
	token = fmt.Sprint(signed["token"])
	post("/api/collections", token,
		map[string]any{
			"name": "tasks", "type": "base",
			"fields": []any{map[string]any{"name": "title", "type": "text", "required": true}},
		})
	return base, token
}

const pocketBaseDocument = `
openapi: 3.0.3
info: {title: Tasks}
paths:
  /api/collections/tasks/records:
    get:
      operationId: listTasks
      summary: List tasks of the team
      parameters:
        - {name: filter, in: query, schema: {type: string}}
        - {name: perPage, in: query, schema: {type: integer, maximum: 500}}
    post:
      operationId: createTask
      summary: Create a task for the team
      requestBody: {required: true, content: {application/json: {schema: {$ref: '#/components/schemas/Task'}}}}
  /api/collections/tasks/records/{id}:
    delete: {operationId: deleteTask, parameters: [{name: id, in: path, required: true, schema: {type: string,
      pattern: '^[a-z0-9]+$'}}]}
components:
  schemas:
    Task: {type: object, required: [title], properties: {id: {type: string, readOnly: true}, title: {type: string,
      maxLength: 200}}}
`

// TestPocketBase connects an application that nobody here wrote, with a token
// that it gave, and works with it.
func TestPocketBase(t *testing.T) {
	t.Parallel()
	base, token := pocketBase(t)
	w := setup(t)
	ann := w.newcomer(t, "ann")
	made := ann.make(t, map[string]any{
		"type": "rest", "name": "Tasks", "openapi": pocketBaseDocument, "base_url": base,
		"auth": map[string]any{"kind": "bearer", "token": token},
	})
	if made["tools_count"] != 3.0 {
		t.Errorf("connector = %v", made)
	}
	if ids := ann.found(t, "create a task for the team"); len(ids) == 0 || ids[0] != "x_tasks__create_task" {
		t.Errorf("find = %v", ids)
	}
	created, err := ann.run(t, "x_tasks__create_task", map[string]any{"title": "Buy tea"})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := ann.run(t, "x_tasks__list_tasks", map[string]any{"filter": "title ~ 'tea'", "perPage": 5})
	if err != nil || app.PickText(listed.Output, "/items/0/title") != "Buy tea" {
		t.Errorf("list_tasks = %+v, %v", listed, err)
	}
	if _, err := ann.run(t, "x_tasks__delete_task",
		map[string]any{"id": app.PickText(created.Output, "/id")}); err != nil {
		t.Errorf("delete_task: %v", err)
	}
	if status, got := ann.call(t, http.MethodPatch, "/custom-connectors/"+made["id"].(string),
		map[string]any{"auth": map[string]any{"kind": "bearer", "token": "not-one-of-its-tokens"}}); status !=
		http.StatusOK {
		t.Errorf("PATCH = %d %v", status, got)
	}
	if _, err := ann.run(t, "x_tasks__list_tasks", nil); err == nil || !strings.Contains(err.Error(), "app_") {
		t.Errorf("with a wrong token: %v, want a refusal of the application", err)
	}
}
