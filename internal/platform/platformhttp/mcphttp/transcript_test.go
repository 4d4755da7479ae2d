package mcphttp_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"ace/internal/platform/apikey"
)

var update = flag.Bool("update", false, "rewrite the expected responses of the transcripts")

// TestTranscripts plays every testdata/*.txtar against a platform of its own: what
// a client sends, what the user does meanwhile, and the exact responses. A value
// that differs each time has a name, such as run-1, and ${run-1} stands for it in
// requests.
//
//	-- name.request --   ?query, header fields, an empty line, a message
//	-- name.answer --    its response
//	-- name.do --        sign in LINK | approve URL | deny URL | key SETTING
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
			p := player{t: t, world: setup(t), names: newNames()}
			p.secret = p.key(nil)
			out := p.play(archive)
			if *update {
				if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

type player struct {
	*world
	*names
	t      *testing.T
	secret string
}

func (p *player) play(archive *txtar.Archive) *txtar.Archive {
	out := &txtar.Archive{Comment: archive.Comment}
	for i, f := range archive.Files {
		name, kind, _ := strings.Cut(f.Name, ".")
		switch kind {
		case "do":
			p.do(strings.TrimSpace(string(f.Data)))
			out.Files = append(out.Files, f)
		case "request":
			got := p.send(string(f.Data))
			out.Files = append(out.Files, f, txtar.File{Name: name + ".answer", Data: []byte(got)})
			if *update {
				continue
			}
			if i+1 == len(archive.Files) || archive.Files[i+1].Name != name+".answer" {
				p.t.Fatalf("%s has no answer; run the test with -update", name)
			}
			if want := string(archive.Files[i+1].Data); got != want {
				p.t.Errorf("%s answered:\n%s\nwant:\n%s", name, got, want)
			}
		}
	}
	return out
}

// do is what the user does between two messages.
func (p *player) do(line string) {
	what, argument, _ := strings.Cut(line, " ")
	argument = p.show(argument)
	switch what {
	case "sign-in":
		p.signIn(argument)
	case "approve", "deny":
		p.decide(argument, what == "approve")
	case "key":
		p.secret = p.key(func(s *apikey.Settings) {
			switch argument {
			case "read":
				s.Permissions = apikey.Read
			case "run":
				s.Permissions = apikey.Run
			case "approval":
				s.Approval = apikey.ApproveDestructive
			default:
				p.t.Fatalf("no such key: %s", argument)
			}
		})
	default:
		p.t.Fatalf("nobody can do %q", line)
	}
}

func (p *player) send(request string) string {
	head, message, found := strings.Cut(request, "\n\n")
	if !found {
		head, message = "", request
	}
	target := "/mcp"
	if strings.HasPrefix(head, "?") {
		query, rest, _ := strings.Cut(head, "\n")
		target, head = target+query, rest
	}
	var fields []string
	for line := range strings.Lines(head) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		fields = append(fields, name, value)
	}
	got := p.postTo(target, p.secret, p.show(strings.TrimSpace(message)), fields...)
	return fmt.Sprintf("%d\n%s", got.Code, p.hide(pretty(got.Body.Bytes())))
}

// pretty shows a response line by line: the text of a result as the JSON that it
// is, unless structuredContent repeats it.
func pretty(body []byte) string {
	var message struct {
		Result struct {
			Content []struct{ Type, Text string } `json:"content"`
			Same    json.RawMessage               `json:"structuredContent"`
		} `json:"result"`
	}
	var tree map[string]any
	if json.Unmarshal(body, &tree) != nil {
		return string(body)
	}
	if json.Unmarshal(body, &message) == nil && len(message.Result.Content) > 0 {
		blocks := tree["result"].(map[string]any)["content"].([]any)
		first := blocks[0].(map[string]any)
		var inner any
		switch {
		case string(message.Result.Same) != "" && message.Result.Content[0].Text == string(message.Result.Same):
			first["text"] = "(structuredContent)"
		case json.Unmarshal([]byte(message.Result.Content[0].Text), &inner) == nil:
			first["text"] = inner
		}
	}
	text, err := json.MarshalIndent(tree, "", " ")
	if err != nil {
		return string(body)
	}
	return string(text) + "\n"
}
