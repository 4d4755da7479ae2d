package mcphttp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/protocol/mcp"
)

// maxDirect is how many tools are listed themselves: a model that reads more of
// them chooses worse.
const maxDirect = 60

// direct are the tools that a client lists themselves, in place of the six: all
// tools of some apps, or some tools.
//
//	/mcp?apps=github,slack    /mcp?tools=gmail__send_email
//
// The six can still be called, to connect and to continue long runs.
type direct struct {
	*Handler
	apps, tools []string
}

// directOf returns what a request lists itself, or nil.
func (h *Handler) directOf(r *http.Request) mcp.Toolset {
	query := r.URL.Query()
	d := &direct{h, ids(query.Get("apps")), ids(query.Get("tools"))}
	if len(d.apps)+len(d.tools) == 0 {
		return nil
	}
	return d
}

// ids reads ids that are separated by commas.
func ids(text string) (list []string) {
	for id := range strings.SplitSeq(text, ",") {
		if id = strings.TrimSpace(id); id != "" && !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

// List returns the tools. Its problems are too_many_tools (Invalid) and those of
// operation.Service.ListTools.
func (d *direct) List(ctx context.Context) ([]mcp.Tool, error) {
	if len(d.apps) > maxDirect || len(d.tools) > maxDirect {
		return nil, tooMany()
	}
	var requests []operation.ListToolsRequest
	for _, id := range d.apps {
		requests = append(requests, operation.ListToolsRequest{App: id, Limit: maxDirect + 1})
	}
	if len(d.tools) > 0 {
		requests = append(requests, operation.ListToolsRequest{Tools: strings.Join(d.tools, ","), Limit: maxDirect})
	}
	listed := []mcp.Tool{}
	for _, request := range requests {
		page, err := d.Operations.ListTools(ctx, gate.From(ctx), request)
		if err != nil {
			return nil, err
		}
		for i := range page.Tools {
			t := &page.Tools[i]
			if slices.ContainsFunc(listed, func(other mcp.Tool) bool { return other.Name == t.Tool }) {
				continue
			}
			listed = append(listed, mcp.Tool{
				Name: t.Tool, Title: t.Name, Description: t.Description, InputSchema: t.InputSchema,
				Annotations: mcp.Annotations{
					ReadOnly: t.Annotations.ReadOnly, Destructive: t.Annotations.Destructive,
					Idempotent: t.Annotations.Idempotent, OpenWorld: t.Annotations.OpenWorld,
				},
			})
		}
		if len(listed) > maxDirect {
			return nil, tooMany()
		}
	}
	return listed, nil
}

func tooMany() error {
	return problem.New(problem.Invalid, "too_many_tools", fmt.Sprintf(
		"At most %d tools can be listed. Name the ones you need with ?tools=, or leave both parameters out and use "+
			"find_tools.", maxDirect)).Advise("fix_arguments")
}

// Call runs one of the tools.
func (d *direct) Call(ctx context.Context, call *mcp.Call, arguments json.RawMessage) (*mcp.Result, error) {
	ofApp := func(id string) bool { return strings.HasPrefix(call.Tool, app.ToolID(id, "")) }
	if !slices.Contains(d.tools, call.Tool) && !slices.ContainsFunc(d.apps, ofApp) {
		return nil, problem.New(problem.NotFound, "tool_not_found",
			"There is no tool with this name here. Read tools/list for those that there are.").Advise("find_tools")
	}
	return d.run(ctx, call, &runInput{
		Tool: call.Tool, Arguments: arguments, MaxChars: defaultChars, TimeoutSeconds: defaultTimeout,
	})
}
