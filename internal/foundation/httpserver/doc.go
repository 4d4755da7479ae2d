// Package httpserver runs the listeners of the process and holds what every
// HTTP request meets before and after its handler.
//
//	bind all listeners -> one clear error names the setting to change
//	accept -> Chain: Instrument (request id, one access line, panics)
//	            -> ClientAddress (trusted proxies) -> LimitBody -> LimitTime
//	               -> Mux (404 and 405 in the protocol's own shape) -> handler
//	handler: DecodeJSON in, WriteProblem out
//	ctx ends -> readiness false -> Draining closes: long polls answer what
//	            they have -> keep-alives off -> requests in flight finish
//	            -> the bound passes -> connections are cut
//
// Every middleware is a plain func(http.Handler) http.Handler. Failures are
// values of package problem; WriteProblem is the one place that renders them
// as RFC 9457 and the one place that logs an internal fault.
package httpserver
