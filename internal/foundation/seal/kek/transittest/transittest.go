// Package transittest is a Transit engine for tests, as HashiCorp Vault and
// OpenBao document it: encrypt and decrypt with associated data or a context,
// a token, key versions, a seal, and faults that a test asks for.
package transittest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Token opens the engine.
const Token = "hvs.CAESIJ-token-of-the-test"

// Server is an engine with the key "ace" under the mount "transit".
type Server struct {
	*httptest.Server
	mu    sync.Mutex
	fault http.HandlerFunc
	calls []*http.Request
	key   cipher.AEAD
}

// Start starts an engine that ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{}
	if s.key, err = cipher.NewGCM(block); err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// Address is the setting that names the key.
func (s *Server) Address() string {
	return "hcvault+http://" + strings.TrimPrefix(s.URL, "http://") + "/transit/keys/ace"
}

// TokenFile returns a file with the token.
func TokenFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(Token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Fail returns every call with h from now on; nil: none.
func (s *Server) Fail(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = h
}

// Refuse returns every call with a status and Vault's form of errors.
func (s *Server) Refuse(status int, messages ...string) {
	s.Fail(func(w http.ResponseWriter, _ *http.Request) { refuse(w, status, messages...) })
}

func refuse(w http.ResponseWriter, status int, messages ...string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": messages})
}

// Calls are the requests so far.
func (s *Server) Calls() []*http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*http.Request(nil), s.calls...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.calls = append(s.calls, r)
	fault := s.fault
	s.mu.Unlock()
	if fault != nil {
		fault(w, r)
		return
	}
	if r.Header.Get("X-Vault-Token") != Token {
		refuse(w, http.StatusForbidden, "permission denied")
		return
	}
	var in struct {
		Plaintext      []byte `json:"plaintext"`
		Ciphertext     string `json:"ciphertext"`
		AssociatedData []byte `json:"associated_data"`
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&in) != nil {
		refuse(w, http.StatusBadRequest, "failed to parse JSON input")
		return
	}
	switch r.URL.Path {
	case "/v1/transit/encrypt/ace":
		nonce := make([]byte, s.key.NonceSize())
		_, _ = rand.Read(nonce)
		sealed := s.key.Seal(nonce, nonce, in.Plaintext, in.AssociatedData)
		answer(w,
			map[string]any{"ciphertext": "vault:v1:" + base64.StdEncoding.EncodeToString(sealed), "key_version": 1})
	case "/v1/transit/decrypt/ace":
		sealed, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(in.Ciphertext, "vault:v1:"))
		if err != nil || len(sealed) < s.key.NonceSize() {
			refuse(w, http.StatusBadRequest, "invalid ciphertext: could not decode base64")
			return
		}
		plain, err := s.key.Open(nil, sealed[:s.key.NonceSize()], sealed[s.key.NonceSize():], in.AssociatedData)
		if err != nil {
			refuse(w, http.StatusBadRequest, "cipher: message authentication failed")
			return
		}
		answer(w, map[string]any{"plaintext": plain})
	default:
		refuse(w, http.StatusBadRequest, "encryption key not found")
	}
}

func answer(w http.ResponseWriter, data map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"request_id": "r", "data": data})
}
