package kek

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"
)

// transit is a key of the Transit engine of HashiCorp Vault or OpenBao, which
// never leaves it.
//
//	POST /v1/{mount}/encrypt/{key}  {plaintext, associated_data} -> {data: {ciphertext}}
//	POST /v1/{mount}/decrypt/{key}  {ciphertext, associated_data} -> {data: {plaintext}}
type transit struct {
	origin    string // https://host:port
	mount     string
	key       string
	namespace string
	derived   bool
	token     string // file that holds it; read for each call, so that it may be renewed
	client    *http.Client
	o         Options
}

const (
	transitTimeout = 10 * time.Second
	transitLimit   = 1 << 20
)

// Names of mounts and keys as Vault allows them, without anything that would
// lead elsewhere in the path.
var transitName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

func newTransit(u *url.URL, o *Options) (Key, error) {
	wrong := fmt.Errorf(
		"%s cannot be used: write hcvault://host:8200/transit/keys/NAME, without user and password (and "+
			"?namespace=NAME or ?derived=true where the key asks for it)", o.Setting)
	mount, name, ok := strings.Cut(strings.Trim(u.Path, "/"), "/keys/")
	if !ok || u.Hostname() == "" || !transitName.MatchString(name) {
		return nil, wrong
	}
	for part := range strings.SplitSeq(mount, "/") {
		if !transitName.MatchString(part) {
			return nil, wrong
		}
	}
	t := &transit{mount: mount, key: name, token: o.TokenFile, o: *o}
	for option, values := range u.Query() {
		switch {
		case option == "namespace" && !strings.ContainsAny(values[0], "\r\n"):
			t.namespace = values[0]
		case option == "derived" && values[0] == "true":
			t.derived = true
		default:
			return nil, wrong
		}
	}
	origin := &url.URL{Scheme: "https", Host: u.Host}
	if u.Scheme == "hcvault+http" {
		if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return nil, fmt.Errorf("%s asks for http with %s: the token would travel in the open; write hcvault://",
				o.Setting, u.Hostname())
		}
		origin.Scheme = "http"
	}
	if t.token == "" {
		return nil, fmt.Errorf("%s is missing: it names the file with the token for %s", o.TokenName, u.Host)
	}
	t.origin = origin.String()
	t.client = o.Client(origin)
	return t, nil
}

// Name implements Key.
func (t *transit) Name() string {
	return "hcvault " + t.origin[strings.Index(t.origin, "//")+2:] + "/" + t.mount + "/keys/" + t.key
}

// Wrap implements Key.
func (t *transit) Wrap(ctx context.Context, plain []byte) (string, error) {
	answer, err := t.call(ctx, "encrypt", map[string]string{"plaintext": base64.StdEncoding.EncodeToString(plain)})
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(answer.Ciphertext, "vault:v") {
		return "", t.away("answers without a ciphertext; is this a Transit engine?")
	}
	return answer.Ciphertext, nil
}

// Unwrap implements Key.
func (t *transit) Unwrap(ctx context.Context, text string) ([]byte, error) {
	if !strings.HasPrefix(text, "vault:v") {
		return nil, ErrWrong
	}
	answer, err := t.call(ctx, "decrypt", map[string]string{"ciphertext": text})
	if err != nil {
		return nil, err
	}
	plain, err := base64.StdEncoding.DecodeString(answer.Plaintext)
	if err != nil || len(plain) == 0 {
		return nil, t.away("answers without a plaintext; is this a Transit engine?")
	}
	return plain, nil
}

// answer is the part of a response that is looked at.
type answer struct {
	Ciphertext string `json:"ciphertext"`
	Plaintext  string `json:"plaintext"`
}

// call asks for one operation.
func (t *transit) call(ctx context.Context, operation string, in map[string]string) (*answer, error) {
	token, err := os.ReadFile(t.token)
	if err != nil || len(bytes.TrimSpace(token)) == 0 {
		return nil, t.away("has no token: " + t.o.TokenName + " names a file that is empty or cannot be read")
	}
	in["associated_data"] = base64.StdEncoding.EncodeToString([]byte(associated))
	if t.derived {
		in["context"] = in["associated_data"]
	}
	body, err := json.Marshal(in)
	if err != nil {
		return nil, errors.New("encoding a call of the key management service")
	}
	ctx, cancel := context.WithTimeout(ctx, transitTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.origin+"/v1/"+t.mount+"/"+operation+"/"+t.key,
		bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("preparing a call of the key management service")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Vault-Request", "true")
	req.Header.Set("X-Vault-Token", string(bytes.TrimSpace(token)))
	if t.namespace != "" {
		req.Header.Set("X-Vault-Namespace", t.namespace)
	}
	res, err := t.client.Do(req)
	if err != nil {
		return nil,
			t.away("cannot be reached or does not answer within 10 seconds: start it, or repair the network connection")
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, transitLimit+1))
	if err != nil || len(text) > transitLimit {
		return nil, t.away("gave an answer that breaks off or is larger than 1 MiB")
	}
	if res.StatusCode != http.StatusOK {
		return nil, t.refused(operation, res.StatusCode, text)
	}
	var whole struct {
		Data answer `json:"data"`
	}
	if json.Unmarshal(text, &whole) != nil {
		return nil, t.away("gave an answer that is not JSON; is this Vault?")
	}
	return &whole.Data, nil
}

// refused says what a response other than 200 means. The service's own text is
// looked at, not passed on: it may quote what was sent.
func (t *transit) refused(operation string, status int, text []byte) error {
	switch {
	case status == http.StatusForbidden:
		return t.away(
			fmt.Sprintf("refuses the token (403): renew it in the file of %s, and let its policy update %s/%s/%s",
				t.o.TokenName, t.mount, operation, t.key))
	case status == http.StatusNotFound, status == http.StatusBadRequest && bytes.Contains(text,
		[]byte("key not found")):
		return t.away(
			fmt.Sprintf("has no key %s in %s (%d): create it, or correct %s", t.key, t.mount, status, t.o.Setting),
		)
	case status == http.StatusBadRequest && operation == "decrypt":
		return ErrWrong
	case status == http.StatusBadRequest:
		return t.away(
			"does not take the call (400): the key must be of a type that encrypts with associated data, such as " +
				"aes256-gcm96; a derived key asks for ?derived=true in " + t.o.Setting)
	case status == http.StatusServiceUnavailable:
		return t.away("is sealed or in maintenance (503): unseal it")
	case status >= 300 && status < 400:
		return t.away(
			fmt.Sprintf("sends elsewhere (%d), which is not followed: name the active node or the balancer in %s",
				status, t.o.Setting))
	}
	return t.away(fmt.Sprintf("answers %d", status))
}

func (t *transit) away(what string) error {
	return fmt.Errorf("%s: %s %s: %w", t.o.Setting, t.Name(), what, ErrAway)
}

// Format keeps addresses of files out of everything that prints the key.
func (t *transit) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(t.Name())) }
