// Package datapack makes structured data packs: what the pages of a website say
// of themselves in machine-readable form, what is wrong with it, and JSON-LD for
// each page made of the page's own words, ready to paste.
//
//	Run   address -> crawl.Open, Sample -> pages
//	        dom       tree with lines and selectors
//	        markup    JSON-LD, microdata, RDFa, Open Graph -> one graph
//	        rules     E1-E6, W1-W3; rich results
//	        generate  kind of page, facts with their places, one @graph per page
//	      -> Pack: JSON, Markdown, files (one zip)
//
//	Check  the first half for one page that somebody else has read
//
// schemaorg holds the vocabulary, release 30.0; written reads days, prices, hours
// and addresses; ld writes JSON-LD. Nothing but the pages is
// fetched, no language model is asked, and no fact is invented: what is missing
// is listed under needs_input. The same pages give the same bytes.
package datapack
