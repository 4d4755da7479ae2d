// Package sdkfiles makes the files that {platform_url}/sdk/ serves from the
// sources of the clients: the JavaScript module with its types, an npm package, a
// Python wheel, and their checksums.
//
//	sdk.Files + platform URL ─> Build ─> ace-1.0.0.mjs, .d.ts, .tgz, …-py3-none-any.whl
//	                                     SHA256SUMS, index.json
//
// The platform's URL is written into the clients, so that new ACE(key) needs no
// other setting. Nothing else varies: the same sources and the same URL give the
// same bytes.
package sdkfiles

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Version is the version of both clients. The sources name it too; a test
// compares them.
const Version = "1.0.0"

// sourceURL is the URL that the sources name, replaced by the platform's own.
const sourceURL = "http://127.0.0.1:8081"

// File is a file to serve.
type File struct {
	Name      string // for example ace-1.0.0.mjs
	MediaType string
	Body      []byte
	SHA256    string // hexadecimal
	Integrity string // sha384-<base64>, as in the integrity attribute of HTML
}

// Set is all files, in a fixed order.
type Set struct {
	Files []File
	Base  string // {platform_url}/sdk
}

// Build makes the files for a platform's URL, which has no slash at the end.
func Build(sources fs.FS, platformURL string) (*Set, error) {
	b := builder{sources: sources, url: platformURL}
	module := b.source("js/ace.mjs")
	types := b.source("js/ace.d.ts")
	pack := b.source("js/package.json")
	readme := b.source("js/README.md")
	wheel, err := b.wheel()
	if b.err != nil || err != nil {
		return nil, fmt.Errorf("reading the sources of the clients: %w", errors.Join(b.err, err))
	}
	archive, err := npmPackage([]entry{
		{"package.json", pack}, {"README.md", readme}, {"ace.d.ts", types}, {"ace.mjs", module},
	})
	if err != nil {
		return nil, fmt.Errorf("packing the JavaScript client: %w", err)
	}
	s := &Set{Base: platformURL + "/sdk"}
	s.add("ace-"+Version+".mjs", "text/javascript; charset=utf-8", module)
	s.add("ace-"+Version+".d.ts", "text/plain; charset=utf-8", types)
	s.add("ace-"+Version+".tgz", "application/gzip", archive)
	s.add("ace-"+Version+"-py3-none-any.whl", "application/zip", wheel)
	s.add("SHA256SUMS", "text/plain; charset=utf-8", s.sums())
	index, err := s.index()
	if err != nil {
		return nil, err
	}
	s.add("index.json", "application/json", index)
	return s, nil
}

// File returns the file of that name.
func (s *Set) File(name string) (File, bool) {
	i := slices.IndexFunc(s.Files, func(f File) bool { return f.Name == name })
	if i < 0 {
		return File{}, false
	}
	return s.Files[i], true
}

func (s *Set) add(name, mediaType string, body []byte) {
	short, long := sha256.Sum256(body), sha512.Sum384(body)
	s.Files = append(s.Files, File{
		Name: name, MediaType: mediaType, Body: body, SHA256: hex.EncodeToString(short[:]),
		Integrity: "sha384-" + base64.StdEncoding.EncodeToString(long[:]),
	})
}

// sums lists the files so far in the form that sha256sum -c reads.
func (s *Set) sums() []byte {
	var out bytes.Buffer
	for _, f := range s.Files {
		fmt.Fprintf(&out, "%s  %s\n", f.SHA256, f.Name)
	}
	return out.Bytes()
}

type indexFile struct {
	Name      string `json:"name"`
	URL       string `json:"url"`
	Size      int    `json:"size"`
	SHA256    string `json:"sha256"`
	Integrity string `json:"integrity"`
}

func (s *Set) index() ([]byte, error) {
	index := struct {
		Version string            `json:"version"`
		Install map[string]string `json:"install"`
		Files   []indexFile       `json:"files"`
	}{
		Version: Version,
		Install: map[string]string{
			"npm": "npm install " + s.Base + "/ace-" + Version + ".tgz",
			"pip": "pip install " + s.Base + "/ace-" + Version + "-py3-none-any.whl",
		},
	}
	for _, f := range s.Files {
		index.Files = append(index.Files,
			indexFile{f.Name, s.Base + "/" + f.Name, len(f.Body), f.SHA256, f.Integrity})
	}
	text, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the index of the clients: %w", err)
	}
	return append(text, '\n'), nil
}

type entry struct {
	name string
	body []byte
}

type builder struct {
	sources fs.FS
	url     string
	err     error
}

// source reads a source with the platform's URL in place of the one it names.
func (b *builder) source(name string) []byte {
	body, err := fs.ReadFile(b.sources, name)
	if err != nil {
		b.err = err
	}
	body = bytes.ReplaceAll(body, []byte(`"`+sourceURL+`"`), []byte(quote(b.url)))
	return bytes.ReplaceAll(body, []byte("{platform_url}"), []byte(b.url))
}

// quote writes a URL as a string literal of JavaScript and Python.
func quote(url string) string {
	text, err := json.Marshal(url)
	if err != nil { // a string can always be written
		return `""`
	}
	return string(text)
}

// npmPackage packs files as npm does: below "package/", at one fixed time.
func npmPackage(files []entry) ([]byte, error) {
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{
			Name: "package/" + f.name, Size: int64(len(f.body)), Mode: 0o644, Typeflag: tar.TypeReg,
			ModTime: time.Date(1985, 10, 26, 8, 15, 0, 0, time.UTC), Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.body); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := compressed.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// wheel packs the Python client by the specification of binary distributions
// (https://packaging.python.org/en/latest/specifications/binary-distribution-format/).
func (b *builder) wheel() ([]byte, error) {
	names, err := fs.Glob(b.sources, "python/ace/*")
	if err != nil {
		return nil, err
	}
	var files []entry
	for _, name := range names {
		files = append(files, entry{"ace/" + path.Base(name), b.source(name)})
	}
	info := "ace-" + Version + ".dist-info/"
	files = append(files, entry{info + "METADATA", b.metadata()}, entry{info + "WHEEL", []byte(
		"Wheel-Version: 1.0\nGenerator: ace (" + Version + ")\nRoot-Is-Purelib: true\nTag: py3-none-any\n")})
	record := new(strings.Builder)
	for _, f := range files {
		sum := sha256.Sum256(f.body)
		fmt.Fprintf(record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.body))
	}
	fmt.Fprintf(record, "%sRECORD,,\n", info)
	return zipped(append(files, entry{info + "RECORD", []byte(record.String())}))
}

func (b *builder) metadata() []byte {
	head := "Metadata-Version: 2.1\nName: ace\nVersion: " + Version +
		"\nSummary: One API key, every app that an account has connected.\nLicense: Apache-2.0\n" +
		"Requires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n"
	return append([]byte(head), b.source("python/README.md")...)
}

func zipped(files []entry) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, f := range files {
		header := &zip.FileHeader{
			Name: f.name, Method: zip.Deflate,
			// The earliest time that the format can hold; no other is in the archive.
			Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC),
		}
		header.SetMode(0o644)
		w, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.body); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
