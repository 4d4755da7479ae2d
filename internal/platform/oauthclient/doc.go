// Package oauthclient signs in to third-party apps: it implements
// connection.Authorizer for every type of scheme that a definition can name.
//
//	Begin ──> address of the vendor (PKCE, state, scopes, the app's own params)
//	            | the person consents
//	Finish <── callback: issuer, signature and captured values are checked
//	   -> token endpoint: body, client authentication and signature as defined
//	   -> response: JSON, form or XML; wrapped, renamed, with status 200 or not
//	   -> further steps, further tokens -> Grant
//	Exchange    what a person typed: keys as they are, tokens for what trades them
//	Refresh     the same without the person; failures are classified
//	Revoke, Steps, Sign
//
//	mcp: 401 of the server -> RFC 9728 -> RFC 8414 -> a client that the operator
//	     registered, or our client id metadata document, or RFC 7591 -> as above
//
// What differs from vendor to vendor is data of the definition; nothing here
// knows the name of an app. Every call goes through the Doer, which is the
// egress guard's: it follows no redirects and bounds time and size.
//
// No error holds a body, a code, a token or an address with a query. Of what a
// vendor writes only the code of an error gets through, and only while it reads
// like one.
package oauthclient
