package webbotauth

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/httpsig"
)

// MediaType is the media type of key directories.
const MediaType = "application/http-message-signatures-directory+json"

// The bounds of how long keys are kept as fresh, and what applies where the
// answer says nothing.
const (
	minFresh     = time.Minute
	maxFresh     = 24 * time.Hour
	defaultFresh = time.Hour
)

// ErrKeySet is wrapped by errors about answers that hold no keys that count.
var ErrKeySet = errors.New("unusable key set")

// keySet holds the keys of one source by their thumbprints.
type keySet map[string]httpsig.JWK

// readKeySet reads a JWK Set. In a directory the kid of a key has to be its
// thumbprint. Elsewhere keys may be called otherwise; they are found by their
// thumbprint all the same, since signatures name nothing else.
func readKeySet(body []byte, kind Kind) (keySet, error) {
	keys, err := httpsig.ParseKeySet(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeySet, err)
	}
	set := make(keySet, len(keys))
	for _, k := range keys {
		thumbprint, err := k.Thumbprint()
		if err != nil || kind == Directory && k.KID != thumbprint {
			continue
		}
		set[thumbprint] = k
	}
	return set, nil
}

// find answers the key that a signature names, if it counts now.
func (s keySet) find(now time.Time, keyID string) (httpsig.JWK, bool) {
	k, ok := s[keyID]
	if !ok || k.NotBefore != 0 && now.Before(time.Unix(k.NotBefore, 0)) || k.Expires != 0 && !now.Before(time.Unix(k.Expires, 0)) {
		return httpsig.JWK{}, false
	}
	return k, true
}

// card is a client id metadata document, as far as it is about keys.
type card struct {
	ClientID string          `json:"client_id"`
	JWKSURI  string          `json:"jwks_uri"`
	JWKS     json.RawMessage `json:"jwks"`
}

// readCard reads the card at an address: the keys that it holds, or the address
// of them, which may be of another host, since the card vouches for it.
func readCard(body []byte, at string) (keySet, Source, error) {
	var c card
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, Source{}, fmt.Errorf("%w: the card is not a JSON object", ErrKeySet)
	}
	switch {
	case c.ClientID != at:
		return nil, Source{}, fmt.Errorf("%w: client_id is not the address of the card", ErrKeySet)
	case c.JWKS != nil && c.JWKSURI != "":
		return nil, Source{}, fmt.Errorf("%w: the card has both jwks and jwks_uri", ErrKeySet)
	case c.JWKS != nil:
		set, err := readKeySet(c.JWKS, CIMD)
		return set, Source{}, err
	}
	next, ok := Agent{URI: c.JWKSURI, Kind: JWKSURI}.Source()
	if !ok {
		return nil, Source{}, fmt.Errorf("%w: jwks_uri cannot be followed", ErrKeySet)
	}
	return nil, next, nil
}

// mediaTypeFits checks the type of an answer.
func mediaTypeFits(contentType string, kind Kind) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	switch media {
	case MediaType:
		return true
	case "application/json", "application/jwk-set+json":
		return kind != Directory
	}
	return false
}

// freshness reads how long an answer may be kept (RFC 9111), within bounds.
func freshness(h http.Header) time.Duration {
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "no-store", "no-cache":
			return minFresh
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 32)
			if err != nil {
				return minFresh
			}
			return min(max(time.Duration(seconds)*time.Second, minFresh), maxFresh)
		}
	}
	return defaultFresh
}

// ParseRegistry reads a registry: one address of a card per line, with # before
// remarks. Lines that are no address that can be followed are left out.
func ParseRegistry(text string) []Source {
	var sources []Source
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if source, ok := (Agent{URI: strings.TrimSpace(line), Kind: CIMD}).Source(); ok {
			sources = append(sources, source)
		}
	}
	return sources
}
