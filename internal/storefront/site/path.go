package site

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"ace/internal/foundation/problem"
)

// maxPath is the longest path that is looked at, in bytes.
const maxPath = 2048

// CleanPath reads the path of a page as people and agents write it: with or
// without the first slash, escaped or not, with query and fragment, which are
// dropped. It returns invalid_path (Invalid) for what is no path and
// path_outside_site (Forbidden) for one that climbs above the first page.
func CleanPath(raw string) (string, error) {
	if at := strings.IndexAny(raw, "?#"); at >= 0 {
		raw = raw[:at]
	}
	if len(raw) > maxPath {
		return "", invalidPath("The path is longer than 2048 bytes.")
	}
	path, err := url.PathUnescape(raw)
	if err != nil {
		return "", invalidPath("A percent sign in the path is not followed by two hexadecimal digits.")
	}
	if !utf8.ValidString(path) || strings.ContainsFunc(path,
		func(r rune) bool { return unicode.IsControl(r) || r == '\\' }) {
		return "", invalidPath("The path holds characters that no page has.")
	}
	var segments []string
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case "", ".":
		case "..":
			if len(segments) == 0 {
				return "", problem.New(problem.Forbidden, "path_outside_site",
					"The path climbs out of the site. Give the path of a page as /agent/search answers it.").At("path")
			}
			segments = segments[:len(segments)-1]
		default:
			segments = append(segments, part)
		}
	}
	return "/" + strings.Join(segments, "/"), nil
}

func invalidPath(detail string) error {
	return problem.New(problem.Invalid, "invalid_path", detail+" Give the path of a page, such as /docs.").At("path")
}

// EscapePath spells a clean path as it is in an address.
func EscapePath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// spellings are the paths that may be meant: the twin of a page is that page,
// and so is the index of a folder.
func spellings(path string) []string {
	all := []string{path}
	if bare, ok := strings.CutSuffix(path, ".md"); ok {
		all = append(all, bare)
		path = bare
	}
	if folder, ok := strings.CutSuffix(path, "/index"); ok {
		if folder == "" {
			folder = "/"
		}
		all = append(all, folder)
	}
	return all
}

// pathOf reads the address of a page of one of the hosts.
func pathOf(address string, hosts []string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		len(address) > maxPath {
		return "", problem.New(problem.Invalid, "invalid_url",
			"url is the whole address of a page, such as "+hosts[0]+"/docs. Or give its path as path.").At("url")
	}
	for _, h := range hosts {
		if own, err := url.Parse(h); err == nil && sameHost(own, u) {
			return u.EscapedPath(), nil
		}
	}
	return "", problem.New(problem.Forbidden, "other_host",
		"Only pages of "+hosts[0]+" are read here. Fetch pages of other hosts from those hosts.").At("url")
}

// sameHost compares host and port; http and https are the same site.
func sameHost(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		if p := u.Port(); p != "" && p != "80" && p != "443" {
			return p
		}
		return ""
	}
	return strings.EqualFold(strings.TrimSuffix(a.Hostname(), "."), strings.TrimSuffix(b.Hostname(), ".")) &&
		port(a) == port(b)
}

// shut are paths that belong to one buyer or to the operator.
func shut(path string) bool {
	for _, p := range []string{"/c", "/checkout", "/webhooks"} {
		if path == p || strings.HasPrefix(path, p+"/") {
			return true
		}
	}
	return false
}
