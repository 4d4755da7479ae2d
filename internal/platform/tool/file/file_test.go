package file_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/tool/file"
	"ace/internal/platform/tool/tooltest"
)

const account = "acc_a"

type fetcher struct{}

func (fetcher) Fetch(_ context.Context, url string) (*file.File, error) {
	return &file.File{Name: "fetched", MediaType: "text/plain", Data: []byte(url)}, nil
}

func setup(t *testing.T, quota int64) (*file.Service, *tooltest.Memory) {
	t.Helper()
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	store := tooltest.NewMemory()
	return file.New(store, box, &file.Options{
		BaseURL: "https://platform.example", Quota: quota, Fetcher: fetcher{},
	}), store
}

func save(t *testing.T, s *file.Service, endUser, name, data string) *file.Info {
	t.Helper()
	info, err := s.Save(
		t.Context(),
		account,
		endUser,
		&file.File{Name: name, MediaType: "text/plain", Data: []byte(data)},
	)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestSave(t *testing.T) {
	t.Parallel()
	s, store := setup(t, 0)
	data := bytes.Repeat([]byte("0123456789abcdef"), 200_000) // of several pieces
	info, err := s.Save(t.Context(), account, "",
		&file.File{Name: `C:\tmp\..\Übersicht 1.pdf`, MediaType: "application/pdf; a=b", Data: data})
	if err != nil || info.Name != "Übersicht 1.pdf" || info.MediaType != "application/pdf; a=b" ||
		info.Size != int64(len(data)) {
		t.Fatalf("Save = %+v, %v", info, err)
	}
	pieces, err := store.Pieces(t.Context(), info.ID)
	if err != nil || len(pieces) != 4 || strings.Contains(pieces[0], "0123456789abcdef") {
		t.Errorf("%d pieces, %v: want four that are sealed", len(pieces), err)
	}
	got, err := s.Content(t.Context(), info)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("Content = %d bytes, %v", len(got), err)
	}
	if _, err := s.Get(t.Context(), "acc_b", "", info.ID); !problem.Is(err, "file_not_found") {
		t.Errorf("Get of a file of another account = %v, want file_not_found", err)
	}
	if _, err := s.Save(t.Context(), account, "", &file.File{Data: make([]byte, file.MaxSize+1)}); !problem.Is(err,
		"file_too_large") {
		t.Errorf("Save of a file that is too large = %v, want file_too_large", err)
	}
	empty, err := s.Save(t.Context(), account, "", &file.File{Name: "/"})
	if err != nil || empty.Name != "file" || empty.MediaType != "application/octet-stream" {
		t.Errorf("Save of an empty file = %+v, %v", empty, err)
	}
}

func TestQuota(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := setup(t, 10)
		save(t, s, "", "a", "123456")
		full := &file.File{Name: "b", Data: []byte("12345")}
		if _, err := s.Save(t.Context(), account, "", full); !problem.Is(err, "file_quota_reached") {
			t.Errorf("Save above the quota = %v, want file_quota_reached", err)
		}
		if _, err := s.Save(t.Context(), "acc_b", "", full); err != nil {
			t.Errorf("Save for another account = %v", err)
		}
		time.Sleep(file.Lifetime)
		if _, err := s.Save(t.Context(), account, "", full); err != nil {
			t.Errorf("Save once the other file has expired = %v", err)
		}
	})
}

func TestNames(t *testing.T) {
	t.Parallel()
	s, _ := setup(t, 0)
	for name, want := range map[string]string{
		"a.txt": "a.txt", "../../etc/passwd": "passwd", `..\..\x.exe`: "x.exe", "": "file", "..": "file",
		"a\r\nb.txt": "ab.txt", "\u202egpj.exe": "gpj.exe", strings.Repeat("ä", 150): strings.Repeat("ä", 100),
	} {
		if info := save(t, s, "", name, "x"); info.Name != want {
			t.Errorf("Save(%q) = %+v, want the name %q", name, info, want)
		}
	}
}

func TestSignedURLs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := setup(t, 0)
		one, other := save(t, s, "", "a", "a"), save(t, s, "", "b", "b")
		signature, ok := strings.CutPrefix(s.URL(one), "https://platform.example/api/v1/files/"+one.ID+"/")
		if !ok {
			t.Fatalf("URL = %s", s.URL(one))
		}
		expires, mac, _ := strings.Cut(signature, ".")
		for name, read := range map[string][2]string{
			"another file": {other.ID, signature},
			"a later end":  {one.ID, "zzzzzz." + mac}, "no signature": {one.ID, expires}, "nothing": {one.ID, ""},
		} {
			if _, err := s.GetSigned(t.Context(), read[0], read[1]); !problem.Is(err, "file_not_found") {
				t.Errorf("%s: %v, want file_not_found", name, err)
			}
		}
		if f, err := s.GetSigned(t.Context(), one.ID, signature); err != nil || f.ID != one.ID {
			t.Errorf("GetSigned = %+v, %v", f, err)
		}
		time.Sleep(time.Hour + time.Second)
		if _, err := s.GetSigned(t.Context(), one.ID, signature); !problem.Is(err, "file_not_found") {
			t.Errorf("GetSigned after an hour = %v, want file_not_found", err)
		}
	})
}

func TestFilesOfAnEndUser(t *testing.T) {
	t.Parallel()
	s, _ := setup(t, 0)
	f := save(t, s, "u1", "a", "a")
	for endUser, want := range map[string]bool{"": true, "u1": true, "u2": false} {
		if _, err := s.Get(t.Context(), account, endUser, f.ID); (err == nil) != want {
			t.Errorf("Get for the end user %q = %v, want it found: %v", endUser, err, want)
		}
	}
	for endUser, want := range map[string]bool{"": false, "u1": true, "u2": false} {
		if _, err := s.Open(t.Context(), account, endUser, f.ID); (err == nil) != want {
			t.Errorf("Open for the end user %q = %v, want it found: %v", endUser, err, want)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	s, _ := setup(t, 0)
	uploaded := save(t, s, "", "up.txt", "uploaded")
	tests := []struct{ reference, name, media, data, code string }{
		{uploaded.ID, "up.txt", "text/plain", "uploaded", ""},
		{"https://files.example/a", "fetched", "text/plain", "https://files.example/a", ""},
		{"data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte("png")), "file", "image/png", "png", ""},
		{"data:,a%20b", "file", "text/plain; charset=US-ASCII", "a b", ""},
		{"data:text/plain;base64,%%%", "", "", "", "invalid_arguments"},
		{"data:text/plain", "", "", "", "invalid_arguments"},
		{"data:," + strings.Repeat("a", file.MaxSize+1), "", "", "", "file_too_large"},
		{"http://files.example/a", "", "", "", "invalid_arguments"},
		{"/etc/passwd", "", "", "", "invalid_arguments"},
		{"file_none", "", "", "", "file_not_found"},
	}
	for _, tt := range tests {
		got, err := s.Open(t.Context(), account, "", tt.reference)
		p, _ := problem.From(err)
		if err != nil && p.Code != tt.code || err == nil && tt.code != "" {
			t.Errorf("Open(%.40s) = %v, want %q", tt.reference, err, tt.code)
		}
		if tt.code == "" &&
			(got == nil || got.Name != tt.name || got.MediaType != tt.media || string(got.Data) != tt.data) {
			t.Errorf("Open(%.40s) = %+v", tt.reference, got)
		}
	}
}
