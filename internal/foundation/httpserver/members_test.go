package httpserver_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
)

func TestMembersOfProblems(t *testing.T) {
	t.Parallel()
	base := problem.New(problem.Conflict, "not_connected", "Notes is not connected.")
	tests := []struct {
		name string
		err  *problem.Problem
		want map[string]any // besides what every problem has
	}{
		{"none", base, map[string]any{}},
		{
			"some", base.With("app", "notes").With("retryable", false),
			map[string]any{"app": "notes", "retryable": false},
		},
		{
			"nested", base.With("connect", map[string]string{"url": "https://a.example/"}),
			map[string]any{"connect": map[string]any{"url": "https://a.example/"}},
		},
		{"no replacement", base.With("code", "fine").With("status", 200), map[string]any{}},
		{"nothing that cannot be encoded", base.With("app", func() {}), map[string]any{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			httpserver.WriteProblem(w, httptest.NewRequest(http.MethodGet, "/x", nil), tt.err)
			var got map[string]any
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatalf("body %s: %v", w.Body, err)
			}
			if w.Code != 409 || got["code"] != "not_connected" || got["status"] != 409.0 {
				t.Errorf("answer %d %s", w.Code, w.Body)
			}
			for _, known := range []string{"type", "title", "status", "detail", "instance", "code", "next_action"} {
				delete(got, known)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
		})
	}
}
