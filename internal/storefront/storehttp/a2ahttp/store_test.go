package a2ahttp_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"ace/internal/foundation/httpsig"
	"ace/internal/foundation/typeid"
	"ace/internal/protocol/a2a"
	"ace/internal/sandbox/sandboxtest"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp"
	"ace/internal/storefront/storehttp/a2ahttp"
	"ace/internal/storefront/storehttp/storetest"

	"github.com/google/go-cmp/cmp"
)

// a2aClient is an agent that talks to the agent of a store.
type a2aClient struct{ *storetest.Store }

type a2aAnswer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    []map[string]any
	}
}

// rpc calls a method and returns the envelope.
func (c a2aClient) rpc(method, params string, headers ...string) (storetest.Response, a2aAnswer) {
	c.T.Helper()
	headers = append([]string{"A2A-Version", "1.0"}, headers...)
	r := c.Do(http.MethodPost, a2ahttp.Path, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`,
		headers...)
	var a a2aAnswer
	r.Into(c.T, &a)
	return r, a
}

// task calls a method that must answer a task, alone or wrapped.
func (c a2aClient) task(method, params string) a2a.Task {
	c.T.Helper()
	r, a := c.rpc(method, params)
	var wrapped struct{ Task *a2a.Task }
	if a.Error == nil && json.Unmarshal(a.Result, &wrapped) == nil && wrapped.Task != nil {
		return *wrapped.Task
	}
	var task a2a.Task
	if a.Error != nil || json.Unmarshal(a.Result, &task) != nil {
		c.T.Fatalf("%s %s = %s, want a task", method, params, r.Body)
	}
	return task
}

func a2aMessage(id, data string) string {
	return `{"message":{"messageId":"` + id + `","role":"ROLE_USER","parts":[{"data":` + data +
		`,"mediaType":"application/json"}]}}`
}

const a2aBuy = `{"skill":"checkout","action":"create_checkout","input":{"offer_id":"setup_call"}}`

// TestA2AAnswersAsTools asks each action of the site skill and the tool of that
// name: the artifact is the result of the tool.
func TestA2AAnswersAsTools(t *testing.T) {
	t.Parallel()
	u := storetest.UseTools(t)
	c := a2aClient{u.Store}
	for action, input := range map[string]string{
		"site_info": `{}`, "search_pages": `{"query":"refunds"}`, "read_page": `{"path":"/refunds"}`,
		"list_products": `{"limit":2}`, "list_services": `{}`,
	} {
		task := c.task("SendMessage",
			a2aMessage(typeid.New("m"), `{"skill":"site","action":"`+action+`","input":`+input+`}`))
		if task.Status.State != a2a.Completed || len(task.Artifacts) != 1 || task.Artifacts[0].Name != action {
			t.Errorf("%s = %+v, want it completed", action, task)
			continue
		}
		got, want := storetest.Timeless(
			storetest.PlainJSON(t, task.Artifacts[0].Parts[0].Data),
		), storetest.Timeless(
			storetest.PlainJSON(t,
				u.Call(action, input).Structured),
		)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-tool +artifact):\n%s", action, diff)
		}
		if schema := u.Outputs[action]; schema != nil {
			if err := schema.Check(task.Artifacts[0].Parts[0].Data); err != nil {
				t.Errorf("%s: %v", action, err)
			}
		}
	}
	bad := []struct{ action, input, field string }{
		{"read_page", `{"path":"/../../etc/passwd"}`, "message.parts[0].data.input.path"},
		{"read_page", `{"url":"https://other.example/"}`, "message.parts[0].data.input.url"},
		{"search_pages", `{"query":"a","cursor":"x"}`, "message.parts[0].data.input.cursor"},
		{"list_products", `{"category":"cars"}`, "message.parts[0].data.input.category"},
	}
	for _, tt := range bad {
		r, a := c.rpc("SendMessage",
			a2aMessage(typeid.New("m"), `{"skill":"site","action":"`+tt.action+`","input":`+tt.input+`}`))
		if a.Error == nil || a.Error.Code != -32602 || !strings.Contains(string(r.Body), `"field":"`+tt.field+`"`) {
			t.Errorf("%s %s = %s, want -32602 at %s", tt.action, tt.input, r.Body, tt.field)
		}
	}
}

// TestA2AAnswersToAPayment lets a person pay at the address of a task.
func TestA2AAnswersToAPayment(t *testing.T) {
	t.Parallel()
	c := a2aClient{storetest.Start(t)}
	const id = "a-message-of-some-length"
	task := c.task("SendMessage", a2aMessage(id, a2aBuy))
	if task.Status.State != a2a.InputRequired {
		t.Fatalf("task = %+v, want one that waits", task)
	}
	address := task.Status.Message.Parts[1].URL
	if again := c.task("SendMessage", a2aMessage(id, a2aBuy)); again.ID != task.ID ||
		again.Status.Message.Parts[1].URL != address {
		t.Errorf("repeated: %+v, want the same task and address", again)
	}
	if n := c.Sandbox.State().Objects["checkout.session"]["open"]; n != 1 {
		t.Errorf("%d pages are open at the processor, want one", n)
	}
	if seen := sandboxtest.NewPerson(t, nil).Pay(address, sandboxtest.CardOK); seen.Status != http.StatusSeeOther {
		t.Fatalf("paying answered %d:\n%s", seen.Status, seen.Body)
	}
	c.Sandbox.Notified()
	paid := c.task("GetTask", `{"id":"`+task.ID+`"}`)
	var shown struct {
		ID, Status string
		Order      struct{ ID string }
	}
	if paid.Status.State != a2a.Completed || len(paid.Artifacts) != 1 || json.Unmarshal(paid.Artifacts[0].Parts[0].Data,
		&shown) != nil ||
		shown.Status != "completed" || shown.Order.ID == "" {
		t.Errorf("after the payment: %+v, want it completed with the order", paid)
	}
	order, err := c.Orders.OfCheckout(t.Context(), shown.ID)
	if err != nil || order.Protocol != string(checkout.A2A) || order.ID != shown.Order.ID {
		t.Errorf("order %+v, %v, want one that came by a2a", order, err)
	}
	if _, a := c.rpc("CancelTask", `{"id":"`+task.ID+`"}`); a.Error == nil ||
		a.Error.Code != a2a.CodeTaskNotCancelable {
		t.Errorf("canceling a paid task = %+v, want -32002", a)
	}
}

// A canceled task closes the page at the processor; one whose page has expired
// says that nothing was charged.
func TestA2AEndsWithoutPayment(t *testing.T) {
	t.Parallel()
	c := a2aClient{storetest.Start(t)}
	task := c.task("SendMessage", a2aMessage("1", a2aBuy))
	if canceled := c.task("CancelTask", `{"id":"`+task.ID+`"}`); canceled.Status.State != a2a.Canceled {
		t.Errorf("CancelTask = %+v, want it canceled", canceled)
	}
	if n := c.Sandbox.State().Objects["checkout.session"]["open"]; n != 0 {
		t.Errorf("%d pages are open at the processor, want none", n)
	}
	if r := c.Do(http.MethodGet, task.Status.Message.Parts[1].URL, "", "Accept",
		"text/html"); r.Status == http.StatusSeeOther {
		t.Errorf("the address of a canceled task leads on: %v", r.Header)
	}
	for params, state := range map[string]a2a.State{
		`{"skill":"checkout","action":"create_checkout","input":{"offer_id":"founders_mug"}}`: a2a.Rejected, // sold out
		`{"skill":"checkout","action":"create_checkout","input":{"offer_id":"nothing"}}`:      a2a.Rejected,
	} {
		if got := c.task("SendMessage", a2aMessage(typeid.New("m"), params)); got.Status.State != state ||
			got.Status.Message == nil {
			t.Errorf("%s = %+v, want %s", params, got, state)
		}
	}
}

// TestA2ATakeover repeats a message whose process died between two steps: the
// work continues with the same task and the same page.
func TestA2ATakeover(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"inserted", "opened", "kept"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			c := a2aClient{storetest.Start(t)}
			c.OnStep(func(name string) {
				if name == step {
					c.OnStep(nil)
					panic(http.ErrAbortHandler) // nothing after this point happens
				}
			})
			params := a2aMessage("a-message-of-some-length", a2aBuy)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.URL+a2ahttp.Path,
				strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":`+params+`}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("A2A-Version", "1.0")
			if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
				_ = res.Body.Close()
				t.Fatal("the request was answered, want it cut off")
			}
			task := c.task("SendMessage", params)
			if task.Status.State != a2a.InputRequired {
				t.Errorf("takeover = %+v, want it to wait for the payment", task)
			}
			if pages := c.Sandbox.State().Objects["checkout.session"]; pages["open"] != 1 || len(pages) != 1 {
				t.Errorf("the processor holds %v, want one open page", pages)
			}
		})
	}
}

// TestA2AOverTheLimit is refused before its message is read, in the shape of the
// protocol.
func TestA2AOverTheLimit(t *testing.T) {
	t.Parallel()
	c := a2aClient{storetest.Start(t, storetest.Limited(1, 1, 1))}
	if r, a := c.rpc("ListTasks", `{}`); r.Status != http.StatusOK || a.Error != nil ||
		r.Header.Get("RateLimit") == "" {
		t.Errorf("the first call = %d %s %v", r.Status, r.Body, r.Header)
	}
	r, a := c.rpc("ListTasks", `{}`)
	after := r.Header.Get("Retry-After")
	if r.Status != http.StatusTooManyRequests || r.Header.Get("Content-Type") != "application/json" || after == "" ||
		a.Error == nil || a.Error.Code != -32603 || string(a.ID) != "null" {
		t.Fatalf("the second call = %d %s %v, want 429 with code -32603", r.Status, r.Body, r.Header)
	}
	if d := a.Error.Data; len(d) != 2 || d[0]["reason"] != "RATE_LIMIT_EXCEEDED" ||
		d[1]["@type"] != "type.googleapis.com/google.rpc.RetryInfo" || d[1]["retryDelay"] != after+"s" {
		t.Errorf("data = %v, want the reason and %s seconds", d, after)
	}
}

// The card and the keys are found by the address of the host alone.
func TestA2ACardIsPublished(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := httpsig.NewSigner(key)
	if err != nil {
		t.Fatal(err)
	}
	w := storetest.Start(t, func(d *storehttp.Deps) { d.CardSigner = signer })
	plain := []string{"Accept-Encoding", "identity"}
	r := w.Do(http.MethodGet, a2a.CardPath, "", plain...)
	if r.Status != http.StatusOK || r.Header.Get("Content-Type") != "application/json" ||
		r.Header.Get("Cache-Control") != "public, max-age=3600" ||
		r.Header.Get("Access-Control-Allow-Origin") != "*" || r.Header.Get("Last-Modified") == "" {
		t.Errorf("card = %d %v", r.Status, r.Header)
	}
	if again := w.Do(http.MethodGet, a2a.CardPath,
		"", append(plain, "If-None-Match", r.Header.Get("ETag"))...); again.Status != http.StatusNotModified {
		t.Errorf("with its ETag = %d, want 304", again.Status)
	}
	if head := w.Do(http.MethodHead, a2a.CardPath, "", plain...); head.Status != http.StatusOK ||
		head.Header.Get("ETag") != r.Header.Get("ETag") || len(head.Body) != 0 {
		t.Errorf("HEAD = %d %v", head.Status, head.Header)
	}
	err = a2a.VerifyCard(r.Body, func(kid, jku string) (crypto.PublicKey, error) {
		keys, err := httpsig.ParseKeySet(w.Do(http.MethodGet, jku, "").Body)
		if err != nil {
			return nil, err
		}
		found, ok := httpsig.FindKey(keys, kid)
		if !ok {
			return nil, errors.New("the key set does not have the key")
		}
		return found.Public()
	})
	if err != nil {
		t.Errorf("VerifyCard = %v", err)
	}
	var card a2a.Card
	r.Into(t, &card)
	for _, address := range []string{
		card.DocumentationURL, card.IconURL, card.Capabilities.Extensions[0].URI,
		card.Provider.URL,
	} {
		if got := w.Do(http.MethodGet, address, ""); address == "" || got.Status != http.StatusOK &&
			address != card.Provider.URL {
			t.Errorf("%q in the card answers %d, want 200", address, got.Status)
		}
	}
}
