package reply_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/openapi"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/reply"
)

const base = "https://platform.example"

type Input struct {
	Search string `query:"search"`
	Limit  int    `query:"limit" default:"2"`
	Cursor string `query:"cursor"`
	operation.Include
}

type page struct {
	operation.Paged
}

// serve returns a handler of one list whose first page has another after it.
func serve(count func() (int, error)) http.Handler {
	mux := httpserver.NewMux(nil)
	api := openapi.New(mux, "Test", "1", nil)
	reply.HandleList(api, openapi.Operation{
		Method: http.MethodGet, Path: "/api/v1/things/{kind}", ID: "listThings",
		Summary: "Things",
	}, func(ctx context.Context, in *struct {
		Kind string `path:"kind"`
		Input
	},
	) (*reply.Page[page], error) {
		out := &page{}
		if in.Cursor == "" {
			next := "a+b/="
			out.NextCursor = &next
		}
		var err error
		out.Counted, err = in.Total(count)
		return reply.List(ctx, base, out, err)
	})
	return mux
}

func get(t *testing.T, h http.Handler, target string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil))
	return w
}

func TestNext(t *testing.T) {
	t.Parallel()
	h := serve(func() (int, error) { return 7, nil })
	tests := []struct{ name, target, want string }{
		{"plain", "/api/v1/things/x", `<https://platform.example/api/v1/things/x?cursor=a%2Bb%2F%3D>; rel="next"`},
		{
			"others are kept",
			"/api/v1/things/x?search=a%26b&limit=3&include=total",
			`<https://platform.example/api/v1/things/x?cursor=a%2Bb%2F%3D&include=total&limit=3&search=a%26b>; ` +
				`rel="next"`,
		},
		{
			"nothing breaks out", "/api/v1/things/x%3E%22?search=%3E%3B%20rel%3D%22",
			`<https://platform.example/api/v1/things/x%3E%22?cursor=a%2Bb%2F%3D&search=%3E%3B+rel%3D%22>; rel="next"`,
		},
		{"the last page", "/api/v1/things/x?cursor=a", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := get(t, h, tt.target)
			if link := got.Header().Get("Link"); got.Code != http.StatusOK || link != tt.want {
				t.Errorf("Link of %s = %d %s, want %s", tt.target, got.Code, link, tt.want)
			}
			if tt.want != "" && !strings.Contains(got.Body.String(), `"next_cursor":"a+b/="`) {
				t.Errorf("body %s", got.Body)
			}
		})
	}
}

func TestTotal(t *testing.T) {
	t.Parallel()
	counted := 0
	h := serve(func() (int, error) { counted++; return 0, nil })
	if got := get(t, h, "/api/v1/things/x").Body.String(); strings.Contains(got, "total") || counted != 0 {
		t.Errorf("without include: %s after %d counts, want none", got, counted)
	}
	if got := get(t, h, "/api/v1/things/x?include=total").Body.String(); !strings.Contains(got, `"total":0`) ||
		counted != 1 {
		t.Errorf("with include: %s after %d counts", got, counted)
	}
	if got := get(t, h, "/api/v1/things/x?include=everything"); got.Code != http.StatusBadRequest &&
		got.Code != http.StatusUnprocessableEntity {
		t.Errorf("an include that there is not: %d %s", got.Code, got.Body)
	}
	failing := serve(func() (int, error) { return 0, errors.New("the database is unavailable") })
	if got := get(t, failing, "/api/v1/things/x?include=total"); got.Code != http.StatusInternalServerError {
		t.Errorf("a count that fails: %d %s", got.Code, got.Body)
	}
	if got := (operation.Include{}).Known(3).Total; got != nil {
		t.Errorf("Known without include = %d", *got)
	}
	if got := (operation.Include{Include: "total"}).Known(3).Total; got == nil || *got != 3 {
		t.Errorf("Known = %v, want 3", got)
	}
}
