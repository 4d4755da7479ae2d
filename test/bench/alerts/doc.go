// Package alerts evaluates the rules and alerts of deploy/observability with the
// engine of Prometheus. It is a module of its own, so that Prometheus is no
// module of the product:
//
//	make alerts
package alerts
