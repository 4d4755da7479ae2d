package tool_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/tooltest"
)

func TestFiles(t *testing.T) {
	t.Parallel()
	w := setup(t)
	data := bytes.Repeat([]byte("0123456789abcdef"), 200_000) // of several pieces
	info, err := w.Upload(t.Context(), w.by(nil), &tool.File{Name: `C:\tmp\..\Übersicht 1.pdf`, MediaType: "application/pdf; a=b", Data: data})
	if err != nil || info.Name != "Übersicht 1.pdf" || info.MediaType != "application/pdf; a=b" || info.Size != int64(len(data)) {
		t.Fatalf("Upload = %+v, %v", info, err)
	}
	pieces, err := w.store.Pieces(t.Context(), info.ID)
	if err != nil || len(pieces) != 4 || strings.Contains(pieces[0], "0123456789abcdef") {
		t.Errorf("%d pieces, %v: want four that are sealed", len(pieces), err)
	}
	got, err := w.Content(t.Context(), info)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("Content = %d bytes, %v", len(got), err)
	}
	if _, err := w.File(t.Context(), &tool.Caller{AccountID: "acc_b"}, info.ID); !problem.Is(err, "file_not_found") {
		t.Errorf("a file of another account = %v", err)
	}
	if _, err := w.Upload(t.Context(), w.by(nil), &tool.File{Data: make([]byte, tool.MaxFile+1)}); !problem.Is(err, "file_too_large") {
		t.Errorf("a file that is too large = %v", err)
	}
	empty, err := w.Upload(t.Context(), w.by(nil), &tool.File{Name: "/"})
	if err != nil || empty.Name != "file" || empty.MediaType != "application/octet-stream" {
		t.Errorf("an empty file = %+v, %v", empty, err)
	}
}

func TestFileNames(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for name, want := range map[string]string{
		"a.txt": "a.txt", "../../etc/passwd": "passwd", `..\..\x.exe`: "x.exe", "": "file", "..": "file", "a\r\nb.txt": "ab.txt", "\u202egpj.exe": "gpj.exe", strings.Repeat("ä", 150): strings.Repeat("ä", 100),
	} {
		info, err := w.Upload(t.Context(), w.by(nil), &tool.File{Name: name, Data: []byte("x")})
		if err != nil || info.Name != want {
			t.Errorf("Upload(%q) = %+v, %v, want %q", name, info, err, want)
		}
	}
}

func TestSignedAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		one, err := w.Upload(t.Context(), w.by(nil), &tool.File{Name: "a", Data: []byte("a")})
		if err != nil {
			t.Fatal(err)
		}
		other, err := w.Upload(t.Context(), w.by(nil), &tool.File{Name: "b", Data: []byte("b")})
		if err != nil {
			t.Fatal(err)
		}
		path, ok := strings.CutPrefix(w.FileURL(one), "https://platform.example/api/v1/files/"+one.ID+"/")
		if !ok {
			t.Fatalf("FileURL = %s", w.FileURL(one))
		}
		expires, mac, _ := strings.Cut(path, ".")
		for name, read := range map[string][2]string{"another file": {other.ID, path}, "a later end": {one.ID, "zzzzzz." + mac}, "no signature": {one.ID, expires}, "nothing": {one.ID, ""}} {
			if _, err := w.SignedFile(t.Context(), read[0], read[1]); !problem.Is(err, "file_not_found") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if f, err := w.SignedFile(t.Context(), one.ID, path); err != nil || f.ID != one.ID {
			t.Errorf("SignedFile = %+v, %v", f, err)
		}
		wait(time.Hour + time.Second)
		if _, err := w.SignedFile(t.Context(), one.ID, path); !problem.Is(err, "file_not_found") {
			t.Errorf("after an hour: %v", err)
		}
	})
}

func TestFilesOfAnEndUser(t *testing.T) {
	t.Parallel()
	w := setup(t)
	theirs := w.by(func(k *apikey.Key) { k.Restrict.EndUser = "u1" })
	f, err := w.Upload(t.Context(), theirs, &tool.File{Name: "a", Data: []byte("a")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.File(t.Context(), w.by(nil), f.ID); err != nil {
		t.Errorf("the account itself: %v", err)
	}
	if _, err := w.File(t.Context(), theirs, f.ID); err != nil {
		t.Errorf("the user: %v", err)
	}
	if _, err := w.File(t.Context(), w.by(func(k *apikey.Key) { k.Restrict.EndUser = "u2" }), f.ID); !problem.Is(err, "file_not_found") {
		t.Errorf("another user: %v", err)
	}
	w.reply = opens(nil)
	res, err := w.Run(t.Context(), w.by(nil), request("desk__attach", `{"file":"`+f.ID+`"}`))
	if !problem.Is(err, "file_not_found") {
		t.Errorf("a run for the account with a file of a user: %+v, %v", res, err)
	}
}

// opens answers what the file of a call holds.
func opens(got **tool.File) func(context.Context, int, *tool.Call) (*tool.Answer, error) {
	return func(ctx context.Context, _ int, c *tool.Call) (*tool.Answer, error) {
		f, err := c.Open(ctx, c.Arguments["file"].(string))
		if err != nil {
			return nil, err
		}
		if got != nil {
			*got = f
		}
		return &tool.Answer{Output: "ok"}, nil
	}
}

func TestInputFiles(t *testing.T) {
	t.Parallel()
	w := setup(t)
	uploaded, err := w.Upload(t.Context(), w.by(nil), &tool.File{Name: "up.txt", MediaType: "text/plain", Data: []byte("uploaded")})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ reference, name, media, data, refused string }{
		{uploaded.ID, "up.txt", "text/plain", "uploaded", ""},
		{"https://files.example/a", "fetched", "text/plain", "https://files.example/a", ""},
		{"data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte("png")), "file", "image/png", "png", ""},
		{"data:,a%20b", "file", "text/plain; charset=US-ASCII", "a b", ""},
		{"data:text/plain;base64,%%%", "", "", "", "invalid_arguments"},
		{"data:text/plain", "", "", "", "invalid_arguments"},
		{"http://files.example/a", "", "", "", "invalid_arguments"},
		{"/etc/passwd", "", "", "", "invalid_arguments"},
		{"file_none", "", "", "", "file_not_found"},
	}
	for _, tt := range tests {
		var got *tool.File
		w.reply = opens(&got)
		_, err := w.Run(t.Context(), w.by(nil), request("desk__attach", `{"file":"`+tt.reference+`"}`))
		if code(nil, err) != tt.refused {
			t.Errorf("%s: %v, want %q", tt.reference, err, tt.refused)
		}
		if tt.refused == "" && (got == nil || got.Name != tt.name || got.MediaType != tt.media || string(got.Data) != tt.data) {
			t.Errorf("%s: %+v", tt.reference, got)
		}
	}
}

func TestFilesThatComeOut(t *testing.T) {
	t.Parallel()
	w := setupOn(t, tooltest.NewMemory(), tool.Options{FileQuota: 10})
	w.reply = func(context.Context, int, *tool.Call) (*tool.Answer, error) {
		return &tool.Answer{Status: 200, File: &tool.File{Name: "a.png", MediaType: "image/png", Data: []byte("123456")}}, nil
	}
	res, err := w.Run(t.Context(), w.by(nil), request("desk__search", `{"query":"ab"}`))
	if err != nil || !res.OK() || res.Output != nil || len(res.Files) != 1 || res.Files[0].Name != "a.png" {
		t.Fatalf("Run = %+v, %v", res, err)
	}
	if data, err := w.Content(t.Context(), res.Files[0]); err != nil || string(data) != "123456" {
		t.Errorf("Content = %s, %v", data, err)
	}
	full, err := w.Run(t.Context(), w.by(nil), request("desk__search", `{"query":"ab"}`))
	if err != nil || full.OK() || full.Failure.Code != tool.CodeResponseInvalid || !strings.Contains(full.Failure.Detail, "carried out") {
		t.Errorf("Run with no room for its file = %+v, %v", full, err)
	}
}
