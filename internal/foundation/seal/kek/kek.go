// Package kek are key-encryption keys: what wraps the ring of data keys that
// is in the database. A URL selects it:
//
//	(empty)                              the master key file
//	file:///path                         another file of 32 bytes, mode 0600
//	env://NAME                           base64 of 32 bytes in a variable
//	hcvault://host[:port]/mount/keys/k   Transit of HashiCorp Vault or OpenBao
//
//	Wrap(ring) -> text for the database      Unwrap(text) -> ring
//
// Errors say what to do, and hold neither keys nor tokens nor what a service
// answered besides its own messages.
package kek

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
)

// Size is the length of a key from a file or a variable in bytes.
const Size = 32

var (
	// ErrWrong says that a text was wrapped by another key, or is damaged.
	ErrWrong = errors.New("the key does not open the keyset")
	// ErrAway says that a service cannot be asked now; later it may.
	ErrAway = errors.New("the key management service cannot be used now")
	// ErrNoKey says that there is no key where the setting says.
	ErrNoKey = errors.New("is not there")
)

// Key wraps and unwraps. It is safe for concurrent use.
type Key interface {
	// Name distinguishes the key from others; it is no secret.
	Name() string
	// Wrap returns text that Unwrap opens. It returns ErrAway.
	Wrap(ctx context.Context, plain []byte) (string, error)
	// Unwrap returns ErrWrong and ErrAway.
	Unwrap(ctx context.Context, text string) ([]byte, error)
}

// associated binds what is wrapped to its use: no other text that the same key
// has encrypted passes for a keyset.
const associated = "ace keyset v1"

// Options say where a key is found.
type Options struct {
	File      string // the master key file, for an empty address
	TokenFile string // token of a key management service
	Setting   string // the name of the address's setting, for errors
	TokenName string // the name of the token file's setting, for errors
	// Create makes the master key file if it is not there. Set it only where
	// nothing is sealed yet.
	Create bool
	// Client returns an HTTP client that calls this origin only.
	Client func(origin *url.URL) *http.Client
}

// Open returns the key of an address. No service is called.
func Open(address string, o *Options) (Key, error) {
	if address == "" {
		master, err := ReadFile(o.File, o.Create)
		if err != nil {
			return nil, err
		}
		return Local(master)
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Fragment != "" {
		return nil, fmt.Errorf("%s cannot be read: %s", o.Setting, forms)
	}
	switch u.Scheme {
	case "file":
		if u.Host != "" || u.Path == "" || u.RawQuery != "" {
			return nil, fmt.Errorf("%s names no file: write file:///path/of/the.key", o.Setting)
		}
		master, err := ReadFile(u.Path, false)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.Setting, err)
		}
		return Local(master)
	case "env":
		return fromVariable(u, o)
	case "hcvault", "hcvault+http":
		return newTransit(u, o)
	}
	return nil, fmt.Errorf("%s cannot be used: %s", o.Setting, forms)
}

const forms = "write file:///path, env://NAME or hcvault://host:8200/transit/keys/NAME, or leave it out for the " +
	"master key file"

func fromVariable(u *url.URL, o *Options) (Key, error) {
	name := u.Host
	if name == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return nil, fmt.Errorf("%s names no variable: write env://NAME", o.Setting)
	}
	text, ok := os.LookupEnv(name)
	if !ok || text == "" {
		return nil, fmt.Errorf("%s names the variable %s, which %w", o.Setting, name, ErrNoKey)
	}
	master, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(master) != Size {
		return nil,
			fmt.Errorf(
				"%s names the variable %s, which is not base64 of %d bytes: make one with openssl rand -base64 %d",
				o.Setting, name, Size, Size)
	}
	return Local(master)
}

// local is a key that this process holds.
type local struct {
	name string
	aead *subtle.AESGCM
}

const localPrefix = "local1."

// Local returns the key that follows from Size secret bytes. Its name is a
// fingerprint, the same wherever the bytes come from.
func Local(master []byte) (Key, error) {
	if len(master) != Size {
		return nil, fmt.Errorf("a master key has %d bytes, this one has %d", Size, len(master))
	}
	wrapping, err := hkdf.Key(sha256.New, master, nil, "ace kek v1", Size)
	if err != nil {
		return nil, fmt.Errorf("deriving the key-encryption key: %w", err)
	}
	print, err := hkdf.Key(sha256.New, master, nil, "ace kek name v1", 4)
	if err != nil {
		return nil, fmt.Errorf("deriving the name of the key-encryption key: %w", err)
	}
	aead, err := subtle.NewAESGCM(wrapping)
	if err != nil {
		return nil, fmt.Errorf("preparing the key-encryption key: %w", err)
	}
	return &local{"master key " + hex.EncodeToString(print), aead}, nil
}

// Name implements Key.
func (l *local) Name() string { return l.name }

// Wrap implements Key.
func (l *local) Wrap(_ context.Context, plain []byte) (string, error) {
	sealed, err := l.aead.Encrypt(plain, []byte(associated))
	if err != nil {
		return "", errors.New("wrapping the keyset")
	}
	return localPrefix + base64.RawStdEncoding.EncodeToString(sealed), nil
}

// Unwrap implements Key.
func (l *local) Unwrap(_ context.Context, text string) ([]byte, error) {
	body, ok := strings.CutPrefix(text, localPrefix)
	if !ok {
		return nil, ErrWrong
	}
	sealed, err := base64.RawStdEncoding.DecodeString(body)
	if err != nil {
		return nil, ErrWrong
	}
	plain, err := l.aead.Decrypt(sealed, []byte(associated))
	if err != nil {
		return nil, ErrWrong
	}
	return plain, nil
}

// Format keeps the key out of everything that prints it.
func (l *local) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(l.name)) }
