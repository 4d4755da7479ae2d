// Package seal encrypts secrets at rest and makes keyed digests.
//
// One 32-byte master key, kept in a file that only its owner may read, gives
// two keys by HKDF: one for AES-256-GCM (Tink), one for HMAC-SHA-256. What is
// sealed is bound to its place: a ciphertext that is moved to another table,
// column, row or account does not open.
package seal

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
)

// KeySize is the length of a master key in bytes.
const KeySize = 32

const version = "v1."

// ErrOpen says that a ciphertext is damaged, was made with another key, or
// belongs to another place.
var ErrOpen = errors.New("sealed value does not open here")

// Box seals and digests with one master key. It is safe for concurrent use.
type Box struct {
	aead *subtle.AESGCM
	mac  []byte
}

// Place names where a sealed value is kept.
type Place struct{ Table, Column, Row, Account string }

// New answers a box for a master key of KeySize bytes.
func New(master []byte) (*Box, error) {
	if len(master) != KeySize {
		return nil, fmt.Errorf("a master key has %d bytes, this one has %d", KeySize, len(master))
	}
	encryption, err := hkdf.Key(sha256.New, master, nil, "ace seal v1", 32)
	if err != nil {
		return nil, fmt.Errorf("deriving the encryption key: %w", err)
	}
	mac, err := hkdf.Key(sha256.New, master, nil, "ace mac v1", 32)
	if err != nil {
		return nil, fmt.Errorf("deriving the digest key: %w", err)
	}
	aead, err := subtle.NewAESGCM(encryption)
	if err != nil {
		return nil, fmt.Errorf("preparing AES-GCM: %w", err)
	}
	return &Box{aead: aead, mac: mac}, nil
}

// Load reads the master key from the file at path, which is made with a random
// key and mode 0600 if it is not there. It refuses a file that others may read.
func Load(path string) (*Box, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, err
		}
		info, err = os.Stat(path)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the master key: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("the master key %s can be read by others: run chmod 600 on it", path)
	}
	master, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the master key: %w", err)
	}
	return New(master)
}

// create makes the key file whole or not at all, and leaves the file of a
// process that was faster.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("making the folder of the master key: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".master-*")
	if err != nil {
		return fmt.Errorf("making the master key: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	_, err = f.Write(key)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("writing the master key: %w", err)
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("keeping the master key: %w", err)
	}
	return nil
}

// Seal encrypts plain for its place and answers text for a column.
func (b *Box) Seal(plain []byte, at Place) (string, error) {
	sealed, err := b.aead.Encrypt(plain, at.bytes())
	if err != nil {
		return "", fmt.Errorf("sealing: %w", err)
	}
	return version + base64.RawStdEncoding.EncodeToString(sealed), nil
}

// Open decrypts what Seal answered for the same place. It returns ErrOpen for
// anything else.
func (b *Box) Open(text string, at Place) ([]byte, error) {
	body, ok := strings.CutPrefix(text, version)
	if !ok {
		return nil, ErrOpen
	}
	sealed, err := base64.RawStdEncoding.DecodeString(body)
	if err != nil {
		return nil, ErrOpen
	}
	plain, err := b.aead.Decrypt(sealed, at.bytes())
	if err != nil {
		return nil, ErrOpen
	}
	return plain, nil
}

// MAC is a keyed digest of parts under a label, as 43 characters of base64.
// The parts are delimited: ("ab", "c") and ("a", "bc") differ.
func (b *Box) MAC(label string, parts ...[]byte) string {
	h := hmac.New(sha256.New, b.mac)
	for _, part := range append([][]byte{[]byte(label)}, parts...) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write(part)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

func (p Place) bytes() []byte {
	return []byte(strings.Join([]string{"v1", p.Table, p.Column, p.Row, p.Account}, "|"))
}
