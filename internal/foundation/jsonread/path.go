package jsonread

import (
	"strconv"
	"strings"
)

// Path writes a place that a fault of this package names, a JSON Pointer
// (RFC 6901), as the JSONPath of RFC 9535 (https://www.rfc-editor.org/rfc/rfc9535)
// that commerce protocols use: "/line_items/0/item" is "$.line_items[0].item".
// A step of digits alone is taken for an index.
func Path(pointer string) string {
	var b strings.Builder
	b.WriteByte('$')
	if pointer == "" {
		return b.String()
	}
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if strings.ContainsRune(step, '~') {
			step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		}
		switch {
		case isIndex(step):
			b.WriteString("[" + step + "]")
		case isShorthand(step):
			b.WriteString("." + step)
		default:
			quoteStep(&b, step)
		}
	}
	return b.String()
}

func isIndex(s string) bool {
	n, err := strconv.ParseUint(s, 10, 31)
	return err == nil && strconv.FormatUint(n, 10) == s
}

// isShorthand reports whether a name needs no brackets (RFC 9535 section
// 2.5.1.1). Names beyond ASCII are bracketed too, which means the same.
func isShorthand(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func quoteStep(b *strings.Builder, step string) {
	b.WriteString("['")
	for _, r := range step {
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ':
			const hex = "0123456789abcdef"
			b.WriteString(`\u00`)
			b.WriteByte(hex[r>>4])
			b.WriteByte(hex[r&15])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteString("']")
}
