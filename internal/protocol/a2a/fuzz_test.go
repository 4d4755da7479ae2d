package a2a_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/foundation/jsonread"
	"ace/internal/protocol/a2a"

	"golang.org/x/tools/txtar"
)

// seeds are the bodies of the transcripts.
func seeds(f *testing.F, add func(body string)) {
	f.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range archive.Files {
			if _, body, ok := strings.Cut(string(part.Data), "\n\n"); ok && strings.HasSuffix(part.Name, ".request") {
				add(body)
			}
		}
	}
}

// FuzzServer sends arbitrary bodies: the response to each is one valid envelope that has either a
// result or an error with its reason.
func FuzzServer(f *testing.F) {
	seeds(f, func(body string) { f.Add(body) })
	h := newServer()
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(a2a.HeaderVersion, "1.0")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var answer struct {
			JSONRPC string
			ID      json.RawMessage
			Result  json.RawMessage
			Error   *struct {
				Code    int
				Message string
				Data    []struct {
					Type   string `json:"@type"`
					Reason string
				}
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.JSONRPC != "2.0" || answer.ID == nil ||
			(answer.Result == nil) == (answer.Error == nil) {
			t.Fatalf("%q = %d %s, %v", body, w.Code, w.Body, err)
		}
		if e := answer.Error; e != nil &&
			(e.Code >= -32000 || e.Message == "" || len(e.Data) == 0 || e.Data[0].Reason == "") {
			t.Errorf("%q = %s, want a code of the protocol with its reason", body, w.Body)
		}
	})
}

// FuzzRead parses parameters: accepted ones are within the limits.
func FuzzRead(f *testing.F) {
	seeds(f, func(body string) {
		var envelope struct{ Params json.RawMessage }
		if json.Unmarshal([]byte(body), &envelope) == nil && envelope.Params != nil {
			f.Add([]byte(envelope.Params))
		}
	})
	f.Fuzz(func(t *testing.T, params []byte) {
		value, err := jsonread.ParseOptional(params)
		if err != nil {
			return
		}
		if req, fault := a2a.ReadSend(value); fault == nil {
			m := req.Message
			if m.MessageID == "" || m.Role != a2a.RoleUser || len(m.Parts) == 0 || len(m.Parts) > a2a.MaxParts {
				t.Errorf("ReadSend(%q) = %+v", params, m)
			}
			for _, p := range m.Parts {
				if (p.Text == nil) && p.Raw == "" && p.URL == "" && p.Data == nil {
					// Only raw bytes may be empty.
					if !strings.Contains(string(params), `raw`) {
						t.Errorf("ReadSend(%q) has an empty part", params)
					}
				}
				if p.Data != nil && !json.Valid(p.Data) {
					t.Errorf("ReadSend(%q) has data %q", params, p.Data)
				}
			}
		}
		if req, fault := a2a.ReadList(value); fault == nil && (req.PageSize < 1 || req.PageSize > a2a.MaxPageSize) {
			t.Errorf("ReadList(%q) = %+v", params, req)
		}
		if req, fault := a2a.ReadGet(value); fault == nil &&
			(req.ID == "" || req.HistoryLength != nil && *req.HistoryLength < 0) {
			t.Errorf("ReadGet(%q) = %+v", params, req)
		}
	})
}
