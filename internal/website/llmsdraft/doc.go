// Package llmsdraft drafts an llms.txt for a foreign website: which pages an
// agent should know, in groups, described in the pages' own words.
//
//	collect   sitemaps, navigation, links of the pages that are read (up to 25
//	          of up to 200 addresses; large sections take turns)
//	drop      what is no page for a reader, each with its reason
//	score     links to it, place in the navigation, depth, description, text
//	group     labels of the navigation > first folder of the path > kind of page;
//	          8 sections of 12 links, the rest to Optional, 100 links in all
//	describe  meta description > og:description > first sentence; never invented
//	check     the file by package llmstxt, its links by asking for them
//
// The same responses of the website give the same draft, byte for byte. Words of
// the website are taken as words: what hides from people is left out, what
// gives orders to language models is dropped with a warning, and nothing in
// them can end a link or begin a line. What is missing on the site is listed
// under needs_input.
package llmsdraft
