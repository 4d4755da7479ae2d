package examples

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// The scripted model. It speaks the wire formats of OpenAI (chat completions and
// responses) and Anthropic (messages), refuses what these vendors refuse, and
// says the same in all of them:
//
//	user   Write a note: TITLE
//	model  finds a tool, if it can, and runs it; the app is not connected
//	model  Open URL
//	user   anything
//	model  runs the tool again, and lists what there is in the same message
//	model  Written: TITLE

// turn is a part of a conversation, in whichever format it came.
type turn struct {
	user    string
	calls   []toolCall
	results []toolResult
}

type toolCall struct {
	id, name string
	input    map[string]any
}

type toolResult struct{ id, text string }

// next returns what the model says after a conversation: a text, or calls.
func next(turns []turn, tools []string) (text string, calls []toolCall, err error) {
	title, found := "", ""
	for i, one := range turns {
		if i == 0 {
			var ok bool
			if title, ok = strings.CutPrefix(one.user, "Write a note: "); !ok {
				return "", nil, fmt.Errorf("the conversation starts with %+v", one)
			}
		}
		for _, call := range one.calls {
			if call.name == "run_tool" {
				found = fmt.Sprint(call.input["tool"])
			}
		}
	}
	direct := slices.Contains(tools, "demo_notes__create_note")
	run := func(id string) toolCall {
		if direct {
			return toolCall{id, "demo_notes__create_note", map[string]any{"title": title}}
		}
		return toolCall{id, "run_tool", map[string]any{"tool": found, "arguments": map[string]any{"title": title}}}
	}
	last := turns[len(turns)-1]
	switch {
	case len(turns) == 1 && direct:
		return "", []toolCall{run("call_1")}, nil
	case len(turns) == 1:
		return "", []toolCall{{"call_0", "find_tools", map[string]any{
			"task": "write a note", "apps": []string{"demo-notes"}, "limit": 1,
		}}}, nil
	case last.user != "":
		list := toolCall{"call_3", "list_connections", map[string]any{"app": "demo-notes"}}
		if direct {
			list = toolCall{"call_3", "demo_notes__list_notes", map[string]any{"limit": 1}}
		}
		return "", []toolCall{run("call_2"), list}, nil
	}
	var result struct {
		OK     bool
		Code   string
		Output struct{ Title string }
		Error  struct {
			Code       string
			ConnectURL string `json:"connect_url"`
		}
		Connect struct{ URL string } // of a problem, to which REST alone leads
		Tools   []struct{ Tool string }
	}
	if err := json.Unmarshal([]byte(last.results[0].text), &result); err != nil {
		return "", nil, fmt.Errorf("the result of a tool is no JSON: %w", err)
	}
	switch {
	case len(result.Tools) > 0:
		found = result.Tools[0].Tool
		return "", []toolCall{run("call_1")}, nil
	case result.Error.Code == "not_connected":
		return "Open " + result.Error.ConnectURL, nil, nil
	case result.Code == "not_connected":
		return "Open " + result.Connect.URL, nil, nil
	case result.OK && len(last.results) == 2:
		return "Written: " + result.Output.Title, nil, nil
	}
	return "", nil, fmt.Errorf("the results are %+v", last.results)
}

// startModel serves the scripted model and returns its URL.
func startModel(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(path string, vendor func(r *http.Request, body map[string]any) (any, error)) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			var body map[string]any
			err := json.NewDecoder(r.Body).Decode(&body)
			var answer any
			if err == nil {
				answer, err = vendor(r, body)
			}
			w.Header().Set("Content-Type", "application/json")
			if err != nil {
				w.WriteHeader(http.StatusBadRequest)
				answer = map[string]any{
					"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": err.Error()},
				}
			}
			_ = json.NewEncoder(w).Encode(answer)
		})
	}
	serve("/v1/chat/completions", chatCompletion)
	serve("/v1/responses", response)
	serve("/v1/messages", anthropicMessage)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// object, list and text read decoded JSON; what has another type is empty.
func object(value any) map[string]any { o, _ := value.(map[string]any); return o }
func list(value any) []any            { l, _ := value.([]any); return l }
func text(value any) string           { s, _ := value.(string); return s }

func arguments(call toolCall) string {
	encoded, err := json.Marshal(call.input)
	if err != nil {
		panic(err) // written above
	}
	return string(encoded)
}

// answered returns an error unless the results answer exactly the open calls, as
// all vendors demand.
func answered(open []toolCall, results []toolResult) error {
	var want, got []string
	for _, call := range open {
		want = append(want, call.id)
	}
	for _, result := range results {
		got = append(got, result.id)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return fmt.Errorf("calls %v have the results %v", want, got)
	}
	return nil
}

// toolNames reads the names of function definitions. Each needs a schema.
func toolNames(tools []any, part func(map[string]any) (name, schema any)) ([]string, error) {
	var names []string
	for _, one := range tools {
		name, schema := part(object(one))
		if text(name) == "" || object(schema)["type"] != "object" {
			return nil, fmt.Errorf("a tool has no name or no schema: %v", one)
		}
		names = append(names, text(name))
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there are no tools")
	}
	return names, nil
}

func bearer(r *http.Request) error {
	if r.Header.Get("Authorization") != "Bearer "+modelKey {
		return fmt.Errorf("incorrect API key")
	}
	return nil
}

// chatCompletion is https://platform.openai.com/docs/api-reference/chat/create.
func chatCompletion(r *http.Request, body map[string]any) (any, error) {
	if err := bearer(r); err != nil {
		return nil, err
	}
	names, err := toolNames(list(body["tools"]), func(one map[string]any) (any, any) {
		function := object(one["function"])
		return function["name"], function["parameters"]
	})
	if err != nil || text(body["model"]) == "" {
		return nil, fmt.Errorf("model %v: %w", body["model"], err)
	}
	var turns []turn
	var open []toolCall
	var results []toolResult
	for _, one := range list(body["messages"]) {
		message := object(one)
		if role := text(message["role"]); role != "tool" && len(open) > 0 {
			return nil, fmt.Errorf("tool_calls %v are followed by a message of %s", open, role)
		}
		switch text(message["role"]) {
		case "system", "developer":
		case "user":
			turns = append(turns, turn{user: text(message["content"])})
		case "assistant":
			for _, each := range list(message["tool_calls"]) {
				call := object(each)
				function := object(call["function"])
				var input map[string]any
				if err := json.Unmarshal([]byte(text(function["arguments"])), &input); err != nil {
					return nil, fmt.Errorf("the arguments of a call came back changed: %w", err)
				}
				open = append(open, toolCall{text(call["id"]), text(function["name"]), input})
			}
			if len(open) > 0 {
				turns = append(turns, turn{calls: open})
			}
		case "tool":
			results = append(results, toolResult{text(message["tool_call_id"]), text(message["content"])})
			if len(results) == len(open) {
				if err := answered(open, results); err != nil {
					return nil, err
				}
				turns = append(turns, turn{results: results})
				open, results = nil, nil
			}
		default:
			return nil, fmt.Errorf("a message has the role %v", message["role"])
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("tool_calls %v have no results", open)
	}
	said, calls, err := next(turns, names)
	if err != nil {
		return nil, err
	}
	message := map[string]any{"role": "assistant", "content": said, "refusal": nil}
	finish := "stop"
	if len(calls) > 0 {
		var wire []any
		for _, call := range calls {
			wire = append(wire, map[string]any{"id": call.id, "type": "function", "function": map[string]any{
				"name": call.name, "arguments": arguments(call),
			}})
		}
		message["content"], message["tool_calls"], finish = nil, wire, "tool_calls"
	}
	return map[string]any{
		"id": "chatcmpl_1", "object": "chat.completion", "created": 1, "model": body["model"],
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish, "logprobs": nil}},
		"usage":   map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
	}, nil
}

// response is https://platform.openai.com/docs/api-reference/responses/create.
func response(r *http.Request, body map[string]any) (any, error) {
	if err := bearer(r); err != nil {
		return nil, err
	}
	names, err := toolNames(list(body["tools"]), func(one map[string]any) (any, any) {
		if one["type"] != "function" {
			return nil, nil
		}
		return one["name"], one["parameters"]
	})
	if err != nil || text(body["model"]) == "" {
		return nil, fmt.Errorf("model %v: %w", body["model"], err)
	}
	var turns []turn
	var open []toolCall
	var results []toolResult
	for _, one := range list(body["input"]) {
		item := object(one)
		switch {
		case item["type"] == "function_call":
			var input map[string]any
			if err := json.Unmarshal([]byte(text(item["arguments"])), &input); err != nil {
				return nil, fmt.Errorf("the arguments of a call came back changed: %w", err)
			}
			open = append(open, toolCall{text(item["call_id"]), text(item["name"]), input})
		case item["type"] == "function_call_output":
			results = append(results, toolResult{text(item["call_id"]), text(item["output"])})
			if len(results) == len(open) {
				if err := answered(open, results); err != nil {
					return nil, err
				}
				turns = append(turns, turn{calls: open}, turn{results: results})
				open, results = nil, nil
			}
		case item["role"] == "user":
			turns = append(turns, turn{user: text(item["content"])})
		case item["type"] == "message" && item["role"] == "assistant":
		default:
			return nil, fmt.Errorf("an item of the input is %v", item)
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("no tool output found for function calls %v", open)
	}
	said, calls, err := next(turns, names)
	if err != nil {
		return nil, err
	}
	output := []any{map[string]any{
		"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
		"content": []any{map[string]any{"type": "output_text", "text": said, "annotations": []any{}}},
	}}
	if len(calls) > 0 {
		output = nil
		for _, call := range calls {
			output = append(output, map[string]any{
				"type": "function_call", "id": "fc_" + call.id, "call_id": call.id, "status": "completed",
				"name": call.name, "arguments": arguments(call),
			})
		}
	}
	return map[string]any{
		"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": body["model"],
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": body["tools"], "output": output,
	}, nil
}

// anthropicMessage is https://docs.anthropic.com/en/api/messages.
func anthropicMessage(r *http.Request, body map[string]any) (any, error) {
	limit, _ := body["max_tokens"].(float64)
	if r.Header.Get("X-Api-Key") != modelKey && bearer(r) != nil { // older SDKs send the first
		return nil, fmt.Errorf("incorrect API key")
	}
	if r.Header.Get("Anthropic-Version") == "" || limit < 1 {
		return nil, fmt.Errorf("anthropic-version and max_tokens are required")
	}
	names, err := toolNames(list(body["tools"]), func(one map[string]any) (any, any) {
		return one["name"], one["input_schema"]
	})
	if err != nil || text(body["model"]) == "" {
		return nil, fmt.Errorf("model %v: %w", body["model"], err)
	}
	var turns []turn
	var open []toolCall
	for i, one := range list(body["messages"]) {
		message := object(one)
		if want := []string{"user", "assistant"}[i%2]; message["role"] != want {
			return nil, fmt.Errorf("message %d is of %v, want %s: roles alternate", i, message["role"], want)
		}
		current := turn{user: text(message["content"])}
		for _, each := range list(message["content"]) {
			block := object(each)
			switch block["type"] {
			case "text":
			case "tool_use":
				current.calls = append(current.calls,
					toolCall{text(block["id"]), text(block["name"]), object(block["input"])})
			case "tool_result":
				current.results = append(current.results,
					toolResult{text(block["tool_use_id"]), text(block["content"])})
			default:
				return nil, fmt.Errorf("a block is %v", block)
			}
		}
		if err := answered(open, current.results); err != nil {
			return nil, err
		}
		open = current.calls
		if current.user != "" || current.calls != nil || current.results != nil {
			turns = append(turns, current)
		}
	}
	said, calls, err := next(turns, names)
	if err != nil {
		return nil, err
	}
	content, reason := []any{map[string]any{"type": "text", "text": said, "citations": nil}}, "end_turn"
	if len(calls) > 0 {
		content, reason = nil, "tool_use"
		for _, call := range calls {
			content = append(content, map[string]any{
				"type": "tool_use", "id": call.id, "name": call.name, "input": call.input,
			})
		}
	}
	return map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
		"stop_reason": reason, "stop_sequence": nil, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1},
	}, nil
}
