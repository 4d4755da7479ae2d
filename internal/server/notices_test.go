package server

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestNotices holds that a developer's URL receives how a link ended, signed
// with the secret that the link came with, and that the account's list of
// addresses holds over REST.
func TestNotices(t *testing.T) {
	t.Parallel()
	h := newHost(t, Options{}, public+"/32")
	ann := h.party(t, "ann")
	type message struct{ id, signature, body string }
	got := make(chan message, 10)
	hook := at(t, public+":0", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- message{r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Signature"), string(body)}
	}))
	// Shape and guard both judge: an address of this machine is one that the shape
	// lets through.
	link := ann.must(http.StatusCreated, http.MethodPost, "/apps/demo-notes/connect",
		`{"auth":"key","state":"st","notify_webhook_url":"`+hook.URL+`/in"}`)
	if secret, _ := link["notify_secret"].(string); !strings.HasPrefix(secret, "whsec_") {
		t.Errorf("link = %v", link)
	}
	id, _ := link["session_id"].(string)
	if res := ann.send(false, http.MethodDelete, "/api/v1/connect-sessions/"+id, "",
		nil); res.Code != http.StatusNoContent {
		t.Fatalf("cancelling = %d %s", res.Code, res.Body)
	}
	select {
	case m := <-got:
		if m.id != "msg_"+id+"_canceled" || !strings.HasPrefix(m.signature, "v1,") || !strings.Contains(m.body,
			`"status":"canceled"`) || !strings.Contains(m.body, `"state":"st"`) {
			t.Errorf("message = %+v", m)
		}
	case <-time.After(20 * time.Second):
		t.Error("no notice was sent")
	}
	if res := ann.send(true, http.MethodPut, "/api/v1/redirect-urls", "application/json",
		[]byte(`{"redirect_urls":["https://agent.example/cb"]}`)); res.Code != http.StatusOK {
		t.Fatalf("setting the list = %d %s", res.Code, res.Body)
	}
	ann.must(http.StatusBadRequest, http.MethodPost, "/apps/demo-notes/connect",
		`{"redirect_url":"https://evil.example/cb"}`)
	ann.must(http.StatusCreated, http.MethodPost, "/apps/demo-notes/connect",
		`{"redirect_url":"https://agent.example/cb"}`)
	if res := ann.send(true, http.MethodGet, "/api/v1/redirect-urls", "", nil); !strings.Contains(res.Body.String(),
		"https://agent.example/cb") {
		t.Errorf("the list = %s", res.Body)
	}
	if link := ann.must(http.StatusCreated, http.MethodPost, "/apps/demo-notes/connect",
		`{}`); link["notify_secret"] != nil {
		t.Errorf("a link that tells nobody has a secret: %v", link)
	}
}
