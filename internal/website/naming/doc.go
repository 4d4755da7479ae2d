// Package naming decides what the pages of a website are called and how they
// are described: one rule for all website services.
//
//	pages -> text that most pages repeat (headers, footers, slogans): it names
//	         and describes no page
//	      -> parts that most titles share, by position: the site's name
//	      -> per page: name (title without those parts, or its headline), the
//	         opening (first prose behind the headline, in document order), its
//	         own description
//	      -> descriptions that pages share belong to the site
//
// Nothing is invented: what a site does not say is empty. Placeholder text of
// templates is recognized and never used.
package naming
