package a2a_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/a2a"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected responses of the transcripts")

// agent has an outcome for each way in which a call can end. The last word of a message, or of an
// id, selects it.
type agent struct{}

func (agent) Send(_ context.Context, call *a2a.Call, req *a2a.SendRequest) (*a2a.Task, error) {
	word := "data"
	if p := req.Message.Parts[0]; p.Text != nil {
		word = *p.Text
	}
	task, err := outcome(word)
	if err == nil && len(call.Extensions) > 0 {
		task.Metadata = json.RawMessage(`{"activated":"` + strings.Join(call.Extensions, " ") + `"}`)
	}
	return task, err
}

func (agent) Get(_ context.Context, _ *a2a.Call, req *a2a.GetRequest) (*a2a.Task, error) {
	return outcome(req.ID)
}

func (agent) Cancel(_ context.Context, _ *a2a.Call, req *a2a.CancelRequest) (*a2a.Task, error) {
	if req.ID == "task_over" {
		return nil, a2a.NewError(a2a.CodeTaskNotCancelable, "The task has ended already.", "taskId", req.ID)
	}
	task, err := outcome(req.ID)
	if err == nil {
		task.Status.State = a2a.Canceled
	}
	return task, err
}

func (agent) List(_ context.Context, _ *a2a.Call, req *a2a.ListRequest) (*a2a.TaskPage, error) {
	page := &a2a.TaskPage{Tasks: []a2a.Task{}, PageSize: req.PageSize}
	if req.ContextID != "" {
		page.Tasks = append(page.Tasks, *done())
		page.TotalSize, page.NextPageToken = 2, "more"
	}
	return page, nil
}

// done returns a completed task with every field set.
func done() *a2a.Task {
	at := a2a.At(time.Date(2026, 11, 21, 10, 0, 0, 5e6, time.FixedZone("", 3600)))
	says := func(id string, role a2a.Role, parts ...a2a.Part) a2a.Message {
		return a2a.Message{MessageID: id, ContextID: "ctx_1", TaskID: "task_1", Role: role, Parts: parts}
	}
	last := says("m4", a2a.RoleAgent, a2a.URLPart("https://store.example/c/1?a=1&b=2", "text/html"))
	return &a2a.Task{
		ID: "task_1", ContextID: "ctx_1", Status: a2a.Status{State: a2a.Completed, Message: &last, Timestamp: at},
		Artifacts: []a2a.Artifact{{
			ArtifactID: "result", Name: "site_info",
			Parts: []a2a.Part{a2a.DataPart([]byte(`{"name":"<Straße & Co>"}`))},
		}},
		History: []a2a.Message{
			says("m1", a2a.RoleUser, a2a.TextPart("")), says("m2", a2a.RoleAgent, a2a.TextPart("two")),
			says("m3", a2a.RoleUser,
				a2a.Part{Raw: "AAEC", MediaType: "image/png", Filename: "a.png", Metadata: []byte(`{"x":1}`)}),
		},
	}
}

func outcome(word string) (*a2a.Task, error) {
	switch word {
	case "lost":
		return nil, a2a.TaskNotFound()
	case "invalid":
		return nil, fmt.Errorf("reading: %w",
			problem.New(problem.Invalid, "bad_path", "The path climbs out.").At("/path"))
	case "away":
		return nil, problem.New(problem.Unavailable, "processor_unavailable",
			"The processor is unavailable.").After(1500 * time.Millisecond)
	case "limited":
		return nil, problem.New(problem.RateLimited, "rate_limited", "At most one a second.").After(time.Second).Over(
			"client")
	case "fault":
		return nil, errors.New("password=hunter2")
	case "panic":
		panic("hunter2")
	}
	return done(), nil
}

const extension = "https://store.example/ext/1"

func newServer() http.Handler {
	return a2a.New(agent{}, &a2a.Options{MaxBody: 2000, Extensions: []string{extension}})
}

// TestTranscripts runs every testdata/*.txtar: requests and the exact responses.
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			out := &txtar.Archive{Comment: archive.Comment}
			var log bytes.Buffer
			h := httpserver.Chain(newServer(),
				httpserver.Instrument(slog.New(slog.NewJSONHandler(&log, nil)), "store", nil))
			for i, f := range archive.Files {
				name, ok := strings.CutSuffix(f.Name, ".request")
				if !ok {
					continue
				}
				got := play(t, h, string(f.Data))
				out.Files = append(out.Files, f, txtar.File{Name: name + ".answer", Data: []byte(got)})
				if *update {
					continue
				}
				if i+1 == len(archive.Files) || archive.Files[i+1].Name != name+".answer" {
					t.Errorf("%s has no response; run with -update", name)
				} else if want := string(archive.Files[i+1].Data); got != want {
					t.Errorf("%s answered:\n%s\nwant:\n%s", name, got, want)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for _, secret := range []string{"query-secret", "foreign-method"} {
				if strings.Contains(log.String(), secret) {
					t.Errorf("the log holds %s:\n%s", secret, log.String())
				}
			}
		})
	}
}

// play sends a request: a line with method and path, header lines, an empty line and the body. The
// protocol headers are added unless the request sets them; REPEAT(text,n) in a body is that text n
// times.
func play(t *testing.T, h http.Handler, request string) string {
	t.Helper()
	head, body, _ := strings.Cut(request, "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	body = strings.TrimSpace(body)
	if before, rest, ok := strings.Cut(body, "REPEAT("); ok {
		what, after, _ := strings.Cut(rest, ")")
		comma := strings.LastIndexByte(what, ',')
		n, err := strconv.Atoi(what[comma+1:])
		if err != nil {
			t.Fatal(err)
		}
		body = before + strings.Repeat(what[:comma], n) + after
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path,
		strings.NewReader(strings.ReplaceAll(body, `\xff`, "\xff")))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(a2a.HeaderVersion, "1.0")
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		r.Header.Set(name, strings.TrimSpace(value))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", w.Code)
	for _, name := range []string{"Content-Type", "Allow", "Retry-After", a2a.HeaderExtensions} {
		if value := w.Header().Get(name); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	text := w.Body.String()
	if id := w.Header().Get("X-Request-Id"); id != "" {
		text = strings.ReplaceAll(text, id, "req_1")
	}
	b.WriteString("\n" + text)
	if !strings.HasSuffix(text, "\n") {
		b.WriteString("\n")
	}
	return b.String()
}

// Pages of every origin may call; a preflight request needs no protocol headers.
func TestPreflight(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodOptions, "/", nil)
	w := httptest.NewRecorder()
	newServer().ServeHTTP(w, r)
	h := w.Header()
	if w.Code != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != "*" ||
		!strings.Contains(h.Get("Access-Control-Allow-Headers"), a2a.HeaderVersion) {
		t.Errorf("OPTIONS = %d %v, want 204 for every origin", w.Code, h)
	}
}
