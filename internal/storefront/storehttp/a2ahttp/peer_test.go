package a2ahttp_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"ace/internal/sandbox/sandboxtest"
	"ace/internal/storefront/storehttp/storetest"

	peer "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

// TestA2AGoClient lets the Go client of the protocol's authors find the agent,
// ask it, buy, list and cancel.
func TestA2AGoClient(t *testing.T) {
	t.Parallel()
	w := storetest.StartSite(t)
	card, err := agentcard.NewResolver(&http.Client{}).Resolve(t.Context(), w.URL)
	if err != nil {
		t.Fatal(err)
	}
	client, err := a2aclient.NewFromCard(t.Context(), card)
	if err != nil {
		t.Fatal(err)
	}
	const context = "context-of-the-go-client"
	send := func(part *peer.Part) (*peer.Task, error) {
		m := peer.NewMessage(peer.MessageRoleUser, part)
		m.ContextID = context
		result, err := client.SendMessage(t.Context(), &peer.SendMessageRequest{Message: m})
		if err != nil {
			return nil, err
		}
		task, ok := result.(*peer.Task)
		if !ok {
			t.Fatalf("SendMessage answered %T, want a task", result)
		}
		return task, nil
	}
	ask := func(skill, action string, input map[string]any) *peer.Part {
		return peer.NewDataPart(map[string]any{"skill": skill, "action": action, "input": input})
	}
	mustSend := func(part *peer.Part, want peer.TaskState) *peer.Task {
		t.Helper()
		task, err := send(part)
		if err != nil || task.Status.State != want {
			t.Fatalf("SendMessage = %+v, %v, want %s", task, err, want)
		}
		return task
	}

	mustSend(peer.NewTextPart("Hello"), peer.TaskStateInputRequired)
	found := mustSend(ask("site", "search_pages", map[string]any{"query": "refunds"}), peer.TaskStateCompleted)
	if data, ok := found.Artifacts[0].Parts[0].Data().(map[string]any); !ok || data["total"] != 1.0 {
		t.Errorf("artifact = %+v, want one page", found.Artifacts[0].Parts[0].Data())
	}
	mustSend(ask("site", "fly", nil), peer.TaskStateRejected)

	sale := mustSend(ask("checkout", "create_checkout", map[string]any{"offer_id": "setup_call"}),
		peer.TaskStateInputRequired)
	address := string(sale.Status.Message.Parts[1].URL())
	if !strings.HasPrefix(address, w.URL+"/c/") {
		t.Fatalf("the task waits at %q", address)
	}
	if seen := sandboxtest.NewPerson(t, nil).Pay(address, sandboxtest.CardOK); seen.Status != http.StatusSeeOther {
		t.Fatalf("paying answered %d", seen.Status)
	}
	w.Sandbox.Notified()
	paid, err := client.GetTask(t.Context(), &peer.GetTaskRequest{ID: sale.ID, HistoryLength: new(int)})
	if err != nil || paid.Status.State != peer.TaskStateCompleted || len(paid.History) != 0 ||
		len(paid.Artifacts) != 1 {
		t.Errorf("after the payment = %+v, %v, want it completed without history", paid, err)
	}

	open := mustSend(ask("checkout", "create_checkout", map[string]any{"offer_id": "setup_call"}),
		peer.TaskStateInputRequired)
	if canceled, err := client.CancelTask(t.Context(), &peer.CancelTaskRequest{ID: open.ID}); err != nil ||
		canceled.Status.State != peer.TaskStateCanceled {
		t.Errorf("CancelTask = %+v, %v, want it canceled", canceled, err)
	}
	list, err := client.ListTasks(t.Context(),
		&peer.ListTasksRequest{ContextID: context, PageSize: 3, IncludeArtifacts: true})
	if err != nil || list.TotalSize != 5 || len(list.Tasks) != 3 || list.NextPageToken == "" ||
		list.Tasks[0].ID != open.ID {
		t.Errorf("ListTasks = %+v, %v, want the newest three of five", list, err)
	}

	_, gone := client.GetTask(t.Context(), &peer.GetTaskRequest{ID: "task_none"})
	_, over := client.CancelTask(t.Context(), &peer.CancelTaskRequest{ID: sale.ID})
	_, faulty := send(ask("site", "search_pages", map[string]any{"query": 7}))
	_, file := send(peer.NewRawPart([]byte{1}))
	for name, tt := range map[string]struct{ got, want error }{
		"a task that is not there": {gone, peer.ErrTaskNotFound},
		"a task that is over":      {over, peer.ErrTaskNotCancelable},
		"faulty input":             {faulty, peer.ErrInvalidParams},
		"a file":                   {file, peer.ErrUnsupportedContentType},
	} {
		if !errors.Is(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", name, tt.got, tt.want)
		}
	}
}
