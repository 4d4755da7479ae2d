package seal

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
)

// LegacyID is the id of the key that is derived from a master key. Its texts
// have the form of before there were rings.
const LegacyID = "v1"

// State says what a key of a ring does.
type State string

// States of keys, in the order of a key's life.
const (
	Pending  State = "pending"  // opens; will seal when every replica knows it
	Primary  State = "primary"  // seals and opens
	Retiring State = "retiring" // opens what has not been resealed yet
	Disabled State = "disabled" // does nothing, and can be enabled again
)

// KeyInfo is a key as it may be shown.
type KeyInfo struct {
	ID        string    `json:"id"`
	State     State     `json:"state"`
	CreatedAt time.Time `json:"created_at"`
}

// key is a data key.
type key struct {
	KeyInfo
	Material []byte `json:"key"`
}

// Keyring is a set of data keys, one of them primary, and the key of digests. It is
// not safe for concurrent use.
type Keyring struct {
	keys   []key
	digest []byte
}

// NewRing returns a ring with one random key. digest are the KeySize bytes of
// the key of digests; nil for random ones.
func NewRing(digest []byte, now time.Time) *Keyring {
	if digest == nil {
		digest = random(KeySize)
	}
	r := &Keyring{digest: digest}
	r.keys = []key{{KeyInfo{newID(), Primary, now.UTC().Truncate(time.Millisecond)}, random(KeySize)}}
	return r
}

// LegacyRing returns the ring of a master key of KeySize bytes: the key
// LegacyID and the key of digests follow from it.
func LegacyRing(master []byte) (*Keyring, error) {
	digest, err := DigestKey(master)
	if err != nil {
		return nil, err
	}
	encryption, err := hkdf.Key(sha256.New, master, nil, "ace seal v1", KeySize)
	if err != nil {
		return nil, fmt.Errorf("deriving the encryption key: %w", err)
	}
	return &Keyring{keys: []key{{KeyInfo{ID: LegacyID, State: Primary}, encryption}}, digest: digest}, nil
}

// DigestKey returns the key of digests that follows from a master key.
func DigestKey(master []byte) ([]byte, error) {
	if len(master) != KeySize {
		return nil, fmt.Errorf("a master key has %d bytes, this one has %d", KeySize, len(master))
	}
	digest, err := hkdf.Key(sha256.New, master, nil, "ace mac v1", KeySize)
	if err != nil {
		return nil, fmt.Errorf("deriving the digest key: %w", err)
	}
	return digest, nil
}

func newID() string { return hex.EncodeToString(random(idLen / 2)) }

// Clone returns a ring that can be changed apart.
func (r *Keyring) Clone() *Keyring { return &Keyring{slices.Clone(r.keys), r.digest} }

// Keys are the keys of the ring, the oldest first.
func (r *Keyring) Keys() []KeyInfo {
	all := make([]KeyInfo, len(r.keys))
	for i := range r.keys {
		all[i] = r.keys[i].KeyInfo
	}
	return all
}

// In returns the id of the first key in a state, or "".
func (r *Keyring) In(state State) string {
	for i := range r.keys {
		if r.keys[i].State == state {
			return r.keys[i].ID
		}
	}
	return ""
}

// Add adds a random key, as Pending, and returns its id.
func (r *Keyring) Add(now time.Time) string {
	id := newID()
	for slices.ContainsFunc(r.keys, func(k key) bool { return k.ID == id }) {
		id = newID()
	}
	r.keys = append(r.keys, key{KeyInfo{id, Pending, now.UTC().Truncate(time.Millisecond)}, random(KeySize)})
	return id
}

// Promote makes the pending key the primary one; the primary retires. It
// reports whether there was a pending key.
func (r *Keyring) Promote() bool {
	id := r.In(Pending)
	if id == "" {
		return false
	}
	for i := range r.keys {
		switch k := &r.keys[i]; {
		case k.ID == id:
			k.State = Primary
		case k.State == Primary:
			k.State = Retiring
		}
	}
	return true
}

// Set moves every key from one state to another and returns how many; id, if
// not empty, limits it to one key.
func (r *Keyring) Set(id string, from, to State) int {
	n := 0
	for i := range r.keys {
		if k := &r.keys[i]; k.State == from && (id == "" || id == k.ID) {
			k.State, n = to, n+1
		}
	}
	return n
}

// wire is a ring as it is wrapped.
type wire struct {
	Keys   []key  `json:"keys"`
	Digest []byte `json:"digest"`
}

// Secrets returns the ring as bytes, keys included, to be wrapped.
func (r *Keyring) Secrets() ([]byte, error) {
	text, err := json.Marshal(wire{r.keys, r.digest})
	if err != nil {
		return nil, errors.New("encoding the keys")
	}
	return text, nil
}

// ParseRing parses what Secrets returned. Its errors say nothing of the text.
func ParseRing(text []byte) (*Keyring, error) {
	var w wire
	if json.Unmarshal(text, &w) != nil || len(w.Digest) != KeySize {
		return nil, errors.New("the keyset is damaged: restore the table keyset from a backup")
	}
	r := &Keyring{keys: w.Keys, digest: w.Digest}
	if _, err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

// Format keeps keys out of everything that prints a ring.
func (Keyring) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("seal.Ring")) }

// open prepares every key that is not disabled.
func (r *Keyring) open() (*opened, error) {
	o := &opened{usable: map[string]*subtle.AESGCM{}}
	primaries := 0
	for i := range r.keys {
		k := &r.keys[i]
		aead, err := subtle.NewAESGCM(k.Material)
		if err != nil || len(k.Material) != KeySize || o.usable[k.ID] != nil {
			return nil, errors.New("the keyset is damaged: one of its keys cannot be used")
		}
		if k.State == Primary {
			o.primary, primaries = k.ID, primaries+1
		}
		if k.State != Disabled {
			o.usable[k.ID] = aead
		}
	}
	if primaries != 1 {
		return nil, errors.New("the keyset is damaged: it has not exactly one primary key")
	}
	return o, nil
}
