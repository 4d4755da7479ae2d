package httpsig

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Message is what a signature covers: a request, or a response together with
// the request that it answers.
type Message struct {
	Method    string
	Scheme    string // http or https
	Authority string // lower case, without the scheme's default port
	Path      string // escaped, as it was sent
	RawQuery  string
	Header    http.Header
	// ContentLength and Host are the fields that net/http keeps apart from the
	// header; 0 and "" where they are not known.
	ContentLength int64
	Host          string

	// Status is that of a response; 0 in a request.
	Status int
	// Request is what a response answers; components with req are taken from it.
	Request *Message
}

// RequestMessage returns the parts of a request. scheme is the one that the
// client used, which a server behind a proxy has to configure.
func RequestMessage(r *http.Request, scheme string) *Message {
	m := &Message{
		Method: r.Method, Scheme: strings.ToLower(scheme), Path: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery,
		Header:        r.Header,
		ContentLength: r.ContentLength, Host: r.Host,
	}
	if m.Host == "" {
		m.Host = r.URL.Host
	}
	m.Authority = normalAuthority(m.Host, m.Scheme)
	return m
}

// ResponseMessage returns the parts of a response to request, which may be nil.
func ResponseMessage(status int, header http.Header, request *Message) *Message {
	return &Message{Status: status, Header: header, Request: request}
}

func normalAuthority(host, scheme string) string {
	host = strings.ToLower(host)
	name, port, err := net.SplitHostPort(host)
	if err != nil || !(scheme == "https" && port == "443" || scheme == "http" && port == "80") {
		return host
	}
	if strings.Contains(name, ":") {
		return "[" + name + "]"
	}
	return name
}

// value is the value of a component (RFC 9421 sections 2.1 and 2.2).
func (m *Message) value(c Component) (string, error) {
	if c.foreign != "" {
		return "", fmt.Errorf("%w: %s is not supported", ErrComponent, c.foreign)
	}
	if c.Req {
		if m.Request == nil || m.Status == 0 {
			return "", fmt.Errorf("%w: %s is of a request that is not there", ErrComponent, c.Name)
		}
		m, c.Req = m.Request, false
	}
	var value string
	var err error
	switch {
	case strings.HasPrefix(c.Name, "@"):
		value, err = m.derived(c.Name)
	case c.Key != "":
		value, err = m.member(c.Name, c.Key)
	default:
		value, err = m.field(c.Name)
	}
	if err == nil && strings.ContainsAny(value, "\r\n") {
		err = fmt.Errorf("%w: %s has a line break", ErrComponent, c.Name)
	}
	return value, err
}

func (m *Message) derived(name string) (string, error) {
	if name == "@status" && m.Status != 0 {
		return strconv.Itoa(m.Status), nil
	}
	if m.Status != 0 {
		return "", fmt.Errorf("%w: an answer has no %s", ErrComponent, name)
	}
	path := m.Path
	if path == "" {
		path = "/"
	}
	switch name {
	case "@method":
		return m.Method, nil
	case "@scheme":
		return m.Scheme, nil
	case "@authority":
		return m.Authority, nil
	case "@path":
		return path, nil
	case "@query":
		return "?" + m.RawQuery, nil
	case "@target-uri":
		uri := m.Scheme + "://" + m.Authority + path
		if m.RawQuery != "" {
			uri += "?" + m.RawQuery
		}
		return uri, nil
	}
	return "", fmt.Errorf("%w: %q is not supported", ErrComponent, name)
}

// field combines the lines of a field.
func (m *Message) field(name string) (string, error) {
	lines := m.Header.Values(name)
	switch {
	case len(lines) > 0:
	case name == "content-length" && m.ContentLength > 0:
		return strconv.FormatInt(m.ContentLength, 10), nil
	case name == "host" && m.Host != "":
		return m.Host, nil
	default:
		return "", fmt.Errorf("%w: there is no field %q", ErrComponent, name)
	}
	trimmed := make([]string, len(lines))
	for i, line := range lines {
		trimmed[i] = strings.Trim(line, " \t")
	}
	return strings.Join(trimmed, ", "), nil
}

// member serializes one member of a dictionary field.
func (m *Message) member(name, key string) (string, error) {
	if _, err := m.field(name); err != nil {
		return "", err
	}
	dictionary, err := httpsfv.UnmarshalDictionary(m.Header.Values(name))
	if err != nil {
		return "", fmt.Errorf("%w: the field %q is not a dictionary", ErrComponent, name)
	}
	member, ok := dictionary.Get(key)
	if !ok {
		return "", fmt.Errorf("%w: the field %q has no member %q", ErrComponent, name, key)
	}
	value, err := httpsfv.Marshal(member)
	if err != nil {
		return "", fmt.Errorf("%w: the member %q of %q cannot be written", ErrComponent, key, name)
	}
	return value, nil
}
