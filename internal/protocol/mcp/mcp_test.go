package mcp_test

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
	"strings"
	"testing"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/jsonrpc"
	"ace/internal/protocol/mcp"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected responses of the transcripts")

type addInput struct {
	A     int    `json:"a" minimum:"0" maximum:"100" doc:"First summand."`
	B     int    `json:"b" minimum:"0" doc:"Second summand."`
	Unit  string `json:"unit,omitempty" enum:"eur,usd" default:"eur" doc:"Currency."`
	Label string `json:"label,omitempty" maxLength:"5" pattern:"^[a-z]+$"`
}

type addOutput struct {
	Sum  int    `json:"sum"`
	Unit string `json:"unit"`
	Note string `json:"note,omitempty"`
}

// newServer serves a tool for each way in which a call can end.
func newServer(o *mcp.Options) *mcp.Server {
	s := mcp.NewServer(mcp.Implementation{Name: "test", Title: "Test server", Version: "1.0.0"}, o)
	mcp.AddTool(s, mcp.Tool{
		Name: "add", Title: "Add", Description: "Adds two numbers.",
		Annotations: mcp.Annotations{ReadOnly: true, Idempotent: true},
	},
		func(_ context.Context, _ *mcp.Call, in *addInput) (*addOutput, error) {
			return &addOutput{Sum: in.A + in.B, Unit: in.Unit, Note: "line\none \"quoted\" <é>"}, nil
		})
	mcp.AddTool(s, mcp.Tool{Name: "fail", Description: "Ends as requested.", NoOutputSchema: true},
		func(ctx context.Context, call *mcp.Call, in *struct {
			How string `json:"how"`
		},
		) (*struct{}, error) {
			return nil, failure(ctx, call, in.How)
		})
	s.AddRawTool(mcp.Tool{
		Name: "pay", Description: "Asks for a payment.", InputSchema: json.RawMessage(`{"type":"object"}`),
	}, func(_ context.Context, call *mcp.Call, _ json.RawMessage) (*mcp.Result, error) {
		return &mcp.Result{
			Content:    []mcp.Content{mcp.Text("Payment required.")},
			Structured: json.RawMessage("{\n \"x402Version\": 2\n}"), IsError: true,
			Meta: json.RawMessage(`{"seen":` + string(metaOr(call.Meta, "null")) + `}`),
		}, nil
	})
	s.AddRawTool(mcp.Tool{
		Name: "strict", Description: "Fails although it has an output schema.",
		InputSchema: json.RawMessage(
			`{"type":"object","properties":{"when":{"type":"string","format":"date"},` +
				`"x":{"oneOf":[{"type":"string"},{"type":"object","required":["y"]}]}}}`,
		),
		OutputSchema: json.RawMessage(`{"type":"object","required":["a"]}`),
	}, func(context.Context, *mcp.Call, json.RawMessage) (*mcp.Result, error) {
		return &mcp.Result{Structured: json.RawMessage(`{"why":"no"}`), IsError: true}, nil
	})
	return s
}

func metaOr(meta *jsonread.Value, other string) json.RawMessage {
	if meta.Kind() == jsonread.Absent {
		return json.RawMessage(other)
	}
	return meta.Raw()
}

func failure(_ context.Context, call *mcp.Call, how string) error {
	switch how {
	case "problem":
		return fmt.Errorf("opening: %w",
			problem.New(problem.NotFound, "offer_not_found",
				"There is no such offer. List them with list_products.").At("/offer_id"))
	case "wait":
		return problem.New(problem.Unavailable, "processor_unavailable", "The processor is unavailable.").
			After(1500 * 1e6).
			Advise("retry_later")
	case "protocol":
		return &jsonrpc.Error{
			Code: -32001, Message: "Discovery failed", Status: 424,
			Data: map[string]string{"call": call.Tool},
		}
	case "internal":
		return errors.New("password=hunter2")
	case "panic":
		panic("hunter2")
	}
	return nil
}

// deployed wraps the server as a host does.
func deployed(h http.Handler, logged *bytes.Buffer) http.Handler {
	return httpserver.Chain(h, httpserver.Instrument(slog.New(slog.NewJSONHandler(logged, nil)), "store", nil))
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
			h := deployed(newServer(optionsFor(filepath.Base(file))), &log)
			for i := 0; i < len(archive.Files); i++ {
				f := archive.Files[i]
				name, ok := strings.CutSuffix(f.Name, ".request")
				if !ok {
					continue
				}
				got := play(t, h, string(f.Data))
				out.Files = append(out.Files, f, txtar.File{Name: name + ".answer", Data: []byte(got)})
				if i+1 < len(archive.Files) && !*update {
					if want := string(archive.Files[i+1].Data); got != want {
						t.Errorf("%s answered:\n%s\nwant:\n%s", name, got, want)
					}
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Contains(log.String(), "query-secret") {
				t.Error("log holds a query")
			}
		})
	}
}

// optionsFor returns the server options for the transcripts about hosts and limits.
func optionsFor(file string) *mcp.Options {
	switch file {
	case "hosts.txtar":
		return &mcp.Options{AllowedHosts: []string{"store.example"}, AllowedOrigins: []string{"https://app.example"}}
	case "limits.txtar":
		return &mcp.Options{
			MaxBody: 200, MaxBatch: 2,
			Admit: func(h http.Header, _ *http.Request, l mcp.Load) *jsonrpc.Error {
				h.Set("X-Load", fmt.Sprintf("cost=%d free=%d", l.Cost, l.Free))
				if l.Cost > 1 {
					return mcp.RateLimited("client",
						"Rate limit exceeded: at most one request per second. Retry after 1 second.", 0)
				}
				return nil
			},
		}
	case "platform.txtar":
		return &mcp.Options{Versions: []string{
			mcp.Version20251125, mcp.Version20250618, mcp.Version20250326,
			mcp.Version20241105,
		}, Instructions: "Use the tools."}
	case "mapped.txtar":
		return &mcp.Options{MapError: func(call *mcp.Call, err error) error {
			if problem.Is(err, "invalid_arguments") {
				return &jsonrpc.Error{
					Code: jsonrpc.CodeInvalidParams, Message: "Invalid params for " + call.Tool,
					Status: 400,
				}
			}
			return err
		}}
	}
	return nil
}

// play sends one request of a transcript and formats the response.
func play(t *testing.T, h http.Handler, request string) string {
	t.Helper()
	head, body, _ := strings.Cut(request, "\n\n")
	lines := strings.Split(strings.TrimSpace(head), "\n")
	method, target, _ := strings.Cut(lines[0], " ")
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(strings.TrimSuffix(body, "\n")))
	r.Header.Set("X-Request-Id", "request-1")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		if name == "Host" {
			r.Host = strings.TrimSpace(value)
			continue
		}
		r.Header.Set(name, strings.TrimSpace(value))
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", w.Code)
	for _, name := range []string{
		"Content-Type", "Allow", "Retry-After", "Access-Control-Allow-Origin", "Vary",
		"Mcp-Session-Id", "X-Load",
	} {
		if v := w.Header().Values(name); len(v) > 0 &&
			(name != "Access-Control-Allow-Origin" || r.Header.Get("Origin") != "" || method == http.MethodOptions) {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(v, " | "))
		}
	}
	if cl := w.Header().Get("Content-Length"); cl != "" && cl != fmt.Sprint(w.Body.Len()) {
		t.Errorf("Content-Length = %s for a body of %d bytes", cl, w.Body.Len())
	}
	if w.Body.Len() > 0 {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(w.Body.String(), "\n"))
	}
	return b.String()
}
