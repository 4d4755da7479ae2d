package openapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
)

// TestUnknownNames refuses parameters and fields that are not there, and names
// the nearest one that is.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	type line struct {
		Quantity int `json:"quantity,omitempty"`
	}
	type input struct {
		Status string `query:"status"`
		Limit  int    `query:"limit" default:"20"`
		Body   struct {
			EndUser string `json:"end_user,omitempty"`
			Lines   []line `json:"lines,omitempty"`
		}
	}
	serve := func(strict bool) http.Handler {
		mux := httpserver.NewMux(nil)
		api := openapi.New(mux, "Test", "1", &openapi.Options{Strict: strict})
		openapi.Handle(api, openapi.Operation{Method: http.MethodPost, Path: "/things", ID: "makeThing"},
			func(context.Context, *input) (*struct{}, error) { return nil, nil })
		return mux
	}
	tests := []struct {
		name, target, body string
		pointer, detail    string // of the one item; empty: accepted
	}{
		{"known", "/things?status=a&limit=3", `{"end_user":"u"}`, "", ""},
		{"typo of a parameter", "/things?statsu=a", `{}`, "statsu", "Did you mean status?"},
		{"another spelling", "/things?LIMIT=3", `{}`, "LIMIT", "Did you mean limit?"},
		{"nothing near", "/things?zebra=1", `{}`, "zebra", "check its spelling"},
		{"without a value", "/things?x", `{}`, "x", "check its spelling"},
		{"field", "/things", `{"end_usr":"u"}`, "/end_usr", "Did you mean end_user?"},
		{
			"field of an entry",
			"/things",
			`{"lines":[{"quantity":1},{"qantity":2}]}`,
			"/lines/1/qantity",
			"Did you mean quantity?",
		},
		{"field with a slash", "/things", `{"end/user":"u"}`, "/end~1user", "Did you mean end_user?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodPost, tt.target, strings.NewReader(tt.body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			serve(true).ServeHTTP(w, r)
			var got httpserver.ProblemBody
			if tt.pointer == "" {
				if w.Code != http.StatusNoContent {
					t.Errorf("%s = %d %s, want 204", tt.target, w.Code, w.Body)
				}
				return
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if w.Code != http.StatusBadRequest || got.Code != "invalid_request" || len(got.Errors) != 1 ||
				got.Errors[0].Pointer != tt.pointer || !strings.Contains(got.Errors[0].Detail, tt.detail) {
				t.Errorf("%s %s = %d %+v, want %s at %s", tt.target, tt.body, w.Code, got, tt.detail, tt.pointer)
			}
		})
	}
	r := httptest.NewRequest(http.MethodPost, "/things?statsu=a", strings.NewReader(`{}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	serve(false).ServeHTTP(w, r)
	if w.Code != http.StatusNoContent {
		t.Errorf("an API that is not strict refuses an unknown parameter: %d %s", w.Code, w.Body)
	}
}
