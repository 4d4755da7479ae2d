package app

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// signed is the Ed25519 signature of a text. The key is PKCS #8 in PEM, or the
// seed in base64 or hex.
func signed(arg, text string, values Values) (string, error) {
	name, encoding, _ := strings.Cut(arg, ":")
	key, ok := values.Value(name)
	if !ok {
		return "", fmt.Errorf("there is no value %q", name)
	}
	private := ed25519Key(key)
	if private == nil {
		return "", fmt.Errorf("the value %q is no Ed25519 key", name)
	}
	return encoded(ed25519.Sign(private, []byte(text)), encoding), nil
}

func ed25519Key(text string) ed25519.PrivateKey {
	if block, _ := pem.Decode([]byte(text)); block != nil {
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return nil
		}
		private, _ := parsed.(ed25519.PrivateKey)
		return private
	}
	seed, err := hex.DecodeString(text)
	if err != nil {
		seed, err = base64.StdEncoding.DecodeString(text)
	}
	if err != nil || len(seed) < ed25519.SeedSize {
		return nil
	}
	return ed25519.NewKeyFromSeed(seed[:ed25519.SeedSize]) // a whole key begins with its seed
}

// substr cuts in bytes: what it is for is ASCII.
func substr(arg, text string) (string, error) {
	from, length, _ := strings.Cut(arg, ":")
	start, err := strconv.Atoi(from)
	if err != nil || start < 0 {
		return "", fmt.Errorf("substr:%s names no part", arg)
	}
	start = min(start, len(text))
	if length == "" {
		return text[start:], nil
	}
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 {
		return "", fmt.Errorf("substr:%s names no part", arg)
	}
	return text[start:min(start+n, len(text))], nil
}

// inside is a value of a JSON text; "" where there is none, or no JSON.
func inside(pointer, text string) string {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var document any
	if decoder.Decode(&document) != nil {
		return ""
	}
	return PickText(document, pointer)
}

// quote is a text as a JSON text that holds ASCII alone.
func quote(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil { // a text can always be written
		return `""`
	}
	var out strings.Builder
	for _, r := range string(encoded) {
		switch {
		case r < 0x7f:
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// Let returns Values with further ones that are made of them by templates. The
// templates may name one another, but not in a circle: a value that cannot be
// made is not there.
func Let(values Values, templates map[string]string) Values {
	if len(templates) == 0 {
		return values
	}
	return let{values, templates, len(templates)}
}

type let struct {
	values    Values
	templates map[string]string
	depth     int
}

// Value implements Values.
func (l let) Value(name string) (string, bool) {
	template, ok := l.templates[name]
	if !ok {
		return l.values.Value(name)
	}
	if l.depth == 0 {
		return "", false
	}
	text, err := Expand(template, let{l.values, l.templates, l.depth - 1}, nil)
	return text, err == nil
}
