package readiness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/webbotauth"
)

// rows are the checks of isitagentready.com in its order. sold says that the
// store sells website services.
func rows(sold bool) []row {
	x402 := row{
		check: "x402", rule: "402 with payment requirements at a route of the API", want: passes,
		probe: paymentWall("PAYMENT-REQUIRED", "/v1/services/ai-search-audit/run"),
	}
	if !sold {
		x402.want, x402.why = fails, "this store sells no website services, and nothing else is paid by x402"
	}
	return []row{
		{
			check: "robotsTxt", rule: "200, text/plain, at least one User-agent", want: passes, scored: true,
			probe: robotsTxt,
		},
		{check: "sitemap", rule: "a urlset or an index, or a Sitemap line", want: passes, scored: true, probe: sitemap},
		{
			check: "linkHeaders", rule: "Link on the page with a known relation; its targets answer the stated type",
			want: passes, scored: true, probe: linkHeaders,
		},
		{
			check: "dnsAid", rule: "SVCB or TXT at _mcp._agents of the domain, with DNSSEC", want: deployment,
			why: "records of the operator's own domain: docs/discovery.md names them", scored: true,
		},
		{
			check: "markdownNegotiation", rule: "Accept: text/markdown is answered as text/markdown, with Vary",
			want: passes, scored: true, probe: markdownNegotiation,
		},
		{
			check: "robotsTxtAiRules", rule: "a group for a known AI agent", want: passes, scored: true,
			probe: robotsTxtAiRules,
		},
		{
			check: "contentSignals", rule: "a Content-Signal with search, ai-input and ai-train", want: passes,
			scored: true, probe: contentSignals,
		},
		{
			check: "webBotAuth", rule: "a JWKS at the directory, signed for this host", want: passes, scored: true,
			probe: keyDirectory,
		},
		{
			check: "apiCatalog", rule: "a linkset that is not empty, with anchors and service-desc", want: passes,
			scored: true, probe: apiCatalog,
		},
		{
			check: "mcpServerCard", rule: "name, transport and capabilities; CORS, cache, and initialize answers",
			want: passes, scored: true, probe: mcpServerCard,
		},
		{
			check: "a2aAgentCard", rule: "the required members; the interface answers", want: passes, scored: true,
			probe: agentCard,
		},
		{
			check:  "agentSkills",
			rule:   "$schema 0.2.0 and skills with name, type, description, url and a digest that is right",
			want:   passes,
			scored: true,
			probe:  agentSkills,
		},
		{
			check: "ard", rule: "an ai-catalog with entries, or an Agentmap line", want: passes, scored: true,
			probe: aiCatalog,
		},
		{
			check:  "webMcp",
			rule:   "the page registers tools with modelContext.registerTool",
			want:   passes,
			scored: true,
			probe:  webMCP,
		},
		{
			check: "oauthDiscovery", rule: "metadata of an authorization server", want: fails,
			why: "nothing here needs a sign-in, and clients must not look for one", scored: true,
			probe: present("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"),
		},
		{
			check: "oauthProtectedResource", rule: "metadata of a protected resource", want: fails,
			why: "nothing here is protected", scored: true, probe: present("/.well-known/oauth-protected-resource",
				"/.well-known/oauth-protected-resource/mcp"),
		},
		{
			check: "authMd", rule: "an H1 with auth.md, and registration told in the file itself", want: passes,
			scored: true, probe: authMd,
		},
		x402,
		{
			check: "mpp", rule: "402 with a payment challenge", want: fails,
			why: "a purchase is paid by a person, on the page of the processor", probe: paymentWall("WWW-Authenticate",
				"/", "/api", "/api/v1"),
		},
		{check: "ucp", rule: "a profile at /.well-known/ucp", want: passes, probe: ucpProfile},
		{check: "acp", rule: "a discovery document at /.well-known/acp.json", want: passes, probe: acpDiscovery},
		{
			check: "ap2", rule: "AP2 in the agent card or the commerce profile", want: fails,
			why: "mandates of AP2 are not taken: a person pays", probe: ap2,
		},
	}
}

func robotsTxt(s *scan) error {
	a, err := s.read("/robots.txt", "text/plain")
	if err != nil {
		return err
	}
	return unless(bytes.Contains(a.body, []byte("User-agent: *\n")), "no group for all")
}

func sitemap(s *scan) error {
	total, _, err := s.listed()
	if err != nil {
		return err
	}
	return unless(total > 10, "%d addresses", total)
}

// listed reads the sitemap: how many addresses it has, and how many say when
// they changed.
func (s *scan) listed() (total, dated int, err error) {
	a, err := s.read("/sitemap.xml", "application/xml")
	if err != nil {
		return 0, 0, err
	}
	var list struct {
		XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		URLs    []struct {
			Loc     string `xml:"loc"`
			LastMod string `xml:"lastmod"`
		} `xml:"url"`
	}
	if err := xml.Unmarshal(a.body, &list); err != nil {
		return 0, 0, err
	}
	for _, u := range list.URLs {
		if !strings.HasPrefix(u.Loc, s.base+"/") {
			return 0, 0, fmt.Errorf("%s is no address of this site", u.Loc)
		}
		if u.LastMod != "" {
			dated++
		}
	}
	return len(list.URLs), dated, nil
}

func linkHeaders(s *scan) error {
	a, err := s.read("/", "text/html")
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for _, l := range regexp.MustCompile(`<([^>]+)>; rel="([^"]+)"(?:; type="([^"]+)")?`).FindAllStringSubmatch(
		a.Header.Get("Link"), -1) {
		found[l[2]] = true
		if l[2] == "canonical" {
			continue
		}
		if _, err := s.read(l[1], l[3]); err != nil {
			return fmt.Errorf("%s: %w", l[2], err)
		}
	}
	for _, rel := range []string{
		"alternate", "describedby", "service-desc", "service-doc", "api-catalog",
		"service-meta", "status", "sitemap", "ai-catalog",
	} {
		if !found[rel] {
			return fmt.Errorf("no link with the relation %s", rel)
		}
	}
	return nil
}

func markdownNegotiation(s *scan) error {
	a, err := s.read("/", "text/markdown", "Accept", "text/markdown")
	if err != nil {
		return err
	}
	if err := unless(strings.Contains(a.Header.Get("Vary"), "Accept") && a.Header.Get("X-Markdown-Tokens") != "",
		"header %v", a.Header); err != nil {
		return err
	}
	_, err = s.read("/", "text/html", "Accept", "*/*")
	return err
}

func robotsTxtAiRules(s *scan) error {
	a, err := s.read("/robots.txt", "text/plain")
	if err != nil {
		return err
	}
	for _, name := range []string{"GPTBot", "ClaudeBot", "Google-Extended", "PerplexityBot", "CCBot"} {
		if !bytes.Contains(a.body, []byte("User-agent: "+name+"\n")) {
			return fmt.Errorf("no group for %s", name)
		}
	}
	return nil
}

func contentSignals(s *scan) error {
	a, err := s.read("/robots.txt", "text/plain")
	if err != nil {
		return err
	}
	return unless(
		regexp.MustCompile(`(?m)^Content-Signal: search=(yes|no), ai-input=(yes|no), ai-train=(yes|no)$`).Match(a.body),
		"no complete Content-Signal")
}

func keyDirectory(s *scan) error {
	a, err := s.do(http.MethodGet, webbotauth.DirectoryPath, "")
	if err != nil {
		return err
	}
	keys, err := httpsig.ParseKeySet(a.body)
	if err != nil || len(keys) == 0 || a.Header.Get("Content-Type") != webbotauth.MediaType {
		return fmt.Errorf("%s with %d keys, %w", a.Header.Get("Content-Type"), len(keys), err)
	}
	u, err := url.Parse(s.base)
	if err != nil {
		return err
	}
	signatures, err := httpsig.Parse(a.Header)
	if err != nil || len(signatures) != len(keys) {
		return fmt.Errorf("%d signatures, %w", len(signatures), err)
	}
	asked := &httpsig.Message{Method: http.MethodGet, Scheme: "http", Authority: u.Host, Path: webbotauth.DirectoryPath}
	for i, key := range keys {
		if err := signatures[i].VerifyJWK(httpsig.ResponseMessage(http.StatusOK, a.Header, asked), key); err != nil {
			return err
		}
	}
	return httpsig.VerifyContentDigest(a.Header, a.body)
}

func apiCatalog(s *scan) error {
	var c struct {
		Linkset []struct {
			Anchor string
			Desc   []struct{ Href, Type string } `json:"service-desc"`
		}
	}
	a, err := s.readJSON("/.well-known/api-catalog", &c)
	if err != nil {
		return err
	}
	described := 0
	for _, l := range c.Linkset {
		if l.Anchor == "" {
			return fmt.Errorf("a set without an anchor")
		}
		described += len(l.Desc)
	}
	return unless(described >= 3 && strings.HasPrefix(a.Header.Get("Content-Type"), "application/linkset+json"),
		"%d descriptions, %s", described, a.Header.Get("Content-Type"))
}

func mcpServerCard(s *scan) error {
	var c struct {
		ServerInfo   struct{ Name string }
		Transport    struct{ Type, Endpoint string }
		Capabilities map[string]any
		Remotes      []struct{ URL string }
		Tools        []struct{ Name, Description string }
	}
	a, err := s.readJSON("/.well-known/mcp/server-card.json", &c)
	if err != nil {
		return err
	}
	if err := unless(c.ServerInfo.Name != "" && c.Transport.Endpoint != "" && c.Capabilities["tools"] != nil &&
		len(c.Remotes) == 1 && len(c.Tools) == 10 &&
		a.Header.Get("Access-Control-Allow-Origin") == "*" && a.Header.Get("Cache-Control") != "",
		"card %+v, header %v", c, a.Header); err != nil {
		return err
	}
	for _, tool := range c.Tools {
		if len(tool.Description) < 40 {
			return fmt.Errorf("the description of %s is short", tool.Name)
		}
	}
	live, err := s.do(
		http.MethodPost,
		c.Remotes[0].URL,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},`+
			`"clientInfo":{"name":"scanner","version":"1"}}}`,
		"Content-Type",
		"application/json",
		"Accept",
		"application/json, text/event-stream",
	)
	if err != nil {
		return err
	}
	return unless(live.StatusCode == http.StatusOK && bytes.Contains(live.body,
		[]byte(`"protocolVersion":"2025-06-18"`)), "initialize = %d %s", live.StatusCode, live.body)
}

func agentCard(s *scan) error {
	var c struct {
		Name, Description, Version            string
		SupportedInterfaces                   []struct{ URL, ProtocolBinding, ProtocolVersion string }
		Capabilities                          map[string]any
		DefaultInputModes, DefaultOutputModes []string
		Skills                                []struct {
			ID, Name, Description string
			Tags                  []string
		}
		Signatures []any
	}
	if _, err := s.readJSON("/.well-known/agent-card.json", &c); err != nil {
		return err
	}
	complete := c.Name != "" && c.Description != "" && c.Version != "" && len(c.SupportedInterfaces) > 0 &&
		c.Capabilities != nil && len(c.DefaultInputModes) > 0 && len(c.DefaultOutputModes) > 0 && len(c.Skills) > 0
	if !complete || len(c.Signatures) == 0 {
		return fmt.Errorf("card %+v", c)
	}
	for _, skill := range c.Skills {
		if skill.ID == "" || skill.Name == "" || skill.Description == "" || len(skill.Tags) == 0 {
			return fmt.Errorf("skill %+v", skill)
		}
	}
	live, err := s.do(http.MethodPost, c.SupportedInterfaces[0].URL,
		`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"none"}}`, "Content-Type", "application/json",
		"A2A-Version", "1.0")
	if err != nil {
		return err
	}
	return unless(live.StatusCode == http.StatusOK && bytes.Contains(live.body, []byte(`-32001`)), "GetTask = %d %s",
		live.StatusCode, live.body)
}

func agentSkills(s *scan) error {
	var index struct {
		Schema string `json:"$schema"`
		Skills []struct{ Name, Type, Description, URL, Digest string }
	}
	if _, err := s.readJSON("/.well-known/agent-skills/index.json", &index); err != nil {
		return err
	}
	if !strings.Contains(index.Schema, "0.2.0") || len(index.Skills) == 0 {
		return fmt.Errorf("index %+v", index)
	}
	for _, skill := range index.Skills {
		a, err := s.read(skill.URL, "text/markdown")
		if err != nil {
			return err
		}
		sum := sha256.Sum256(a.body)
		if skill.Digest != "sha256:"+hex.EncodeToString(sum[:]) || skill.Name == "" || skill.Type == "" ||
			skill.Description == "" {
			return fmt.Errorf("skill %+v", skill)
		}
	}
	return nil
}

func aiCatalog(s *scan) error {
	var c struct {
		SpecVersion string
		Entries     []struct{ Identifier, DisplayName, Type, URL string }
	}
	if _, err := s.readJSON("/.well-known/ai-catalog.json", &c); err != nil {
		return err
	}
	a, err := s.read("/robots.txt", "text/plain")
	if err != nil {
		return err
	}
	return unless(c.SpecVersion != "" && len(c.Entries) == 2 && bytes.Contains(a.body, []byte("Agentmap: "+s.base)),
		"catalog %+v", c)
}

// webMCP looks for the script; whether it registers what it should is tried in
// a browser by the tests of the pages.
func webMCP(s *scan) error {
	page, err := s.read("/", "text/html")
	if err != nil {
		return err
	}
	script := regexp.MustCompile(`<script src="(/[^"]+)"`).FindSubmatch(page.body)
	if script == nil {
		return fmt.Errorf("the page has no script")
	}
	a, err := s.read(string(script[1]), "text/javascript")
	if err != nil {
		return err
	}
	return unless(bytes.Contains(a.body, []byte(".registerTool(")), "the script registers nothing")
}

// present passes where one of the paths answers.
func present(paths ...string) func(*scan) error {
	return func(s *scan) error {
		for _, path := range paths {
			if _, err := s.read(path, ""); err == nil {
				return nil
			}
		}
		return fmt.Errorf("none of %s", strings.Join(paths, ", "))
	}
}

func authMd(s *scan) error {
	a, err := s.read("/auth.md", "text/markdown")
	if err != nil {
		return err
	}
	heading, _, _ := strings.Cut(string(a.body), "\n")
	for _, part := range []string{
		"Audience:", "## Registration", "endpoint: none", "## Methods",
		"## Using credentials",
	} {
		if !bytes.Contains(a.body, []byte(part)) {
			return fmt.Errorf("%q is missing", part)
		}
	}
	return unless(strings.HasPrefix(heading, "# ") && strings.Contains(heading, "auth.md"), "heading %q", heading)
}

// paymentWall passes where a route asks for a payment with a header.
func paymentWall(header string, paths ...string) func(*scan) error {
	return func(s *scan) error {
		for _, path := range paths {
			a, err := s.get(path)
			if err != nil {
				return err
			}
			if a.StatusCode == http.StatusPaymentRequired && a.Header.Get(header) != "" {
				return nil
			}
		}
		return fmt.Errorf("no route asks for a payment")
	}
}

func ucpProfile(s *scan) error {
	var profile struct {
		UCP struct {
			Version      string
			Capabilities json.RawMessage
		}
	}
	if _, err := s.readJSON("/.well-known/ucp", &profile); err != nil {
		return err
	}
	return unless(profile.UCP.Version != "" && len(profile.UCP.Capabilities) > 2, "profile %+v", profile)
}

func acpDiscovery(s *scan) error {
	var d struct {
		Protocol struct {
			Name, Version     string
			SupportedVersions []string `json:"supported_versions"`
			DocumentationURL  string   `json:"documentation_url"`
		}
		APIBaseURL   string `json:"api_base_url"`
		Transports   []string
		Capabilities map[string]any
	}
	a, err := s.readJSON("/.well-known/acp.json", &d)
	if err != nil {
		return err
	}
	if _, err := s.read(d.Protocol.DocumentationURL, "text/markdown"); err != nil {
		return err
	}
	return unless(d.Protocol.Name == "acp" &&
		d.Protocol.Version == d.Protocol.SupportedVersions[len(d.Protocol.SupportedVersions)-1] && d.APIBaseURL != "" &&
		len(d.Transports) > 0 &&
		d.Capabilities != nil && a.Header.Get("Cache-Control") != "", "document %+v", d)
}

func ap2(s *scan) error {
	for _, path := range []string{"/.well-known/agent-card.json", "/.well-known/ucp"} {
		a, err := s.read(path, "application/json")
		if err != nil {
			return err
		}
		if bytes.Contains(bytes.ToLower(a.body), []byte("ap2")) {
			return nil
		}
	}
	return fmt.Errorf("neither document names AP2")
}
