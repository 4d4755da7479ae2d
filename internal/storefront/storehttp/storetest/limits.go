package storetest

import (
	"time"

	"ace/internal/foundation/ratelimit"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/admission"
	"ace/internal/storefront/storehttp/mcphttp"
	"ace/internal/storefront/storehttp/ucphttp"
)

// Limited limits a store to so many requests of each class in an hour, so that
// no test depends on how fast it runs.
func Limited(calls, documents, free int) func(*storehttp.Deps) {
	return func(d *storehttp.Deps) {
		table := ratelimit.NewTable(&ratelimit.TableOptions{Slots: 64})
		hourly := func(name string, n int) ratelimit.Limiter {
			return table.Limiter(ratelimit.Policy{Name: name, Quantity: 1, Window: time.Hour, Burst: n})
		}
		d.Gate = admission.New(admission.Limits{
			API: hourly("client", calls), Document: hourly("documents", documents),
			Lifecycle: hourly("lifecycle", free), Address: hourly("address", calls),
		}, &admission.Options{Scheme: "http", MCP: []string{ucphttp.MCPPath, mcphttp.Path}})
	}
}
