// Package landing says where a browser may be sent when a sign-in is over.
//
//	address of a request -> Valid: https, or http to this machine
//	                     -> Allowed by the account's list, where it has one:
//	                        same origin, and a path below that of an entry
//	                     -> With: how it ended, as parameters
//
// A caller who may send browsers to any URL can lead people who have just signed
// in to a page that asks them for more. An account that sets a list takes that
// from everybody who gets hold of one of its keys.
package landing

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ace/internal/foundation/problem"
)

// Limits of addresses and of lists.
const (
	MaxAddress = 2048 // bytes
	MaxEntries = 50
)

// Valid reports whether a browser may be sent to an address at all: https, or
// http on a loopback address, without user name and fragment.
func Valid(address string) bool {
	u, err := url.Parse(address)
	if err != nil || len(address) > MaxAddress || u.Host == "" || u.User != nil || u.Fragment != "" ||
		!plain(address) || strings.ContainsAny(address, ` \`) {
		return false
	}
	host := u.Hostname()
	ip := net.ParseIP(host)
	return u.Scheme == "https" || u.Scheme == "http" && (host == "localhost" || ip != nil && ip.IsLoopback())
}

func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// With adds parameters to an address that is Valid.
func With(address string, more url.Values) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	query := u.Query()
	maps.Copy(query, more)
	u.RawQuery = query.Encode()
	return u.String()
}

// Allowed reports whether an address that is Valid is on a list that Entries
// made. An empty list allows all. The origin is compared as a whole; the path
// has to be that of the entry or one below it, segment by segment, as it is
// written: paths that a server could read in two ways (dot segments, doubled
// and encoded slashes) are on no list.
func Allowed(list []string, address string) bool {
	if len(list) == 0 {
		return true
	}
	u, err := url.Parse(address)
	if err != nil || !single(u) {
		return false
	}
	return slices.ContainsFunc(list, func(entry string) bool {
		e, err := url.Parse(entry)
		return err == nil && origin(e) == origin(u) && below(u.EscapedPath(), e.EscapedPath())
	})
}

// Entries completes a list of an account: origins with a path, in the form that
// they are compared in. Its problem is invalid_request.
func Entries(given []string) ([]string, error) {
	if len(given) > MaxEntries {
		return nil, refuse("/redirect_urls", fmt.Sprintf("At most %d addresses.", MaxEntries))
	}
	var list []string
	for i, text := range given {
		text = strings.TrimSpace(text)
		u, err := url.Parse(text)
		if err != nil || !Valid(text) || !single(u) || u.RawQuery != "" || u.ForceQuery {
			return nil, refuse(fmt.Sprintf("/redirect_urls/%d", i),
				"An address is https://host/path, or http on a loopback address, in ASCII, without parameters. What "+
					"lies below the path is allowed with it.")
		}
		path := u.EscapedPath()
		if path == "" {
			path = "/"
		}
		if entry := origin(u) + path; !slices.Contains(list, entry) {
			list = append(list, entry)
		}
	}
	return list, nil
}

func refuse(pointer, detail string) error {
	return problem.New(problem.Invalid, "invalid_request", detail).WithItems(problem.Item{
		Pointer: pointer,
		Code:    "invalid", Detail: detail,
	}).Advise("fix_arguments")
}

// origin is scheme, host and port (RFC 6454, 4), with the port left out that the
// scheme implies.
func origin(u *url.URL) string {
	host := strings.ToLower(u.Host)
	port := u.Port()
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		host = strings.ToLower(u.Hostname())
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
	}
	return u.Scheme + "://" + host
}

// single reports whether all who read an address take it for the same one: its
// host is ASCII, and its path has no part that some resolve and others do not.
func single(u *url.URL) bool {
	if strings.ContainsFunc(u.Host, func(r rune) bool { return r > unicode.MaxASCII || r == '%' }) {
		return false
	}
	path := strings.ToLower(u.EscapedPath())
	for _, part := range []string{"//", "%2f", "%5c", "%00", ";"} {
		if strings.Contains(path, part) {
			return false
		}
	}
	for segment := range strings.SplitSeq(strings.ReplaceAll(path, "%2e", "."), "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// below reports whether a path is one of a prefix, or lies under it.
func below(path, prefix string) bool {
	if path == "" {
		path = "/"
	}
	rest, found := strings.CutPrefix(path, prefix)
	return found && (rest == "" || strings.HasSuffix(prefix, "/") || strings.HasPrefix(rest, "/"))
}
