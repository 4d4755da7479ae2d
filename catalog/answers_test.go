package catalog_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/platform/app"
	"ace/internal/platform/httptool"
	"ace/internal/platform/tool"
)

// called runs a tool with its example against an answer.
func called(t *testing.T, id string, answer func(w http.ResponseWriter)) (*tool.Answer, error) {
	t.Helper()
	c, err := app.NewCatalog(curated(t)...)
	if err != nil {
		t.Fatal(err)
	}
	a, of, err := c.Tool(id)
	if err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, "")
	p.answer = answer
	return httptool.New(p, nil).Execute(t.Context(),
		&tool.Call{
			App: a, Scheme: &a.Schemes[0], Tool: of, Live: live(a, &a.Schemes[0]), Arguments: filled(t, of),
			Open: openFile,
		})
}

func answering(status int, body string, header ...string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// TestRefusals holds how vendors refuse against what the definitions make of it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, tool, code, detail string
		answer                   func(w http.ResponseWriter)
	}{
		{
			"Slack with status 200", "slack__send_message", tool.CodeNotFound, "channel_not_found",
			answering(200, `{"ok":false,"error":"channel_not_found"}`),
		},
		{
			"Slack, token over", "slack__send_message", tool.CodeUnauthorized, "token_revoked",
			answering(200, `{"ok":false,"error":"token_revoked"}`),
		},
		{
			"Telegram", "telegram__send_message", tool.CodeForbidden, "Forbidden: bot was blocked by the user",
			answering(403, `{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}`),
		},
		{
			"GraphQL with status 200", "linear__create_issue", tool.CodeRateLimited, "slow",
			answering(200, `{"errors":[{"message":"slow","extensions":{"code":"RATELIMITED"}}],"data":null}`),
		},
		{
			"user errors of Shopify",
			"shopify__create_product",
			tool.CodeBadRequest,
			"Title is taken",
			answering(
				200,
				`{"data":{"productCreate":{"product":null,"userErrors":[{"field":["title"],`+
					`"message":"Title is taken"}]}}}`,
			),
		},
		{
			"Shopify throttled", "shopify__list_orders", tool.CodeRateLimited, "Throttled",
			answering(200, `{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}]}`),
		},
		{
			"a list of errors", "salesforce__get_record", tool.CodeUnauthorized, "Session expired or invalid",
			answering(401, `[{"message":"Session expired or invalid","errorCode":"INVALID_SESSION_ID"}]`),
		},
		{
			"Dropbox, nested", "dropbox__get_metadata", tool.CodeNotFound, "path/not_found/..",
			answering(409,
				`{"error_summary":"path/not_found/..","error":{".tag":"path","path":{".tag":"not_found"}}}`),
		},
		{
			"GitHub out of calls", "github__list_issues", tool.CodeRateLimited, "API rate limit exceeded",
			answering(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0"),
		},
		{
			"GitHub forbids", "github__list_issues", tool.CodeForbidden, "Resource not accessible",
			answering(403, `{"message":"Resource not accessible"}`, "X-RateLimit-Remaining", "5"),
		},
		{
			"Stripe",
			"stripe__refund_payment",
			tool.CodeNotFound,
			"No such payment_intent",
			answering(
				400,
				`{"error":{"code":"resource_missing","type":"invalid_request_error",`+
					`"message":"No such payment_intent"}}`,
			),
		},
		{
			"Google, slow down", "google_drive__search_files", tool.CodeRateLimited, "Rate Limit Exceeded",
			answering(403, `{"error":{"message":"Rate Limit Exceeded","errors":[{"reason":"rateLimitExceeded"}]}}`),
		},
		{
			"Google, forbidden", "google_drive__search_files", tool.CodeForbidden, "no",
			answering(403, `{"error":{"message":"no","errors":[{"reason":"insufficientFilePermissions"}]}}`),
		},
		{
			"Graph", "outlook__get_email", tool.CodeNotFound, "gone",
			answering(404, `{"error":{"code":"ErrorItemNotFound","message":"gone"}}`),
		},
		{
			"Twilio", "twilio__send_sms", tool.CodeBadRequest, "The 'To' number is not valid",
			answering(400, `{"code":21211,"message":"The 'To' number is not valid"}`),
		},
		{
			"Pipedrive", "pipedrive__create_deal", tool.CodeBadRequest, "title is required",
			answering(400, `{"success":false,"error":"title is required"}`),
		},
		{
			"HubSpot conflict", "hubspot__create_contact", tool.CodeConflict, "Contact already exists",
			answering(409, `{"status":"error","message":"Contact already exists","category":"CONFLICT"}`),
		},
		{
			"Notion", "notion__get_page", tool.CodeNotFound, "Could not find page",
			answering(404, `{"object":"error","code":"object_not_found","message":"Could not find page"}`),
		},
		{
			"Jira", "jira__create_issue", tool.CodeBadRequest, "Specify a summary",
			answering(400, `{"errorMessages":["Specify a summary"],"errors":{}}`),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := called(t, tt.tool, tt.answer)
			var failure *tool.Failure
			if !errors.As(err, &failure) || failure.Code != tt.code || failure.Detail != tt.detail {
				t.Errorf("%s = %+v, want %s %q", tt.tool, err, tt.code, tt.detail)
			}
		})
	}
}

// TestNextPages holds how vendors page against the arguments of the next call.
func TestNextPages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, tool string
		answer     func(w http.ResponseWriter)
		want       map[string]any // what the next call has besides; nil: there is none
	}{
		{
			"a cursor", "slack__read_channel",
			answering(200, `{"ok":true,"messages":[{}],"response_metadata":{"next_cursor":"c2"}}`),
			map[string]any{"cursor": "c2"},
		},
		{
			"an empty cursor", "slack__read_channel",
			answering(200, `{"ok":true,"messages":[{}],"response_metadata":{"next_cursor":""}}`), nil,
		},
		{
			"a link", "github__list_issues",
			answering(200, `[{}]`, "Link",
				`<https://api.github.com/repositories/1/issues?page=2&per_page=30>; rel="next"`),
			map[string]any{"page": json.Number("2")},
		},
		{
			"the last entry", "stripe__list_customers",
			answering(200, `{"data":[{"id":"cus_1"},{"id":"cus_2"}],"has_more":true}`),
			map[string]any{"starting_after": "cus_2"},
		},
		{
			"no more entries", "stripe__list_customers", answering(200, `{"data":[{"id":"cus_1"}],"has_more":false}`),
			nil,
		},
		{
			"a whole address",
			"onedrive__list_files",
			answering(
				200,
				`{"value":[{}],"@odata.nextLink":"https://graph.microsoft.com/v1.0/me/drive/items/root/`+
					`children?$top=100&$skiptoken=abc"}`,
			),
			map[string]any{"skiptoken": "abc"},
		},
		{
			"an address without a host", "confluence__list_spaces",
			answering(200, `{"results":[{}],"_links":{"next":"/wiki/api/v2/spaces?limit=50&cursor=abc"}}`),
			map[string]any{"cursor": "abc"},
		},
		{
			"an address of Twilio",
			"twilio__list_messages",
			answering(
				200,
				`{"messages":[{}],"next_page_uri":"/2010-04-01/Accounts/AC/Messages.json?PageSize=50&Page=1`+
					`&PageToken=PAxyz"}`,
			),
			map[string]any{"Page": json.Number("1"), "PageToken": "PAxyz"},
		},
		{
			"Relay", "linear__list_issues",
			answering(200, `{"data":{"issues":{"nodes":[{}],"pageInfo":{"hasNextPage":true,"endCursor":"e1"}}}}`),
			map[string]any{"after": "e1"},
		},
		{
			"the end of Relay", "linear__list_issues",
			answering(200, `{"data":{"issues":{"nodes":[{}],"pageInfo":{"hasNextPage":false,"endCursor":"e1"}}}}`),
			nil,
		},
		{
			"a cursor in a body", "notion__query_data_source",
			answering(200, `{"results":[{}],"has_more":true,"next_cursor":"n2"}`),
			map[string]any{"start_cursor": "n2"},
		},
		{
			"the last message", "discord__list_messages", answering(200, `[{"id":"9"},{"id":"8"}]`),
			map[string]any{"before": "8"},
		},
		{
			"a token of Google",
			"gmail__search_emails",
			answering(200, `{"messages":[{"id":"1"}],"nextPageToken":"p2"}`),
			map[string]any{"pageToken": "p2"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answer, err := called(t, tt.tool, tt.answer)
			if err != nil {
				t.Fatal(err)
			}
			var more map[string]any
			for name, value := range answer.Next {
				if tt.want[name] != nil {
					if more == nil {
						more = map[string]any{}
					}
					more[name] = json.Number(app.Text(value))
				}
			}
			want := map[string]any{}
			for name, value := range tt.want {
				want[name] = json.Number(app.Text(value))
			}
			if tt.want == nil && answer.Next != nil {
				t.Errorf("next = %v, want none", answer.Next)
			}
			if diff := cmp.Diff(want, more); tt.want != nil && diff != "" {
				t.Errorf("next (-want +got):\n%s", diff)
			}
		})
	}
}
