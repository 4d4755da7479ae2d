package crawl

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxRobots is how much of a robots.txt is read, in bytes. RFC 9309 asks for
// 500 KiB at least; what is behind it is ignored.
const MaxRobots = 500 << 10

// Robots is a robots.txt, read by RFC 9309.
type Robots struct {
	Groups   []Group
	Sitemaps []Line
	Others   []Line // known to no RFC 9309 parser, for example Content-Signal
	Lines    int
	// Access is what a crawler may do if the file itself could not be read.
	Access Access
	// Response is the response that held the file; nil when parsed from text.
	Response *Response
}

// Access is what the response for robots.txt means for the whole host.
type Access int

// The kinds of access.
const (
	ByRules Access = iota // the file was read: its rules count
	Full                  // 4xx: there are no rules
	None                  // 5xx or no response: RFC 9309 asks to stay away
)

// Group is the rules for some crawlers.
type Group struct {
	Agents []Line // values as written
	Rules  []Rule
	Delay  time.Duration // Crawl-delay; 0: none
	Paced  bool          // it states a Crawl-delay, which may be 0
	Others []Line        // further fields of the group
}

// Rule is one Allow or Disallow.
type Rule struct {
	Line  int
	Allow bool
	Path  string // as written
	match string // normal form
}

// String is the rule as a robots.txt spells it.
func (r Rule) String() string {
	if r.Allow {
		return "Allow: " + r.Path
	}
	return "Disallow: " + r.Path
}

// Line is one field of the file.
type Line struct {
	Line        int
	Name, Value string
}

// Decision is what a robots.txt says about one crawler and one address.
type Decision struct {
	Allowed bool
	Rule    string // that decides, for example "Disallow: /"; empty: none matches
	Line    int    // of the rule; 0: none
	Agent   string // of the group that counts, as written; empty: no group does
}

// ParseRobots reads a robots.txt. It never fails: what is no rule is ignored.
func ParseRobots(text []byte) *Robots {
	if len(text) > MaxRobots {
		text = text[:MaxRobots]
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	r := &Robots{}
	naming := false // the last field that counts was a User-agent
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		r.Lines++
		name, value, ok := field(string(line))
		if !ok {
			continue
		}
		naming = r.add(Line{Line: r.Lines, Name: name, Value: value}, naming)
	}
	return r
}

// field reads "name: value # remark".
func field(line string) (name, value string, ok bool) {
	line, _, _ = strings.Cut(line, "#")
	name, value, ok = strings.Cut(line, ":")
	name = strings.ToLower(strings.TrimSpace(name))
	return name, strings.TrimSpace(value), ok && name != ""
}

func (r *Robots) add(l Line, naming bool) bool {
	var group *Group
	if len(r.Groups) > 0 {
		group = &r.Groups[len(r.Groups)-1]
	}
	switch l.Name {
	case "user-agent":
		if !naming || group == nil {
			r.Groups = append(r.Groups, Group{})
			group = &r.Groups[len(r.Groups)-1]
		}
		group.Agents = append(group.Agents, l)
		return true
	case "sitemap":
		r.Sitemaps = append(r.Sitemaps, l)
	case "allow", "disallow":
		if group == nil {
			return false // a rule before any crawler is named counts for none
		}
		if l.Value != "" {
			group.Rules = append(group.Rules,
				Rule{Line: l.Line, Allow: l.Name == "allow", Path: l.Value, match: normalPath(l.Value)})
		}
		return false
	case "crawl-delay":
		if seconds, err := strconv.ParseFloat(
			l.Value,
			64,
		); err == nil && group != nil && seconds >= 0 &&
			seconds < 1e6 {
			group.Paced = true
			group.Delay = time.Duration(seconds * float64(time.Second))
		}
	default:
		r.Others = append(r.Others, l)
		if group != nil {
			group.Others = append(group.Others, l)
		}
	}
	return naming
}

// groups are the ones that a crawler obeys: all that name its token, or else
// all for "*". The name is as the file spells it.
func (r *Robots) groups(agent string) (name string, found []*Group) {
	for _, want := range []string{agent, "*"} {
		for i := range r.Groups {
			for _, a := range r.Groups[i].Agents {
				if strings.EqualFold(token(a.Value), want) {
					if len(found) == 0 {
						name = a.Value
					}
					found = append(found, &r.Groups[i])
					break
				}
			}
		}
		if len(found) > 0 {
			return name, found
		}
	}
	return "", nil
}

// token is the product token of a User-agent value: a version or a remark
// behind it does not count.
func token(value string) string {
	if i := strings.IndexAny(value, "/ \t;("); i > 0 {
		value = value[:i]
	}
	return value
}

// Names reports whether the file has a group for the token itself, not only for
// all crawlers.
func (r *Robots) Names(agent string) bool {
	name, groups := r.groups(agent)
	return len(groups) > 0 && !strings.HasPrefix(name, "*")
}

// Decide says whether a crawler may ask for an address, given as path and
// query. The longest rule that matches wins, and Allow wins a tie.
func (r *Robots) Decide(agent, path string) Decision {
	switch {
	case r.Access == Full, path == "/robots.txt":
		return Decision{Allowed: true}
	case r.Access == None:
		return Decision{}
	}
	name, groups := r.groups(agent)
	d := Decision{Allowed: true, Agent: name}
	path = normalPath(path)
	longest := -1
	for _, g := range groups {
		for _, rule := range g.Rules {
			if len(rule.match) < longest || len(rule.match) == longest && (!rule.Allow || d.Allowed) ||
				!matches(rule.match, path) {
				continue
			}
			longest = len(rule.match)
			d.Allowed, d.Rule, d.Line = rule.Allow, rule.String(), rule.Line
		}
	}
	return d
}

// Delay is the Crawl-delay for a crawler; 0: none is stated.
func (r *Robots) Delay(agent string) time.Duration {
	var delay time.Duration
	_, groups := r.groups(agent)
	for _, g := range groups {
		delay = max(delay, g.Delay)
	}
	return delay
}

// named reports whether a group names the crawler and states a Crawl-delay for
// it: the site's permission for a pace of its own.
func (r *Robots) named(agent string) (delay time.Duration, ok bool) {
	name, groups := r.groups(agent)
	if name == "" || name == "*" {
		return 0, false
	}
	for _, g := range groups {
		delay, ok = max(delay, g.Delay), ok || g.Paced
	}
	return delay, ok
}

// matches compares a path with a pattern, in which * stands for any characters
// and $ at the end for the end.
func matches(pattern, path string) bool {
	anchored := strings.HasSuffix(pattern, "$")
	pattern = strings.TrimSuffix(pattern, "$")
	parts := strings.Split(pattern, "*")
	if !strings.HasPrefix(path, parts[0]) {
		return false
	}
	path = path[len(parts[0]):]
	if len(parts) == 1 {
		return !anchored || path == ""
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(path, part)
		if i < 0 {
			return false
		}
		path = path[i+len(part):]
	}
	if anchored {
		return strings.HasSuffix(path, parts[last])
	}
	return strings.Contains(path, parts[last])
}

// normalPath spells a path so that octets can be compared: characters outside
// ASCII are escaped, escapes of ordinary characters are undone, and the digits
// of the remaining ones are in upper case.
func normalPath(path string) string {
	if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "*") {
		path = "/" + path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		c := path[i]
		switch {
		case c == '%' && i+2 < len(path) && isHex(path[i+1]) && isHex(path[i+2]):
			octet, _ := strconv.ParseUint(path[i+1:i+3], 16, 8) // two hexadecimal digits
			if unreserved(byte(octet)) {
				b.WriteByte(byte(octet))
			} else {
				b.WriteString(strings.ToUpper(path[i : i+3]))
			}
			i += 2
		case c >= utf8.RuneSelf || c <= ' ':
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:]))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func unreserved(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._~", c) >= 0
}
