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

// The limits of how long keys are cached, and the default if the response does not say.
const (
	minFresh     = time.Minute
	maxFresh     = 24 * time.Hour
	defaultFresh = time.Hour
)

// ErrKeySet is wrapped by errors about responses without valid keys.
var ErrKeySet = errors.New("unusable key set")

// keySet maps thumbprints to the keys of one source.
type keySet map[string]httpsig.JWK

// readKeySet parses a JWK Set. In a directory the kid of a key must be its thumbprint. In other
// documents a key may have another kid; it is still found by its thumbprint, since signatures name
// only thumbprints.
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

// find returns the key that a signature names, if it is valid now.
func (s keySet) find(now time.Time, keyID string) (httpsig.JWK, bool) {
	k, ok := s[keyID]
	if !ok || k.NotBefore != 0 && now.Before(time.Unix(k.NotBefore, 0)) || k.Expires != 0 &&
		!now.Before(time.Unix(k.Expires, 0)) {
		return httpsig.JWK{}, false
	}
	return k, true
}

// card is the part of a client id metadata document about keys.
type card struct {
	ClientID string          `json:"client_id"`
	JWKSURI  string          `json:"jwks_uri"`
	JWKS     json.RawMessage `json:"jwks"`
}

// readCard parses the card at a URL: it returns its keys, or their URL, which may be on another
// host, since the card vouches for it.
func readCard(body []byte, at string) (keySet, Source, error) {
	var c card
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, Source{}, fmt.Errorf("%w: the card is not a JSON object", ErrKeySet)
	}
	switch {
	case c.ClientID != at:
		return nil, Source{}, fmt.Errorf("%w: client_id is not the URL of the card", ErrKeySet)
	case c.JWKS != nil && c.JWKSURI != "":
		return nil, Source{}, fmt.Errorf("%w: the card has both jwks and jwks_uri", ErrKeySet)
	case c.JWKS != nil:
		set, err := readKeySet(c.JWKS, CIMD)
		return set, Source{}, err
	}
	next, ok := Agent{URI: c.JWKSURI, Kind: JWKSURI}.Source()
	if !ok {
		return nil, Source{}, fmt.Errorf("%w: jwks_uri is not an allowed URL", ErrKeySet)
	}
	return nil, next, nil
}

// mediaTypeFits checks the type of a response.
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

// freshness returns how long a response may be cached (RFC 9111), within limits.
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

// ParseRegistry parses a registry: one URL of a card per line, and comments that start with #.
// Lines that are not an allowed URL are skipped.
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
