// Package readiness audits how ready a website is to be found, read and quoted
// by AI search: what their operators and the standards of the web ask for,
// measured on the website itself.
//
//	Run: crawl.Open -> Sample -> probes        everything is fetched here
//	       (https, links, sitemap, canonical,
//	        agent documents)
//	       |
//	     audit: pages and their facts          from here on nothing is fetched
//	       |
//	     table of checks -> findings           observed, expected, line, byte
//	       |
//	     score, caps, coverage, grade          Report -> JSON, Markdown,
//	     bots matrix, agent level, fixes                 HTML (reportpage)
//
// A check counts for what its evidence is worth: documents of the operators (A),
// standards (B), research and broad practice (C). Emerging conventions (D) make
// up the agent level and never touch the score. What could not be measured is
// left out of the score and lowers the coverage; what does not apply is no fault.
// The same responses of a website give the same report. Nothing is claimed about
// rankings or citations.
package readiness
