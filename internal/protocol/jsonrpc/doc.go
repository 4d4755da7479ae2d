// Package jsonrpc reads and writes the envelopes of JSON-RPC 2.0, as the
// protocols built on it use them over HTTP.
//
//	body -> Parse -> one Message, or the entries of a batch
//	                 each a Request, a Notification, a Response or invalid
//	result or *Error -> AppendResult, AppendError -> body
//
// Source: JSON-RPC 2.0 Specification, 2013-01-04,
// https://www.jsonrpc.org/specification
//
// Where we diverge:
//   - An id must be a string or an integer written without fraction or
//     exponent; null ids and fractions, which the specification discourages,
//     are refused. Ids are echoed byte for byte.
//   - Member names are matched exactly. A body in which one object names a
//     field twice is a parse error, because two readers would disagree on it.
//   - An Error may carry the HTTP status that mirrors it.
package jsonrpc
