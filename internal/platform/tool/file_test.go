package tool_test

import (
	"context"
	"strings"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
)

// opensFile is a reply that opens the file of a call.
func opensFile(got **file.File) func(context.Context, int, *tool.Call) (*tool.Answer, error) {
	return func(ctx context.Context, _ int, c *tool.Call) (*tool.Answer, error) {
		f, err := c.Open(ctx, c.Arguments["file"].(string))
		if err != nil {
			return nil, err
		}
		*got = f
		return &tool.Answer{Output: "ok"}, nil
	}
}

func TestInputFiles(t *testing.T) {
	t.Parallel()
	w := setup(t)
	theirs := w.by(func(k *apikey.Key) { k.Restrict.EndUser = "u1" })
	f, err := w.Files.Save(t.Context(), account, "u1", &file.File{Name: "a", Data: []byte("a")})
	if err != nil {
		t.Fatal(err)
	}
	w.connections.chosen.EndUser = "u1"
	var got *file.File
	w.reply = opensFile(&got)
	in := request("desk__attach", `{"file":"`+f.ID+`"}`)
	if res, err := w.Run(t.Context(), theirs, in); err != nil || !res.OK() || got == nil || string(got.Data) != "a" {
		t.Errorf("Run = %+v, %v, with the file %+v", res, err, got)
	}
	w.connections.chosen.EndUser = ""
	if res, err := w.Run(t.Context(), w.by(nil), in); !problem.Is(err, "file_not_found") {
		t.Errorf("Run for the account with a file of an end user = %+v, %v, want file_not_found", res, err)
	}
	if _, err := w.Run(t.Context(), w.by(nil), request("desk__attach", `{"file":"/etc/passwd"}`)); code(nil, err) !=
		"invalid_arguments" {
		t.Errorf("Run with a path = %v, want invalid_arguments", err)
	}
}

func TestOutputFiles(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.reply = func(context.Context, int, *tool.Call) (*tool.Answer, error) {
		return &tool.Answer{
			Status: 200,
			File:   &file.File{Name: "a.png", MediaType: "image/png", Data: []byte(strings.Repeat("x", fileQuota*2/3))},
		}, nil
	}
	res, err := w.Run(t.Context(), w.by(nil), request("desk__search", `{"query":"ab"}`))
	if err != nil || !res.OK() || res.Output != nil || len(res.Files) != 1 || res.Files[0].Name != "a.png" {
		t.Fatalf("Run = %+v, %v", res, err)
	}
	if data, err := w.Files.Content(t.Context(), res.Files[0]); err != nil || len(data) != fileQuota*2/3 {
		t.Errorf("Content = %s, %v", data, err)
	}
	full, err := w.Run(t.Context(), w.by(nil), request("desk__search", `{"query":"ab"}`))
	if err != nil || full.OK() || full.Failure.Code != tool.CodeResponseInvalid ||
		!strings.Contains(full.Failure.Detail, "carried out") {
		t.Errorf("Run above the quota of files = %+v, %v", full, err)
	}
}
