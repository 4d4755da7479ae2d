// Package seal encrypts secrets at rest and makes keyed digests.
//
// A ring holds data keys, of which one, the primary, seals; every other one
// that is not disabled opens what it sealed in its time. The ring is kept by
// others, wrapped by a key-encryption key (package kek). What is sealed is bound
// to its place: a ciphertext that is moved to another table, column, row or
// account does not open.
//
//	Seal  -> "v2." key id "." base64(nonce, AES-256-GCM)    key "v1": "v1." base64
//	Open  -> key id -> ring -> plain
//	         key id unknown -> the keyring is read again, once  -> plain | ErrOpen
//	MAC   -> HMAC-SHA-256 with a key that stays as long as the ring
package seal

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
)

// KeySize is the length of a master key and of a data key in bytes.
const KeySize = 32

const (
	legacyPrefix = LegacyID + "."
	prefix       = "v2."
	idLen        = 8
)

// ErrOpen says that a ciphertext is damaged, was made with another key, or
// belongs to another place.
var ErrOpen = errors.New("sealed value does not open here")

// Sealer seals and digests with one keyring. It is safe for concurrent use.
type Sealer struct {
	keys atomic.Pointer[opened]
	mac  []byte

	reread  func() (*Keyring, error) // nil: the ring is all there is
	reading chan struct{}            // holds one: while a goroutine re-reads the keyring
	began   time.Time                // of the last reading
}

// opened is a ring that is ready for use.
type opened struct {
	primary string
	usable  map[string]*subtle.AESGCM
}

// Place names where a sealed value is kept.
type Place struct{ Table, Column, Row, Account string }

// New returns a box for a master key of KeySize bytes alone: its ring is that
// of LegacyRing.
func New(master []byte) (*Sealer, error) {
	keyring, err := LegacyRing(master)
	if err != nil {
		return nil, err
	}
	return NewBox(keyring)
}

// NewBox returns a box that uses a ring.
func NewBox(r *Keyring) (*Sealer, error) {
	b := &Sealer{mac: r.digest, reading: make(chan struct{}, 1)}
	return b, b.Replace(r)
}

// Replace makes the box use another ring from now on. The digest key stays the
// one that the box was made with.
func (b *Sealer) Replace(r *Keyring) error {
	next, err := r.open()
	if err != nil {
		return err
	}
	b.keys.Store(next)
	return nil
}

// OnUnknown sets how the keyring is read again when a ciphertext names a key that
// is not in it. Call it before the box is shared. read is called by one
// goroutine at a time, and at most about once a second.
func (b *Sealer) OnUnknown(read func() (*Keyring, error)) { b.reread = read }

// Primary is the id of the key that seals now.
func (b *Sealer) Primary() string { return b.keys.Load().primary }

// Knows reports whether the box opens what the key of an id has sealed.
func (b *Sealer) Knows(id string) bool { return b.keys.Load().usable[id] != nil }

// Seal encrypts plain for its place and returns text for a column.
func (b *Sealer) Seal(plain []byte, at Place) (string, error) {
	r := b.keys.Load()
	sealed, err := r.usable[r.primary].Encrypt(plain, at.bytes(r.primary))
	if err != nil {
		return "", fmt.Errorf("sealing: %w", err)
	}
	return Prefix(r.primary) + base64.RawStdEncoding.EncodeToString(sealed), nil
}

// Open decrypts what Seal returned for the same place. It returns ErrOpen for
// anything else, and another error where the keyring had to be read again and
// could not be: then the value may open later.
func (b *Sealer) Open(text string, at Place) ([]byte, error) {
	id, ok := KeyOf(text)
	if !ok {
		return nil, ErrOpen
	}
	sealed, err := base64.RawStdEncoding.DecodeString(text[len(Prefix(id)):])
	if err != nil {
		return nil, ErrOpen
	}
	key := b.keys.Load().usable[id]
	if key == nil {
		if key, err = b.discover(id); err != nil {
			return nil, err
		}
	}
	plain, err := key.Decrypt(sealed, at.bytes(id))
	if err != nil {
		return nil, ErrOpen
	}
	return plain, nil
}

// restBetweenReads keeps texts with made-up key ids from reading the ring over
// and over.
const restBetweenReads = time.Second

// discover re-reads the keyring to find a key. Callers that wait together share
// one reading; one that began before a call does not count for it.
func (b *Sealer) discover(id string) (*subtle.AESGCM, error) {
	if b.reread == nil {
		return nil, ErrOpen
	}
	called := time.Now()
	b.reading <- struct{}{}
	defer func() { <-b.reading }()
	if key := b.keys.Load().usable[id]; key != nil {
		return key, nil
	}
	if !b.began.After(called) {
		time.Sleep(restBetweenReads - time.Since(b.began))
		b.began = time.Now()
		keyring, err := b.reread()
		if err != nil {
			return nil, fmt.Errorf("reading the keys again: %w", err)
		}
		if err := b.Replace(keyring); err != nil {
			return nil, err
		}
	}
	if key := b.keys.Load().usable[id]; key != nil {
		return key, nil
	}
	return nil, ErrOpen
}

// Reseal seals with the primary what another key of the ring has sealed for
// the same place.
func (b *Sealer) Reseal(text string, at Place) (string, error) {
	plain, err := b.Open(text, at)
	if err != nil {
		return "", err
	}
	return b.Seal(plain, at)
}

// MAC is a keyed digest of parts under a label, as 43 characters of base64.
// The parts are delimited: ("ab", "c") and ("a", "bc") differ. It is the same
// for as long as the ring lives, whatever keys are added to it.
func (b *Sealer) MAC(label string, parts ...[]byte) string {
	h := hmac.New(sha256.New, b.mac)
	for _, part := range append([][]byte{[]byte(label)}, parts...) {
		h.Write(delimited(nil, part))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// Format keeps keys out of everything that prints a box.
func (*Sealer) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("seal.Box")) }

// Prefix is what every text begins with that the key of an id has sealed.
func Prefix(id string) string {
	if id == LegacyID {
		return legacyPrefix
	}
	return prefix + id + "."
}

// KeyOf returns the id of the key that a text says it was sealed with.
func KeyOf(text string) (id string, ok bool) {
	if strings.HasPrefix(text, legacyPrefix) {
		return LegacyID, true
	}
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok || len(rest) <= idLen || rest[idLen] != '.' {
		return "", false
	}
	id = rest[:idLen]
	if _, err := hex.DecodeString(id); err != nil {
		return "", false
	}
	return id, true
}

// bytes is the associated data. The parts are delimited, and the key is among
// them; texts of the oldest key have the form that they were sealed with.
func (p Place) bytes(key string) []byte {
	if key == LegacyID {
		return []byte(strings.Join([]string{LegacyID, p.Table, p.Column, p.Row, p.Account}, "|"))
	}
	var all []byte
	for _, part := range []string{"ace v2", key, p.Table, p.Column, p.Row, p.Account} {
		all = delimited(all, []byte(part))
	}
	return all
}

func delimited(to, part []byte) []byte {
	return append(binary.BigEndian.AppendUint64(to, uint64(len(part))), part...)
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return b
}
