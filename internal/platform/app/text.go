package app

import (
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // some vendors sign with it; nothing of ours does
	"crypto/sha1" //nolint:gosec // likewise
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"net/url"
	"strings"
)

// Values are what a template may name.
type Values interface {
	// Value returns the value of a name, and whether there is one.
	Value(name string) (string, bool)
}

// Map is Values of a map.
type Map map[string]string

// Value implements Values.
func (m Map) Value(name string) (string, bool) { v, ok := m[name]; return v, ok }

// Join returns Values that looks into each in turn.
func Join(all ...Values) Values { return joined(all) }

type joined []Values

func (j joined) Value(name string) (string, bool) {
	for _, v := range j {
		if v == nil {
			continue
		}
		if text, ok := v.Value(name); ok {
			return text, true
		}
	}
	return "", false
}

// Expand fills a template: {name} is a value, {name|filter} a value that was
// changed on the way; {{ and }} are braces. encode, if not nil, is applied to
// each value before it is put in, for example url.PathEscape: what stands in the
// template itself is not encoded. The filters:
//
//	base64, hex, sha256_hex, md5_hex, lower, upper, trim, urlencode
//	before:X, after:X            the part before or after the last X
//	query:NAME                   a parameter of a URL, also of …/delta(NAME='…')
//	default:X                    X where the value is empty or missing
//	hmac_sha256:NAME:hex|base64  keyed with the value of NAME; hmac_sha1 likewise
//	ed25519:NAME:hex|base64      signed with the key that is the value of NAME
//	sha1_base64, sha256_base64, substr:START:LENGTH
//	json:POINTER                 a value inside a text that is JSON
//	quote                        as a JSON text in ASCII, for headers that hold JSON
//
// An unknown name is an error that names it and holds no value.
func Expand(template string, values Values, encode func(string) string) (string, error) {
	var out strings.Builder
	rest := template
	for {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			out.WriteString(rest)
			return out.String(), nil
		}
		out.WriteString(rest[:i])
		if strings.HasPrefix(rest[i:], "{{") || strings.HasPrefix(rest[i:], "}}") {
			out.WriteByte(rest[i])
			rest = rest[i+2:]
			continue
		}
		end := strings.IndexByte(rest[i:], '}')
		if rest[i] == '}' || end < 0 {
			return "", fmt.Errorf("the template %q has a brace without its partner", template)
		}
		text, err := evaluate(rest[i+1:i+end], values)
		if err != nil {
			return "", fmt.Errorf("the template %q: %w", template, err)
		}
		if encode != nil {
			text = encode(text)
		}
		out.WriteString(text)
		rest = rest[i+end+1:]
	}
}

// Names returns the names that a template refers to. A template that Expand
// refuses has those before the error.
func Names(template string) []string {
	var names []string
	for part := range strings.SplitSeq(strings.ReplaceAll(strings.ReplaceAll(template, "{{", ""), "}}", ""), "{") {
		inside, _, closed := strings.Cut(part, "}")
		if !closed {
			continue
		}
		name, filters, _ := strings.Cut(inside, "|")
		names = append(names, name)
		for filter := range strings.SplitSeq(filters, "|") {
			if kind, args, ok := strings.Cut(filter, ":"); ok &&
				(strings.HasPrefix(kind, "hmac_") || kind == "ed25519") {
				key, _, _ := strings.Cut(args, ":")
				names = append(names, key)
			}
		}
	}
	return names
}

func evaluate(expression string, values Values) (string, error) {
	name, filters, filtered := strings.Cut(expression, "|")
	text, known := values.Value(name)
	if !known && !strings.Contains(filters, "default:") {
		return "", fmt.Errorf("there is no value %q", name)
	}
	if !filtered {
		return text, nil
	}
	for filter := range strings.SplitSeq(filters, "|") {
		var err error
		if text, err = apply(filter, text, values); err != nil {
			return "", err
		}
	}
	return text, nil
}

func apply(filter, text string, values Values) (string, error) {
	kind, arg, _ := strings.Cut(filter, ":")
	switch kind {
	case "base64":
		return base64.StdEncoding.EncodeToString([]byte(text)), nil
	case "hex":
		return hex.EncodeToString([]byte(text)), nil
	case "sha256_hex":
		sum := sha256.Sum256([]byte(text))
		return hex.EncodeToString(sum[:]), nil
	case "md5_hex":
		sum := md5.Sum([]byte(text)) //nolint:gosec // see above
		return hex.EncodeToString(sum[:]), nil
	case "lower":
		return strings.ToLower(text), nil
	case "upper":
		return strings.ToUpper(text), nil
	case "trim":
		return strings.TrimSpace(text), nil
	case "urlencode":
		return url.QueryEscape(text), nil
	case "before", "after":
		return part(kind, arg, text), nil
	case "query":
		return parameter(arg, text), nil
	case "default":
		if text == "" {
			return arg, nil
		}
		return text, nil
	case "hmac_sha256":
		return keyed(sha256.New, arg, text, values)
	case "hmac_sha1":
		return keyed(sha1.New, arg, text, values)
	case "ed25519":
		return signed(arg, text, values)
	case "sha1_base64":
		sum := sha1.Sum([]byte(text)) //nolint:gosec // see above
		return base64.StdEncoding.EncodeToString(sum[:]), nil
	case "sha256_base64":
		sum := sha256.Sum256([]byte(text))
		return base64.StdEncoding.EncodeToString(sum[:]), nil
	case "substr":
		return substr(arg, text)
	case "json":
		return inside(arg, text), nil
	case "quote":
		return quote(text), nil
	}
	return "", fmt.Errorf("there is no filter %q", kind)
}

func part(kind, mark, text string) string {
	i := strings.LastIndex(text, mark)
	switch {
	case i < 0 && kind == "before":
		return text
	case i < 0:
		return ""
	case kind == "before":
		return text[:i]
	}
	return text[i+len(mark):]
}

// parameter returns a parameter of a URL, of its query or, as OData has them, in
// parentheses.
func parameter(name, address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if value := u.Query().Get(name); value != "" {
		return value
	}
	_, value, _ := strings.Cut(u.Path, "("+name+"=")
	value, _, _ = strings.Cut(value, ")")
	return strings.Trim(value, "'")
}

func keyed(digest func() hash.Hash, arg, text string, values Values) (string, error) {
	name, encoding, _ := strings.Cut(arg, ":")
	key, ok := values.Value(name)
	if !ok {
		return "", fmt.Errorf("there is no value %q", name)
	}
	mac := hmac.New(digest, []byte(key))
	_, _ = mac.Write([]byte(text)) // a hash takes everything
	return encoded(mac.Sum(nil), encoding), nil
}

func encoded(sum []byte, encoding string) string {
	if encoding == "base64" {
		return base64.StdEncoding.EncodeToString(sum)
	}
	return hex.EncodeToString(sum)
}
