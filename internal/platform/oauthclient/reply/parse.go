package reply

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
)

// Parse decodes a response. Kind is json, form, xml or text, and anything else
// looks for itself. Content types are not believed: JSON comes as text,
// forms as JSON. What cannot be read is nil.
func Parse(kind string, body []byte) any {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if len(body) == 0 {
		return nil
	}
	switch kind {
	case "json":
		return parseJSON(body)
	case "form":
		return parseForm(body)
	case "xml":
		return parseXML(body)
	case "text":
		return string(body)
	}
	switch body[0] {
	case '{', '[', '"':
		return parseJSON(body)
	case '<':
		return parseXML(body)
	}
	if bytes.ContainsAny(body, "= ") {
		return parseForm(body)
	}
	return string(body)
}

func parseJSON(body []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var document any
	if decoder.Decode(&document) != nil {
		return nil
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil
	}
	return document
}

func parseForm(body []byte) any {
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil
	}
	document := make(map[string]any, len(values))
	for name := range values {
		document[name] = values.Get(name)
	}
	return document
}

// maxDepth is how deep XML may nest.
const maxDepth = 32

// parseXML reads elements as members: text where there is nothing but text,
// lists where a name appears more than once. The outermost element is a member as
// well; attributes are left out.
func parseXML(body []byte) any {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	document, ok := parseElement(decoder, 0)
	if !ok {
		return nil
	}
	if _, isText := document.(string); isText {
		return nil // no element at all
	}
	return document
}

func parseElement(decoder *xml.Decoder, depth int) (any, bool) {
	if depth > maxDepth {
		return nil, false
	}
	members := map[string]any{}
	var text strings.Builder
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && depth == 0 {
			return orText(members, text.String()), true
		}
		if err != nil {
			return nil, false
		}
		switch t := token.(type) {
		case xml.StartElement:
			value, ok := parseElement(decoder, depth+1)
			if !ok {
				return nil, false
			}
			add(members, t.Name.Local, value)
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			return orText(members, text.String()), true
		}
	}
}

func orText(members map[string]any, text string) any {
	if len(members) == 0 {
		return strings.TrimSpace(text)
	}
	return members
}

func add(members map[string]any, name string, value any) {
	switch there := members[name].(type) {
	case nil:
		members[name] = value
	case []any:
		members[name] = append(there, value)
	default:
		members[name] = []any{there, value}
	}
}
