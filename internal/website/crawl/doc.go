// Package crawl reads a foreign website politely: the pages and files that the
// website services judge, describe and summarize.
//
//	Open    robots.txt of the host -> may we? -> the address that was given,
//	        over redirects, each hop asked for by itself
//	                 |
//	Sample  sitemaps, links of the first page -> candidates -> clusters
//	        -> a few pages of each, in a fixed order
//	Get     one page        Fetch  one file (llms.txt, an agent card)
//	                 |
//	        budget: requests, bytes, time   pace: one call a second per host
//	                 |
//	        Fetcher (port): one request, one response, no redirect followed
//	                 |
//	Page    tree, head, links with their place, headings, main text
//
// What a website does wrong never stops the crawl: the page that it happened to
// carries a Failure. The same responses give the same pages in the same order.
//
// robots.txt is read by RFC 9309 with the token Agent. A website that excludes
// it is not crawled: Site.Excluded says so, and nothing but robots.txt and the
// sitemaps is asked for.
package crawl
