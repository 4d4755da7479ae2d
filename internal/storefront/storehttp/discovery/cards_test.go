package discovery_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/webbotauth"
	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

type card struct {
	Schema      string `json:"$schema"`
	Name, Title string
	Version     string
	Description string
	WebsiteURL  string
	Icons       []struct{ Src, MimeType string }
	Remotes     []struct {
		Type, URL                 string
		SupportedProtocolVersions []string
	}
	ServerInfo      map[string]string
	ProtocolVersion string
	Transport       map[string]string
	Capabilities    json.RawMessage
	Authentication  json.RawMessage
	Instructions    string
	Tools           []cardTool
}

type cardTool struct {
	Name, Title, Description string
	Annotations              map[string]any
}

// rpc calls the MCP server and decodes the result.
func rpc(w *storetest.Store, method, params string, result any) {
	w.T.Helper()
	var answer struct{ Result json.RawMessage }
	w.Do(http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`, "Accept",
		"application/json").Into(w.T, &answer)
	if err := json.Unmarshal(answer.Result, result); err != nil {
		w.T.Fatalf("%s: %v", method, err)
	}
}

// TestCardsEqualTheServer compares what the documents say about the MCP server
// with what it says itself.
func TestCardsEqualTheServer(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	var full, plain card
	w.Do(http.MethodGet, "/.well-known/mcp/server-card.json", "").Into(t, &full)
	strict := w.Do(http.MethodGet, "/mcp/server-card", "")
	strict.Into(t, &plain)
	var hello struct {
		ProtocolVersion, Instructions string
		Capabilities                  json.RawMessage
		ServerInfo                    map[string]string
	}
	rpc(w, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`,
		&hello)
	var list struct{ Tools []cardTool }
	rpc(w, "tools/list", `{}`, &list)

	for i, tool := range list.Tools {
		delete(list.Tools[i].Annotations, "title") // older clients look for it there
		if tool.Title == "" {
			t.Errorf("%s has no title", tool.Name)
		}
	}
	if diff := cmp.Diff(list.Tools, full.Tools); diff != "" || len(full.Tools) != 10 {
		t.Errorf("tools (-server +card):\n%s", diff)
	}
	if diff := cmp.Diff(hello.ServerInfo, full.ServerInfo); diff != "" {
		t.Errorf("serverInfo (-server +card):\n%s", diff)
	}
	if full.ProtocolVersion != hello.ProtocolVersion || full.Instructions != hello.Instructions ||
		string(full.Capabilities) != string(hello.Capabilities) {
		t.Errorf("card says %s %s %s, initialize %s %s %s", full.ProtocolVersion, full.Instructions, full.Capabilities,
			hello.ProtocolVersion, hello.Instructions, hello.Capabilities)
	}
	for _, c := range []card{full, plain} {
		if len(c.Remotes) != 1 || c.Remotes[0].Type != "streamable-http" || c.Remotes[0].URL != w.URL+"/mcp" ||
			len(c.Remotes[0].SupportedProtocolVersions) != 3 {
			t.Fatalf("remotes = %+v", c.Remotes)
		}
		for _, v := range c.Remotes[0].SupportedProtocolVersions {
			rpc(
				w,
				"initialize",
				`{"protocolVersion":"`+v+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`,
				&hello,
			)
			if hello.ProtocolVersion != v {
				t.Errorf("initialize with %s = %s", v, hello.ProtocolVersion)
			}
		}
		if !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(c.Name) || len(c.Description) > 100 ||
			c.Description == "" || c.Version == "" || c.WebsiteURL != w.URL || !strings.HasSuffix(c.Schema,
			"/v1/server-card.schema.json") {
			t.Errorf("card = %+v", c)
		}
	}
	if full.Transport["endpoint"] != w.URL+"/mcp" || string(full.Authentication) != `{"required":false,"schemes":[]}` {
		t.Errorf("transport = %v, authentication = %s", full.Transport, full.Authentication)
	}
	for _, member := range []string{"tools", "capabilities", "serverInfo"} {
		if strings.Contains(string(strict.Body), `"`+member+`"`) {
			t.Errorf("the strict card has the member %s", member)
		}
	}
	seeConnection(t, w, list.Tools)
}

// seeConnection compares connect.json with the server.
func seeConnection(t *testing.T, w *storetest.Store, tools []cardTool) {
	t.Helper()
	var c struct {
		MCP struct {
			URL              string
			ProtocolVersions []string `json:"protocol_versions"`
			Headers          map[string]string
			ClientConfigs    struct {
				Servers map[string]struct{ Type, URL string } `json:"mcpServers"`
			} `json:"client_configs"`
			Commands map[string]string
			Tools    []struct{ Name, Group string }
		}
		A2A       struct{ URL, Version, Card string }
		RateLimit struct{ Burst int } `json:"rate_limit"`
	}
	w.Do(http.MethodGet, "/agent/connect.json", "").Into(t, &c)
	var want, got []string
	groups := map[string]int{}
	for _, tool := range tools {
		want = append(want, tool.Name)
	}
	for _, tool := range c.MCP.Tools {
		got = append(got, tool.Name)
		groups[tool.Group]++
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools of connect.json (-server +document):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"read": 3, "buy": 3, "services": 4}, groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	if c.MCP.ClientConfigs.Servers["store"].URL != c.MCP.URL || c.MCP.ClientConfigs.Servers["store"].Type != "http" ||
		c.A2A.Version != "1.0" || c.RateLimit.Burst != 5 {
		t.Errorf("connect.json = %+v", c)
	}
	if curl := c.MCP.Commands["curl"]; !strings.HasPrefix(curl, "curl -s "+w.URL+"/mcp ") ||
		len(command(t, w, curl)) < 1000 {
		t.Errorf("curl = %s", curl)
	}
}

// command runs a command line of curl with a body, as a document prints it,
// and returns the body of the response.
func command(t *testing.T, w *storetest.Store, text string) []byte {
	t.Helper()
	address := regexp.MustCompile(`https?://\S+`).FindString(text)
	body := regexp.MustCompile(`(?s)-d '(.*?)'`).FindStringSubmatch(text)
	var headers []string
	for _, h := range regexp.MustCompile(`-H ['"]([A-Za-z-]+): ([^'"]*)['"]`).FindAllStringSubmatch(text, -1) {
		headers = append(headers, h[1], strings.ReplaceAll(h[2], "$(uuidgen)", "0a5b3c8e-uuid"))
	}
	method, payload := http.MethodGet, ""
	if body != nil {
		method, payload = http.MethodPost, body[1]
	}
	r := w.Do(method, address, payload, headers...)
	if r.Status >= 300 {
		t.Errorf("%s\n= %d %s", text, r.Status, r.Body)
	}
	return r.Body
}

// TestKeyDirectory verifies the directory as others do.
func TestKeyDirectory(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	r := w.Do(http.MethodGet, webbotauth.DirectoryPath, "", "Accept-Encoding", "gzip")
	keys, err := httpsig.ParseKeySet(r.Body)
	if err != nil || len(keys) != 1 || keys[0].Kty != "OKP" || r.Header.Get("Content-Encoding") != "" {
		t.Fatalf("keys = %v, %v", keys, err)
	}
	if kid, err := keys[0].Thumbprint(); err != nil || kid != keys[0].KID {
		t.Errorf("kid = %s, want the thumbprint %s", keys[0].KID, kid)
	}
	if err := httpsig.VerifyContentDigest(r.Header, r.Body); err != nil {
		t.Error(err)
	}
	u, err := url.Parse(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	asked := &httpsig.Message{Method: http.MethodGet, Scheme: "http", Authority: u.Host, Path: webbotauth.DirectoryPath}
	signatures, err := httpsig.Parse(r.Header)
	if err != nil || len(signatures) != 1 || signatures[0].Params.Tag != webbotauth.TagDirectory {
		t.Fatalf("signatures = %v, %v", signatures, err)
	}
	if err := signatures[0].VerifyJWK(httpsig.ResponseMessage(http.StatusOK, r.Header, asked), keys[0]); err != nil {
		t.Errorf("VerifyJWK() = %v", err)
	}
	if again := w.Do(http.MethodGet, webbotauth.DirectoryPath, "", "If-None-Match",
		r.Header.Get("ETag")); again.Status != http.StatusNotModified || again.Header.Get("Signature") == "" {
		t.Errorf("again = %d with the signature %q, want 304 and a fresh one", again.Status,
			again.Header.Get("Signature"))
	}
	if unsigned := storetest.Start(t).
		Do(http.MethodGet, webbotauth.DirectoryPath, ""); unsigned.Status != http.StatusNotFound {
		t.Errorf("without keys = %d, want 404", unsigned.Status)
	}
}

// TestSkillsIndex finds the skill with the digest of what is served.
func TestSkillsIndex(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	var index struct {
		Schema string `json:"$schema"`
		Skills []struct{ Name, Type, Description, URL, Digest string }
	}
	w.Do(http.MethodGet, "/.well-known/agent-skills/index.json", "").Into(t, &index)
	if len(index.Skills) != 1 || !strings.HasSuffix(index.Schema, "/0.2.0/schema.json") {
		t.Fatalf("index = %+v", index)
	}
	skill := index.Skills[0]
	text := w.Do(http.MethodGet, skill.URL, "", "Accept-Encoding", "identity").Body
	if sum := sha256.Sum256(text); skill.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Errorf("digest = %s, want that of the bytes", skill.Digest)
	}
	head := regexp.MustCompile(`(?s)^---\nname: (\S+)\ndescription: "(.*?)"\n(.*?)---\n`).FindSubmatch(text)
	if head == nil || string(head[1]) != skill.Name || skill.Name != "buy-products" || !strings.Contains(skill.URL,
		"/"+skill.Name+"/SKILL.md") || string(head[2]) != skill.Description || len(skill.Description) > 1024 ||
		!strings.Contains(skill.Description, "Use when") {
		t.Errorf("head = %q, entry = %+v", head, skill)
	}
	if len(text) > 20_000 {
		t.Errorf("the skill has %d bytes", len(text))
	}
}

// TestSkillIsRight runs the commands of the skill.
func TestSkillIsRight(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	text := string(w.Do(http.MethodGet, "/agent/skills/buy-products/SKILL.md", "").Body)
	blocks := regexp.MustCompile("(?s)```\n(curl .*?)\n```").FindAllStringSubmatch(text, -1)
	if len(blocks) != 5 {
		t.Fatalf("%d commands", len(blocks))
	}
	id := ""
	for _, block := range blocks {
		line := strings.NewReplacer("OFFER_ID", "prompt_handbook", "SESSION_ID", id, "'Prefer: wait=25'",
			"'Prefer: wait=0'").Replace(block[1])
		answer := string(command(t, w, line))
		if !strings.Contains(line, "-d '") {
			continue
		}
		if !strings.Contains(answer, "continue_url") {
			t.Errorf("%s\n= %s, want a continue_url", line, answer)
		}
		if strings.Contains(line, "/ucp/") {
			if !strings.Contains(answer, `"status":"requires_escalation"`) {
				t.Errorf("answer = %s", answer)
			}
			var session struct{ ID string }
			if err := json.Unmarshal([]byte(answer), &session); err != nil {
				t.Fatal(err)
			}
			id = session.ID
		}
	}
}
