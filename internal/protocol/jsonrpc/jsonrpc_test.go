package jsonrpc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ace/internal/foundation/jsonread"
	"ace/internal/protocol/jsonrpc"

	"github.com/google/go-cmp/cmp"
)

// summary formats a message in one line, so that tables stay readable.
func summary(m jsonrpc.Message) string {
	kind := map[jsonrpc.Kind]string{
		jsonrpc.Request: "request", jsonrpc.Notification: "notification",
		jsonrpc.Response: "response", jsonrpc.Invalid: "invalid",
	}[m.Kind]
	parts := []string{kind}
	if m.ID != nil {
		parts = append(parts, "id="+string(m.ID))
	}
	if m.Method != "" {
		parts = append(parts, m.Method)
	}
	if m.Params != nil && m.Params.Kind() != jsonread.Absent {
		parts = append(parts, string(m.Params.Raw()))
	}
	if m.Err != nil {
		parts = append(parts, m.Err.Message)
	}
	return strings.Join(parts, " ")
}

func TestParse(t *testing.T) {
	t.Parallel()
	const either = "invalid Invalid request: a message has either a method, or an id with a result or an error."
	tests := []struct {
		name, body string
		want       []string
		batch      bool
		fault      string
	}{
		{name: "request", body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, want: []string{"request id=1 ping"}},
		{
			name: "string id", body: ` { "method" : "ping" , "id" : "a\"}b" , "jsonrpc" : "2.0" } `,
			want: []string{`request id="a\"}b" ping`},
		},
		{name: "negative id", body: `{"jsonrpc":"2.0","id":-7,"method":"ping"}`, want: []string{"request id=-7 ping"}},
		{
			name: "big id is echoed as it is", body: `{"jsonrpc":"2.0","id":12345678901234567890123,"method":"ping"}`,
			want: []string{"request id=12345678901234567890123 ping"},
		},
		{
			name: "params", body: `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,{"b":"]}"}],"id":2}}`,
			want: []string{`request id=1 m {"a":[1,{"b":"]}"}],"id":2}`},
		},
		{
			name: "escaped field name", body: `{"jsonrpc":"2.0","\u0069d":1,"method":"ping"}`,
			want: []string{"request id=1 ping"},
		},
		{
			name: "notification", body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			want: []string{"notification notifications/initialized"},
		},
		{name: "response", body: `{"jsonrpc":"2.0","id":1,"result":{}}`, want: []string{"response id=1"}},
		{
			name: "error response", body: `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`,
			want: []string{"response id=1"},
		},
		{
			name:  "batch",
			body:  `[{"jsonrpc":"2.0","id":1,"method":"a"}, {"jsonrpc":"2.0","method":"b"},3]`,
			batch: true,
			want: []string{
				"request id=1 a", "notification b",
				"invalid Invalid request: each message must be an object.",
			},
		},
		{name: "empty batch", body: `[ ]`, batch: true},
		{
			name: "no version", body: `{"id":1,"method":"ping"}`,
			want: []string{`invalid id=1 Invalid request: the field jsonrpc must be "2.0".`},
		},
		{
			name: "version as number", body: `{"jsonrpc":2.0,"id":1,"method":"ping"}`,
			want: []string{`invalid id=1 Invalid request: the field jsonrpc must be "2.0".`},
		},
		{
			name: "null id", body: `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
			want: []string{"invalid Invalid request: the id must be a string or an integer."},
		},
		{
			name: "fraction id", body: `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
			want: []string{"invalid Invalid request: the id must be a string or an integer."},
		},
		{
			name: "object id", body: `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
			want: []string{"invalid Invalid request: the id must be a string or an integer."},
		},
		{
			name: "method is not a string", body: `{"jsonrpc":"2.0","id":1,"method":7}`,
			want: []string{"invalid id=1 Invalid request: the method must be a string."},
		},
		{
			name: "method is null", body: `{"jsonrpc":"2.0","id":1,"method":null}`,
			want: []string{"invalid id=1 Invalid request: the method must be a string."},
		},
		{
			name: "wrong case is another field", body: `{"jsonrpc":"2.0","ID":1,"Method":"ping"}`,
			want: []string{either},
		},
		{
			name: "both", body: `{"jsonrpc":"2.0","id":1,"method":"m","result":1}`,
			want: []string{strings.Replace(either, "invalid ", "invalid id=1 ", 1)},
		},
		{name: "number", body: `7`, fault: "Invalid request: send a JSON-RPC object."},
		{name: "not JSON", body: `{"jsonrpc":`, fault: "Parse error: The JSON ends too early, at line 1, column 12."},
		{
			name: "duplicate", body: `{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`,
			fault: `Parse error: The field "id" appears twice in one object at line 1, column 25.`,
		},
		{name: "not UTF-8", body: "\"\xff\"", fault: "Parse error: The text is not valid UTF-8 at line 1, column 2."},
		{name: "empty", body: "", fault: "Parse error: The body is empty. Send a JSON value."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body, fault := jsonrpc.Parse([]byte(tt.body))
			if fault != nil || tt.fault != "" {
				if fault == nil || fault.Message != tt.fault || fault.Status != 400 {
					t.Errorf("Parse(%s) fault = %+v, want %q", tt.body, fault, tt.fault)
				}
				return
			}
			var got []string
			for _, m := range body.Messages {
				got = append(got, summary(m))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || body.Batch != tt.batch {
				t.Errorf("Parse(%s) batch %v (-want +got):\n%s", tt.body, body.Batch, diff)
			}
		})
	}
}

func TestAppend(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, got, want string }{
		{
			"result", string(jsonrpc.AppendResult(nil, json.RawMessage(`"a"`), json.RawMessage(`{"x":1}`))),
			`{"jsonrpc":"2.0","id":"a","result":{"x":1}}`,
		},
		{
			"error without id",
			string(jsonrpc.AppendError(nil, nil, &jsonrpc.Error{Code: -32700, Message: "no", Status: 400})),
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`,
		},
		{
			"error with data",
			string(jsonrpc.AppendError(nil, json.RawMessage(`3`),
				&jsonrpc.Error{Code: 429, Message: "wait", Data: map[string]int{"retryAfterSeconds": 1}})),
			`{"jsonrpc":"2.0","id":3,"error":{"code":429,"message":"wait","data":{"retryAfterSeconds":1}}}`,
		},
		{
			"error of no message",
			string(jsonrpc.AppendErrorWithoutID(nil, &jsonrpc.Error{Code: -32600, Message: "no"})),
			`{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}`,
		},
		{
			"data that cannot be encoded",
			string(jsonrpc.AppendError(nil, json.RawMessage(`3`),
				&jsonrpc.Error{Code: 1, Message: "m", Data: func() {}})),
			`{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"m"}}`,
		},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s = %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}

func TestErrorName(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]string{
		-32700: "rpc_parse_error", -32600: "rpc_invalid_request", -32601: "rpc_method_not_found",
		-32602: "rpc_invalid_params", -32603: "rpc_internal_error", 429: "rpc_429",
	} {
		if got := (&jsonrpc.Error{Code: code}).Name(); got != want {
			t.Errorf("Name of %d = %q, want %q", code, got, want)
		}
	}
}

// Parse agrees with encoding/json about the fields it finds, and never panics.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`[{"jsonrpc":"2.0","id":"x","method":"m","params":[1,"]",{"a":"\\\""}]},null,[],7]`,
		`{"jsonrpc":"2.0","result":{},"id":0}`, `{}`, `[]`, `[[]]`, `"\u0000"`, `{"":{"":[{}]}}`, `{"id":-}`,
		` {"id" : 1e5 }`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		body, fault := jsonrpc.Parse(data)
		if fault != nil {
			return
		}
		var entries []json.RawMessage
		if !body.Batch {
			entries = []json.RawMessage{data}
		} else if err := json.Unmarshal(data, &entries); err != nil {
			t.Fatalf("Parse took %q, json says %v", data, err)
		}
		if len(entries) != len(body.Messages) {
			t.Fatalf("Parse(%q) found %d messages, json %d", data, len(body.Messages), len(entries))
		}
		for i, m := range body.Messages {
			if m.Kind == jsonrpc.Invalid {
				continue
			}
			var members map[string]json.RawMessage
			if err := json.Unmarshal(entries[i], &members); err != nil {
				t.Fatalf("Parse took %q, json says %v", entries[i], err)
			}
			if string(members["id"]) != string(m.ID) || string(members["params"]) != string(m.Params.Raw()) {
				t.Errorf(
					"Parse(%q) = id %q params %q, json finds %q %q",
					entries[i],
					m.ID,
					m.Params.Raw(),
					members["id"],
					members["params"],
				)
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	data := []byte(
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_products",` +
			`"arguments":{"query":"camera","available":true,"cursor":"abc"}}}`,
	)
	b.ReportAllocs()
	for b.Loop() {
		if _, fault := jsonrpc.Parse(data); fault != nil {
			b.Fatal(fault)
		}
	}
}
