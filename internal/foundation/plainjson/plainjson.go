// Package plainjson encodes JSON without escaping <, > and & for HTML: what it
// writes is not embedded in pages, and URLs and text stay readable.
package plainjson

import (
	"bytes"
	"encoding/json"
	"io"
)

// NewEncoder returns an encoder that ends each value with a line break.
func NewEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// Marshal returns the JSON of v on one line.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	if err := NewEncoder(&buf).Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}), nil
}
