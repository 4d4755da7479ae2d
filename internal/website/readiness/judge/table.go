package judge

import (
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"ace/internal/website/crawl"
	"ace/internal/website/readiness/prose"
)

// Check is one row of the table. Exactly one of Page and Site is set.
type Check struct {
	ID, Title, Category string
	Evidence            string // A operators, B standards, C research and practice
	Weight              int
	Effort              int // of the fix: 1 minutes, 2 hours, 3 days
	Expected            string
	Why, Fix, Docs      string

	Page    func(*Audit, *crawl.Page) Finding
	Site    func(*Audit) SiteFinding
	PerPage bool                // its scope is the sample, although Site judges it
	Snippet func(*Audit) string // text to copy; nil or empty: none
	Advise  func(*Audit) string // instead of Fix, where that depends; nil or empty: Fix
}

// Category is a group of checks.
type Category struct{ ID, Title string }

// Categories returns the groups in the order of reports.
func Categories() []Category {
	return []Category{
		{"access", "Access"},
		{"index", "Indexing"},
		{"render", "Rendering"},
		{"understanding", "Understanding"},
		{"content", "Content"},
		{"trust", "Trust"},
	}
}

// What the checks rest on.
const (
	RulesetVersion = "2026.11"
	BotsListDate   = "2026-11-20"
	SchemaOrg      = "30.0"
)

const (
	googleSearch = "https://developers.google.com/search/docs/"
	bingRules    = "https://www.bing.com/webmasters/help/webmasters-guidelines-30fba23a"
	openAIBots   = "https://platform.openai.com/docs/bots"
)

// Table returns all checks that make up the score, in the order of reports.
func Table() []Check {
	var all []Check
	for _, part := range [][]Check{
		accessChecks(), indexChecks(), renderChecks(), understandingChecks(),
		contentChecks(), trustChecks(),
	} {
		all = append(all, part...)
	}
	return all
}

func accessChecks() []Check {
	return []Check{
		{
			ID: "acc.status", Title: "Pages answer 200", Category: "access", Evidence: "A", Weight: 5, Effort: 2,
			Page:     pageStatus,
			Expected: "status 200 with HTML after two redirects at most",
			Why: "A page that answers anything but 200 is not indexed, and every redirect is one more chance to " +
				"lose a crawler.",
			Fix:  "Answer 200 at the address that links and sitemap name; let redirects lead straight to the end.",
			Docs: googleSearch + "crawling-indexing/http-network-errors",
		},
		{
			ID: "acc.https", Title: "http leads to https", Category: "access", Evidence: "A", Weight: 2, Effort: 1,
			Site:     checkHTTPS,
			Expected: "http answers 301 or 308 to https; the certificate holds",
			Why:      "Search engines prefer https addresses; two addresses for one page split its signals.",
			Fix:      "Redirect http to https with status 301 and send Strict-Transport-Security.",
			Docs:     googleSearch + "crawling-indexing/consolidate-duplicate-urls",
			Snippet:  func(*Audit) string { return "Strict-Transport-Security: max-age=31536000; includeSubDomains" },
		},
		{
			ID: "acc.robots_fetch", Title: "robots.txt can be read", Category: "access", Evidence: "B", Weight: 3,
			Effort: 1, Site: checkRobotsFetch,
			Expected: "status 200 with text/plain, at most 500 KiB; 404 means that all may be read",
			Why:      "A robots.txt that fails or hangs means to crawlers that everything is forbidden.",
			Fix:      "Serve robots.txt as a static file with status 200 and Content-Type text/plain.",
			Docs:     "https://www.rfc-editor.org/rfc/rfc9309.html",
			Snippet:  robotsSnippet,
		},
		{
			ID: "acc.bots_search", Title: "Crawlers of AI search may read the pages", Category: "access", Evidence: "A",
			Weight: 9, Effort: 1, Page: checkBotsSearch,
			Expected: "robots.txt lets the crawlers for search read the page",
			Why: "What these crawlers may not read cannot be found, quoted or linked by the search and answer " +
				"services of their operators.",
			Fix:  "Add a group to robots.txt that lets these crawlers in. Changes take about a day to be noticed.",
			Docs: openAIBots, Snippet: botsSnippet(forSearch),
		},
		{
			ID: "acc.bots_user", Title: "Assistants may open pages for their users", Category: "access", Evidence: "A",
			Weight: 4, Effort: 1, Page: checkBotsUser,
			Expected: "robots.txt lets the fetchers that act for a person read the page",
			Why: "When a person asks an assistant about a page, these fetchers open it. Some of them honour " +
				"robots.txt.",
			Fix:  "Add a group to robots.txt that lets these fetchers in.",
			Docs: openAIBots, Snippet: botsSnippet(forUser),
		},
		{
			ID: "acc.bots_training", Title: "Stance on training of models", Category: "access", Evidence: "A",
			Weight: 0, Effort: 1, Site: checkBotsTraining,
			Expected: "the owner's choice",
			Why: "Keeping training crawlers out does not touch search: GPTBot, Google-Extended and the like are " +
				"separate from the crawlers for search.",
			Fix: "Nothing to fix: check that it is what you want.", Docs: openAIBots,
		},
		{
			ID: "acc.challenge", Title: "Named crawlers are not challenged", Category: "access", Evidence: "C",
			Weight: 4, Effort: 2, Page: pageChallenge,
			Expected: "the page, not a 403, 429 or a captcha",
			Why: "Our crawler says who it is, signs its requests and asks once a second. A site that refuses it " +
				"probably refuses others like it.",
			Fix: "Let verified crawlers pass in the firewall or bot protection, by Web Bot Auth or the address " +
				"lists that their operators publish.",
			Docs: "https://developers.cloudflare.com/bots/reference/bot-verification/web-bot-auth/",
		},
		{
			ID: "acc.latency", Title: "The first byte comes quickly", Category: "access", Evidence: "C", Weight: 3,
			Effort: 2, Site: checkLatency, PerPage: true,
			Expected: "800 ms or less in the median, connecting included; 2.5 s counts nothing",
			Why:      "Crawlers slow down on slow hosts, and fetchers that act for a waiting person give up.",
			Fix:      "Cache pages at the edge or in front of the application.", Docs: "https://web.dev/articles/ttfb",
		},
	}
}

func indexChecks() []Check {
	return []Check{
		{
			ID: "idx.noindex", Title: "Pages may be indexed", Category: "index", Evidence: "A", Weight: 6, Effort: 1,
			Page:     pageNoindex,
			Expected: "no noindex for search crawlers, in meta robots or X-Robots-Tag",
			Why:      "A page with noindex is left out of the index that answers are made from.",
			Fix:      "Take noindex out of the meta element or the header of pages that are to be found.",
			Docs:     googleSearch + "crawling-indexing/block-indexing",
		},
		{
			ID: "idx.snippet", Title: "Text may be shown and used", Category: "index", Evidence: "A", Weight: 4,
			Effort: 1, Page: pageSnippet,
			Expected: "no nosnippet, no max-snippet:0, data-nosnippet on 30 % of the main text at most",
			Why:      "Google shows in AI answers only what may appear as a snippet.",
			Fix:      "Relax nosnippet and max-snippet, and keep data-nosnippet to what is truly private.",
			Docs:     googleSearch + "crawling-indexing/robots-meta-tag",
			Snippet: func(
				*Audit,
			) string {
				return `<meta name="robots" content="max-snippet:-1, max-image-preview:large">`
			},
		},
		{
			ID: "idx.bing_archive", Title: "Bing may use the text for answers", Category: "index", Evidence: "A",
			Weight: 3, Effort: 1, Page: pageArchive,
			Expected: "no noarchive or nocache for all crawlers or bingbot",
			Why: "Bing keeps pages with noarchive out of the answers of Copilot; nocache leaves it address, " +
				"title and snippet.",
			Fix: "Take noarchive and nocache out of pages that are to be quoted.", Docs: bingRules,
		},
		{
			ID: "idx.canonical", Title: "One canonical address", Category: "index", Evidence: "A", Weight: 3, Effort: 1,
			Page:     pageCanonical,
			Expected: "one absolute rel=canonical that answers 200 with the same text and names itself",
			Why:      "It tells which of several addresses of a page is the one to index and to link.",
			Fix:      "Put one absolute rel=canonical into the head of every page.",
			Docs:     googleSearch + "crawling-indexing/consolidate-duplicate-urls", Snippet: canonicalSnippet,
		},
		{
			ID: "idx.sitemap", Title: "A sitemap names the pages", Category: "index", Evidence: "A", Weight: 4,
			Effort: 2, Site: checkSitemap,
			Expected: "a valid sitemap whose addresses answer 200 and may be indexed, with true lastmod",
			Why:      "It is how crawlers learn of pages that few links lead to, and of changes.",
			Fix: "Generate a sitemap of canonical addresses with the date of the last real change, and name it " +
				"in robots.txt.",
			Docs: googleSearch + "crawling-indexing/sitemaps/build-sitemap",
			Snippet: func(a *Audit) string {
				return "Sitemap: " + a.Address("sitemap.xml")
			},
		},
	}
}

func renderChecks() []Check {
	return []Check{
		{
			ID: "rnd.text_no_js", Title: "The text is there without scripts", Category: "render", Evidence: "A",
			Weight: 9, Effort: 3, Page: pageText,
			Expected: "250 words of main text in the HTML",
			Why:      "Most crawlers for AI search read the HTML as it is sent and run no scripts.",
			Fix:      "Render the text on the server or when the site is built.", Advise: adviseText,
			Docs: googleSearch + "crawling-indexing/javascript/javascript-seo-basics",
		},
		{
			ID: "rnd.extractable", Title: "The main text is clearly marked", Category: "render", Evidence: "C",
			Weight: 3, Effort: 2, Page: pageExtractable,
			Expected: "main text is 30 to 98 % of the visible words, inside <main> or one <article>",
			Why: "Programs that take the text out of a page look for these landmarks; without them navigation " +
				"and advertising mix in.",
			Fix: "Wrap the main text in <main> or <article>, and everything else in <nav>, <header>, <footer> " +
				"or <aside>.",
			Docs: "https://html.spec.whatwg.org/multipage/grouping-content.html#the-main-element",
			Snippet: func(*Audit) string {
				return "<body>\n  <header>…</header>\n  <main>…</main>\n  <footer>…</footer>\n</body>"
			},
		},
		{
			ID: "rnd.weight", Title: "The page is not too heavy", Category: "render", Evidence: "A", Weight: 2,
			Effort: 2, Page: pageWeight,
			Expected: "2 MB of HTML at most, the main text within the first 512 KB",
			Why:      "Crawlers read a page to a limit and ignore what follows.",
			Fix:      "Move inline data, styles and images out of the HTML.",
			Docs:     googleSearch + "crawling-indexing/googlebot",
		},
	}
}

func understandingChecks() []Check {
	return []Check{
		{
			ID: "und.title", Title: "Titles are telling", Category: "understanding", Evidence: "A", Weight: 2,
			Effort: 1, Page: pageTitle,
			Expected: "10 to 70 characters, different on each page",
			Why:      "The title is what results and citations show.",
			Fix:      "Give each page a title of its own that says what it holds.",
			Docs:     googleSearch + "appearance/title-link",
		},
		{
			ID: "und.description", Title: "Descriptions are telling", Category: "understanding", Evidence: "A",
			Weight: 2, Effort: 1, Page: pageDescription,
			Expected: "50 to 320 characters, different on each page",
			Why:      "It is the summary that the owner writes, used where it fits a question better than the text.",
			Fix:      "Write one or two sentences for each page.", Docs: googleSearch + "appearance/snippet",
		},
		{
			ID: "und.headings", Title: "Headings outline the page", Category: "understanding", Evidence: "C", Weight: 2,
			Effort: 1, Page: pageHeadings,
			Expected: "one h1 that shares a word with the title, no level left out",
			Why:      "Headings are how programs cut a page into parts that can be quoted.",
			Fix:      "Use one h1, then h2 for its parts and h3 inside those.",
			Docs:     "https://www.w3.org/WAI/tutorials/page-structure/headings/",
		},
		{
			ID: "und.lang", Title: "The language is stated", Category: "understanding", Evidence: "A", Weight: 1,
			Effort: 1, Page: pageLang,
			Expected: "a valid lang on <html>, the language of the text; hreflang leads there and back",
			Why:      "It decides in which language a page is offered.",
			Fix:      "Set lang on <html>, and name translations in both directions.",
			Docs:     googleSearch + "specialty/international/localized-versions", Snippet: langSnippet,
		},
		{
			ID: "und.jsonld_valid", Title: "Structured data is valid", Category: "understanding", Evidence: "A",
			Weight: 4, Effort: 2, Page: pageJSONLD,
			Expected: "every block parses; types and properties of schema.org " + SchemaOrg +
				"; what rich results require is there",
			Why:  "Broken structured data is ignored as a whole.",
			Fix:  "Fix the blocks that are named; a structured data pack writes them from the pages' own text.",
			Docs: googleSearch + "appearance/structured-data/intro-structured-data",
		},
		{
			ID: "und.entity", Title: "Structured data says who is behind it", Category: "understanding", Evidence: "A",
			Weight: 2, Effort: 1, Site: checkEntity,
			Expected: "Organization or Person with name, url, logo and two sameAs on the home or about page",
			Why:      "It ties the website to what is known about its owner elsewhere.",
			Fix:      "Add an Organization node to the home page.",
			Docs:     googleSearch + "appearance/structured-data/organization", Snippet: entitySnippet,
		},
		{
			ID: "und.dates_author", Title: "Articles state date and author", Category: "understanding", Evidence: "A",
			Weight: 2, Effort: 1, Page: pageDatesAuthor,
			Expected: "a visible date that is the datePublished or dateModified of the data; an author with name and " +
				"url",
			Why:  "Answers prefer sources whose age and author are known.",
			Fix:  "Show the date and the author, and state both in the data.",
			Docs: googleSearch + "appearance/publication-dates",
		},
	}
}

func contentChecks() []Check {
	return []Check{
		{
			ID: "cnt.answer_lead", Title: "Pages open with the answer", Category: "content", Evidence: "C", Weight: 3,
			Effort: 2, Page: pageAnswerLead,
			Expected: "two words of the title and a plain statement in the first 60 words behind the h1",
			Why:      "The opening is what is quoted when a page is cited.",
			Fix:      "Let the first sentence say in plain words what the title promises.",
			Docs:     googleSearch + "fundamentals/creating-helpful-content",
		},
		{
			ID: "cnt.structure", Title: "Long texts are structured", Category: "content", Evidence: "C", Weight: 2,
			Effort: 2, Page: pageStructure,
			Expected: "a list, table, terms or questions where the text has more than 600 words",
			Why: "Steps, prices and comparisons are taken from lists and tables more reliably than from running " +
				"text.",
			Fix:  "Turn enumerations into lists and figures into tables.",
			Docs: "https://html.spec.whatwg.org/multipage/grouping-content.html",
		},
		{
			ID: "cnt.evidence", Title: "Claims come with evidence", Category: "content", Evidence: "C", Weight: 3,
			Effort: 2, Page: pageEvidence,
			Expected: "a figure with its unit, a date, and a link to a source on another domain",
			Why: "In a study of generative engines (Aggarwal et al., KDD 2024) figures and cited sources made " +
				"texts more visible in answers.",
			Fix:  "Name figures with units and dates, and link to where they come from.",
			Docs: "https://arxiv.org/abs/2311.09735",
		},
		{
			ID: "cnt.fresh", Title: "Something is recent", Category: "content", Evidence: "C", Weight: 2, Effort: 2,
			Site:     checkFresh,
			Expected: "a date within twelve months; sitemap, data and Last-Modified agree",
			Why:      "Old or contradicting dates make a source less useful for questions about today.",
			Fix:      "Review pages, and state the date of the last real change in sitemap and data alike.",
			Docs:     googleSearch + "appearance/publication-dates",
		},
		{
			ID: "cnt.duplicate", Title: "Pages do not repeat each other", Category: "content", Evidence: "A", Weight: 2,
			Effort: 2, Page: pageDuplicate,
			Expected: "less than 90 % of the text in common with another page, unless one is the canonical of the " +
				"other",
			Why:  "Of several pages with one text a single one is chosen, not always the one you want.",
			Fix:  "Merge them, or let all name one as canonical.",
			Docs: googleSearch + "crawling-indexing/consolidate-duplicate-urls",
		},
	}
}

func trustChecks() []Check {
	return []Check{
		{
			ID: "tru.identity", Title: "The owner can be found", Category: "trust", Evidence: "C", Weight: 3, Effort: 1,
			Site: checkIdentity,
			Expected: "a page about the owner and a way to get in touch within two clicks; one name in title, " +
				"og:site_name and data",
			Why:  "Readers, raters and programs look for who answers for a text.",
			Fix:  "Link an about page and a contact from every page, and use one name.",
			Docs: googleSearch + "fundamentals/creating-helpful-content", Snippet: nameSnippet,
		},
		{
			ID: "tru.injection", Title: "Nothing is hidden for language models", Category: "trust", Evidence: "A",
			Weight: 3, Effort: 1, Page: pageInjection,
			Expected: "no instructions in hidden text, comments or invisible characters",
			Why:      "Bing names hidden instructions as abuse; assistants treat pages that hold them as hostile.",
			Fix:      "Take the text out, and find out how it came there.", Docs: bingRules,
		},
		{
			ID: "tru.links", Title: "Links lead somewhere", Category: "trust", Evidence: "A", Weight: 1, Effort: 1,
			Page:     pageLinks,
			Expected: "95 % of the links that were followed answer 2xx; links have an address in href",
			Why:      "Crawlers find pages by links, and broken ones look neglected.",
			Fix:      "Fix or remove the links that are named; use <a href>.",
			Docs:     googleSearch + "crawling-indexing/links-crawlable",
		},
		{
			ID: "tru.a11y_names", Title: "Controls and pictures have names", Category: "trust", Evidence: "A",
			Weight: 2, Effort: 2, Page: pageNames,
			Expected: "links, buttons, fields and images have an accessible name",
			Why:      "Agents that use a page read the same accessible names as screen readers.",
			Fix:      "Add alt to images, labels to fields, text or aria-label to links and buttons.",
			Docs:     "https://www.w3.org/WAI/ARIA/apg/practices/names-and-descriptions/",
		},
	}
}

func robotsSnippet(a *Audit) string {
	return "User-agent: *\nAllow: /\n\nSitemap: " + a.Address("sitemap.xml")
}

// canonicalSnippet is the element for the first page that needs one.
func canonicalSnippet(a *Audit) string {
	for _, p := range a.Readable() {
		if f := pageCanonical(a, p); f.Counts() && f.Value < 1 {
			return fmt.Sprintf("<link rel=\"canonical\" href=\"%s\">", html.EscapeString(p.URL.String()))
		}
	}
	return ""
}

func langSnippet(a *Audit) string {
	for _, p := range a.Readable() {
		if f := pageLang(a, p); f.Value < 1 && a.factsOf(p).lang != "" {
			return fmt.Sprintf("<html lang=%q>", a.factsOf(p).lang)
		}
	}
	return ""
}

// entitySnippet holds what the home page says itself; what it does not say is
// left out.
func entitySnippet(a *Audit) string {
	name := a.siteName()
	if name == "" {
		return ""
	}
	same := socialProfiles(a.Home())
	lines := []string{
		`<script type="application/ld+json">`, `{`, `  "@context": "https://schema.org",`, `  "@type": "Organization",`,
		fmt.Sprintf(`  "name": %s,`, jsonText(prose.Cut(name, 100))), fmt.Sprintf(`  "url": %s`,
			jsonText(a.Site.Origin.String())),
	}
	if len(same) > 0 {
		lines[len(lines)-1] += ","
		for i, s := range same {
			same[i] = jsonText(s)
		}
		lines = append(lines, `  "sameAs": [`+strings.Join(same, ", ")+`]`)
	}
	return strings.Join(append(lines, `}`, `</script>`), "\n")
}

// socialProfiles are the addresses of the owner on other websites that the home
// page links to.
func socialProfiles(p *crawl.Page) []string {
	var found []string
	if p.Document == nil {
		return nil
	}
	for _, l := range p.Document.Links {
		if l.URL == nil || l.Part == crawl.InMain || crawl.SameDomain(l.URL, p.URL) ||
			len(strings.Trim(l.URL.Path, "/")) == 0 {
			continue
		}
		switch crawl.RegisteredName(l.URL) {
		case "facebook.com", "x.com", "twitter.com", "instagram.com", "linkedin.com", "youtube.com", "tiktok.com",
			"github.com", "wikidata.org", "mastodon.social", "bsky.app":
			if len(found) < 6 {
				found = append(found, l.URL.String())
			}
		}
	}
	return found
}

func nameSnippet(a *Audit) string {
	if name := a.siteName(); name != "" {
		return fmt.Sprintf("<meta property=\"og:site_name\" content=\"%s\">", html.EscapeString(prose.Cut(name, 100)))
	}
	return ""
}

func jsonText(s string) string {
	data, err := json.Marshal(s) // escapes <, > and & for script elements
	if err != nil {
		return `""`
	}
	return string(data)
}
