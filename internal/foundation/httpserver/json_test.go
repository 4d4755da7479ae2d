package httpserver_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"

	"github.com/google/go-cmp/cmp"
)

type line struct {
	Item struct {
		ID string `json:"id"`
	} `json:"item"`
	Quantity int `json:"quantity"`
}

type order struct {
	Lines []line         `json:"line_items"`
	Extra map[string]any `json:"extra"`
}

func TestDecodeJSON(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 65) + strings.Repeat("]", 65)
	tests := []struct {
		name, media, body string
		limit             int64
		code, detail, at  string
	}{
		{
			name: "good", media: "application/json",
			body: `{"line_items":[{"item":{"id":"a"},"quantity":2}],"unknown":1}`,
		},
		{name: "good with charset", media: "application/json; charset=UTF-8", body: `{}`},
		{name: "good suffix type", media: "application/ld+json", body: `{}`},
		{name: "no media type", body: `{}`},
		{
			name: "form", media: "application/x-www-form-urlencoded", body: `{}`, code: "unsupported_media_type",
			detail: "Content-Type: application/json",
		},
		{name: "other charset", media: "application/json; charset=latin1", body: `{}`, code: "unsupported_media_type"},
		{name: "broken media type", media: "application/json; charset", body: `{}`, code: "unsupported_media_type"},
		{name: "empty", body: " \n", code: "invalid_json", detail: "empty"},
		{name: "cut", body: `{"line_items":[`, code: "invalid_json", detail: "ends too early"},
		{name: "bad character", body: "{\n  \"a\": x\n}", code: "invalid_json", detail: "line 2, column 8"},
		{name: "trailing", body: `{} {}`, code: "invalid_json", detail: "line 1, column 4"},
		{
			name: "duplicate", body: `{"extra":{"a":1,"b":2,"\u0061":3}}`, code: "invalid_json",
			detail: `"a" appears twice in one object at line 1, column 23`,
		},
		{name: "same name in two objects", body: `{"line_items":[{"quantity":1},{"quantity":2}]}`},
		{
			name: "not UTF-8", body: "{\"extra\":{\"a\":\"\xff\"}}", code: "invalid_json",
			detail: "UTF-8 at line 1, column 16",
		},
		{name: "too deep", body: deep, code: "invalid_json", detail: "64 levels"},
		{
			name: "too large", body: `{"extra":{"a":"0123456789"}}`, limit: 10, code: "request_too_large",
			detail: "10 bytes",
		},
		{
			name: "wrong type deep inside",
			body: `{"extra":{"x":[1,{"y":2}]},"line_items":[{"quantity":1},{"quantity":"two"}]}`, code: "invalid_type",
			detail: "Expected a whole number in range, found a string.", at: "/line_items/1/quantity",
		},
		{
			name: "fraction", body: `{"line_items":[{"quantity":1.5}]}`, code: "invalid_type", detail: "whole number",
			at: "/line_items/0/quantity",
		},
		{
			name: "too big", body: `{"line_items":[{"quantity":99999999999999999999}]}`, code: "invalid_type",
			at: "/line_items/0/quantity",
		},
		{
			name: "object for array", body: `{"line_items":{"a":1}}`, code: "invalid_type",
			detail: "Expected an array, found an object.", at: "/line_items",
		},
		{name: "array for object", body: `[1]`, code: "invalid_type", detail: "Expected an object, found an array."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(tt.body))
			if tt.media != "" {
				r.Header.Set("Content-Type", tt.media)
			}
			var got order
			err := httpserver.DecodeJSON(r, &got, tt.limit)
			if tt.code == "" {
				if err != nil {
					t.Errorf("DecodeJSON(%s) = %v, want nil", tt.body, err)
				}
				return
			}
			var p *problem.Problem
			if !errors.As(err, &p) || p.Code != tt.code || !strings.Contains(p.Detail, tt.detail) {
				t.Fatalf("DecodeJSON(%s) = %v, want %s: …%s…", tt.body, err, tt.code, tt.detail)
			}
			if tt.code == "invalid_type" {
				want := []problem.Item{{Pointer: tt.at, Code: p.Code, Detail: p.Detail}}
				if diff := cmp.Diff(want, p.Items); diff != "" {
					t.Errorf("items (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestDecodeStrictJSON(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(`{"line_itms":[]}`))
	err := httpserver.DecodeStrictJSON(r, new(order), 0)
	var p *problem.Problem
	if !errors.As(err, &p) || p.Code != "unknown_field" || p.Items[0].Pointer != "/line_itms" {
		t.Errorf("DecodeStrictJSON = %+v, want unknown_field at /line_itms", p)
	}
}

func TestLimitBody(t *testing.T) {
	t.Parallel()
	h := httpserver.LimitBody(8)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var v any
		if err := httpserver.DecodeJSON(r, &v, 0); err != nil {
			httpserver.WriteProblem(w, r, err)
		}
	}))
	for name, length := range map[string]int64{"declared": 20, "chunked": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/",
				strings.NewReader(`"0123456789abcdef"`))
			r.ContentLength = length
			w, _ := serve(t, h, r)
			if w.Code != 413 || !strings.Contains(w.Body.String(), "8 bytes") {
				t.Errorf("answer = %d %s, want 413 naming 8 bytes", w.Code, w.Body)
			}
		})
	}
}

// The fuzz test holds the decoder to its promise: it never panics, and what it
// takes, it takes again.
func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, `{"a":{"b":[1,2,{"c":"\u0000"}]}}`, `{"a":1,"a":2}`,
		`{"line_items":[{"quantity":"x"}]}`, "\"\\", `nul`, "\xff", `{"":{"":0}}`, ` 1 `,
		`{"a\/b~":1,"line_items":3}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v order
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(data))
		err := httpserver.DecodeJSON(r, &v, 0)
		if err == nil {
			if again := jsonread.Check(data); again != nil {
				t.Errorf("DecodeJSON accepted %q, Check says %v", data, again)
			}
			return
		}
		if _, ok := problem.From(err); !ok {
			t.Errorf("DecodeJSON(%q) = %v, want a problem", data, err)
		}
	})
}

func BenchmarkDecodeJSON(b *testing.B) {
	body := `{"line_items":[{"item":{"id":"offer_monthly"},"quantity":1}],"extra":{"a":1,"b":"text","c":[1,2,3]}}`
	b.ReportAllocs()
	for b.Loop() {
		var v order
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/", strings.NewReader(body))
		if err := httpserver.DecodeJSON(r, &v, 0); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAllowBody(t *testing.T) {
	t.Parallel()
	h := httpserver.Chain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := httpserver.ReadBody(r, 100); err != nil {
			httpserver.WriteProblem(w, r, err)
		}
	}), httpserver.LimitBody(8), httpserver.AllowBody(16))
	for length, want := range map[int]int{8: 200, 16: 200, 17: 413} {
		for _, declared := range []bool{true, false} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/",
				strings.NewReader(strings.Repeat("x", length)))
			if !declared {
				r.ContentLength = -1
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%d bytes, declared %v: %d, want %d", length, declared, w.Code, want)
			}
		}
	}
}
