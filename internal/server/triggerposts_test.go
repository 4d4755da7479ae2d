package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jsonschema"
)

// TestExamplesOfPosts compares the example of each event of the demo app with
// what is really posted for its sample, and both with the schema in the API
// document.
func TestExamplesOfPosts(t *testing.T) {
	t.Parallel()
	h := newHost(t, Options{}, public+"/32")
	ann := h.party(t, "ann")
	ann.connectNotes()
	address, got := receiver(t)
	schema, documented := postSchema(t)
	types := ann.must(http.StatusOK, http.MethodGet, "/apps/demo-notes/triggers", "")["triggers"].([]any)
	examples := map[string]any{}
	for _, one := range types {
		kind := one.(map[string]any)
		event, example := kind["event"].(string), kind["example"].(map[string]any)
		config := "{}"
		if event == "new_item" {
			config = `{"tool":"demo_notes__list_notes","items":"/notes"}`
		}
		made := ann.must(http.StatusCreated, http.MethodPost, "/triggers", fmt.Sprintf(
			`{"app":"demo-notes","event":%q,"webhook_url":%q,"config":%s}`, event, address, config))
		ann.must(http.StatusAccepted, http.MethodPost, "/triggers/"+made["id"].(string)+"/test", "")
		posted := verified(t, made["signing_secret"].(string), <-got)
		for _, body := range []map[string]any{posted, example} {
			if err := schema.CheckValue(body); err != nil {
				t.Errorf("%s does not match the documented schema: %v", event, err)
			}
		}
		if diff := cmp.Diff(withoutIDs(t, posted), withoutIDs(t, example)); diff != "" {
			t.Errorf("%s (-posted +example):\n%s", event, diff)
		}
		examples[event] = withoutIDs(t, example)
	}
	if diff := cmp.Diff(examples["new_note"], any(withoutIDs(t, documented))); diff != "" {
		t.Errorf("new_note (-example of the event +example in the document):\n%s", diff)
	}
}

// postSchema returns the schema and the example of the webhook in the API document.
func postSchema(t *testing.T) (schema *jsonschema.Schema, example map[string]any) {
	t.Helper()
	text, err := PlatformDocument()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas struct {
				TriggerPost json.RawMessage
			} `json:"schemas"`
		} `json:"components"`
		Webhooks struct {
			TriggerEvent struct {
				Post struct {
					RequestBody struct {
						Content map[string]struct {
							Schema struct {
								Ref string `json:"$ref"`
							} `json:"schema"`
							Example map[string]any `json:"example"`
						} `json:"content"`
					} `json:"requestBody"`
				} `json:"post"`
			} `json:"triggerEvent"`
		} `json:"webhooks"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	content := document.Webhooks.TriggerEvent.Post.RequestBody.Content["application/json"]
	if content.Schema.Ref != "#/components/schemas/TriggerPost" {
		t.Fatalf("the webhook has the schema %q", content.Schema.Ref)
	}
	if schema, err = jsonschema.Compile(document.Components.Schemas.TriggerPost); err != nil {
		t.Fatal(err)
	}
	return schema, content.Example
}

// withoutIDs returns a post with its ids and its time, which differ each time,
// replaced by their kinds.
func withoutIDs(t *testing.T, post map[string]any) map[string]any {
	t.Helper()
	kinds := map[string]*regexp.Regexp{
		"event_id":      regexp.MustCompile(`^evt_[a-z0-9]{26}$`),
		"trigger_id":    regexp.MustCompile(`^trg_[a-z0-9]+$`),
		"connection_id": regexp.MustCompile(`^con_[a-z0-9]+$`),
		"timestamp":     regexp.MustCompile(`^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$`),
	}
	out := map[string]any{}
	for name, value := range post {
		if kind := kinds[name]; kind != nil {
			if text, _ := value.(string); !kind.MatchString(text) {
				t.Errorf("%s is %v", name, value)
			}
			value = kind.String()
		}
		out[name] = value
	}
	return out
}
