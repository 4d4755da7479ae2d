// Package schematest validates wire bodies against the published schemas of
// the commerce protocols. It is support for tests and linked into nothing else.
//
//	schematest.UCP(t, "2026-04-08").Validate(t, "shopping/checkout.json", body)
//	schematest.UCP(t, v).ValidateRequest(t, "create", "shopping/checkout.json", body)
//	schematest.ACP(t, "2026-04-17").Validate(t, "CheckoutSession", body)
//
// The schemas are not part of the repository: the environment variable
// ACE_SHARED_DIR names the folder that holds specs/commerce. Without it the
// tests that need them are skipped, and say so.
//
// UCP: every $id is https://ucp.dev/ plus the path of the file, so one prefix
// maps all references. 2026-08-25 stands for the published draft three days
// before that release. ACP: all bundles carry the same $id, so each version
// has a compiler of its own and private addresses.
package schematest
