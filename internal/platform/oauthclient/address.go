package oauthclient

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
)

// authority is what a host with a port may be made of: nothing that would begin
// a user name, a path or a query.
var authority = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)

// parts is the template of an address, taken apart.
type parts struct {
	scheme    string // with ://; "" where a value brings scheme and host
	authority string // template, or the expression that is scheme and host
	path      string // and query and fragment
}

// takeApart splits the template of an address; the part in braces may contain
// any character.
func takeApart(template string) parts {
	var p parts
	rest := template
	if i := strings.Index(template, "://"); i >= 0 && !strings.ContainsAny(template[:i], "{/?#") {
		p.scheme, rest = template[:i+3], template[i+3:]
	}
	depth := 0
	for i, c := range rest {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case depth == 0 && strings.ContainsRune("/?#", c):
			p.authority, p.path = rest[:i], rest[i:]
			return p
		}
	}
	p.authority = rest
	return p
}

// steered are the values that choose the host: those in its host part, unless a
// domain of the definition follows them.
func (p parts) steered() []string {
	names := app.Names(p.authority)
	tail := p.authority[strings.LastIndexByte(p.authority, '}')+1:]
	domain, _, _ := strings.Cut(tail, ":")
	if strings.HasPrefix(domain, ".") && strings.Contains(domain[1:], ".") {
		return nil
	}
	return names
}

// address fills the template of an address. Values are escaped for where they
// stand, and one that chooses the host must be allowed to.
func (d *exchange) address(template string) (string, error) {
	p := takeApart(template)
	host, err := d.expand(p.authority)
	if err != nil {
		return "", fmt.Errorf("an address of %s: %w", d.app.ID, err)
	}
	if p.scheme == "" {
		u, err := url.Parse(host)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" ||
			u.Fragment != "" {
			return "", refusedValue(p.authority)
		}
		p.scheme, host = u.Scheme+"://", u.Host
		p.path = strings.TrimRight(u.EscapedPath(), "/") + p.path
	}
	if !authority.MatchString(host) {
		return "", refusedValue(p.authority)
	}
	for _, name := range p.steered() {
		if !d.maySelectHost(name, host) {
			return "", refusedValue(p.authority)
		}
	}
	path, query, hasQuery := strings.Cut(p.path, "?")
	if path, err = app.Expand(path, d.values, escapeSegment); err != nil {
		return "", fmt.Errorf("an address of %s: %w", d.app.ID, err)
	}
	if !hasQuery {
		return p.scheme + host + path, nil
	}
	if query, err = app.Expand(query, d.values, url.QueryEscape); err != nil {
		return "", fmt.Errorf("an address of %s: %w", d.app.ID, err)
	}
	return p.scheme + host + path + "?" + query, nil
}

// escapeSegment escapes a value for one segment of a path.
func escapeSegment(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
}

func refusedValue(expression string) error {
	return &connection.RefreshError{
		Class: connection.Unknown,
		Code:  "host_refused:" + strings.Join(app.Names(expression), ","),
	}
}

// maySteer reports whether a value may choose the host of a call: the
// operator's values, choices of the definition and hosts that a person typed
// may, unless a client is of another server; what a vendor's response named may
// stay under the definition's suffixes.
func (d *exchange) maySelectHost(name, host string) bool {
	p, declared := d.app.Params[name]
	switch {
	case d.received[name]:
	case d.unknownIssuer[name]:
		return false
	case d.client != nil && d.client.Extra[name] != "":
		return true
	case declared && len(p.Enum) > 0:
		return slices.Contains(p.Enum, d.given[name])
	case declared && p.Host && !p.Learned:
		return true
	case d.scheme.Let[name] != "":
		return false // what is made of others is written out where it chooses
	}
	return d.underSuffix(host)
}

// underSuffix reports whether a host is one of those that a vendor's response may
// name.
func (d *exchange) underSuffix(host string) bool {
	name := strings.ToLower(host)
	if u, err := url.Parse("//" + host); err == nil {
		name = strings.ToLower(u.Hostname())
	}
	return slices.ContainsFunc(slices.Concat(d.oauth.Callback.Hosts, d.oauth.Token.Hosts), func(suffix string) bool {
		suffix = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(suffix, "*"), "."))
		return suffix != "" && (name == suffix || strings.HasSuffix(name, "."+suffix))
	})
}

// maxLearned is how long a value may be that a response provides.
const maxLearned = 4096

// setParam accepts a value from a vendor. It goes to the connection's params if
// the definition declares it there, and among the credentials otherwise. One
// that would choose hosts must be under the definition's suffixes.
func (d *exchange) setParam(name, value string) error {
	if len(value) > maxLearned || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' }) {
		return &connection.RefreshError{Class: connection.Unknown, Code: "value_refused:" + name}
	}
	host := value
	if u, err := url.Parse(value); err == nil && strings.Contains(value, "://") {
		host = u.Host
	}
	if d.selectsHost(name) && (!authority.MatchString(host) || !d.underSuffix(host)) {
		return &connection.RefreshError{Class: connection.Unknown, Code: "host_refused:" + name}
	}
	d.received[name] = true
	d.set(name, value)
	if _, declared := d.app.Params[name]; declared {
		d.grant.Params[name] = value
		return nil
	}
	d.grant.Credentials[name] = value
	return nil
}

// steers reports whether a value chooses the host of any call of the app.
func (d *exchange) selectsHost(name string) bool {
	if d.app.Params[name].Host {
		return true
	}
	o := d.oauth
	all := append([]string{d.app.Base, o.Authorize.URL, o.Token.URL, o.Refresh.URL, o.Introspect}, d.app.Hosts...)
	if o.Revoke != nil {
		all = append(all, o.Revoke.URL)
	}
	for _, extra := range o.Extra {
		all = append(all, extra.URL)
	}
	for _, steps := range [][]app.Step{o.AfterCode, d.scheme.Steps, d.app.Resolve, d.app.Release} {
		for _, step := range steps {
			_, target, _ := strings.Cut(step.Call, " ")
			all = append(all, step.Base, target)
		}
	}
	for _, tool := range d.app.Tools.All() {
		all = append(all, tool.Base)
	}
	return slices.ContainsFunc(all, func(template string) bool {
		return template != "" && !strings.HasPrefix(template, "/") && slices.Contains(takeApart(template).steered(),
			name)
	})
}
