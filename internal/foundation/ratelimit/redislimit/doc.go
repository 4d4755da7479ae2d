// Package redislimit counts requests per client in Redis, so that several
// replicas keep one promise together.
//
//	Limiter.Take(key, cost)
//	  | refused a moment ago? the same response again, without asking Redis
//	  v
//	script in Redis: TIME, state of the key, verdict     (20 ms at most)
//	  | no response
//	  v
//	count here instead, with the quota divided by the replicas that were last
//	seen; Redis is asked again once a second. Never open.
//
// Store.Run reports to Redis every ten seconds that this replica is alive and reads
// how many do. The clock of Redis counts for all; where it is set back, a
// client waits at most as long as an empty quota takes to fill.
//
// Redis 6 or newer, alone or behind one address: each script uses one key.
package redislimit
