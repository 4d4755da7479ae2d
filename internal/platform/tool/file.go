package tool

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

// Limits of files.
const (
	MaxFile     = 25 << 20 // bytes
	pieceSize   = 1 << 20
	maxFileName = 200
	// urlLifetime is how long the signed address of a file opens it.
	urlLifetime = time.Hour
)

// FileInfo is a file that is kept for a day: uploaded as the input of a tool, or
// the answer of one.
type FileInfo struct {
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

// Upload keeps a file as the input of a tool. Its problems: file_too_large
// (TooLarge), file_quota_reached (Conflict).
func (s *Service) Upload(ctx context.Context, c *Caller, f *File) (*FileInfo, error) {
	endUser := ""
	if c.Key != nil {
		endUser = c.Key.Restrict.EndUser
	}
	return s.keepFile(ctx, c.AccountID, endUser, f)
}

func (s *Service) keepFile(ctx context.Context, accountID, endUser string, f *File) (*FileInfo, error) {
	if len(f.Data) > MaxFile {
		return nil, fileTooLarge()
	}
	sum := sha256.Sum256(f.Data)
	info := &FileInfo{
		ID: typeid.New(FilePrefix), AccountID: accountID, EndUser: endUser, Name: fileName(f.Name), MediaType: mediaType(f.MediaType),
		Size: int64(len(f.Data)), SHA256: hex.EncodeToString(sum[:]), CreatedAt: now(), ExpiresAt: now().Add(KeepOutput),
	}
	var pieces []string
	for rest := f.Data; len(rest) > 0; {
		n := min(len(rest), pieceSize)
		sealed, err := s.box.Seal(rest[:n], filePlace(info, len(pieces)))
		if err != nil {
			return nil, fmt.Errorf("sealing file %s: %w", info.ID, err)
		}
		pieces, rest = append(pieces, sealed), rest[n:]
	}
	return info, s.Store.InsertFile(ctx, info, pieces, s.options.FileQuota)
}

func fileTooLarge() error {
	return problem.New(problem.TooLarge, "file_too_large", "A file has at most 25 MiB. Send a smaller one, or several.")
}

func filePlace(f *FileInfo, piece int) seal.Place {
	return seal.Place{Table: "tool_file", Column: "piece", Row: f.ID + "/" + strconv.Itoa(piece), Account: f.AccountID}
}

// fileName is the last part of a name, without what a terminal or a header would
// take for something else.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, path.Base(strings.ReplaceAll(name, `\`, "/")))
	for len(name) > maxFileName {
		_, width := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-width]
	}
	if strings.Trim(name, "./ ") == "" {
		return "file"
	}
	return name
}

const unknownMedia = "application/octet-stream"

func mediaType(text string) string {
	kind, params, err := mime.ParseMediaType(text)
	if err != nil || !strings.Contains(kind, "/") {
		return unknownMedia
	}
	return mime.FormatMediaType(kind, params)
}

// File answers a file of the caller's account. It returns file_not_found
// (NotFound).
func (s *Service) File(ctx context.Context, c *Caller, id string) (*FileInfo, error) {
	return s.file(ctx, c, id)
}

func (s *Service) file(ctx context.Context, c *Caller, id string) (*FileInfo, error) {
	f, err := s.Store.File(ctx, c.AccountID, id, now())
	if err != nil {
		return nil, err
	}
	if c.Key != nil && c.Key.Restrict.EndUser != "" && c.Key.Restrict.EndUser != f.EndUser {
		return nil, FileNotFound()
	}
	return f, nil
}

// FileNotFound is the problem of a file that is not there, or not for the
// caller.
func FileNotFound() error {
	return problem.New(problem.NotFound, "file_not_found", "This account has no file with this id; files are kept for 24 hours.")
}

// Content answers the bytes of a file.
func (s *Service) Content(ctx context.Context, f *FileInfo) ([]byte, error) {
	pieces, err := s.Store.Pieces(ctx, f.ID)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, f.Size)
	for i, sealed := range pieces {
		piece, err := s.box.Open(sealed, filePlace(f, i))
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

const labelFile = "address of a file"

// FileURL is an address that opens a file for an hour without a key.
func (s *Service) FileURL(f *FileInfo) string {
	until := time.Now().Add(urlLifetime)
	if f.ExpiresAt.Before(until) {
		until = f.ExpiresAt
	}
	expires := strconv.FormatInt(until.Unix(), 36)
	return s.options.BaseURL + "/api/v1/files/" + f.ID + "/" + expires + "." + s.box.MAC(labelFile, []byte(f.ID), []byte(expires))
}

// SignedFile answers the file of an address that FileURL made. It returns
// file_not_found (NotFound) for every other.
func (s *Service) SignedFile(ctx context.Context, id, signature string) (*FileInfo, error) {
	expires, mac, _ := strings.Cut(signature, ".")
	want := s.box.MAC(labelFile, []byte(id), []byte(expires))
	until, err := strconv.ParseInt(expires, 36, 64)
	if subtle.ConstantTimeCompare([]byte(mac), []byte(want)) != 1 || err != nil || time.Now().Unix() >= until {
		return nil, FileNotFound()
	}
	return s.Store.FileOf(ctx, id, now())
}

// input answers the file that an argument names: the id of an upload, an https
// address, or a data: address.
func (s *Service) input(ctx context.Context, accountID, endUser, reference string) (*File, error) {
	refuse := func(detail string) error {
		return problem.New(problem.Unprocessable, "invalid_arguments", detail).Advise("fix_arguments")
	}
	switch {
	case strings.HasPrefix(reference, FilePrefix+"_"):
		info, err := s.Store.File(ctx, accountID, reference, now())
		if err != nil {
			return nil, err
		}
		if info.EndUser != "" && info.EndUser != endUser {
			return nil, FileNotFound()
		}
		data, err := s.Content(ctx, info)
		return &File{Name: info.Name, MediaType: info.MediaType, Data: data}, err
	case strings.HasPrefix(reference, "data:"):
		return dataFile(reference, refuse)
	case strings.HasPrefix(reference, "https://") && s.Fetcher != nil:
		return s.Fetcher.Fetch(ctx, reference)
	}
	return nil, refuse("A file is named by its file_id, by an https address, or given as a data: address.")
}

// dataFile reads a data: address (RFC 2397).
func dataFile(reference string, refuse func(string) error) (*File, error) {
	head, body, ok := strings.Cut(strings.TrimPrefix(reference, "data:"), ",")
	if !ok {
		return nil, refuse("A data: address has a comma before its data.")
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
		return nil, refuse("The data of a data: address cannot be decoded.")
	}
	if len(data) > MaxFile {
		return nil, fileTooLarge()
	}
	return &File{Name: "file", MediaType: mediaType(media), Data: data}, nil
}
