// Package password keeps passwords as nothing but slow digests (argon2id).
//
//	Hash(password)          -> "$argon2id$v=19$m=…,t=…,p=…$salt$digest"
//	Verify(hash, password)  -> true or false, in the time of one Hash
//
// A digest takes 19 MiB and two passes, the least that OWASP's password storage
// sheet names for argon2id; so many run at once as the machine has processors,
// and the rest wait, so that a flood of sign-ins cannot take all memory.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/crypto/argon2"
)

// Parameters of new digests, and the most that a stored one may ask for.
const (
	memoryKiB    = 19 * 1024
	passes       = 2
	threads      = 1
	saltSize     = 16
	digestSize   = 32
	maxMemoryKiB = 256 * 1024
	maxPasses    = 16
)

// Hasher digests passwords. It is safe for concurrent use.
type Hasher struct {
	slots chan struct{}
	known func() (map[string]bool, error) // read at the first password that is set
	decoy string                          // verified for unknown users, so that times do not disclose them
}

// New returns a hasher.
func New() *Hasher {
	h := &Hasher{slots: make(chan struct{}, runtime.GOMAXPROCS(0)), known: sync.OnceValues(readKnown)}
	h.decoy = encode(make([]byte, saltSize),
		digest([]byte(rand.Text()), make([]byte, saltSize), memoryKiB, passes, threads))
	return h
}

// Hash returns the digest of a password for keeping.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	if err := h.acquire(ctx); err != nil {
		return "", err
	}
	defer h.free()
	salt := make([]byte, saltSize)
	if _, err := rand.Read(salt); err != nil {
		return "", fmt.Errorf("making a salt: %w", err)
	}
	return encode(salt, digest([]byte(password), salt, memoryKiB, passes, threads)), nil
}

// Verify reports whether a stored digest is that of a password. An empty digest
// takes as long as any other and is never right.
func (h *Hasher) Verify(ctx context.Context, stored, password string) (bool, error) {
	if err := h.acquire(ctx); err != nil {
		return false, err
	}
	defer h.free()
	known := stored != ""
	if !known {
		stored = h.decoy
	}
	p, err := parse(stored)
	if err != nil {
		return false, err
	}
	same := subtle.ConstantTimeCompare(p.digest, digest([]byte(password), p.salt, p.memory, p.passes, p.threads)) == 1
	return same && known, nil
}

func (h *Hasher) acquire(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting to digest a password: %w", ctx.Err())
	}
}

func (h *Hasher) free() { <-h.slots }

func digest(password, salt []byte, memory, passes uint32, threads uint8) []byte {
	return argon2.IDKey(password, salt, passes, memory, threads, digestSize)
}

func encode(salt, digest []byte) string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, threads, b64(salt),
		b64(digest))
}

type parsed struct {
	memory, passes uint32
	threads        uint8
	salt, digest   []byte
}

var errFormat = errors.New("a stored password digest cannot be read")

// parse reads what encode wrote, also with other parameters of the past.
func parse(stored string) (p parsed, err error) {
	fields := strings.Split(stored, "$")
	if len(fields) != 6 || fields[0] != "" || fields[1] != "argon2id" || fields[2] != fmt.Sprintf("v=%d",
		argon2.Version) {
		return p, errFormat
	}
	if _, err := fmt.Sscanf(fields[3], "m=%d,t=%d,p=%d", &p.memory, &p.passes, &p.threads); err != nil {
		return p, errFormat
	}
	if p.memory == 0 || p.memory > maxMemoryKiB || p.passes == 0 || p.passes > maxPasses || p.threads == 0 {
		return p, errFormat
	}
	salt, errSalt := base64.RawStdEncoding.DecodeString(fields[4])
	sum, errSum := base64.RawStdEncoding.DecodeString(fields[5])
	if errSalt != nil || errSum != nil || len(salt) < 8 || len(sum) != digestSize {
		return p, errFormat
	}
	p.salt, p.digest = salt, sum
	return p, nil
}
