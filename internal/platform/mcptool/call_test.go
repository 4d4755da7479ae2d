package mcptool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/tool"
)

// scripted is a server that opens sessions as servers do, lists one tool and
// responds to calls as a test says. ID stands for the id of the call.
type scripted struct {
	version string
	session string
	call    func(w http.ResponseWriter, r *http.Request, id string)

	mu   sync.Mutex
	told []string // what came besides
	seen http.Header
	body string
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal(text, &m)
	answer := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		if s.session != "" {
			w.Header().Set("Mcp-Session-Id", s.session)
		}
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
	switch {
	case m.Method == "server/discover" && s.version >= "2026":
		answer(`{"resultType":"complete","supportedVersions":["` + s.version +
			`"],"capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
	case m.Method == "initialize":
		answer(`{"protocolVersion":"` + s.version +
			`","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
	case m.Method == "tools/list":
		answer(
			`{"resultType":"complete","tools":[{"name":"Größe","inputSchema":{"type":"object"},` +
				`"annotations":{"readOnlyHint":true}}]}`,
		)
	case m.Method == "tools/call":
		s.mu.Lock()
		s.seen, s.body = r.Header.Clone(), string(text)
		s.mu.Unlock()
		s.call(w, r, string(m.ID))
	case len(m.ID) > 0 && m.Method != "":
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
	default:
		s.mu.Lock()
		s.told = append(s.told, string(text))
		s.mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
	}
}

// heard waits until the server received something that contains text.
func (s *scripted) heard(t *testing.T, text string) {
	t.Helper()
	for range 20000 {
		s.mu.Lock()
		all := strings.Join(s.told, "\n")
		s.mu.Unlock()
		if strings.Contains(all, text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("the server never heard %s", text)
}

func (s *scripted) connect(t *testing.T) *client {
	t.Helper()
	if s.version == "" {
		s.version = "2025-06-18"
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return connect(t, acme(t, server.URL, "", open()), live(nil))
}

func (c *client) only(ctx context.Context, t *testing.T) (*tool.Answer, error) {
	t.Helper()
	return c.run(ctx, t, c.names()[0], map[string]any{})
}

func says(kind, body string) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, _ *http.Request, id string) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "ID", id))
	}
}

const (
	asJSON   = "application/json; charset=utf-8"
	asEvents = "text/event-stream"
	done     = `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"done"}]}}`
)

// TestCallAnswers are the ways in which a server may answer one call.
func TestCallAnswers(t *testing.T) {
	t.Parallel()
	status := func(code int, body string) func(http.ResponseWriter, *http.Request, string) {
		return func(w http.ResponseWriter, _ *http.Request, id string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "ID", id))
		}
	}
	tests := []struct {
		name string
		call func(http.ResponseWriter, *http.Request, string)
		want string // output, or code of the failure
	}{
		{"JSON", says(asJSON, done), "done"},
		{"one event", says(asEvents, "event: message\ndata: "+done+"\n\n"), "done"},
		{
			"an event with carriage returns and an id", says(asEvents, ": hello\r\nid: 7\r\ndata:"+done+"\r\n\r\n"),
			"done",
		},
		{
			"an event of several lines",
			says(asEvents, "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":ID,\"result\":{\"content\":[]}}\n\n"), "<nil>",
		},
		{
			"progress first",
			says(asEvents,
				"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\ndata: "+done+
					"\n\n"), "done",
		},
		{
			"the answer to another call first",
			says(asEvents,
				"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"of "+
					"another\"}]}}\n\ndata: "+done+"\n\n"), "done",
		},
		{"an event without data", says(asEvents, "event: ping\n\ndata: "+done+"\n\n"), "done"},
		{"the answer to another call", says(asJSON, strings.Replace(done, "ID", "1", 1)), tool.CodeResponseInvalid},
		{
			"an error", says(asJSON, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no such size"}}`),
			tool.CodeBadRequest,
		},
		{
			"an error without an id",
			status(400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}`),
			tool.CodeBadRequest,
		},
		{
			"an error with 404",
			status(404, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no such method"}}`),
			tool.CodeNotFound,
		},
		{"nothing", status(202, ""), tool.CodeResponseInvalid},
		{"a page", status(400, "<h1>Bad request</h1>"), tool.CodeResponseInvalid},
		{"half an event", says(asEvents, "data: {\"jsonrpc\":"), tool.CodeResponseInvalid},
		{"an event that is no JSON", says(asEvents, "data: hello\n\n"), tool.CodeResponseInvalid},
		{
			"a stream that ends",
			says(asEvents, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n"),
			tool.CodeResponseInvalid,
		},
		{"an event without end", says(asEvents, "data: "+strings.Repeat("a", 11<<20)), tool.CodeResponseInvalid},
		{"no object", says(asJSON, `[]`), tool.CodeResponseInvalid},
		{"a result that is none", says(asJSON, `{"jsonrpc":"2.0","id":ID,"result":7}`), tool.CodeResponseInvalid},
		{
			"a question",
			says(asJSON, `{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","inputRequests":{}}}`),
			tool.CodeConflict,
		},
		{"500", status(500, "oh"), tool.CodeUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := (&scripted{call: tt.call}).connect(t).only(t.Context(), t)
			var failure *tool.Failure
			switch {
			case errors.As(err, &failure):
				if failure.Code != tt.want {
					t.Errorf("failure = %s %s, want %s", failure.Code, failure.Detail, tt.want)
				}
			case err != nil:
				t.Errorf("Execute: %v, want %s", err, tt.want)
			case fmt.Sprint(got.Output) != tt.want:
				t.Errorf("output = %v, want %s", got.Output, tt.want)
			}
		})
	}
}

// TestQuestionsOfServers: a server that asks on the way hears at once that
// there is no response, and may ask whether we are there.
func TestQuestionsOfServers(t *testing.T) {
	t.Parallel()
	s := &scripted{session: "s-1", call: says(asEvents, `data: {"jsonrpc":"2.0","id":"a","method":"ping"}`+"\n\n"+
		`data: {"jsonrpc":"2.0","id":"b","method":"sampling/createMessage","params":{}}`+"\n\n"+"data: "+done+"\n\n")}
	if got, err := s.connect(t).only(t.Context(), t); err != nil || got.Output != "done" {
		t.Fatalf("Execute = %v, %v", got, err)
	}
	s.heard(t, `{"jsonrpc":"2.0","id":"a","result":{}}`)
	s.heard(t, `"id":"b","error":{"code":-32601`)
}

// TestCallHeaders are what servers of each version find in a call.
func TestCallHeaders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		version, session, name, meta string
	}{
		{"2025-06-18", "s-1", "", ""},
		{"2025-11-25", "", "", ""},
		{"2026-07-28", "", "=?base64?R3LDtsOfZQ==?=", `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`},
	} {
		t.Run(tt.version, func(t *testing.T) {
			t.Parallel()
			s := &scripted{version: tt.version, session: tt.session, call: says(asJSON, done)}
			c := s.connect(t)
			for range 2 {
				if _, err := c.only(t.Context(), t); err != nil {
					t.Fatal(err)
				}
			}
			h := s.seen
			if h.Get("Mcp-Protocol-Version") != tt.version || h.Get("Mcp-Session-Id") != tt.session ||
				h.Get("Mcp-Name") != tt.name {
				t.Errorf("headers = %v", h)
			}
			if !strings.Contains(s.body, tt.meta) || !strings.Contains(s.body, `"name":"Größe"`) {
				t.Errorf("body = %s", s.body)
			}
		})
	}
}

// TestCallIsCancelled: who stops waiting says so where servers keep sessions,
// whether the server has begun to answer or not.
func TestCallIsCancelled(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{true, false} {
		t.Run(fmt.Sprintf("begun=%v", begun), func(t *testing.T) {
			t.Parallel()
			var id string
			s := &scripted{session: "s-1"}
			ctx, cancel := context.WithCancel(t.Context())
			s.call = func(w http.ResponseWriter, r *http.Request, called string) {
				id = called
				if begun {
					w.Header().Set("Content-Type", asEvents)
					w.(http.Flusher).Flush()
				}
				time.AfterFunc(20*time.Millisecond, cancel)
				<-r.Context().Done()
			}
			_, err := s.connect(t).only(ctx, t)
			var failure *tool.Failure
			if !errors.As(err, &failure) || failure.Code != tool.CodeTimeout {
				t.Errorf("Execute: %v", err)
			}
			s.heard(t, `"method":"notifications/cancelled","params":{"requestId":`+id+`}`)
		})
	}
}

// TestResultOfEveryKind reads each kind of content.
func TestResultOfEveryKind(t *testing.T) {
	t.Parallel()
	s := &scripted{call: says(asJSON, `{"jsonrpc":"2.0","id":ID,"result":{"content":[
		{"type":"text","text":"one"},{"type":"image","mimeType":"image/png","data":"AAEC"},{"type":"audio",`+
		`"mimeType":"audio/wav","data":"AAE="},
		{"type":"resource_link","uri":"https://a.example/x","name":"x"},{"type":"resource",`+
		`"resource":{"uri":"mem:1","text":"inside"}},
		{"type":"resource","resource":{"uri":"mem:2","mimeType":"application/pdf","blob":"AAECAw=="}},`+
		`{"type":"of tomorrow"},{"type":"resource"}]}}`)}
	got, err := s.connect(t).only(t.Context(), t)
	if err != nil {
		t.Fatal(err)
	}
	if got.File == nil || got.File.MediaType != "image/png" || len(got.File.Data) != 3 {
		t.Errorf("file = %+v, want the image", got.File)
	}
	for pointer, want := range map[string]string{
		"/0/text": "one", "/1/bytes": "2", "/2/uri": "https://a.example/x",
		"/3/text": "inside", "/4/bytes": "4", "/5": "",
	} {
		if text := app.PickText(got.Output, pointer); text != want {
			t.Errorf("%s = %q, want %q", pointer, text, want)
		}
	}
}
