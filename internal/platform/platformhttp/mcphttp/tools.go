package mcphttp

import (
	"bytes"
	"encoding/json"
	"strings"

	"ace/internal/protocol/mcp"
)

// addTools registers the six tools in their fixed order. Their schemas are short,
// because a model reads all of them before it does anything.
func (h *Handler) addTools() {
	mcp.AddTool(h.server, mcp.Tool{
		Name: "search_apps", Title: "Search apps", Annotations: reads(),
		Description: "Finds apps by name or purpose, and whether they are connected.",
		InputSchema: input(`
			"query":{"type":"string","maxLength":200,"description":"App name or what it does. Empty: all."},
			"connected_only":{"type":"boolean","default":false},
			"limit":{"type":"integer","minimum":1,"maximum":25,"default":10},
			"cursor":{"type":"string","maxLength":20,"description":"next_cursor of the page before."}`),
		OutputSchema: list("apps"),
	}, h.searchApps)
	h.server.AddRawTool(mcp.Tool{
		Name:        "connect_app",
		Title:       "Connect an app",
		Annotations: mcp.Annotations{Idempotent: true, OpenWorld: true},
		Description: "Creates a link where the user signs in to an app. Show url to the user, " +
			"then wait with session_id.",
		InputSchema: input(`
			"app":{"type":"string","pattern":"^[a-z0-9-]{1,40}$"},
			"label":{"type":"string","maxLength":60,"description":"Names the connection where there are several."},
			"connection_id":{"type":"string","maxLength":64,`+
			`"description":"Repair this connection instead of adding one."},
			"scopes":{"type":"array","items":{"type":"string"},"maxItems":100},
			"params":{"type":"object","additionalProperties":{"type":"string"},`+
			`"description":"Values such as subdomain. Never keys or passwords."},
			"session_id":{"type":"string","maxLength":64,"description":"Wait for an earlier link instead of `+
			`creating one."},
			"wait_seconds":{"type":"integer","minimum":0,"maximum":25,"default":0,"description":"With session_id."}`,
			"app"),
		OutputSchema: output(`
			"app":{"type":"string"},"status":{"type":"string"},"url":{"type":"string"},"session_id":{"type":"string"},
			"connection_id":{"type":["string","null"]},"expires_at":{"type":"string"},"message":{"type":"string"}`,
			"app", "status", "session_id", "message"),
	}, h.connectApp)
	mcp.AddTool(h.server, mcp.Tool{
		Name: "list_connections", Title: "List connections", Annotations: reads(),
		Description: "Lists connected accounts with their state. Their ids go into connection_id.",
		InputSchema: input(`
			"app":{"type":"string","maxLength":64},
			"status":{"enum":["active","needs_reconnect","error","disabled"]},
			"limit":{"type":"integer","minimum":1,"maximum":50,"default":20},
			"cursor":{"type":"string","maxLength":200}`),
		OutputSchema: list("connections"),
	}, h.listConnections)
	mcp.AddTool(h.server, mcp.Tool{
		Name: "find_tools", Title: "Find tools", Annotations: reads(),
		Description: "Finds tools for a task, over all apps. Begin here.",
		InputSchema: input(`
			"task":{"type":"string","minLength":1,"maxLength":1000,"description":"What to do, `+
			`in plain words: one step. Name the app if known."},
			"apps":{"type":"array","items":{"type":"string"},"maxItems":10,"description":"Only these."},
			"connected_only":{"type":"boolean","default":false},
			"include_schemas":{"type":"boolean","default":true,"description":"Input schemas of the top 3."},
			"limit":{"type":"integer","minimum":1,"maximum":15,"default":6}`, "task"),
		OutputSchema: output(`
			"tools":{"type":"array","items":{"type":"object"}},
			"not_connected":{"type":"array","items":{"type":"object"}},
			"hint":{"type":["string","null"]}`, "tools", "not_connected"),
	}, h.findTools)
	mcp.AddTool(h.server, mcp.Tool{
		Name: "get_tool", Title: "Get tool", Annotations: reads(),
		Description: "Returns the input schema of a tool, and what it may do.",
		InputSchema: input(`
			"tool":{"type":"string","maxLength":200},
			"include":{"type":"array","items":{"enum":["output_schema","examples"]}}`, "tool"),
		OutputSchema: output(`
			"tool":{"type":"string"},"name":{"type":"string"},"app":{"type":"string"},"description":{"type":"string"},
			"input_schema":{"type":"object"},"annotations":{"type":"object"}`, "tool", "input_schema"),
	}, h.getTool)
	h.server.AddRawTool(mcp.Tool{
		Name: "run_tool", Title: "Run tool", Annotations: mcp.Annotations{Destructive: true, OpenWorld: true},
		Description: "Runs a tool. With run_id or output_cursor it continues an earlier run and runs nothing again.",
		InputSchema: input(`
			"tool":{"type":"string","maxLength":200},
			"arguments":{"type":"object","description":"By the tool's input_schema."},
			"connection_id":{"type":"string","maxLength":64,"description":"Default: the app's default connection."},
			"fields":{"type":"array","items":{"type":"string"},"maxItems":50,` +
			`"description":"Dot paths to keep of the output, e.g. items.subject."},
			"max_chars":{"type":"integer","minimum":500,"maximum":40000,"default":20000},
			"timeout_seconds":{"type":"integer","minimum":1,"maximum":300,"default":45,` +
			`"description":"Above 60 it may return status running: continue with run_id."},
			"output_cursor":{"type":"string","maxLength":8192,"description":"next_output_cursor: reads the next part."},
			"run_id":{"type":"string","maxLength":64,"description":"Reads an earlier run."},
			"wait_seconds":{"type":"integer","minimum":0,"maximum":25,"default":0,"description":"With run_id."},
			"dry_run":{"type":"boolean","default":false,"description":"Check and show the request; send nothing."},
			"idempotency_key":{"type":"string","maxLength":255,` +
			`"description":"The same call with the same key runs once."}`),
		OutputSchema: output(`
			"ok":{"type":"boolean"},"status":{"type":"string"},"run_id":{"type":["string","null"]},"output":{},
			"truncated":{"type":"boolean"},"next_output_cursor":{"type":["string","null"]},
			"next_arguments":{"type":"object"},"files":{"type":"array","items":{"type":"object"}},
			"approval":{"type":"object"},"message":{"type":"string"}`, "status"),
	}, h.runTool)
}

func reads() mcp.Annotations { return mcp.Annotations{ReadOnly: true, Idempotent: true} }

// input is the schema of arguments: these properties and no others.
func input(properties string, required ...string) json.RawMessage {
	return schema(properties, required, `,"additionalProperties":false`)
}

// output is the schema of a result, which may have more properties than these.
func output(properties string, required ...string) json.RawMessage {
	return schema(properties, required, "")
}

// list is the schema of a page of a list.
func list(name string) json.RawMessage {
	return output(
		`"`+name+`":{"type":"array","items":{"type":"object"}},"next_cursor":{"type":["string","null"]}`,
		name,
	)
}

// schema writes the schema of an object without white space.
func schema(properties string, required []string, more string) json.RawMessage {
	text := `{"type":"object","properties":{` + properties + `}` + more
	if len(required) > 0 {
		text += `,"required":["` + strings.Join(required, `","`) + `"]`
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text+"}")); err != nil {
		panic(err) // a mistake in this file
	}
	return b.Bytes()
}
