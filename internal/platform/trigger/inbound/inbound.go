// Package inbound reads what apps send to the URLs of triggers: it answers their
// handshakes, checks their signatures, and finds the events in a request.
//
//	request -> Handshake   a reply, where the app only tries the URL
//	        -> Verify      who sent it: ErrSignature otherwise
//	        -> Events      what happened, each with what identifies it
//
// Nothing here has effects; package trigger stores events.
package inbound

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // some vendors sign with it; nothing of ours does
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"time"

	"ace/internal/platform/app"
)

// Request is what an app has sent.
type Request struct {
	Method string
	URL    string // as the app called it
	Header map[string][]string
	Query  map[string][]string
	Body   []byte
}

// HeaderValue returns the first value of a header, whatever the case of its name.
func (r *Request) HeaderValue(name string) string {
	for field, values := range r.Header {
		if strings.EqualFold(field, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// Document returns the decoded body, its numbers as they were written; nil where
// it is not JSON.
func (r *Request) Document() any {
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.UseNumber()
	var document any
	if decoder.Decode(&document) != nil {
		return nil
	}
	return document
}

// Reply is what an app wants to read.
type Reply struct {
	Status    int
	MediaType string
	Header    map[string]string
	Body      []byte
	// Key is what later signatures are made with, where the handshake set it.
	Key string
}

// Handshake returns the reply to a request that only tries the URL; nil where it
// is none. It reveals nothing: it returns what the app has sent.
func Handshake(h app.Handshake, r *Request) *Reply {
	text := func(value string) *Reply {
		if value == "" {
			return nil
		}
		return &Reply{Status: 200, MediaType: "text/plain; charset=utf-8", Body: []byte(value)}
	}
	switch h.Type {
	case app.EchoQuery:
		if values := r.Query[h.Arg]; len(values) > 0 {
			return text(values[0])
		}
	case app.EchoJSON:
		return text(app.PickText(r.Document(), "/"+h.Arg))
	case app.EchoHeader:
		if value := r.HeaderValue(h.Arg); value != "" {
			return &Reply{Status: 200, Header: map[string]string{h.Arg: value}, Key: value}
		}
	case app.Respond200:
		if r.Method == "GET" || r.Method == "HEAD" { //nolint:usestdlibvars // domain packages know no net/http
			return &Reply{Status: 200}
		}
	}
	return nil
}

// Ignored reports whether a request that was verified is the event by which the
// app tries the URL.
func Ignored(h app.Handshake, r *Request) bool {
	if h.Type != app.IgnoreEvent {
		return false
	}
	for _, name := range []string{"X-GitHub-Event", "X-Gitea-Event", "X-Event"} {
		if strings.EqualFold(r.HeaderValue(name), h.Arg) {
			return true
		}
	}
	return strings.EqualFold(app.PickText(r.Document(), "/event_type"), h.Arg)
}

// ErrSignature says that a request is not from the app, or is too old.
var ErrSignature = errors.New("no signature of the app matches")

// Verify checks who sent a request. values are what templates may name, with
// hook_secret among them. The error is ErrSignature, or a bug of the definition.
func Verify(v *app.Verify, r *Request, values app.Values, now time.Time) error {
	switch v.Type {
	case app.VerifyURL:
		return nil // the secret in the URL was checked before
	case app.VerifyToken:
		want, _ := values.Value("hook_secret")
		got := app.PickText(r.Document(), v.At)
		if v.Header != "" {
			got = r.HeaderValue(v.Header)
		}
		if want == "" || subtle.ConstantTimeCompare([]byte(got), []byte(want)) != 1 {
			return ErrSignature
		}
		return nil
	}
	return verifyHMAC(v, r, values, now)
}

func verifyHMAC(v *app.Verify, r *Request, values app.Values, now time.Time) error {
	key, err := keyOf(v, values)
	if err != nil {
		return err
	}
	signatures, ts := []string{r.HeaderValue(v.Header)}, ""
	if v.Scheme != "" {
		signatures, ts = parts(r.HeaderValue(v.Header), v.Scheme, v.TS)
	}
	switch {
	case v.TSHeader != "":
		ts = r.HeaderValue(v.TSHeader)
	case strings.HasPrefix(v.TS, "/"):
		ts = app.PickText(r.Document(), v.TS)
	}
	if v.Tolerance > 0 && !recent(ts, now, time.Duration(v.Tolerance)) {
		return ErrSignature
	}
	// The body goes in as it came; it is no template.
	over, err := app.Expand(v.Over, app.Map{"body": string(r.Body), "ts": ts, "url": r.URL, "method": r.Method}, nil)
	if err != nil {
		return fmt.Errorf("reading what is signed: %w", err)
	}
	digest := func() hash.Hash { return sha256.New() }
	if v.Alg == "sha1" {
		digest = func() hash.Hash { return sha1.New() } //nolint:gosec // see above
	}
	mac := hmac.New(digest, key)
	_, _ = mac.Write([]byte(over)) // a hash accepts everything
	for _, text := range signatures {
		text, ok := strings.CutPrefix(text, v.Prefix)
		if !ok {
			continue
		}
		if got, err := decode(v.Enc, text); err == nil && hmac.Equal(got, mac.Sum(nil)) {
			return nil
		}
	}
	return ErrSignature
}

func keyOf(v *app.Verify, values app.Values) ([]byte, error) {
	template, encoded := strings.CutPrefix(v.Key, "base64:")
	if template == "" {
		template = "{hook_secret}"
	}
	text, err := app.Expand(template, values, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the key of signatures: %w", err)
	}
	if text == "" {
		return nil, ErrSignature // everybody can sign with an empty key
	}
	if !encoded {
		return []byte(text), nil
	}
	key, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("the key of signatures is not base64")
	}
	return key, nil
}

// parts reads a header like t=1492774577,v1=5257a…,v1=6ffbb….
func parts(header, scheme, ts string) (signatures []string, at string) {
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case scheme:
			signatures = append(signatures, value)
		case ts:
			at = value
		}
	}
	return signatures, at
}

// recent reports whether a time is within tolerance of now: Unix seconds or
// milliseconds, or RFC 3339.
func recent(text string, now time.Time, tolerance time.Duration) bool {
	at, err := time.Parse(time.RFC3339, text)
	if number, notNumber := strconv.ParseInt(text, 10, 64); notNumber == nil {
		err = nil
		at = time.Unix(number, 0)
		if number > 1e11 {
			at = time.UnixMilli(number)
		}
	}
	distance := now.Sub(at)
	return err == nil && distance <= tolerance && distance >= -tolerance
}

func decode(encoding, text string) ([]byte, error) {
	if encoding == "base64" {
		return base64.StdEncoding.DecodeString(text)
	}
	return hex.DecodeString(text)
}

// Event is one thing that happened.
type Event struct {
	Key  string // identifies it
	Data any    // decoded JSON
}

// maxEvents is how many events of one request are read.
const maxEvents = 1000

// Events returns the events in a verified request that are meant: those that
// match. values are what the templates of the match may name.
func Events(h *app.Hook, r *Request, values app.Values) ([]Event, error) {
	document := r.Document()
	if document == nil {
		return nil, nil
	}
	all := []any{document}
	if h.Items != "" {
		list, _ := app.Pick(document, h.Items)
		all, _ = list.([]any)
	}
	var events []Event
	for i, one := range all {
		if i == maxEvents {
			break
		}
		meant, err := matches(h.Match, one, values)
		if err != nil {
			return nil, err
		}
		if !meant {
			continue
		}
		if members, ok := one.(map[string]any); ok && h.Verify.At != "" {
			// The token is a secret between the app and us.
			delete(members, h.Verify.At[strings.LastIndex(h.Verify.At, "/")+1:])
		}
		e := Event{Data: one}
		if h.Data != "" {
			e.Data, _ = app.Pick(one, h.Data)
		}
		name, inHeader := strings.CutPrefix(h.ID, "header:")
		switch {
		case inHeader:
			e.Key = r.HeaderValue(name)
			if e.Key != "" && len(all) > 1 {
				e.Key += "/" + strconv.Itoa(i)
			}
		case h.ID != "":
			e.Key = app.PickText(one, h.ID)
		}
		if e.Key == "" {
			e.Key = digestOf(one)
		}
		events = append(events, e)
	}
	return events, nil
}

// matches reports whether the values at some pointers are those that are meant.
func matches(match map[string]string, document any, values app.Values) (bool, error) {
	for pointer, template := range match {
		want, err := app.Expand(template, values, nil)
		if err != nil {
			return false, fmt.Errorf("reading which events are meant: %w", err)
		}
		if app.PickText(document, pointer) != want {
			return false, nil
		}
	}
	return true, nil
}

func digestOf(value any) string {
	text, err := json.Marshal(value) // the order of names does not matter
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
