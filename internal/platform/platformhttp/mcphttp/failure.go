package mcphttp

import (
	"encoding/json"
	"maps"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/mcp"
)

// nextCall is a call that helps after a failure.
type nextCall struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// failed renders a problem for a model: what happened, and the call that helps.
func failed(call *mcp.Call, p *problem.Problem) *mcp.Result {
	failure := map[string]any{}
	maps.Copy(failure, p.Members)
	failure["code"], failure["message"], failure["next_action"] = p.Code, p.Detail, httpserver.NextAction(p)
	failure["retryable"] = p.Kind.Temporary() || p.RetryAfter > 0
	if after := httpserver.RetryAfterSeconds(p); after > 0 {
		failure["retry_after_seconds"] = after
	}
	if len(p.Items) > 0 {
		failure["errors"] = p.Items
	}
	if next := callAfter(p); next != nil {
		failure["next_call"] = next
	}
	if call.RequestID != "" {
		failure["request_id"] = call.RequestID
	}
	return errorResult(failure)
}

// errorResult is the result of a call that failed.
func errorResult(failure map[string]any) *mcp.Result {
	text, err := json.Marshal(map[string]any{"error": failure})
	if err != nil { // members that cannot be encoded
		text, _ = json.Marshal(map[string]any{
			"error": map[string]any{"code": failure["code"], "message": failure["message"]},
		})
	}
	return &mcp.Result{Content: []mcp.Content{mcp.Text(string(text))}, IsError: true}
}

// callAfter returns the call that helps after a problem, or nil.
func callAfter(p *problem.Problem) *nextCall {
	about := func(tool string, members ...string) *nextCall {
		next := &nextCall{tool, map[string]any{}}
		for _, name := range members {
			if value, ok := p.Members[name].(string); ok && value != "" {
				next.Arguments[name] = value
			}
		}
		return next
	}
	near, _ := p.Members["did_you_mean"].([]string)
	switch p.Code {
	case "not_connected", "reconnect_required", "insufficient_scope":
		if p.NextAction == "ask_owner_to_connect" {
			return nil
		}
		return about("connect_app", "app", "connection_id")
	case "connection_ambiguous", "connection_not_found":
		return about("list_connections", "app")
	case "run_timeout", "run_in_progress", "run_not_over":
		return about("run_tool", "run_id")
	case "tool_not_found":
		if len(near) > 0 {
			return &nextCall{"get_tool", map[string]any{"tool": near[0]}}
		}
	case "app_not_found":
		if len(near) > 0 {
			return &nextCall{"search_apps", map[string]any{"query": near[0]}}
		}
	}
	return nil
}
