// Offers the reading tools of this store to an assistant in the browser: WebMCP.
// Each call goes to the MCP server of the store. Nothing is done without it.
const tools = {{.}};
const context = document.modelContext ?? navigator.modelContext;

async function call(name, given) {
  const response = await fetch("/mcp", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given ?? {} } }),
  });
  const answer = await response.json();
  return answer.result ?? { isError: true, content: [{ type: "text", text: answer.error.message }] };
}

if (typeof context?.registerTool === "function") {
  for (const tool of tools) {
    context.registerTool({ ...tool, execute: (given) => call(tool.name, given) });
  }
}
