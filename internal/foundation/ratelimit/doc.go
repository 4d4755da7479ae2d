// Package ratelimit counts requests per client and says how long to wait.
//
//	key (address, API key) + cost
//	   | Limiter.Take
//	   |- GCRA    a steady rate with a burst; all clients of all policies live
//	   |          in one Table of fixed size that never grows and never sweeps
//	   |- Window  exactly n units in any stretch of time, per key
//	   v
//	Result -> WriteHeaders (RateLimit-Policy, RateLimit) and Problem (429)
//
// Times are monotonic: a clock that is set back changes nothing.
// Costs are all or nothing. The header fields follow
// draft-ietf-httpapi-ratelimit-headers-11.
package ratelimit
