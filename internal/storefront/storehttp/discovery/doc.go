// Package discovery holds the documents by which programs find out what the
// store offers and how it is used, and the one list that all of them are made
// of.
//
//	Config ──entries──> Registry: key, path, media types, relation, age, class
//	                       ├─ Mount    documents: render -> kept bytes -> answer
//	                       ├─ Header   Link header of pages
//	                       ├─ Links    site.json
//	                       ├─ api-catalog, ai-catalog, connect.json, server cards
//	                       └─ llms.txt, robots.txt, security.txt, auth.md, SKILL.md
//
// A document that another part of the transport renders (openapi.json, site.json,
// the profiles of the commerce protocols) is an entry all the same, and is
// served by Handler. What the store does not serve is not in the list, so no
// document can name it.
//
// Every response follows the same rules: GET and HEAD, a strong ETag and
// Last-Modified, 304, a stated age, readable by pages of other origins, packed
// where that is worth it, absolute addresses.
//
// Sources: RFC 9727 (api-catalog), SEP-2127 and SEP-1649 of the Model Context
// Protocol (server cards), llmstxt.org, RFC 9309 (robots.txt) with
// contentsignals.org, draft-ietf-webbotauth-httpsig-protocol-01 (key
// directory), auth.md, Agent Skills and their discovery 0.2.0, AI Catalog 1.0,
// RFC 9116 (security.txt).
package discovery
