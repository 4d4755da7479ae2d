package httpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"ace/internal/foundation/excerpt"
	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
)

// DefaultBodyLimit is the size of JSON bodies where nothing else is said: 1 MiB.
const DefaultBodyLimit = 1 << 20

// DecodeJSON reads the body of r into v. It refuses other media types, bodies
// over limit bytes (0: DefaultBodyLimit) and what jsonread.Check refuses. Fields
// that v does not have are ignored. A missing Content-Type counts as JSON. The
// problems are unsupported_media_type, request_too_large, invalid_json (with line
// and column) and invalid_type (with a JSON Pointer).
func DecodeJSON(r *http.Request, v any, limit int64) error {
	return decodeJSON(r, v, limit, false)
}

// DecodeStrictJSON is DecodeJSON that also refuses fields that v does not
// have, with the problem unknown_field.
func DecodeStrictJSON(r *http.Request, v any, limit int64) error {
	return decodeJSON(r, v, limit, true)
}

func decodeJSON(r *http.Request, v any, limit int64, strict bool) error {
	if err := CheckJSONType(r); err != nil {
		return err
	}
	data, err := ReadBody(r, limit)
	if err != nil {
		return err
	}
	return unmarshal(data, v, strict)
}

// CheckJSONType refuses a request whose Content-Type is not JSON in UTF-8,
// with the problem unsupported_media_type.
func CheckJSONType(r *http.Request) error {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return nil
	}
	media, params, err := mime.ParseMediaType(header)
	isJSON := media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media,
		"+json")
	charset := strings.ToLower(params["charset"])
	if err != nil || !isJSON || charset != "" && charset != "utf-8" && charset != "us-ascii" {
		return problem.New(problem.UnsupportedMedia, "unsupported_media_type",
			"Send the body as JSON in UTF-8 with the header Content-Type: application/json.")
	}
	return nil
}

// ReadBody reads the whole body, up to limit bytes (0: DefaultBodyLimit). It
// returns the problem request_too_large, or body_unreadable when the client
// stopped sending.
func ReadBody(r *http.Request, limit int64) ([]byte, error) {
	if limit == 0 {
		limit = DefaultBodyLimit
	}
	if r.Body == nil {
		return nil, nil
	}
	if r.ContentLength > limit {
		return nil, bodyTooLarge(limit)
	}
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		// A declared length is only a claim: it does not get to allocate much.
		buf.Grow(int(min(r.ContentLength, 64<<10)) + bytes.MinRead)
	}
	_, err := buf.ReadFrom(io.LimitReader(r.Body, limit+1))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, bodyTooLarge(tooLarge.Limit)
	case err != nil:
		return nil, problem.New(problem.Malformed, "body_unreadable",
			"The request body ended early or came too slowly. Send it again, whole.")
	case int64(buf.Len()) > limit:
		return nil, bodyTooLarge(limit)
	}
	return buf.Bytes(), nil
}

func unmarshal(data []byte, v any, strict bool) error {
	if err := jsonread.Check(data); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if strict {
		dec.DisallowUnknownFields()
	}
	if err := dec.Decode(v); err != nil {
		return decodeProblem(data, err)
	}
	return nil
}

// maxName is how many bytes of an unknown field's name an error quotes.
const maxName = 64

// decodeProblem words what encoding/json says about a text that is valid JSON.
func decodeProblem(data []byte, err error) error {
	if wrongType, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		detail := fmt.Sprintf("Expected %s, found %s.", typeWords(wrongType.Type), valueWords(wrongType.Value))
		return problem.New(problem.Invalid, "invalid_type", detail).At(pointerAt(data, wrongType.Offset)).Advise(
			"fix_arguments")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name = strings.Trim(name, `"`)
		return problem.New(problem.Invalid, "unknown_field",
			fmt.Sprintf("There is no field %q here. Remove it or check its spelling.", excerpt.Bytes(name, maxName))).
			At("/" + escapePointer(excerpt.Bytes(name, maxName))).Advise("fix_arguments")
	}
	if _, ok := errors.AsType[*problem.Problem](err); ok { // an UnmarshalJSON method of a wire type said it better
		return err
	}
	return problem.New(problem.Invalid, "invalid_value",
		"A value in the body cannot be read. Check the body against the documented schema.").Advise("fix_arguments")
}

func typeWords(t reflect.Type) string {
	if t == nil {
		return "another type"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number in range"
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "another type"
	}
}

// valueWords names the JSON type that encoding/json found, without the value.
func valueWords(found string) string {
	kind, _, _ := strings.Cut(found, " ")
	switch kind {
	case "string", "number":
		return "a " + kind
	case "array", "object":
		return "an " + kind
	case "bool":
		return "true or false"
	}
	return "something else"
}
