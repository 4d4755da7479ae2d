// Package reply reads what authorization servers respond, whatever they make of
// the standards.
//
//	Fetch(request) -> bounded body -> Parse: JSON, form, XML, text -> Reply
//	   At("/data/token"), At("header:X-Token"), At("cookie:sid")
//	   Ends("3600" | "1:02:00:00" | "2026-11-21T13:00:00Z" | …) -> when
//
// A document is as encoding/json decodes it, with numbers as they were written.
// Nothing of a response is kept but that, and none of it is in an error.
package reply

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// HTTPClient sends requests.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// Reply is what a vendor responded.
type Reply struct {
	Status   int
	Header   http.Header
	Document any // decoded; nil where it cannot be read
}

// Text is the first text at any of some places.
func (a *Reply) Text(places ...string) string {
	for _, place := range places {
		if text := a.At(place); text != "" {
			return text
		}
	}
	return ""
}

// At is the text at one place: a pointer, header:NAME or cookie:NAME.
func (a *Reply) At(place string) string {
	if name, ok := strings.CutPrefix(place, "header:"); ok {
		return a.Header.Get(name)
	}
	if name, ok := strings.CutPrefix(place, "cookie:"); ok {
		for _, c := range (&http.Response{Header: a.Header}).Cookies() {
			if c.Name == name {
				return c.Value
			}
		}
		return ""
	}
	return app.PickText(a.Document, place)
}

// List are the texts of the array at a pointer.
func (a *Reply) List(pointer string) []string {
	value, _ := app.Pick(a.Document, pointer)
	entries, _ := value.([]any)
	var out []string
	for _, one := range entries {
		if text := app.Text(one); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// maxAnswer bounds a response, in bytes.
const maxAnswer = 1 << 20

// Fetch makes one request and reads its response of a kind; see Parse. Not being
// answered is a *connection.RefreshError of the class Temporary, except where
// the egress guard refuses the address or the response is too large, which are
// Unknown. The end of ctx is neither. No error names the address.
func Fetch(client HTTPClient, r *http.Request, kind string) (*Reply, error) {
	res, err := client.Do(r)
	if err != nil {
		return nil, unanswered(r.Context(), err)
	}
	defer func() { _ = res.Body.Close() }() // it was read as far as it may be
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, unanswered(r.Context(), err)
	}
	a := &Reply{Status: res.StatusCode, Header: res.Header}
	if len(body) > maxAnswer {
		return nil, &connection.RefreshError{Class: connection.Unknown, Status: a.Status, Code: "response_too_large"}
	}
	a.Document = Parse(kind, body)
	return a, nil
}

// unanswered is a call that came to nothing. The end of the caller's own time is
// no fact about the vendor.
func unanswered(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("waiting for the vendor: %w", context.Cause(ctx))
	}
	failed := &connection.RefreshError{Class: connection.Temporary, Code: "unreachable"}
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		failed.Code = p.Code
		if p.Code == "target_not_allowed" || p.Code == "response_too_large" {
			failed.Class = connection.Unknown
		}
	}
	return failed
}

// Claims are the claims of a JWT, unverified; nil for anything else.
func Claims(token string) any {
	pieces := strings.Split(token, ".")
	if len(pieces) != 3 {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(pieces[1], "="))
	if err != nil {
		return nil
	}
	var claims map[string]json.RawMessage
	if json.Unmarshal(text, &claims) != nil {
		return nil
	}
	return parseJSON(text)
}

// maxAfter is the longest wait that a vendor can ask for.
const maxAfter = 24 * time.Hour

// RetryAfter is RFC 9110, 10.2.3: seconds or a date; 0 where nothing is said.
func RetryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 {
		return min(time.Duration(min(seconds, maxAfter.Seconds())*float64(time.Second)), maxAfter)
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, time.Until(at)), maxAfter)
	}
	return 0
}
