// Package mcpclients says how MCP clients and agent libraries are set up for the
// platform's MCP server: what goes into which file, and links that set a client
// up in one click.
//
//	URL of the server + API key ─> For ─> a snippet for each client
//
// The forms follow the documentation of the clients as of November 2026.
package mcpclients

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// Name is what clients call the server.
const Name = "ace"

// Placeholder stands for a key where none is shown.
const Placeholder = "ace_YOUR_KEY"

// Client is how one client is set up.
type Client struct {
	ID    string // for anchors and tests
	Name  string
	Where string // the file, or what the snippet is; empty: a command
	Text  string
	Link  string // opens the client and sets it up; empty: there is none
}

// For returns the snippets for the server at an address, with a key.
func For(address, key string) []Client {
	bearer := "Bearer " + key
	headers := map[string]string{"Authorization": bearer}
	remote := []string{"-y", "mcp-remote", address, "--header", "Authorization:${ACE_AUTHORIZATION}"}
	cursor := server{URL: address, Headers: headers}
	code := server{Type: "http", URL: address, Headers: headers}
	named := code
	named.Name = Name
	return []Client{
		{
			ID:   "claude-code",
			Name: "Claude Code",
			Text: "claude mcp add --transport http " + Name + " " + address + " \\\n" +
				`  --header "Authorization: ` + bearer + `"`,
		},
		{
			ID: "claude-desktop", Name: "Claude Desktop", Where: "claude_desktop_config.json",
			Text: under("mcpServers", server{
				Command: "npx", Args: remote, Env: map[string]string{"ACE_AUTHORIZATION": bearer},
			}),
		},
		{
			ID: "cursor", Name: "Cursor", Where: "~/.cursor/mcp.json", Text: under("mcpServers", cursor),
			Link: "cursor://anysphere.cursor-deeplink/mcp/install?name=" + Name + "&config=" +
				url.QueryEscape(base64.StdEncoding.EncodeToString(compact(cursor))),
		},
		{
			ID: "vscode", Name: "VS Code", Where: ".vscode/mcp.json", Text: under("servers", code),
			Link: "vscode:mcp/install?" + url.PathEscape(string(compact(named))),
		},
		{
			ID: "windsurf", Name: "Windsurf", Where: "~/.codeium/windsurf/mcp_config.json",
			Text: under("mcpServers", server{ServerURL: address, Headers: headers}),
		},
		{
			ID: "zed", Name: "Zed", Where: "settings.json",
			Text: under("context_servers", server{URL: address, Headers: headers}),
		},
		{
			ID: "openai-responses", Name: "OpenAI Responses API", Where: "Python, openai",
			Text: fill(openAIResponses, address, key),
		},
		{
			ID: "openai-agents", Name: "OpenAI Agents SDK", Where: "Python, openai-agents",
			Text: fill(openAIAgents, address, key),
		},
		{
			ID:    "langchain",
			Name:  "LangChain",
			Where: "Python, langchain-mcp-adapters",
			Text:  fill(langChain, address, key),
		},
		{
			ID:    "vercel-ai",
			Name:  "Vercel AI SDK",
			Where: "JavaScript, @ai-sdk/mcp",
			Text:  fill(vercelAI, address, key),
		},
	}
}

// server is an entry in the settings of a client; each client has some of its
// fields.
type server struct {
	Name      string            `json:"name,omitempty"`
	Type      string            `json:"type,omitempty"`
	URL       string            `json:"url,omitempty"`
	ServerURL string            `json:"serverUrl,omitempty"`
	Headers   map[string]string `json:"headers,omitempty"`
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
}

// under returns the settings of a client, with the server under a field.
func under(field string, s server) string {
	return strings.TrimSpace(string(encode(map[string]any{field: map[string]any{Name: s}}, "  ")))
}

func compact(s server) []byte { return bytes.TrimSpace(encode(s, "")) }

// encode writes JSON as people write it, with <, > and & as they are.
func encode(v any, indent string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(v); err != nil {
		panic(err) // strings and maps of strings always encode
	}
	return b.Bytes()
}

func fill(text, address, key string) string {
	return strings.NewReplacer("URL", address, "KEY", key).Replace(text)
}

const openAIResponses = `from openai import OpenAI

response = OpenAI().responses.create(
    model="gpt-5.2",
    tools=[
        {
            "type": "mcp",
            "server_label": "ace",
            "server_url": "URL",
            "headers": {"Authorization": "Bearer KEY"},
            "require_approval": "never",
        }
    ],
    input="Which apps are connected?",
)
print(response.output_text)`

const openAIAgents = `import asyncio

from agents import Agent, Runner
from agents.mcp import MCPServerStreamableHttp


async def main():
    params = {"url": "URL", "headers": {"Authorization": "Bearer KEY"}}
    async with MCPServerStreamableHttp(name="ace", params=params, client_session_timeout_seconds=90) as ace:
        agent = Agent(name="Assistant", mcp_servers=[ace])
        result = await Runner.run(agent, "Which apps are connected?")
        print(result.final_output)


asyncio.run(main())`

const langChain = `import asyncio

from langchain_mcp_adapters.client import MultiServerMCPClient


async def main():
    client = MultiServerMCPClient(
        {
            "ace": {
                "transport": "streamable_http",
                "url": "URL",
                "headers": {"Authorization": "Bearer KEY"},
            }
        }
    )
    tools = await client.get_tools()  # for create_agent(model, tools)
    print([tool.name for tool in tools])


asyncio.run(main())`

const vercelAI = `import { createMCPClient } from '@ai-sdk/mcp'

const client = await createMCPClient({
  transport: { type: 'http', url: 'URL', headers: { Authorization: 'Bearer KEY' } },
})
const tools = await client.tools() // for generateText({ model, tools, … })
console.log(Object.keys(tools))
await client.close()`
