package tool_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/platform/tool"
)

func TestOutputCursors(t *testing.T) {
	t.Parallel()
	w := setup(t)
	value := make([]any, 100)
	for i := range value {
		value[i] = fmt.Sprint("entry ", i, strings.Repeat(".", 50))
	}
	w.reply = func(context.Context, int, *tool.Call) (*tool.Answer, error) {
		return &tool.Answer{Status: 200, Output: value}, nil
	}
	in := request("desk__search", `{"query":"ab"}`)
	in.Output.MaxBytes = 1000
	res, err := w.Run(t.Context(), w.by(nil), in)
	if err != nil {
		t.Fatal(err)
	}
	calls := len(w.called())
	first, err := w.Output(t.Context(), w.by(nil), res.Run.ID, "")
	if err != nil || string(first.Output) != string(res.Output) {
		t.Errorf("Output without a cursor = %s, %v, want the first part", first.Output, err)
	}
	// The cursor alone says which run it is of.
	if next, err := w.Output(t.Context(), w.by(nil), "", res.Cursor); err != nil || next.Continues == "" {
		t.Errorf("Output by cursor alone = %+v, %v", next, err)
	}
	if len(w.called()) != calls {
		t.Error("reading an output ran the tool again")
	}
	other, err := w.Run(t.Context(), w.by(nil), in)
	if err != nil {
		t.Fatal(err)
	}
	stranger := &tool.Caller{AccountID: "acc_b"}
	for name, read := range map[string]func() (*tool.Result, error){
		"invalid_cursor": func() (*tool.Result, error) {
			return w.Output(t.Context(), w.by(nil),
				res.Run.ID, "oc_xyz")
		},
		"invalid_cursor without prefix": func() (*tool.Result, error) {
			return w.Output(t.Context(), w.by(nil),
				res.Run.ID, res.Cursor[3:])
		},
		"invalid_cursor of another run": func() (*tool.Result, error) {
			return w.Output(t.Context(), w.by(nil),
				other.Run.ID, res.Cursor)
		},
		"run_not_found by a stranger": func() (*tool.Result, error) {
			return w.Output(t.Context(), stranger, "",
				res.Cursor)
		},
		"run_not_found": func() (*tool.Result, error) {
			return w.Output(t.Context(), w.by(nil),
				"run_none", "")
		},
	} {
		want, _, _ := strings.Cut(name, " ")
		if _, err := read(); !problem.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
