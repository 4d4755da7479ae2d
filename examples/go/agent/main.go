// Command agent is a chat with a model that can use an app of your account, with
// the standard library: REST for the tools, and OpenAI's chat completions, which
// most model servers speak.
//
//	ACE_PLATFORM_URL=http://127.0.0.1:8081 ACE_API_KEY=… OPENAI_API_KEY=… go run .
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

type message struct {
	Role      string     `json:"role"`
	Content   string     `json:"content"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// chat is the conversation with the model.
type chat struct {
	platform, model string // base URLs
	client          *http.Client
	messages        []message
	tools           []json.RawMessage
}

func main() {
	c := &chat{
		platform: cmp.Or(os.Getenv("ACE_PLATFORM_URL"), "http://127.0.0.1:8081") + "/api/v1",
		model:    cmp.Or(os.Getenv("OPENAI_BASE_URL"), "https://api.openai.com/v1"),
		client:   &http.Client{Timeout: 2 * time.Minute},
		messages: []message{{
			Role:    "system",
			Content: "You write notes. If the app is not connected, show the user the link to connect it.",
		}},
	}
	if err := c.run(context.Background()); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (c *chat) run(ctx context.Context) error {
	var listed struct {
		Tools []struct {
			Definition json.RawMessage `json:"definition"`
		} `json:"tools"`
	}
	page, err := c.call(ctx, http.MethodGet, c.platform+"/tools?app=demo-notes&format=openai", "ACE_API_KEY", nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(page, &listed); err != nil {
		return err
	}
	for _, one := range listed.Tools {
		c.tools = append(c.tools, one.Definition)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		c.messages = append(c.messages, message{Role: "user", Content: lines.Text()})
		said, err := c.complete(ctx)
		for err == nil && len(said.ToolCalls) > 0 {
			if err = c.runTools(ctx, said.ToolCalls); err == nil {
				said, err = c.complete(ctx)
			}
		}
		if err != nil {
			return err
		}
		fmt.Println(said.Content)
	}
	return lines.Err()
}

// complete returns what the model says next.
func (c *chat) complete(ctx context.Context) (message, error) {
	text, err := c.call(ctx, http.MethodPost, c.model+"/chat/completions", "OPENAI_API_KEY", map[string]any{
		"model": cmp.Or(os.Getenv("MODEL"), "gpt-5"), "messages": c.messages, "tools": c.tools,
	})
	if err != nil {
		return message{}, err
	}
	var reply struct{ Choices []struct{ Message message } }
	if err := json.Unmarshal(text, &reply); err != nil || len(reply.Choices) == 0 {
		return message{}, fmt.Errorf("the model returned %s", text)
	}
	said := reply.Choices[0].Message
	c.messages = append(c.messages, said)
	return said, nil
}

// runTools adds the results of the calls. A refusal of the platform is for the
// model, too: it says what to do, with a link if the app is not connected.
func (c *chat) runTools(ctx context.Context, calls []toolCall) error {
	for _, one := range calls {
		result, err := c.call(ctx, http.MethodPost, c.platform+"/tools/"+one.Function.Name+"/run", "ACE_API_KEY",
			map[string]any{"arguments": json.RawMessage(one.Function.Arguments)})
		if err != nil {
			return err
		}
		c.messages = append(c.messages, message{Role: "tool", CallID: one.ID, Content: string(result)})
	}
	return nil
}

// call sends JSON with the key of a variable and returns the body of the response.
func (c *chat) call(ctx context.Context, method, url, key string, body any) ([]byte, error) {
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, url, &sent)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv(key))
	request.Header.Set("Content-Type", "application/json")
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusUnauthorized || response.StatusCode >= http.StatusInternalServerError {
		return nil, fmt.Errorf("%s responded with %s: %s", url, response.Status, text)
	}
	return text, nil
}
