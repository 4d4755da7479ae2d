// Package file stores the files that go into tool runs and come out of them: in
// sealed pieces, for a day.
//
//	upload, output of a run ──> Save ──> sealed pieces of 1 MiB
//	argument of a run ──> Open: the id of a file, an https URL or a data: URL
//	Info ──> URL: signed, opens the file for an hour without a key
package file

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"mime"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/typeid"
)

// Prefix is the prefix of the ids of files.
const Prefix = "file"

// InputFormat is the format, in the JSON Schema of a tool's input, of a string
// that references a file.
const InputFormat = "ace-file"

// Limits.
const (
	MaxSize = 25 << 20 // bytes
	// Lifetime is how long a file is stored.
	Lifetime = 24 * time.Hour

	pieceSize   = 1 << 20
	maxName     = 200
	urlLifetime = time.Hour // of a signed URL
)

// File is a file with its bytes.
type File struct {
	Name      string
	MediaType string
	Data      []byte
}

// Info describes a stored file.
type Info struct {
	ID        string // file_…
	AccountID string
	EndUser   string // whose runs may use it; "": all of the account
	Name      string
	MediaType string
	Size      int64
	SHA256    string // hex
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Store stores files in sealed pieces. Each method is atomic and safe between
// replicas. Expired files are deleted with old runs (tool.Queue).
type Store interface {
	// InsertFile inserts a file. It returns file_quota_reached (Conflict) if the
	// unexpired files of the account would be larger than quota, in bytes.
	InsertFile(ctx context.Context, f *Info, pieces []string, quota int64) error
	// File returns file_not_found (NotFound), also for a file of another account
	// and an expired one.
	File(ctx context.Context, accountID, id string, now time.Time) (*Info, error)
	// FileByID is File for the holder of a signed URL.
	FileByID(ctx context.Context, id string, now time.Time) (*Info, error)
	// Pieces returns the sealed pieces of a file in their order.
	Pieces(ctx context.Context, id string) ([]string, error)
}

// Fetcher reads a file from a public URL. It returns the problems of package
// egress, and file_too_large (TooLarge).
type Fetcher interface {
	Fetch(ctx context.Context, url string) (*File, error)
}

// Options tunes a Service.
type Options struct {
	// BaseURL is the URL of the platform host, without a slash at the end.
	BaseURL string
	// Quota bounds the unexpired files of an account, in bytes. Default 1 GiB.
	Quota int64
	// Fetcher reads files from public URLs. Nil: https URLs are refused as inputs.
	Fetcher Fetcher
}

// Service stores files. It is safe for concurrent use.
type Service struct {
	store   Store
	sealer  *seal.Sealer
	options Options
}

// New returns a service that seals files with sealer.
func New(store Store, sealer *seal.Sealer, o *Options) *Service {
	s := &Service{store: store, sealer: sealer}
	if o != nil {
		s.options = *o
	}
	if s.options.Quota == 0 {
		s.options.Quota = 1 << 30
	}
	return s
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Save stores a file of an account, or of one of its end users. It returns
// file_too_large (TooLarge) and file_quota_reached (Conflict).
func (s *Service) Save(ctx context.Context, accountID, endUser string, f *File) (*Info, error) {
	if len(f.Data) > MaxSize {
		return nil, tooLarge()
	}
	sum := sha256.Sum256(f.Data)
	info := &Info{
		ID: typeid.New(Prefix), AccountID: accountID, EndUser: endUser, Name: cleanName(f.Name),
		MediaType: cleanMediaType(f.MediaType),
		Size:      int64(len(f.Data)), SHA256: hex.EncodeToString(sum[:]), CreatedAt: now(),
		ExpiresAt: now().Add(Lifetime),
	}
	var pieces []string
	for rest := f.Data; len(rest) > 0; {
		n := min(len(rest), pieceSize)
		sealed, err := s.sealer.Seal(rest[:n], placeOf(info, len(pieces)))
		if err != nil {
			return nil, fmt.Errorf("sealing file %s: %w", info.ID, err)
		}
		pieces, rest = append(pieces, sealed), rest[n:]
	}
	return info, s.store.InsertFile(ctx, info, pieces, s.options.Quota)
}

func tooLarge() error {
	return problem.New(problem.TooLarge, "file_too_large", "A file has at most 25 MiB. Send a smaller one, or several.")
}

func placeOf(f *Info, piece int) seal.Place {
	return seal.Place{Table: "tool_file", Column: "piece", Row: f.ID + "/" + strconv.Itoa(piece), Account: f.AccountID}
}

// cleanName returns the last part of a path, without characters that a terminal
// or a header would interpret.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, path.Base(strings.ReplaceAll(name, `\`, "/")))
	for len(name) > maxName {
		_, width := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-width]
	}
	if strings.Trim(name, "./ ") == "" {
		return "file"
	}
	return name
}

const unknownMedia = "application/octet-stream"

func cleanMediaType(text string) string {
	kind, params, err := mime.ParseMediaType(text)
	if err != nil || !strings.Contains(kind, "/") {
		return unknownMedia
	}
	return mime.FormatMediaType(kind, params)
}

// Get returns a file of an account; with an end user, only one of that user. It
// returns file_not_found (NotFound).
func (s *Service) Get(ctx context.Context, accountID, endUser, id string) (*Info, error) {
	f, err := s.store.File(ctx, accountID, id, now())
	if err != nil {
		return nil, err
	}
	if endUser != "" && endUser != f.EndUser {
		return nil, NotFound()
	}
	return f, nil
}

// NotFound returns the problem of a file that does not exist, or not for the
// caller.
func NotFound() error {
	return problem.New(problem.NotFound, "file_not_found",
		"This account has no file with this id; files are kept for 24 hours.")
}

// Content returns the bytes of a file.
func (s *Service) Content(ctx context.Context, f *Info) ([]byte, error) {
	pieces, err := s.store.Pieces(ctx, f.ID)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, f.Size)
	for i, sealed := range pieces {
		piece, err := s.sealer.Open(sealed, placeOf(f, i))
		if err != nil {
			return nil, fmt.Errorf("opening file %s: %w", f.ID, err)
		}
		data = append(data, piece...)
	}
	if int64(len(data)) != f.Size {
		return nil, fmt.Errorf("file %s has %d bytes instead of %d", f.ID, len(data), f.Size)
	}
	return data, nil
}

// urlLabel separates these MACs from others of the same key.
const urlLabel = "address of a file"

// URL returns a URL that opens a file for an hour without a key.
func (s *Service) URL(f *Info) string {
	until := time.Now().Add(urlLifetime)
	if f.ExpiresAt.Before(until) {
		until = f.ExpiresAt
	}
	expires := strconv.FormatInt(until.Unix(), 36)
	return s.options.BaseURL + "/api/v1/files/" + f.ID + "/" + expires + "." + s.sealer.MAC(urlLabel, []byte(f.ID),
		[]byte(expires))
}

// GetSigned returns the file of a URL that URL made. It returns file_not_found
// (NotFound) for any other, and once the URL has expired.
func (s *Service) GetSigned(ctx context.Context, id, signature string) (*Info, error) {
	expires, mac, _ := strings.Cut(signature, ".")
	want := s.sealer.MAC(urlLabel, []byte(id), []byte(expires))
	until, err := strconv.ParseInt(expires, 36, 64)
	if subtle.ConstantTimeCompare([]byte(mac), []byte(want)) != 1 || err != nil || time.Now().Unix() >= until {
		return nil, NotFound()
	}
	return s.store.FileByID(ctx, id, now())
}

// Open returns the file that an argument references: the id of a stored file, an
// https URL or a data: URL. It returns invalid_arguments (Unprocessable),
// file_not_found (NotFound) and what the Fetcher returns.
func (s *Service) Open(ctx context.Context, accountID, endUser, reference string) (*File, error) {
	refuse := func(detail string) error {
		return problem.New(problem.Unprocessable, "invalid_arguments", detail).Advise("fix_arguments")
	}
	switch {
	case strings.HasPrefix(reference, Prefix+"_"):
		info, err := s.store.File(ctx, accountID, reference, now())
		if err != nil {
			return nil, err
		}
		if info.EndUser != "" && info.EndUser != endUser {
			return nil, NotFound()
		}
		data, err := s.Content(ctx, info)
		return &File{Name: info.Name, MediaType: info.MediaType, Data: data}, err
	case strings.HasPrefix(reference, "data:"):
		return parseDataURL(reference, refuse)
	case strings.HasPrefix(reference, "https://") && s.options.Fetcher != nil:
		return s.options.Fetcher.Fetch(ctx, reference)
	}
	return nil, refuse("A file is the file_id of an upload, an https URL or a data: URL.")
}

// parseDataURL decodes a data: URL (RFC 2397).
func parseDataURL(reference string, refuse func(string) error) (*File, error) {
	head, body, ok := strings.Cut(strings.TrimPrefix(reference, "data:"), ",")
	if !ok {
		return nil, refuse("A data: URL has a comma before its data.")
	}
	media, encoded := strings.CutSuffix(head, ";base64")
	if media == "" {
		media = "text/plain;charset=US-ASCII"
	}
	var data []byte
	var err error
	if encoded {
		data, err = base64.StdEncoding.DecodeString(body)
	} else {
		var text string
		text, err = url.PathUnescape(body)
		data = []byte(text)
	}
	if err != nil {
		return nil, refuse("The data of this data: URL cannot be decoded.")
	}
	if len(data) > MaxSize {
		return nil, tooLarge()
	}
	return &File{Name: "file", MediaType: cleanMediaType(media), Data: data}, nil
}
