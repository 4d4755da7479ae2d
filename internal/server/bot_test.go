package server

import (
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ace/internal/config"
	"ace/internal/foundation/egress"
	"ace/internal/foundation/httpsig"
)

func newBot(t *testing.T, settings config.Settings) *Server {
	t.Helper()
	return &Server{
		cfg:   &settings,
		guard: egress.New(&egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
	}
}

func newSigner(t *testing.T) *httpsig.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := httpsig.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// TestSignedClient reads what others get from a store with a public address: a
// signature on each hop, for the host of that hop.
func TestSignedClient(t *testing.T) {
	t.Parallel()
	var asked []*http.Request
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r)
		if r.URL.Path == "/from" {
			http.Redirect(w, r, "/to", http.StatusFound)
		}
	}))
	t.Cleanup(other.Close)
	own := newSigner(t)
	s := newBot(t, config.Settings{StoreURL: "https://store.example", BotSigning: "on"})
	directory, err := s.prepareBot(own)
	if err != nil || directory == nil || s.identity == nil {
		t.Fatalf("prepareBot() = %v, %v, want an identity", directory, err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, other.URL+"/from", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.signedClient(egress.SiteUpstream()).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if len(asked) != 2 || req.Header.Get(httpsig.HeaderSignature) != "" {
		t.Fatalf("%d requests, and the caller's own has the headers %v, want 2 and none added", len(asked), req.Header)
	}
	sent := map[string]bool{}
	for _, r := range asked {
		signatures, err := httpsig.Parse(r.Header)
		if err != nil || len(signatures) != 1 || r.Header.Get("Signature-Agent") != `sig1="https://store.example"` {
			t.Fatalf("%s: %d signatures, %v, header %v", r.URL, len(signatures), err, r.Header)
		}
		if err := signatures[0].VerifyJWK(httpsig.RequestMessage(r, "http"), own.JWK()); err != nil {
			t.Errorf("%s: VerifyJWK() = %v, want nil", r.URL, err)
		}
		if age := time.Until(signatures[0].Params.Expires); age <= 0 || age > 5*time.Minute {
			t.Errorf("%s: the signature holds for %s", r.URL, age)
		}
		sent[r.Header.Get(httpsig.HeaderSignature)] = true
	}
	if len(sent) != 2 {
		t.Error("both hops carry the same signature")
	}
}

// TestStoresThatDoNotSign publish their keys unless signing is off.
func TestStoresThatDoNotSign(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		settings  config.Settings
		published bool
	}{
		{"plain http on this machine", config.Settings{StoreAddr: "127.0.0.1:8080", BotSigning: "on"}, true},
		{"https on this machine", config.Settings{StoreAddr: "127.0.0.1:8080", DevTLS: true, BotSigning: "on"}, true},
		{"switched off", config.Settings{StoreURL: "https://store.example", BotSigning: "off"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var signature string
			other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter,
				r *http.Request,
			) {
				signature = r.Header.Get(httpsig.HeaderSignature)
			}))
			t.Cleanup(other.Close)
			s := newBot(t, tt.settings)
			directory, err := s.prepareBot(newSigner(t))
			if err != nil || (directory != nil) != tt.published {
				t.Fatalf("prepareBot() = %v, %v, want a directory: %t", directory, err, tt.published)
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, other.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := s.signedClient(egress.SiteUpstream()).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if signature != "" {
				t.Errorf("the request carries the signature %q", signature)
			}
			if directory == nil {
				return
			}
			h, body, err := directory.Directory(time.Now())
			if err != nil || h.Get(httpsig.HeaderSignature) == "" || httpsig.VerifyContentDigest(h, body) != nil {
				t.Errorf("Directory() = %v %s, %v, want it signed", h, body, err)
			}
		})
	}
}

// TestOperatorsKeys takes keys from files: the first signs, all are published.
func TestOperatorsKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, key any, kind string) string {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	_, first, _ := ed25519.GenerateKey(nil)
	_, second, _ := ed25519.GenerateKey(nil)
	other, err := rsa.GenerateKey(nil, 2048)
	if err != nil {
		t.Fatal(err)
	}
	one, two := write("one.pem", first, "PRIVATE KEY"), write("two.pem", second, "PRIVATE KEY")
	tests := []struct {
		name  string
		files []string
		fault string // part of the error
	}{
		{"two keys", []string{one, two}, ""},
		{"another kind of key", []string{write("rsa.pem", other, "PRIVATE KEY")}, "openssl genpkey"},
		{"another kind of file", []string{write("cert.pem", first, "CERTIFICATE")}, "ACE_BOT_KEY_FILE"},
		{"no file", []string{filepath.Join(dir, "none")}, "ACE_BOT_KEY_FILE"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newBot(t, config.Settings{StoreURL: "https://store.example", BotSigning: "on", BotKeyFiles: tt.files})
			directory, err := s.prepareBot(newSigner(t))
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Fatalf("prepareBot() = %v, want %q", err, tt.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			_, body, err := directory.Directory(time.Now())
			var set struct {
				Keys []struct{ Kid, Kty, X string }
			}
			if err != nil || json.Unmarshal(body, &set) != nil || len(set.Keys) != len(tt.files) {
				t.Fatalf("Directory() = %s, %v, want %d keys", body, err, len(tt.files))
			}
			if set.Keys[0].Kty != "OKP" || set.Keys[0].Kid == "" {
				t.Errorf("first key = %+v", set.Keys[0])
			}
		})
	}
}
