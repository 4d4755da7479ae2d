package sdkfiles_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/sdkfiles"
	"ace/sdk"
)

func build(t *testing.T, url string) *sdkfiles.Set {
	t.Helper()
	set, err := sdkfiles.Build(sdk.Files, url)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func file(t *testing.T, set *sdkfiles.Set, name string) sdkfiles.File {
	t.Helper()
	f, ok := set.File(name)
	if !ok {
		t.Fatalf("there is no file %s", name)
	}
	return f
}

func TestSameSourcesSameBytes(t *testing.T) {
	t.Parallel()
	first, second := build(t, "https://apps.example"), build(t, "https://apps.example")
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two builds differ:\n%s", diff)
	}
}

func TestURLOfThePlatform(t *testing.T) {
	t.Parallel()
	set := build(t, "https://apps.example")
	texts := map[string]string{"module": string(file(t, set, "ace-1.0.0.mjs").Body)}
	for name, text := range untar(t, file(t, set, "ace-1.0.0.tgz").Body) {
		texts["tgz "+name] = text
	}
	for name, text := range unzip(t, file(t, set, "ace-1.0.0-py3-none-any.whl").Body) {
		texts["wheel "+name] = text
	}
	for name, text := range texts {
		if strings.Contains(text, "127.0.0.1") || strings.Contains(text, "{platform_url}") {
			t.Errorf("%s still names the URL of the sources", name)
		}
	}
	for name, want := range map[string]string{
		"module":                   `const BASE_URL = "https://apps.example";`,
		"tgz package/ace.mjs":      `const BASE_URL = "https://apps.example";`,
		"tgz package/README.md":    "npm install https://apps.example/sdk/ace-1.0.0.tgz",
		"tgz package/package.json": `"version": "` + sdkfiles.Version + `"`,
		"wheel ace/_platform.py": `BASE_URL = ` +
			`"https://apps.example"` + "\n" + `VERSION = "` + sdkfiles.Version + `"`,
		"wheel ace-1.0.0.dist-info/METADATA": "Name: ace\nVersion: 1.0.0\n",
		"wheel ace/py.typed":                 "",
	} {
		text, ok := texts[name]
		if !ok || !strings.Contains(text, want) {
			t.Errorf("%s does not contain %q (present: %v)", name, want, ok)
		}
	}
}

func TestChecksums(t *testing.T) {
	t.Parallel()
	set := build(t, "https://apps.example")
	sums := string(file(t, set, "SHA256SUMS").Body)
	var index struct {
		Version string
		Install map[string]string
		Files   []struct {
			Name, URL, SHA256, Integrity string
			Size                         int
		}
	}
	if err := json.Unmarshal(file(t, set, "index.json").Body, &index); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, f := range index.Files {
		listed[f.Name] = true
		body := file(t, set, f.Name).Body
		sum := sha256.Sum256(body)
		if f.SHA256 != hex.EncodeToString(sum[:]) || f.Size != len(body) {
			t.Errorf("%s: index.json says %s, %d bytes", f.Name, f.SHA256, f.Size)
		}
		if f.URL != "https://apps.example/sdk/"+f.Name || !strings.HasPrefix(f.Integrity, "sha384-") {
			t.Errorf("%s: url %s, integrity %s", f.Name, f.URL, f.Integrity)
		}
		if f.Name != "SHA256SUMS" && !strings.Contains(sums, f.SHA256+"  "+f.Name+"\n") {
			t.Errorf("SHA256SUMS does not list %s", f.Name)
		}
	}
	if len(listed) != 5 || index.Version != sdkfiles.Version {
		t.Errorf("index.json lists %v of version %s", listed, index.Version)
	}
	for _, command := range index.Install {
		_, name, _ := strings.Cut(command, "/sdk/")
		if !listed[name] {
			t.Errorf("the command %q installs what is not there", command)
		}
	}
}

// TestRecord checks the wheel's own list of its files, which pip verifies.
func TestRecord(t *testing.T) {
	t.Parallel()
	files := unzip(t, file(t, build(t, "https://apps.example"), "ace-1.0.0-py3-none-any.whl").Body)
	record := files["ace-1.0.0.dist-info/RECORD"]
	for name, text := range files {
		sum := sha256.Sum256([]byte(text))
		want := fmt.Sprintf("%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
		if name == "ace-1.0.0.dist-info/RECORD" {
			want = name + ",,\n"
		}
		if !strings.Contains(record, want) {
			t.Errorf("RECORD lacks %q", want)
		}
	}
}

func TestMissingSource(t *testing.T) {
	t.Parallel()
	if _, err := sdkfiles.Build(fstest.MapFS{}, "https://apps.example"); err == nil {
		t.Error("Build without sources returned no error")
	}
}

func untar(t *testing.T, data []byte) map[string]string {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(text)
	}
}

func unzip(t *testing.T, data []byte) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}
