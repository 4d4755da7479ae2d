package webbotauth

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/dunglas/httpsfv"

	"ace/internal/foundation/httpsig"
)

// HeaderSignatureAgent is the header with the URLs of an agent's keys.
const HeaderSignatureAgent = "Signature-Agent"

// DirectoryPath is the path of the key directory of an origin.
const DirectoryPath = "/.well-known/http-message-signatures-directory"

// Kind is the kind of document at a Signature-Agent URL.
type Kind string

// The kinds of documents.
const (
	Directory Kind = "directory" // an origin, whose directory is at DirectoryPath
	JWKSURI   Kind = "jwks_uri"  // a JWK Set
	CIMD      Kind = "cimd"      // a client id metadata document, which contains or references a JWK Set
)

// maxURL is the maximum length of a URL to fetch, in bytes.
const maxURL = 2048

// Agent is one entry of Signature-Agent.
type Agent struct {
	Member string // "" in the older form, which is one bare string
	URI    string // as it was sent
	Kind   Kind   // as sent; Directory by default
}

var errAgent = errors.New("unreadable Signature-Agent")

// ParseAgents parses Signature-Agent: a dictionary of strings, or a single string in the older
// form. Entries that are not strings are skipped.
func ParseAgents(h http.Header) ([]Agent, error) {
	lines := h.Values(HeaderSignatureAgent)
	if len(lines) == 0 {
		return nil, nil
	}
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	if size > httpsig.MaxHeader {
		return nil, errAgent
	}
	if item, err := httpsfv.UnmarshalItem(lines); err == nil {
		if uri, ok := item.Value.(string); ok {
			return []Agent{{URI: uri, Kind: kindOf(item)}}, nil
		}
	}
	dictionary, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil {
		return nil, errAgent
	}
	var agents []Agent
	for _, name := range dictionary.Names() {
		member, _ := dictionary.Get(name)
		item, _ := member.(httpsfv.Item)
		if uri, ok := item.Value.(string); ok {
			agents = append(agents, Agent{Member: name, URI: uri, Kind: kindOf(item)})
		}
	}
	return agents, nil
}

// kindOf reads the parameter type, a token or a string.
func kindOf(item httpsfv.Item) Kind {
	if item.Params == nil {
		return Directory
	}
	value, ok := item.Params.Get("type")
	if !ok {
		return Directory
	}
	switch v := value.(type) {
	case httpsfv.Token:
		return Kind(v)
	case string:
		return Kind(v)
	}
	return "unknown"
}

// Source is a URL of keys. It is comparable, and its URL is the identity of the agent.
type Source struct {
	URL  string
	Kind Kind
}

// Source returns the URL of the keys: https on port 443, a host name and not an IP address, no
// user, no fragment; a directory is identified by its origin. ok is false for every other URL.
func (a Agent) Source() (s Source, ok bool) {
	u, err := url.Parse(a.URI)
	if err != nil || len(a.URI) > maxURL || u.Scheme != "https" || u.Opaque != "" || u.User != nil ||
		strings.Contains(a.URI, "#") {
		return Source{}, false
	}
	host := strings.ToLower(u.Hostname())
	if !publicName(host) || u.Port() != "" && u.Port() != "443" || strings.HasSuffix(u.Host, ":") {
		return Source{}, false
	}
	switch a.Kind {
	case Directory:
		if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.ForceQuery {
			return Source{}, false
		}
		return Source{URL: "https://" + host + DirectoryPath, Kind: Directory}, true
	case JWKSURI, CIMD:
		u.Host = host
		if u.Path == "" {
			u.Path = "/"
		}
		return Source{URL: u.String(), Kind: a.Kind}, true
	}
	return Source{}, false
}

// publicName reports whether a host is a name of two or more labels that every resolver treats as a
// name. The fetcher checks where the name resolves to. Internationalized names must be in their
// xn-- form.
func publicName(host string) bool {
	if len(host) > 253 || !strings.Contains(host, ".") {
		return false
	}
	last := ""
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
		last = label
	}
	_, err := netip.ParseAddr(host)
	return err != nil && (last[0] < '0' || last[0] > '9')
}
