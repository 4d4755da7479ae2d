// Package admission decides, in front of the routes, whether a request is
// served now: it finds out who sends it and counts it.
//
//	Gate.Wrap
//	  exempt?   messages of the processor (they are signed), health -> served
//	  signed?   Address counts the client's address; over it: 429
//	            webbotauth.Verifier -> verified: the agent's URL is the client
//	                                   else: the address is, and the response says
//	                                   how to sign (Accept-Signature)
//	  class     API       /agent/search, /agent/commerce/… and other calls
//	            Document  pages and all other paths
//	            Lifecycle OPTIONS
//	            the endpoint of an MCP server counts itself, by message: AdmitMCP
//	  over it   429 in the shape of the path, Retry-After
//	  304       gives the unit back
//
// The gate keeps nothing about clients: what is counted is in the limiters.
//
//	Limits    sustained    at once
//	API       1 a second   5 (a setting)     RateLimit fields on every response
//	Document  1 a second   60
//	Lifecycle 10 a second  30                what costs nothing, so that it cannot be abused
//	Address   10 a second  60                signed requests of one address, by any signer
package admission
