// Package openapi turns plain functions into documented HTTP routes.
//
//	func(ctx, *In) (*Out, error)   In and Out are structs with tags
//	        | Handle
//	route on a ServeMux  +  operation in the OpenAPI 3.1 document
//	        |
//	request -> JSON rules of httpserver -> values checked against the schema
//	        -> the function -> JSON, or a problem as RFC 9457
//
// The same structs feed the schemas of MCP tools (SchemaOf, InputSchemaOf).
// Handlers of foreign protocols are documented with Describe and served by
// their own http.Handler.
//
// Tags: path, query, header and cookie name a parameter; doc describes it;
// default, enum, minimum, maximum, minLength, maxLength, pattern, minItems,
// maxItems, format and example say what is right. A field Body is the JSON
// body, RawBody []byte the body as it came. In Out, Status int is the status,
// header names a header and Body is the response ([]byte goes out as it is, with
// the Content-Type of a header field). A JSON member is required unless it
// carries omitempty, omitzero or required:"false".
//
// The OpenAPI library (huma) stays behind this door: no type of it leaves the
// package, its error texts, which echo input values, are never shown, and none
// of its package variables is changed.
package openapi
