package openapi

import (
	"fmt"
	"net/http"
	"strings"

	"ace/internal/foundation/problem"

	"github.com/danielgtaylor/huma/v2"
)

// inputProblem words what the library found wrong with a request. Its own
// texts may hold input values; none of them is kept unless it consists of
// words of the schema alone.
func inputProblem(e *huma.ErrorModel, fields func(location string) []string) error {
	if len(e.Errors) == 0 {
		if e.Status == http.StatusBadRequest {
			return problem.New(problem.Malformed, "body_required",
				"This request needs a JSON body.").Advise("fix_arguments")
		}
		return fmt.Errorf("library answered status %d: %s", e.Status, e.Detail)
	}
	items := make([]problem.Item, len(e.Errors))
	for i, d := range e.Errors {
		items[i] = item(d)
		if items[i].Code == "unknown_field" {
			at := items[i].Pointer
			name := unescape(at[strings.LastIndexByte(at, '/')+1:])
			items[i].Detail = unknownDetail("field", name, fields(d.Location))
		}
	}
	detail := fmt.Sprintf("%d values are wrong: see errors.", len(items))
	if len(items) == 1 {
		detail = strings.TrimPrefix(items[0].Pointer+": "+items[0].Detail, ": ")
	}
	return problem.New(problem.Invalid, "invalid_request", detail).WithItems(items...).Advise("fix_arguments")
}

func item(d *huma.ErrorDetail) problem.Item {
	pointer := pointerOf(d.Location)
	inBody := strings.HasPrefix(d.Location, "body")
	if name, ok := between(d.Message, "expected required property ", " to be present"); ok {
		return problem.Item{Pointer: pointer + "/" + escape(name), Code: "required", Detail: "Is required."}
	}
	if rest, ok := between(d.Message, "expected property ", " is present"); ok {
		name, with, _ := strings.Cut(rest, " to be present when ")
		return problem.Item{
			Pointer: pointer + "/" + escape(name), Code: "required",
			Detail: fmt.Sprintf("Is required together with %s.", with),
		}
	}
	for _, w := range wordings {
		if rest, ok := strings.CutPrefix(d.Message, w.prefix); ok {
			if w.detail == "" {
				return problem.Item{Pointer: pointer, Code: w.code, Detail: w.words + rest + "."}
			}
			return problem.Item{Pointer: pointer, Code: w.code, Detail: w.detail}
		}
	}
	if inBody {
		return problem.Item{Pointer: pointer, Code: "invalid_value", Detail: "Does not fit the documented schema."}
	}
	return problem.Item{Pointer: pointer, Code: "invalid_value", Detail: "Cannot be read as documented."}
}

// wording turns the beginning of a message of the library into our code and
// sentence. With words, the rest of the message follows them: it comes from
// the schema. With detail, the rest is dropped: it may come from the input.
type wording struct{ prefix, code, words, detail string }

// More specific prefixes come first.
var wordings = [...]wording{
	{
		prefix: "unexpected property", code: "unknown_field",
		detail: "There is no such field here. Remove it or check its spelling.",
	},
	{
		prefix: "unknown query parameter", code: "unknown_parameter",
		detail: "There is no such parameter here. Remove it or check its spelling.",
	},
	{prefix: "required ", code: "required", detail: "Is required."},
	{
		prefix: "expected string to be RFC 3339 date-time", code: "invalid_format",
		detail: "Must be a time such as 2026-01-31T12:00:00Z.",
	},
	{
		prefix: "expected string to be RFC 3339 date", code: "invalid_format",
		detail: "Must be a date such as 2026-01-31.",
	},
	{
		prefix: "expected string to be RFC 3339 time", code: "invalid_format",
		detail: "Must be a time such as 12:00:00Z.",
	},
	{prefix: "expected string to be RFC 5322 email", code: "invalid_format", detail: "Must be an e-mail address."},
	{prefix: "expected string to be RFC 5890 hostname", code: "invalid_format", detail: "Must be a host name."},
	{prefix: "expected string to be RFC 2673 ipv4", code: "invalid_format", detail: "Must be an IPv4 address."},
	{prefix: "expected string to be RFC 2373 ipv6", code: "invalid_format", detail: "Must be an IPv6 address."},
	{prefix: "expected string to be either RFC 2673", code: "invalid_format", detail: "Must be an IP address."},
	{
		prefix: "expected string to be RFC 3986 uri", code: "invalid_format",
		detail: "Must be an address such as https://example.com/path.",
	},
	{prefix: "expected string to be RFC 4122 uuid", code: "invalid_format", detail: "Must be a UUID."},
	{prefix: "expected string to be regex", code: "invalid_format", detail: "Must be a regular expression."},
	{prefix: "expected string to be base64", code: "invalid_format", detail: "Must be base64."},
	{prefix: "expected duration", code: "invalid_format", detail: "Must be a duration such as 90s or 5m."},
	{prefix: "invalid date/time", code: "invalid_format", detail: "Must be a time such as 2026-01-31T12:00:00Z."},
	{prefix: "expected string to match pattern ", code: "invalid_format", words: "Must match the pattern "},
	{prefix: "expected string to be ", code: "invalid_format", words: "Must be "},
	{prefix: "expected value to be one of ", code: "invalid_choice", words: "Must be one of "},
	{prefix: "expected value to match", code: "invalid_value", detail: "Does not fit the documented schema."},
	{prefix: "expected number >= ", code: "out_of_range", words: "Must be at least "},
	{prefix: "expected number > ", code: "out_of_range", words: "Must be more than "},
	{prefix: "expected number <= ", code: "out_of_range", words: "Must be at most "},
	{prefix: "expected number < ", code: "out_of_range", words: "Must be less than "},
	{prefix: "expected number to be a multiple of ", code: "out_of_range", words: "Must be a multiple of "},
	{prefix: "expected length >= ", code: "invalid_length", words: "Characters needed at least: "},
	{prefix: "expected length <= ", code: "invalid_length", words: "Characters allowed at most: "},
	{prefix: "expected array length >= ", code: "invalid_length", words: "Entries needed at least: "},
	{prefix: "expected array length <= ", code: "invalid_length", words: "Entries allowed at most: "},
	{prefix: "expected object with at least ", code: "invalid_length", words: "Must have at least "},
	{prefix: "expected object with at most ", code: "invalid_length", words: "Must have at most "},
	{prefix: "expected array items to be unique", code: "duplicate", detail: "Entries must differ from each other."},
	{prefix: "expected boolean", code: "invalid_type", detail: "Must be true or false."},
	{prefix: "invalid boolean", code: "invalid_type", detail: "Must be true or false."},
	{prefix: "expected integer", code: "invalid_type", detail: "Must be a whole number."},
	{prefix: "invalid integer", code: "invalid_type", detail: "Must be a whole number."},
	{prefix: "expected number", code: "invalid_type", detail: "Must be a number."},
	{prefix: "invalid float", code: "invalid_type", detail: "Must be a number."},
	{prefix: "expected string", code: "invalid_type", detail: "Must be a string."},
	{prefix: "expected array", code: "invalid_type", detail: "Must be an array."},
	{prefix: "expected object", code: "invalid_type", detail: "Must be an object."},
}

func between(s, before, after string) (string, bool) {
	s, ok := strings.CutPrefix(s, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, after)
}

func unescape(s string) string { return strings.NewReplacer("~1", "/", "~0", "~").Replace(s) }

func escape(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }

// pointerOf turns the library's "body.lines[0].id" into the JSON Pointer
// "/lines/0/id", and "query.limit" into the parameter's name "limit".
func pointerOf(location string) string {
	where, rest, _ := strings.Cut(location, ".")
	if !strings.HasPrefix(where, "body") {
		return rest
	}
	rest = strings.TrimPrefix(location, "body")
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		b.WriteByte('/')
		b.WriteString(escape(part))
	}
	return b.String()
}
