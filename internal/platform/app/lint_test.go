package app_test

import (
	"strings"
	"testing"

	"ace/internal/platform/app"
)

// sound is a definition without a fault.
const sound = `
id: desk
name: Desk
about: Keeps tickets.
docs: https://desk.example/docs
checked: 2026-11-21
categories: [support]
base: https://{tenant}.desk.example/api
params: {tenant: {title: Tenant, match: "^[a-z]+$"}}
auth:
  - {id: key, type: key, fields: [{name: key, secret: true}], send: {headers: {Authorization: "Bearer {key}"}}}
  - id: oauth
    type: oauth2
    oauth: {authorize: {url: "https://{tenant}.desk.example/authorize"}, token: {url: https://desk.example/token}}
who: {get: /me, id: /id}
paging: {type: cursor, out: /next, in: cursor}
tools:
  list_tickets:
    call: GET /tickets
    title: List tickets
    about: Lists tickets.
    phrases: [show tickets, which tickets are open]
    in: {cursor: string, status: {enum: [open, closed]}}
    items: /tickets
    example: {status: open}
  close_ticket:
    call: POST /tickets/{id}/close
    title: Close ticket
    about: Closes a ticket.
    phrases: [close a ticket, finish a ticket]
    in: {id!: string, labels: [string]}
  send_file:
    call: POST /files
    title: Send file
    about: Sends a file.
    phrases: [send a file, upload a picture]
    body: related
    in: {name!: {type: string, wire: /meta/name, as: "{}.txt"}, content!: {type: string, where: media}}
    fixed: {body: {/meta/by: "{tenant}"}}
  ask:
    call: POST /graphql
    title: Ask
    about: Asks anything.
    phrases: [ask a question, look something up]
    graphql: "query($filter: F!, $first: Int) { tickets(filter: $filter, first: $first) { id } }"
    in: {title!: {type: string, wire: /filter/title}, first: integer}
triggers:
  new_ticket: {title: New ticket, about: A ticket was opened., poll: {call: GET /tickets, items: /tickets, id: /id}}
`

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, change, to, want string }{
		{"nothing", "", "", ""},
		{"an id with capitals", "id: desk", "id: Desk", "id: "},
		{"no sentence about it", "about: Keeps tickets.", "about: ''", "name: "},
		{"no date", "checked: 2026-11-21", "checked: yesterday", "checked: "},
		{
			"an app without tools that nobody verified", "checked: 2026-11-21", "checked: 2026-11-21\ntier: request",
			"verified: ",
		},
		{"no category", "categories: [support]", "categories: []", "categories: "},
		{"plain http", "base: https", "base: http", "base: "},
		{"an unknown value in the base", "{tenant}.desk.example/api", "{tenent}.desk.example/api", "{tenent}"},
		{"an open pattern", `"^[a-z]+$"`, `"[a-z]+"`, "params/tenant/match"},
		{"no fields", "fields: [{name: key, secret: true}], ", "", "auth/key/fields"},
		{"an unknown value in a header", "Bearer {key}", "Bearer {token}", "{token}"},
		{"an unknown type", "type: oauth2", "type: oauth3", "auth/oauth/type"},
		{"two schemes of one id", "id: oauth", "id: key", "two schemes"},
		{"who without a pointer", "id: /id}", "tenant: /t}", "who: "},
		{"a call without a method", "call: GET /tickets", "call: /tickets", "tools/list_tickets/call"},
		{"an input that is missing", "/tickets/{id}/close", "/tickets/{number}/close", "{number}"},
		{"an optional input in the path", "id!: string", "id: string", "not required"},
		{"about without a sentence", "about: Closes a ticket.", "about: Closes", "tools/close_ticket/about"},
		{
			"one phrase", "phrases: [close a ticket, finish a ticket]", "phrases: [close a ticket]",
			"tools/close_ticket/phrases",
		},
		{"an array of anything", "labels: [string]", "labels: {type: array}", "entries"},
		{"paging by nothing", "in: {cursor: string, status", "in: {status", "goes on by"},
		{"an example that does not fit", "example: {status: open}", "example: {status: lost}", "example"},
		{"a body that is unknown", "body: related", "body: yaml", "tools/send_file/body"},
		{"media of a body that is not related", "    body: related\n", "", "where: media"},
		{"mail that goes nowhere", "where: media", "where: mail", "tools/send_file/mail"},
		{
			"a header that says where a call goes",
			"send: {headers: {Authorization:",
			"send: {headers: {hOST:",
			"header Host",
		},
		{"a header that ends elsewhere", "send: {headers: {Authorization:", `send: {headers: {"A: b\r\nC":`, "no name"},
		{"a header of two lines", `"Bearer {key}"`, `"Bearer {key}\r\nHost: desk.example"`, "line break"},
		{
			"an input that says where a call goes",
			"in: {cursor: string,",
			"in: {cursor: string, to: {type: string, wire: Host, where: header},",
			"header Host",
		},
		{"a call that leads upwards", "call: POST /files", "call: POST /files/../admin", "upwards"},
		{"a call that leads upwards, written otherwise", "call: POST /files", "call: POST /files/%2E%2e/a", "upwards"},
		{"a base that leads upwards", "desk.example/api", "desk.example/api/../v2", "upwards"},
		{"an unknown value in a fixed body", `/meta/by: "{tenant}"`, `/meta/by: "{tenent}"`, "{tenent}"},
		{"an unknown value in a shape", `as: "{}.txt"`, `as: "{name}.txt"`, "{name}"},
		{
			"a pointer that is no place in a query", "status: {enum: [open, closed]}",
			"status: {enum: [open, closed], wire: /status}", "does not go into the body",
		},
		{"a variable that is not sent", "wire: /filter/title", "wire: /search/title", "$filter is required"},
		{"a variable that is not declared", "first: integer", "last: integer", "nothing declares $last"},
		{
			"an event that never comes",
			", poll: {call: GET /tickets, items: /tickets, id: /id}",
			"",
			"triggers/new_ticket",
		},
		{"an event without a sentence", "A ticket was opened.", "A ticket", "triggers/new_ticket/about"},
		{"an event that needs what is not asked for", "was opened., ", "was opened., scopes: [read], ", "/scopes"},
		{"an input of an event that nothing names", "was opened., ", "was opened., in: {team: string}, ", "/in/team"},
		{"an event without a source", "was opened., ", "was opened., sample: {id: 1}, ", "triggers/new_ticket/docs"},
		{"a row as identity", "items: /tickets, id: /id}", "items: /tickets, id: /index}", "poll/id"},
		{"a time that nobody writes", "tickets, id: /id}", "tickets, id: /id, time: stardate}", "poll/time"},
		{
			"a cursor that nothing moves", "GET /tickets, items: /tickets, id",
			"GET /tickets, query: {after: '{cursor}'}, items: /tickets, id", "poll/cursor",
		},
		{
			"a first call without a cursor", "GET /tickets, items: /tickets, id",
			"POST /search, body: {after: '{cursor}'}, cursor: /at, items: /tickets, id", "poll/cursor",
		},
		{"a name with a dash", "close_ticket:", "close-ticket:", "tools/close-ticket"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(sound, tt.change, tt.to, 1)
			if tt.change != "" && text == sound {
				t.Fatalf("%q is not in the definition", tt.change)
			}
			a, err := app.Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, f := range a.Check(false) {
				all = append(all, f.String())
			}
			got := strings.Join(all, "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("Check:\n%s\nwant %q", got, tt.want)
			}
		})
	}
}
