package kek_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/seal/kek"
	"ace/internal/foundation/seal/kek/transittest"
)

// way is the way out that a server gives a key: its origin alone.
func way(origin *url.URL) *http.Client {
	purpose := egress.KMS(origin.Hostname())
	purpose.Trusted = []string{origin.String()}
	return egress.New(&egress.Options{OnlyTrusted: true}).Client(purpose)
}

func openTransit(t *testing.T, s *transittest.Server, query string) kek.Key {
	t.Helper()
	o := options(t)
	o.Client, o.TokenFile = way, transittest.TokenFile(t)
	key, err := kek.Open(s.Address()+query, o)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

const keyset = "the-ring-with-its-keys"

func TestTransit(t *testing.T) {
	t.Parallel()
	s, stranger := transittest.Start(t), transittest.Start(t)
	key := openTransit(t, s, "?namespace=team/a")
	wrapped, err := key.Wrap(t.Context(), []byte(keyset))
	if err != nil || !strings.HasPrefix(wrapped, "vault:v1:") {
		t.Fatalf("Wrap = %q, %v", wrapped, err)
	}
	if got, err := key.Unwrap(t.Context(), wrapped); err != nil || string(got) != keyset {
		t.Errorf("Unwrap = %q, %v, want the ring", got, err)
	}
	if got, err := openTransit(t, stranger, "").Unwrap(t.Context(), wrapped); !errors.Is(err, kek.ErrWrong) ||
		got != nil {
		t.Errorf("another engine: Unwrap = %q, %v, want ErrWrong", got, err)
	}
	if _, err := key.Unwrap(t.Context(), "local1.AAAA"); !errors.Is(err, kek.ErrWrong) {
		t.Errorf("a text of a key file: %v, want ErrWrong", err)
	}
	for _, r := range s.Calls() {
		if r.Header.Get("X-Vault-Token") != transittest.Token || r.Header.Get("X-Vault-Namespace") != "team/a" ||
			r.Header.Get("X-Vault-Request") != "true" {
			t.Errorf("%s: the header lacks token, namespace or X-Vault-Request", r.URL)
		}
		if strings.Contains(r.URL.String(), "hvs.") || r.URL.RawQuery != "" {
			t.Errorf("the address %s holds more than a path", r.URL)
		}
	}
	// A token that was renewed counts at the next call.
	o := options(t)
	o.Client, o.TokenFile = way, transittest.TokenFile(t)
	renewed, err := kek.Open(s.Address(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		token string
		good  bool
	}{{"hvs.old", false}, {transittest.Token, true}} {
		if err := os.WriteFile(o.TokenFile, []byte(tt.token), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := renewed.Unwrap(t.Context(), wrapped); (err == nil) != tt.good {
			t.Errorf("token %s: %v", tt.token, err)
		}
	}
}

// Every failure says what to do, differs from a wrong key, and shows neither the
// token nor the ring nor what the service said of them.
func TestTransitFaults(t *testing.T) {
	t.Parallel()
	refuse := func(status int, messages ...string) func(*transittest.Server) {
		return func(s *transittest.Server) { s.Refuse(status, messages...) }
	}
	echo := base64.StdEncoding.EncodeToString([]byte(keyset)) + transittest.Token
	tests := []struct {
		name  string
		fault func(*transittest.Server)
		want  string
	}{
		{"token refused", refuse(http.StatusForbidden, "permission denied "+echo), "ACE_KEK_TOKEN_FILE"},
		{"sealed", refuse(http.StatusServiceUnavailable, "Vault is sealed"), "unseal"},
		{"no key", refuse(http.StatusBadRequest, "encryption key not found"), "no key ace"},
		{"no mount", refuse(http.StatusNotFound), "no key ace"},
		{"limited", refuse(http.StatusTooManyRequests), "429"},
		{"broken", refuse(http.StatusInternalServerError, "internal error "+echo), "500"},
		{"standby", func(s *transittest.Server) {
			s.Fail(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://elsewhere.example/v1/x", http.StatusTemporaryRedirect)
			})
		}, "active node"},
		{"not Vault", func(s *transittest.Server) {
			s.Fail(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>" + echo)) })
		}, "Vault"},
		{"empty answer", func(s *transittest.Server) {
			s.Fail(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"data":{}}`)) })
		}, "Transit"},
		{"larger than a MiB", func(s *transittest.Server) {
			s.Fail(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(`{"data":{"ciphertext":"vault:v1:` + strings.Repeat("A", 2<<20) + `"}}`))
			})
		}, "1 MiB"},
		{"breaks off", func(s *transittest.Server) {
			s.Fail(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		}, "reached"},
		{"away", func(s *transittest.Server) { s.Close() }, "reached"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := transittest.Start(t)
			key := openTransit(t, s, "")
			tt.fault(s)
			_, wrapErr := key.Wrap(t.Context(), []byte(keyset))
			_, unwrapErr := key.Unwrap(t.Context(), "vault:v1:AAAA")
			for _, err := range []error{wrapErr, unwrapErr} {
				if !errors.Is(err, kek.ErrAway) || errors.Is(err, kek.ErrWrong) {
					t.Fatalf("error %v, want ErrAway", err)
				}
				text := err.Error()
				if !strings.Contains(text, tt.want) || !strings.Contains(text, "ACE_KEK_URL") {
					t.Errorf("error %q, want ACE_KEK_URL and %q", text, tt.want)
				}
				if strings.Contains(text, transittest.Token) || strings.Contains(text, keyset) || strings.Contains(text,
					echo) {
					t.Errorf("error %q holds a secret", text)
				}
			}
		})
	}
}

// The way out leads to the configured host alone, and gives up by itself.
func TestTransitIsBounded(t *testing.T) {
	t.Parallel()
	client := way(&url.URL{Scheme: "https", Host: "vault.example"})
	if client.Timeout > 10*time.Second {
		t.Errorf("timeout %s, want at most 10s", client.Timeout)
	}
	other := transittest.Start(t)
	res, err := client.Post(other.URL+"/v1/transit/encrypt/ace", "application/json", strings.NewReader("{}"))
	if err == nil {
		_ = res.Body.Close()
		t.Error("another origin was called")
	}
	if n := len(other.Calls()); n != 0 {
		t.Errorf("another origin got %d calls, want 0", n)
	}
}

func TestTransitNeedsItsToken(t *testing.T) {
	t.Parallel()
	s := transittest.Start(t)
	for name, content := range map[string]string{"empty": " \n", "gone": ""} {
		o := options(t)
		o.Client, o.TokenFile = way, keyFile(t, []byte(content))
		key, err := kek.Open(s.Address(), o)
		if err != nil {
			t.Fatal(err)
		}
		if name == "gone" {
			_ = os.Remove(o.TokenFile)
		}
		if _, err := key.Wrap(
			t.Context(),
			[]byte(keyset),
		); !errors.Is(err, kek.ErrAway) ||
			!strings.Contains(err.Error(),
				"ACE_KEK_TOKEN_FILE") {
			t.Errorf("%s: %v, want ErrAway with ACE_KEK_TOKEN_FILE", name, err)
		}
	}
	if n := len(s.Calls()); n != 0 {
		t.Errorf("%d calls without a token, want 0", n)
	}
}

// hang is a service that takes the call and never answers.
type hang struct{}

func (hang) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestTransitGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o := options(t)
		o.TokenFile, o.Client = transittest.TokenFile(t), func(*url.URL) *http.Client {
			return &http.Client{
				Transport: hang{},
			}
		}
		key, err := kek.Open("hcvault://vault.example:8200/transit/keys/ace", o)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := key.Unwrap(t.Context(), "vault:v1:AAAA"); !errors.Is(err, kek.ErrAway) {
			t.Errorf("Unwrap = %v, want ErrAway", err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("gave up after %s, want 10s", took)
		}
	})
}
