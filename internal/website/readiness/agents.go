package readiness

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"ace/internal/website/crawl"
	"ace/internal/website/readiness/judge"
	"ace/internal/website/readiness/prose"
)

// agentFiles are the responses for what agents look for, by the id of the check.
type agentFiles map[string]*crawl.Response

// agentPaths are the documents with a place of their own.
var agentPaths = []struct{ id, path, accept string }{
	{"ag.llms_txt", "/llms.txt", "text/plain, text/markdown;q=0.9, */*;q=0.1"},
	{"ag.mcp_card", "/.well-known/mcp/server-card.json", "application/json"},
	{"ag.a2a_card", "/.well-known/agent-card.json", "application/json"},
	{"ag.api_catalog", "/.well-known/api-catalog", "application/linkset+json, application/json;q=0.5"},
	{"ag.openapi", "/openapi.json", "application/json"},
	{"ag.skills_index", "/.well-known/agent-skills/index.json", "application/json"},
	{
		"ag.bot_auth_dir", "/.well-known/http-message-signatures-directory",
		"application/http-message-signatures-directory+json, application/json;q=0.5",
	},
	{"ag.oauth_as", "/.well-known/oauth-authorization-server", "application/json"},
	{"ag.oauth_pr", "/.well-known/oauth-protected-resource", "application/json"},
	{"ag.auth_md", "/auth.md", "text/markdown, text/plain;q=0.9"},
	{"ag.ucp", "/.well-known/ucp", "application/json"},
	{"ag.acp", "/.well-known/acp.json", "application/json"},
}

// Keys of responses without a URL of their own.
const (
	asMarkdown = "ag.markdown_negotiation"
	asTwin     = "ag.md_twin"
)

// askAgents asks for the documents that agents look for, the home page as
// Markdown and the Markdown twin of a page.
func (a *audit) askAgents(ctx context.Context) error {
	a.agent = agentFiles{}
	ask := func(id, address, accept string) error {
		res, err := a.Site.Fetch(ctx, crawl.Request{URL: address, Accept: accept, DecodedLimit: 1 << 20})
		if err == nil {
			a.agent[id] = res
		}
		return err
	}
	home := a.Home().URL.String()
	if err := ask(asMarkdown, home, "text/markdown, text/html;q=0.5"); err != nil {
		return err
	}
	if err := ask(asTwin, a.twin(), "text/markdown, text/plain;q=0.5"); err != nil {
		return err
	}
	for _, d := range agentPaths {
		address := a.Address(d.path)
		if d.id == "ag.openapi" {
			if to := a.linked("service-desc"); to != "" {
				address = to
			}
		}
		if err := ask(d.id, address, d.accept); err != nil {
			return err
		}
	}
	return nil
}

// twin is where the Markdown of the home page would be.
func (a *audit) twin() string {
	if a.Home().Document != nil {
		for _, alt := range a.Home().Document.Alternates {
			if alt.URL != nil && strings.HasPrefix(strings.ToLower(alt.Type), "text/markdown") &&
				crawl.SameSite(alt.URL, a.Site.Origin) {
				return alt.URL.String()
			}
		}
	}
	u := *a.Home().URL
	u.RawQuery = ""
	switch {
	case strings.HasSuffix(u.Path, "/"):
		u.Path += "index.md"
	default:
		u.Path = strings.TrimSuffix(u.Path, path.Ext(u.Path)) + ".md"
	}
	u.RawPath = ""
	return u.String()
}

// linked is the address that the home page's Link header gives for a relation.
func (a *audit) linked(rel string) string {
	for _, l := range linkHeader(a.Home()) {
		if l.rel != rel {
			continue
		}
		if u, err := a.Site.Origin.Parse(l.target); err == nil && crawl.SameSite(u, a.Site.Origin) {
			return u.String()
		}
	}
	return ""
}

type linkField struct{ target, rel string }

// linkHeader reads Link fields of RFC 8288, as far as targets and relations go.
func linkHeader(p *crawl.Page) []linkField {
	var found []linkField
	for _, v := range p.Response.Header["link"] {
		for v != "" {
			_, rest, ok := strings.Cut(v, "<")
			if !ok {
				break
			}
			target, rest, ok := strings.Cut(rest, ">")
			if !ok {
				break
			}
			params, next, _ := strings.Cut(rest, "<")
			v = ""
			if next != "" {
				v = "<" + next
			}
			for part := range strings.SplitSeq(params, ";") {
				name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
				if strings.EqualFold(strings.TrimSpace(name), "rel") {
					for rel := range strings.FieldsSeq(strings.Trim(strings.TrimRight(strings.TrimSpace(value), ", "),
						`"`)) {
						found = append(found, linkField{target, strings.ToLower(rel)})
					}
				}
			}
		}
	}
	return found
}

// agentCheck is one row of the agent level.
type agentCheck struct {
	id, title, evidence, expected, why, fix, docs string
	evaluate                                      func(*audit) judge.Finding
}

// document returns an agent document that is there, or the finding why it is
// not.
func (a *audit) document(id string, optional bool) (*crawl.Response, judge.Finding, bool) {
	r := a.agent[id]
	switch {
	case r == nil, r.Failure.Ours():
		return nil, judge.Unmeasured("not asked for"), false
	case r.Failure != "":
		return nil, judge.Measured(0, "%s %s", prose.Cut(r.URL, 120), r.Failure), false
	case r.Status != 200 || len(bytes.TrimSpace(r.Body)) == 0:
		if optional {
			return nil, judge.NotApplicable("%s answers %d", prose.Cut(r.URL, 120), r.Status), false
		}
		return nil, judge.Measured(0, "%s answers %d", prose.Cut(r.URL, 120), r.Status), false
	}
	return r, judge.Finding{}, true
}

// jsonDocument judges an object of JSON that should have one of the members. A
// website that has no use for it is at no fault.
func (a *audit) jsonDocument(id string, members ...string) judge.Finding {
	r, f, ok := a.document(id, true)
	if !ok {
		return f
	}
	var doc map[string]any
	if err := json.Unmarshal(r.Body, &doc); err != nil {
		// A page of HTML for everything that does not exist.
		return judge.NotApplicable("%s answers 200 without JSON", prose.Cut(r.URL, 120))
	}
	for _, m := range members {
		if v, ok := doc[m]; ok && v != nil && v != "" {
			if list, isList := v.([]any); isList && len(list) == 0 {
				continue
			}
			return judge.Measured(1, "%s, %s, with %q", prose.Cut(r.URL, 120),
				prose.Count(len(r.Body), "byte", "bytes"), m)
		}
	}
	return judge.Measured(0.3, "%s is JSON, but has no %s", prose.Cut(r.URL, 120), strings.Join(members, " or "))
}

func judgeLLMsTxt(a *audit) judge.Finding {
	r, f, ok := a.document("ag.llms_txt", false)
	if !ok {
		return f
	}
	kind := r.MediaType()
	text := strings.TrimSpace(strings.TrimPrefix(string(r.Body), "\ufeff"))
	first, _, _ := strings.Cut(text, "\n")
	switch {
	case kind == "text/html" || strings.HasPrefix(text, "<"):
		return judge.Measured(0, "%s answers 200 with a page of HTML", r.URL)
	case kind != "text/plain" && kind != "text/markdown":
		return judge.Measured(0.5, "%s has Content-Type %s", r.URL, prose.Cut(kind, 60))
	case !strings.HasPrefix(first, "# "):
		return judge.Measured(0.3, "%s does not begin with a heading: %s", r.URL,
			prose.Quote(first)).At(crawl.Place{Line: 1})
	case !strings.Contains(text, "]("):
		return judge.Measured(0.5, "%s holds no link", r.URL)
	case utf8.RuneCountInString(text) < 50:
		return judge.Measured(0.5, "%s has %d characters", r.URL, utf8.RuneCountInString(text))
	}
	return judge.Measured(1, "%s: %s, %s", r.URL, prose.Quote(strings.TrimPrefix(first, "# ")),
		prose.Count(strings.Count(text, "]("), "link", "links")).At(crawl.Place{Line: 1})
}

func judgeMarkdown(a *audit) judge.Finding {
	r, f, ok := a.document(asMarkdown, false)
	if !ok {
		return f
	}
	if r.MediaType() != "text/markdown" {
		return judge.Measured(0, "Accept: text/markdown is answered with %s", prose.Cut(r.MediaType(), 60))
	}
	if !strings.Contains(strings.ToLower(r.Header.Get("Vary")), "accept") {
		return judge.Measured(0.5, "text/markdown, but without Vary: Accept, so that caches mix the two up")
	}
	return judge.Measured(1, "text/markdown with Vary: Accept, %s", prose.Count(len(r.Body), "byte", "bytes"))
}

func judgeTwin(a *audit) judge.Finding {
	r, f, ok := a.document(asTwin, false)
	if !ok {
		return f
	}
	if kind := r.MediaType(); kind != "text/markdown" && kind != "text/plain" {
		return judge.Measured(0, "%s answers %s", prose.Cut(r.URL, 120), prose.Cut(kind, 60))
	}
	return judge.Measured(1, "%s, %s", prose.Cut(r.URL, 120), prose.Count(len(r.Body), "byte", "bytes"))
}

// helpful are the relations that lead agents on.
var helpful = []string{
	"alternate", "describedby", "service-desc", "service-doc", "api-catalog", "service-meta",
	"status", "sitemap", "llms-txt",
}

func judgeLinkHeaders(a *audit) judge.Finding {
	if a.Home().Response.Status == 0 {
		return judge.Unmeasured("the page was not read")
	}
	var rels []string
	for _, l := range linkHeader(a.Home()) {
		if slices.Contains(helpful, l.rel) {
			rels = append(rels, l.rel)
		}
	}
	if len(rels) == 0 {
		return judge.Measured(0, "no Link header with a relation such as alternate, service-desc or api-catalog")
	}
	return judge.Measured(1, "Link: %s", prose.Cut(strings.Join(rels, ", "), 120))
}

func judgeSignal(name string) func(*audit) judge.Finding {
	return func(a *audit) judge.Finding {
		for _, l := range a.Site.Robots.Others {
			if l.Name == name {
				return judge.Measured(1, "robots.txt line %d: %s", l.Line,
					prose.Quote(l.Value)).At(crawl.Place{Line: l.Line})
			}
		}
		if v := a.Home().Response.Header.Get(name); v != "" {
			return judge.Measured(1, "header of the home page: %s", prose.Quote(v))
		}
		return judge.Measured(0, "neither in robots.txt nor as a header")
	}
}

func judgeAIRules(a *audit) judge.Finding {
	for _, b := range a.Matrix() {
		if b.Agent != "Googlebot" && b.Agent != "Bingbot" && b.Agent != "Applebot" && a.Site.Robots.Names(b.Agent) {
			return judge.Measured(1, "robots.txt has a group for %s", b.Agent)
		}
	}
	if len(a.Site.Robots.Groups) > 0 {
		return judge.Measured(0.5, "robots.txt names no AI crawler; its rules for all count")
	}
	return judge.Measured(0, "robots.txt has no rules")
}

func judgeAuthMD(a *audit) judge.Finding {
	r, f, ok := a.document("ag.auth_md", true)
	if !ok {
		return f
	}
	if strings.HasPrefix(strings.TrimSpace(string(r.Body)), "# ") && r.MediaType() != "text/html" {
		return judge.Measured(1, "%s, %s", prose.Cut(r.URL, 120), prose.Count(len(r.Body), "byte", "bytes"))
	}
	return judge.NotApplicable("%s is no Markdown", prose.Cut(r.URL, 120))
}

func judgeWebMCP(a *audit) judge.Finding {
	for _, p := range a.Readable() {
		if bytes.Contains(p.Document.Source, []byte("modelContext")) {
			at := p.Document.Find("modelContext")
			return judge.Measured(1, "%s uses modelContext", prose.Cut(p.Path(), 100)).At(at)
		}
	}
	return judge.NotApplicable("no page of the sample registers tools in its HTML; scripts were not run")
}

func judgeX402(a *audit) judge.Finding {
	for _, r := range a.agent {
		if r.Status == 402 && r.Header.Get("PAYMENT-REQUIRED") != "" {
			return judge.Measured(1, "an answer 402 with PAYMENT-REQUIRED")
		}
	}
	return a.mention("x402", "ag.openapi", "ag.a2a_card", "ag.api_catalog", "ag.llms_txt")
}

func judgeAP2(a *audit) judge.Finding { return a.mention("ap2", "ag.a2a_card", "ag.ucp") }

// mention looks for a word in documents that are there.
func (a *audit) mention(word string, ids ...string) judge.Finding {
	for _, id := range ids {
		r := a.agent[id]
		if r != nil && r.OK() && r.MediaType() != "text/html" && bytes.Contains(bytes.ToLower(r.Body), []byte(word)) {
			return judge.Measured(1, "%s mentions %s", prose.Cut(r.URL, 120), word)
		}
	}
	return judge.NotApplicable("no document mentions %s", word)
}

func agentChecks() []agentCheck {
	doc := func(id string, members ...string) func(*audit) judge.Finding {
		return func(a *audit) judge.Finding { return a.jsonDocument(id, members...) }
	}
	return []agentCheck{
		{
			id: "ag.robots_ai_rules", title: "Rules for AI crawlers", evidence: "B", evaluate: judgeAIRules,
			expected: "a group for an AI crawler in robots.txt", why: "It says that the owner has made up their mind.",
			fix: "Name the AI crawlers that you allow or refuse.", docs: "https://www.rfc-editor.org/rfc/rfc9309.html",
		},
		{
			id: "ag.llms_txt", title: "llms.txt", evidence: "D", evaluate: judgeLLMsTxt,
			expected: "text that begins with a heading and links to the pages that matter",
			why:      "Some agents and tools read it first; search engines say that they do not.",
			fix:      "Publish a short llms.txt; an llms.txt draft writes one from your pages.",
			docs:     "https://llmstxt.org/",
		},
		{
			id: asMarkdown, title: "Markdown on request", evidence: "D", evaluate: judgeMarkdown,
			expected: "Accept: text/markdown is answered with text/markdown and Vary: Accept",
			why:      "Agents read Markdown with a fraction of the tokens of HTML.",
			fix:      "Answer text/markdown to those who ask for it.",
			docs:     "https://www.rfc-editor.org/rfc/rfc9110.html#name-accept",
		},
		{
			id: asTwin, title: "Markdown twins", evidence: "D", evaluate: judgeTwin,
			expected: "the page as Markdown at its address with .md",
			why:      "Agents that cannot set headers find it by its name.",
			fix:      "Publish each page as .md beside the HTML and link it with rel=alternate.",
			docs:     "https://llmstxt.org/",
		},
		{
			id: "ag.link_headers", title: "Link headers", evidence: "B", evaluate: judgeLinkHeaders,
			expected: "Link with relations such as alternate, service-desc, api-catalog",
			why:      "They are read without parsing the page.", fix: "Send Link headers with the home page.",
			docs: "https://www.rfc-editor.org/rfc/rfc8288.html",
		},
		{
			id: "ag.content_signal", title: "Content Signals", evidence: "D", evaluate: judgeSignal("content-signal"),
			expected: "Content-Signal in robots.txt", why: "It states what the text may be used for.",
			fix: "Add a line Content-Signal with your choice.", docs: "https://contentsignals.org/",
		},
		{
			id: "ag.content_usage", title: "Usage preferences", evidence: "D", evaluate: judgeSignal("content-usage"),
			expected: "Content-Usage in robots.txt or as a header",
			why:      "The IETF's form of the same statement, still a draft.",
			fix:      "Add a line Content-Usage with your choice.",
			docs:     "https://datatracker.ietf.org/wg/aipref/about/",
		},
		{
			id: "ag.api_catalog", title: "API catalog", evidence: "B", evaluate: doc("ag.api_catalog", "linkset"),
			expected: "a linkset at /.well-known/api-catalog", why: "It leads agents to every API of the host.",
			fix: "Publish a linkset that names your APIs.", docs: "https://www.rfc-editor.org/rfc/rfc9727.html",
		},
		{
			id: "ag.openapi", title: "OpenAPI", evidence: "C", evaluate: doc("ag.openapi", "openapi", "swagger"),
			expected: "an OpenAPI document", why: "Agents learn from it how to call an API.",
			fix: "Publish an OpenAPI document.", docs: "https://spec.openapis.org/oas/latest.html",
		},
		{
			id:       "ag.mcp_card",
			title:    "MCP server card",
			evidence: "D",
			evaluate: doc("ag.mcp_card", "name", "serverInfo"),
			expected: "a card at /.well-known/mcp/server-card.json",
			why:      "Clients find the MCP server of a website by it.",
			fix:      "Publish a server card if you run an MCP server.",
			docs:     "https://modelcontextprotocol.io/",
		},
		{
			id: "ag.a2a_card", title: "A2A agent card", evidence: "D", evaluate: doc("ag.a2a_card", "name", "skills"),
			expected: "a card at /.well-known/agent-card.json", why: "Other agents find yours by it.",
			fix: "Publish an agent card if you run an agent.", docs: "https://a2a-protocol.org/",
		},
		{
			id: "ag.skills_index", title: "Agent skills", evidence: "D", evaluate: doc("ag.skills_index", "skills"),
			expected: "an index at /.well-known/agent-skills/index.json",
			why:      "It tells agents how to do things on this website.", fix: "Publish an index of skills.",
			docs: "https://agentskills.io/",
		},
		{
			id: "ag.oauth_as", title: "OAuth server metadata", evidence: "B", evaluate: doc("ag.oauth_as", "issuer"),
			expected: "metadata with an issuer, where the website has an OAuth server",
			why:      "Clients sign in without being set up by hand.",
			fix:      "Publish the metadata of your authorization server.",
			docs:     "https://www.rfc-editor.org/rfc/rfc8414.html",
		},
		{
			id: "ag.oauth_pr", title: "Protected resource metadata", evidence: "B",
			evaluate: doc("ag.oauth_pr", "resource", "authorization_servers"),
			expected: "metadata with the resource, where the website has a protected API",
			why:      "Clients learn which server gives access.", fix: "Publish the metadata of your resource.",
			docs: "https://www.rfc-editor.org/rfc/rfc9728.html",
		},
		{
			id: "ag.auth_md", title: "auth.md", evidence: "D", evaluate: judgeAuthMD,
			expected: "Markdown that says how agents authenticate", why: "It answers how to get access in words.",
			fix: "Publish auth.md if agents need access.", docs: "https://workos.com/",
		},
		{
			id:       "ag.bot_auth_dir",
			title:    "Directory of bot keys",
			evidence: "D",
			evaluate: doc("ag.bot_auth_dir", "keys"),
			expected: "a key set, where the website runs bots of its own",
			why:      "Others can verify requests of your bots.",
			fix:      "Publish the keys that your bots sign with.",
			docs:     "https://datatracker.ietf.org/wg/webbotauth/about/",
		},
		{
			id:       "ag.webmcp",
			title:    "WebMCP",
			evidence: "D",
			evaluate: judgeWebMCP,
			expected: "tools registered in the page",
			why:      "Agents in a browser use these tools instead of clicking.",
			fix:      "Register tools for what visitors do most.",
			docs:     "https://github.com/webmachinelearning/webmcp",
		},
		{
			id:       "ag.ucp",
			title:    "UCP profile",
			evidence: "D",
			evaluate: doc("ag.ucp", "ucp", "services", "capabilities"),
			expected: "a profile at /.well-known/ucp, where something is for sale",
			why:      "Agents check out by it.",
			fix:      "Publish a profile if you sell.",
			docs:     "https://ucp.dev/",
		},
		{
			id: "ag.acp", title: "ACP discovery", evidence: "D",
			evaluate: doc("ag.acp", "protocol", "api_base_url", "version"),
			expected: "a document at /.well-known/acp.json, where something is for sale",
			why:      "Agents check out by it.", fix: "Publish the document if you sell.",
			docs: "https://www.agenticcommerce.dev/",
		},
		{
			id: "ag.x402", title: "x402 payments", evidence: "D", evaluate: judgeX402,
			expected: "a service that is paid over x402", why: "Agents pay for single calls by it.",
			fix: "Offer paid calls over x402 if you have any.", docs: "https://www.x402.org/",
		},
		{
			id: "ag.ap2", title: "AP2 mandates", evidence: "D", evaluate: judgeAP2,
			expected: "an agent card or profile that supports AP2",
			why:      "Agents prove by it what a person has agreed to.",
			fix:      "Declare AP2 if your agent takes mandates.", docs: "https://ap2-protocol.org/",
		},
	}
}

// judgeAgents runs the checks of the agent level, which have no weight.
func (a *audit) judgeAgents(r *Report) {
	for _, c := range agentChecks() {
		f := c.evaluate(a)
		address := a.Site.Origin.String()
		if res := a.agent[c.id]; res != nil {
			address = res.URL
		}
		out := Check{
			ID: c.id, Title: c.title, Category: "agent", Scope: "site", Evidence: c.evidence,
			Status: f.Status(), Value: round3(f.Value), Why: c.why,
		}
		out.Pages = []Row{row(address, f, c.expected)}
		if out.Status == Fail || out.Status == Some {
			out.Fix = &Fix{Effort: 2, Text: c.fix, DocsURL: c.docs}
		}
		r.AgentChecks = append(r.AgentChecks, out)
	}
	r.Agent = level(r)
}

// LevelNames are the names of the agent levels, from 0 to 5.
func LevelNames() []string {
	return []string{
		"Not ready", "Basic web presence", "Bot-aware", "Agent-readable", "Agent-integrated",
		"Agent-native",
	}
}

// level counts by the rules of isitagentready.com: each level needs the one
// before.
//
//	1  two of robots.txt, sitemap, Link headers
//	2  rules for AI crawlers and Content Signals
//	3  Markdown on request
//	4  one of MCP card, A2A card, skills, API catalog
//	5  two of bot keys, all four of these, sign-in metadata
func level(r *Report) AgentLevel {
	has := func(id string) bool { return there(r, id) }
	count := func(ids ...string) (n int, missing []string) {
		for _, id := range ids {
			if has(id) {
				n++
			} else {
				missing = append(missing, id)
			}
		}
		return n, missing
	}
	reached := func(n int, missing []string) AgentLevel {
		if missing == nil {
			missing = []string{}
		}
		return AgentLevel{Level: n, Name: LevelNames()[n], Next: missing}
	}
	if n, missing := count("acc.robots_fetch", "idx.sitemap", "ag.link_headers"); n < 2 {
		return reached(0, missing)
	}
	if _, missing := count("ag.robots_ai_rules", "ag.content_signal"); len(missing) > 0 {
		return reached(1, missing)
	}
	if _, missing := count(asMarkdown); len(missing) > 0 {
		return reached(2, missing)
	}
	cards, missing := count("ag.mcp_card", "ag.a2a_card", "ag.skills_index", "ag.api_catalog")
	if cards < 1 {
		return reached(3, missing)
	}
	top, last := count("ag.bot_auth_dir")
	if cards == 4 {
		top++
	} else {
		last = append(last, missing...)
	}
	if has("ag.oauth_as") || has("ag.oauth_pr") || has("ag.auth_md") {
		top++
	} else {
		last = append(last, "ag.auth_md")
	}
	if top < 2 {
		return reached(4, last)
	}
	return reached(5, nil)
}

// there reports whether a website has what a level counts.
func there(r *Report, id string) bool {
	c, ok := r.Check(id)
	switch {
	case !ok || c.Status != Pass && c.Status != Some:
		return false
	case id == "acc.robots_fetch": // that its absence does no harm does not count
		return c.Status == Pass && strings.HasPrefix(c.Pages[0].Observed, "status 200")
	case id == "idx.sitemap", id == "ag.robots_ai_rules": // rules for all crawlers are rules for these
		return true
	}
	return c.Status == Pass
}
