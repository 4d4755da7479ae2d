package stdwebhook_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/protocol/stdwebhook"

	reference "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

var at = time.Unix(1_800_000_000, 0)

func secretOf(t testing.TB, fill byte, size int) stdwebhook.Secret {
	t.Helper()
	s, err := stdwebhook.ParseSecret("whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{fill}, size)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func signed(t testing.TB, id string, payload string, secrets ...stdwebhook.Secret) http.Header {
	t.Helper()
	h := http.Header{}
	if err := stdwebhook.Sign(h, secrets, id, at, []byte(payload)); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestVerify(t *testing.T) {
	t.Parallel()
	first, second, third := secretOf(t, 1, 24), secretOf(t, 2, 64), secretOf(t, 3, 32)
	const payload = `{"type":"order.completed"}`
	tests := []struct {
		name    string
		change  func(h http.Header)
		secrets []stdwebhook.Secret
		payload string
		now     time.Time
		want    error
	}{
		{"as sent", nil, []stdwebhook.Secret{first}, payload, at, nil},
		{"by the older secret", nil, []stdwebhook.Secret{second}, payload, at, nil},
		{"one of the receiver's two", nil, []stdwebhook.Secret{third, second}, payload, at, nil},
		{"latest", nil, []stdwebhook.Secret{first}, payload, at.Add(300 * time.Second), nil},
		{"earliest", nil, []stdwebhook.Secret{first}, payload, at.Add(-300 * time.Second), nil},
		{"too late", nil, []stdwebhook.Secret{first}, payload, at.Add(301 * time.Second), stdwebhook.ErrTimestamp},
		{"too early", nil, []stdwebhook.Secret{first}, payload, at.Add(-301 * time.Second), stdwebhook.ErrTimestamp},
		{"another secret", nil, []stdwebhook.Secret{third}, payload, at, stdwebhook.ErrSignature},
		{"no secret", nil, nil, payload, at, stdwebhook.ErrSignature},
		{"empty secret", nil, []stdwebhook.Secret{{}}, payload, at, stdwebhook.ErrSignature},
		{"another payload", nil, []stdwebhook.Secret{first}, payload + " ", at, stdwebhook.ErrSignature},
		{
			"another id", func(h http.Header) { h.Set("webhook-id", "msg_2") },
			[]stdwebhook.Secret{first},
			payload,
			at, stdwebhook.ErrSignature,
		},
		{
			"another time", func(h http.Header) { h.Set("webhook-timestamp", "1800000001") },
			[]stdwebhook.Secret{first},
			payload, at, stdwebhook.ErrSignature,
		},
		{
			"no id", func(h http.Header) { h.Del("webhook-id") },
			[]stdwebhook.Secret{first},
			payload,
			at, stdwebhook.ErrHeaders,
		},
		{
			"two ids", func(h http.Header) { h.Add("webhook-id", "msg_2") },
			[]stdwebhook.Secret{first},
			payload, at,
			stdwebhook.ErrHeaders,
		},
		{
			"id with a space", func(h http.Header) { h.Set("webhook-id", "msg 1") },
			[]stdwebhook.Secret{first},
			payload,
			at, stdwebhook.ErrHeaders,
		},
		{
			"no time", func(h http.Header) { h.Del("webhook-timestamp") },
			[]stdwebhook.Secret{first},
			payload,
			at, stdwebhook.ErrHeaders,
		},
		{
			"time in words", func(h http.Header) { h.Set("webhook-timestamp", "now") },
			[]stdwebhook.Secret{first},
			payload, at, stdwebhook.ErrHeaders,
		},
		{
			"time before time", func(h http.Header) { h.Set("webhook-timestamp", "-1") },
			[]stdwebhook.Secret{first},
			payload, at, stdwebhook.ErrHeaders,
		},
		{
			"time beyond time", func(h http.Header) { h.Set("webhook-timestamp", "9223372036854775807") },
			[]stdwebhook.Secret{first},
			payload, at, stdwebhook.ErrHeaders,
		},
		{
			"no signature", func(h http.Header) { h.Del("webhook-signature") },
			[]stdwebhook.Secret{first},
			payload,
			at, stdwebhook.ErrHeaders,
		},
		{
			"other schemes", func(h http.Header) { h.Set("webhook-signature", "v1a,AAAA v2,AAAA v1 nonsense") },
			[]stdwebhook.Secret{first},
			payload, at, stdwebhook.ErrSignature,
		},
		{
			"after other schemes",
			func(h http.Header) { h.Set("webhook-signature", "v1a,AAAA v1,!!! "+h.Get("webhook-signature")) },
			[]stdwebhook.Secret{first},
			payload, at, nil,
		},
		{"after too many", func(h http.Header) {
			h.Set("webhook-signature", strings.Repeat("v1,AAAA ", 16)+h.Get("webhook-signature"))
		}, []stdwebhook.Secret{first}, payload, at, stdwebhook.ErrSignature},
		{
			"cut", func(h http.Header) { h.Set("webhook-signature", h.Get("webhook-signature")[:20]) },
			[]stdwebhook.Secret{first},
			payload, at, stdwebhook.ErrSignature,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := signed(t, "msg_1", payload, first, second)
			if tt.change != nil {
				tt.change(h)
			}
			got, err := stdwebhook.Verify(h, tt.secrets, []byte(tt.payload), tt.now)
			if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
				t.Fatalf("Verify = %v, want %v", err, tt.want)
			}
			if err == nil && (got.ID != "msg_1" || !got.At.Equal(at)) {
				t.Errorf("Verify = %+v, want msg_1 at %s", got, at)
			}
		})
	}
}

// The reference library accepts what we sign, and we what it signs.
func TestReference(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the reference looks at the clock
		now := time.Now()
		payloads := []string{"", "{}", `{"a":"é"}`, "a.b.c", strings.Repeat("x", 100_000)}
		for _, size := range []int{24, 32, 64} {
			secret, old := secretOf(t, byte(size), size), stdwebhook.NewSecret()
			peer, err := reference.NewWebhook(secret.Reveal())
			if err != nil {
				t.Fatal(err)
			}
			for _, payload := range payloads {
				h := http.Header{}
				if err := stdwebhook.Sign(h, []stdwebhook.Secret{old, secret}, "msg_1", now,
					[]byte(payload)); err != nil {
					t.Fatal(err)
				}
				if err := peer.Verify([]byte(payload), h); err != nil {
					t.Errorf("the reference says %v of %.20q, want nil", err, payload)
				}
				signature, err := peer.Sign("msg_2", now, []byte(payload))
				if err != nil {
					t.Fatal(err)
				}
				theirs := http.Header{}
				theirs.Set("webhook-id", "msg_2")
				theirs.Set("webhook-timestamp", fmt.Sprint(now.Unix()))
				theirs.Set("webhook-signature", signature)
				if _, err := stdwebhook.Verify(theirs, []stdwebhook.Secret{secret}, []byte(payload), now); err != nil {
					t.Errorf("Verify of the reference's %.20q = %v, want nil", payload, err)
				}
			}
		}
	})
}

func TestParseSecret(t *testing.T) {
	t.Parallel()
	of := func(size int) string { return base64.StdEncoding.EncodeToString(make([]byte, size)) }
	for text, ok := range map[string]bool{
		"whsec_" + of(24): true, of(24): true, "whsec_" + of(64): true,
		"whsec_" + of(23): false, "whsec_" + of(65): false, "whsec_": false, "": false, "whsec_!!!!": false,
		"whsec_" + strings.TrimRight(of(25), "="): false, "whsk_" + of(32): false,
	} {
		s, err := stdwebhook.ParseSecret(text)
		if (err == nil) != ok || err != nil && !errors.Is(err, stdwebhook.ErrSecret) {
			t.Errorf("ParseSecret(%q) = %v, want ok = %t", text, err, ok)
		}
		if ok && strings.TrimPrefix(s.Reveal(), "whsec_") != strings.TrimPrefix(text, "whsec_") {
			t.Errorf("Reveal() = %s, want %s", s.Reveal(), text)
		}
	}
}

func TestSecretsHide(t *testing.T) {
	t.Parallel()
	s := stdwebhook.NewSecret()
	if again, err := stdwebhook.ParseSecret(s.Reveal()); err != nil || again.Reveal() != s.Reveal() {
		t.Fatalf("ParseSecret(Reveal()) = %v", err)
	}
	if s.Reveal() == stdwebhook.NewSecret().Reveal() {
		t.Error("two new secrets are the same")
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("secret made", "secret", s)
	text, err := json.Marshal(struct{ S stdwebhook.Secret }{s})
	if err != nil {
		t.Fatal(err)
	}
	shown := log.String() + string(text) + fmt.Sprintf("%v %+v %#v %s", s, s, s, s)
	encoded := strings.TrimPrefix(s.Reveal(), "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(shown, encoded) || strings.Contains(shown, fmt.Sprint(key)) {
		t.Errorf("the secret is shown: %s", shown)
	}
}

func TestSignRefuses(t *testing.T) {
	t.Parallel()
	good := []stdwebhook.Secret{stdwebhook.NewSecret()}
	tests := []struct {
		name    string
		id      string
		secrets []stdwebhook.Secret
		want    error
	}{
		{"no id", "", good, stdwebhook.ErrHeaders},
		{"full stop", "a.b", good, stdwebhook.ErrHeaders},
		{"line break", "a\nb", good, stdwebhook.ErrHeaders},
		{"long", strings.Repeat("a", 256), good, stdwebhook.ErrHeaders},
		{"no secrets", "a", nil, stdwebhook.ErrSecret},
		{"empty secret", "a", []stdwebhook.Secret{{}}, stdwebhook.ErrSecret},
	}
	for _, tt := range tests {
		h := http.Header{}
		if err := stdwebhook.Sign(h, tt.secrets, tt.id, at, nil); !errors.Is(err, tt.want) || len(h) != 0 {
			t.Errorf("%s: Sign = %v with %v, want %v and no headers", tt.name, err, h, tt.want)
		}
	}
}

func FuzzVerify(f *testing.F) {
	secret := secretOf(f, 7, 32)
	h := signed(f, "msg_1", "payload", secret)
	f.Add("msg_1", h.Get("webhook-timestamp"), h.Get("webhook-signature"), []byte("payload"))
	f.Add("msg_1", "1800000000", "v1,", []byte(""))
	f.Add("a.1800000000", "1800000000", "v1,AAAA v1a,AAAA", []byte("x"))
	f.Fuzz(func(t *testing.T, id, timestamp, signature string, payload []byte) {
		h := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature}}
		got, err := stdwebhook.Verify(h, []stdwebhook.Secret{secret}, payload, at)
		if err == nil && (got.ID != id || string(payload) != "payload" || id != "msg_1") {
			t.Fatalf("Verify(%q, %q, %q, %q) accepts a forgery", id, timestamp, signature, payload)
		}
	})
}
