package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"ace/internal/sandbox/sandboxtest"
	"ace/test/harness"
)

// a2aPeer is the JavaScript SDK of A2A in front of a store that knows nothing of
// it.
type a2aPeer struct {
	t   *testing.T
	URL string
}

// newA2APeer starts a store with the rate limit of every store but for how many
// calls may come at once: the peer has no patience. ACE_NODE is the program that
// runs a2a.mjs, ACE_NODE_MODULES the folder that the SDK is installed in.
func newA2APeer(t *testing.T) *a2aPeer {
	t.Helper()
	if os.Getenv("ACE_NODE") == "" || os.Getenv("ACE_NODE_MODULES") == "" {
		t.Skip("left out: ACE_NODE and ACE_NODE_MODULES are not set")
	}
	store := harness.FreeAddr(t)
	p := harness.Start(t, harness.Build(t, ""), []string{
		"ACE_STORE_ADDR=" + store, "ACE_SANDBOX_ADDR=" + harness.FreeAddr(t),
		"ACE_PLATFORM_ADDR=" + harness.FreeAddr(t), "ACE_ADMIN_ADDR=",
		"ACE_DATA_DIR=" + harness.DataDir(t), "ACE_RATE_BURST_API=30",
	}, "serve")
	peer := &a2aPeer{t, "http://" + store}
	if !p.Ready(peer.URL + "/healthz") {
		t.Fatal("the store did not start")
	}
	return peer
}

// run runs a command of a2a.mjs: what it prints goes into answer, and the name
// of the error that it met is answered.
func (p *a2aPeer) run(answer any, args ...string) (failure string) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), os.Getenv("ACE_NODE"), append([]string{"a2a.mjs", p.URL}, args...)...)
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	err := cmd.Run()
	var outcome struct {
		OK      json.RawMessage
		Error   string
		Message string
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if bad := json.Unmarshal([]byte(lines[len(lines)-1]), &outcome); bad != nil {
		p.t.Fatalf("%v: %v, %v\n%s\n%s", args, err, bad, out.String(), faults.String())
	}
	if outcome.Error != "" {
		p.t.Logf("%v: %s: %s", args[:1], outcome.Error, outcome.Message)
		return outcome.Error
	}
	if err := json.Unmarshal(outcome.OK, answer); err != nil {
		p.t.Fatalf("%v answered %s: %v", args, outcome.OK, err)
	}
	return ""
}

// States of tasks, as the SDK numbers them.
const (
	stateCompleted     = 3
	stateCanceled      = 5
	stateInputRequired = 6
	stateRejected      = 7
)

type peerTask struct {
	ID, ContextID string
	Status        struct {
		State   int
		Message struct{ Parts []peerPart }
	}
	Artifacts []struct{ Parts []peerPart }
}

type peerPart struct {
	MediaType string
	Content   struct {
		Case  string `json:"$case"`
		Value json.RawMessage
	}
}

// url is the first address in the words of the status.
func (t *peerTask) url() string {
	for _, p := range t.Status.Message.Parts {
		if p.Content.Case == "url" {
			return strings.Trim(string(p.Content.Value), `"`)
		}
	}
	return ""
}

// TestA2ASDK finds the agent by its card, verifies whose it is, asks, buys, lets
// a person pay, and cancels.
func TestA2ASDK(t *testing.T) {
	t.Parallel()
	p := newA2APeer(t)

	var card struct {
		Verified, ForgedRefused bool
		Skills                  []string
		URL                     string
	}
	p.run(&card, "card")
	if !card.Verified || !card.ForgedRefused || strings.Join(card.Skills, " ") != "site checkout" ||
		card.URL != p.URL+"/agent/a2a" {
		t.Errorf("card = %+v, want it verified, and a forged one refused", card)
	}

	const context = "context-of-the-peer"
	var asked, found, offers, sale, paid peerTask
	p.run(&asked, "send", "What is new?", context)
	if asked.Status.State != stateInputRequired || len(asked.Status.Message.Parts) != 2 {
		t.Errorf("words = %+v, want a task that asks for a request", asked)
	}
	p.run(&found, "send", `{"skill":"site","action":"search_pages","input":{"query":"refunds"}}`, context)
	if found.Status.State != stateCompleted || len(found.Artifacts) != 1 ||
		!bytes.Contains(found.Artifacts[0].Parts[0].Content.Value, []byte(`"/refunds"`)) {
		t.Errorf("search_pages = %+v, want the page about refunds", found)
	}
	p.run(&offers, "send", `{"skill":"site","action":"list_products","input":{"query":"handbook"}}`, context)
	var catalog struct{ Offers []struct{ ID string } }
	if len(offers.Artifacts) != 1 || json.Unmarshal(offers.Artifacts[0].Parts[0].Content.Value, &catalog) != nil ||
		len(catalog.Offers) == 0 {
		t.Fatalf("list_products = %+v, want the handbook", offers)
	}

	buy := `{"skill":"checkout","action":"create_checkout","input":{"offer_id":"` + catalog.Offers[0].ID + `"}}`
	p.run(&sale, "send", buy, context)
	if sale.Status.State != stateInputRequired || !strings.HasPrefix(sale.url(), p.URL+"/c/") {
		t.Fatalf("create_checkout = %+v, want a task that waits at an address", sale)
	}
	if seen := sandboxtest.NewPerson(t, nil).Pay(sale.url(), sandboxtest.CardOK); seen.Status != 303 {
		t.Fatalf("paying answered %d:\n%s", seen.Status, seen.Body)
	}
	for range 20 {
		p.run(&paid, "get", sale.ID)
		if paid.Status.State == stateCompleted {
			break
		}
	}
	if paid.Status.State != stateCompleted || len(paid.Artifacts) != 1 {
		t.Errorf("after the payment = %+v, want it completed", paid)
	}

	var open, canceled peerTask
	p.run(&open, "send", buy, context)
	p.run(&canceled, "cancel", open.ID)
	if canceled.ID != open.ID || canceled.Status.State != stateCanceled {
		t.Errorf("cancel = %+v, want it canceled", canceled)
	}

	var list struct {
		Tasks     []peerTask
		TotalSize int
	}
	p.run(&list, "list", context)
	if list.TotalSize != 5 || len(list.Tasks) != 5 || list.Tasks[0].ID != open.ID {
		t.Errorf("list = %+v, want the five tasks of the context, the last one first", list)
	}
	p.run(&list, "list", "")
	if list.TotalSize != 0 {
		t.Errorf("a list of no context has %d tasks, want none", list.TotalSize)
	}
}

// TestA2ASDKRefusals are requests that the agent refuses: the SDK can
// distinguish them.
func TestA2ASDKRefusals(t *testing.T) {
	t.Parallel()
	p := newA2APeer(t)
	var rejected, done peerTask
	p.run(&rejected, "send", `{"skill":"site","action":"fly"}`)
	if rejected.Status.State != stateRejected {
		t.Errorf("an unknown action = %+v, want it rejected", rejected)
	}
	p.run(&done, "send", `{"skill":"site","action":"site_info"}`)
	tests := []struct {
		want string
		args []string
	}{
		{"TaskNotFoundError", []string{"get", "task_none"}},
		{"TaskNotCancelableError", []string{"cancel", done.ID}},
		{"RequestMalformedError", []string{"send", `{"skill":"site","action":"search_pages","input":{"query":7}}`}},
	}
	for _, tt := range tests {
		if got := p.run(new(json.RawMessage), tt.args...); got != tt.want {
			t.Errorf("%v met %q, want %s", tt.args, got, tt.want)
		}
	}
}
