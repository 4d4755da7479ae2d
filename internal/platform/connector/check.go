package connector

import (
	"fmt"
	"net/textproto"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ace/internal/foundation/problem"
	"ace/internal/platform/connection"
	"ace/internal/platform/openapiimport"
)

// Secret is the secret part of credentials as a caller gives it.
type Secret struct{ Token, Value, Username, Password, ClientID, ClientSecret string }

// String keeps a secret out of logs.
func (Secret) String() string { return "[secret]" }

// GoString keeps a secret out of logs.
func (Secret) GoString() string { return "[secret]" }

// form is the secret as the connection's form has it.
func (s Secret) form(kind string) connection.Form {
	return connection.Form{Scheme: kind, Fields: connection.Credentials{
		"token": s.Token, "value": s.Value,
		"username": s.Username, "password": s.Password, "client_id": s.ClientID, "client_secret": s.ClientSecret,
	}}
}

const (
	maxName     = 60
	maxPatterns = 100
	maxURL      = 2048
)

var slugShape = regexp.MustCompile(`^x-[a-z0-9]+(-[a-z0-9]+)*$`)

func invalid(pointer, detail string) error {
	return problem.New(problem.Invalid, "invalid_request", detail).WithItems(problem.Item{
		Pointer: pointer,
		Code:    "invalid", Detail: detail,
	}).Advise("fix_arguments")
}

// slugOf is the id of a connector's app: what was asked for, or made of its name.
func slugOf(asked, name string) (string, error) {
	slug := strings.ToLower(strings.TrimSpace(asked))
	if slug == "" {
		slug = strings.ReplaceAll(openapiimport.Snake(name), "_", "-")
		slug = strings.Trim(slug[:min(len(slug), 24)], "-")
	}
	if !strings.HasPrefix(slug, "x-") {
		slug = "x-" + slug
	}
	if len(slug) > 32 || !slugShape.MatchString(slug) {
		return "", invalid("/slug",
			"A slug is x- with 1 to 30 lower-case letters and digits, words joined by single hyphens.")
	}
	return slug, nil
}

func checkName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > maxName || !utf8.ValidString(name) || strings.ContainsFunc(name,
		func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "", invalid("/name", fmt.Sprintf("A name has 1 to %d visible characters.", maxName))
	}
	return name, nil
}

// check judges settings as a whole; address judges where they lead.
func (s *Settings) check(kind string, address func(string) error) error {
	for pointer, patterns := range map[string][]string{
		"/tools/include": s.Include, "/tools/exclude": s.Exclude,
		"/operations/include_tags": s.Tags, "/operations/methods": s.Methods,
	} {
		if len(patterns) > maxPatterns {
			return invalid(pointer, fmt.Sprintf("At most %d entries.", maxPatterns))
		}
		for _, one := range patterns {
			if _, err := path.Match(one, "x"); err != nil && strings.HasPrefix(pointer, "/tools") || len(one) > 200 {
				return invalid(pointer, "A pattern is a name, in which * stands for any characters.")
			}
		}
	}
	for pointer, one := range map[string]string{"/url": s.URL, "/openapi_url": s.Document, "/base_url": s.BaseURL} {
		if one == "" {
			continue
		}
		if err := checkAddress(pointer, one, address); err != nil {
			return err
		}
	}
	switch {
	case kind != TypeMCP && kind != TypeREST:
		return invalid("/type", "type is mcp or rest.")
	case kind == TypeMCP && s.URL == "":
		return invalid("/url", "An MCP connector needs the url of the server.")
	case kind == TypeMCP && s.Transport != "" && s.Transport != "streamable_http" && s.Transport != "sse":
		return invalid("/transport", "transport is streamable_http or sse.")
	case kind == TypeREST && s.Document == "" && s.BaseURL == "" && !s.Uploaded:
		return invalid("/openapi_url", "A REST connector needs openapi_url, openapi (the document itself) or base_url.")
	}
	if s.Auth.Kind == AuthOAuth2 {
		return s.Auth.checkOAuth(address)
	}
	return s.Auth.check(kind)
}

func checkAddress(pointer, address string, allowed func(string) error) error {
	u, err := url.Parse(address)
	if err != nil || len(address) > maxURL || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" ||
		u.User != nil || u.Fragment != "" ||
		strings.ContainsAny(address, "{} \\") || strings.ContainsFunc(address, unicode.IsControl) ||
		pointer == "/base_url" && u.RawQuery != "" {
		return invalid(pointer,
			"This is no address: https://host/path, without user name, fragment and braces. Keys go into auth.")
	}
	if err := allowed(address); err != nil {
		p, ok := problem.From(err)
		if !ok {
			return err
		}
		return p.At(pointer)
	}
	return nil
}

var fieldName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$")

func (a *Auth) check(kind string) error {
	a.OAuth = OAuth{}
	switch a.Kind {
	case AuthNone, AuthBearer, AuthBasic:
		a.Name = ""
	case AuthHeader:
		a.Name = textproto.CanonicalMIMEHeaderKey(a.Name)
		if !fieldName.MatchString(a.Name) ||
			slices.Contains([]string{
				"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection",
				"Cookie", "Accept", "Upgrade", "Te", "Trailer",
			}, a.Name) || strings.HasPrefix(a.Name, "Mcp-") {
			return invalid("/auth", "Name the header field that takes the key, such as X-Api-Key.")
		}
	case AuthQuery:
		if kind == TypeMCP || !fieldName.MatchString(a.Name) {
			return invalid("/auth", "A key in the query is for REST alone and needs the name of its parameter.")
		}
	case AuthOAuth:
		a.Name = ""
		if kind != TypeMCP {
			return invalid("/auth/kind",
				"mcp_oauth is for MCP servers. A REST API is connected by a key, bearer, basic or oauth2.")
		}
	default:
		return invalid("/auth/kind",
			"kind is none, bearer, header, api_key, basic, oauth2 or, for MCP servers, mcp_oauth.")
	}
	return nil
}
