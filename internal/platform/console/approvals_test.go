package console_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ace/internal/platform/account"
	"ace/internal/platform/tool"
)

// TestApprovals: a person sees what would be run and with what, and decides
// once.
func TestApprovals(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	first, second := w.wait(t, w.account.ID, `{"id":"<b>7</b>","force":true}`), w.wait(t, w.account.ID, "")
	contains(t, "the account page", b.get("/account").text, "Waiting for you", "Delete ticket", "key Laptop",
		"/approvals/"+first, "/approvals/"+second)
	shown := b.get("/approvals/" + first)
	contains(t, "the page", shown.text, "Waits for you", "May delete", "desk__delete_ticket", "key Laptop", "u_42",
		"&#34;id&#34;: &#34;&lt;b&gt;7", "Run it, this once")
	if got := b.post("/approvals/"+first, "decision", "maybe"); got.Code != http.StatusBadRequest ||
		!strings.Contains(got.text, "does not say what was decided") {
		t.Errorf("deciding nothing: %d", got.Code)
	}
	if got := b.post("/approvals/"+first, "decision", "approve", "reason",
		strings.Repeat("x", 501)); got.Code != http.StatusBadRequest {
		t.Errorf("a reason that is too long: %d", got.Code)
	}
	if got := b.post("/approvals/"+first, "decision", "approve", "reason",
		"It is spam."); got.to() != "/approvals/"+first {
		t.Fatalf("approving: %d %s", got.Code, got.text)
	}
	contains(t, "the page", b.get("/approvals/"+first).text, "Approved, and running", "demo", "It is spam.")
	if got := b.post("/approvals/"+first, "decision", "deny"); got.Code != http.StatusConflict ||
		!strings.Contains(got.text, "does not wait") {
		t.Errorf("deciding twice: %d %s", got.Code, got.text)
	}
	b.post("/approvals/"+second, "decision", "deny")
	if text := b.get("/approvals/" + second).text; !strings.Contains(text, "Refused") || strings.Contains(text,
		"With these inputs") {
		t.Errorf("after refusing: %s", text)
	}
	if text := b.get("/account").text; strings.Contains(text, "Waiting for you") {
		t.Error("the account page still waits")
	}
}

func TestApprovalsOfOthers(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	id := w.wait(t, w.account.ID, `{"id":"7"}`)
	other := w.signedIn(t, w.other(t, "acme"))
	for _, got := range []page{other.get("/approvals/" + id), other.post("/approvals/"+id, "decision", "approve")} {
		if got.Code != http.StatusNotFound || strings.Contains(got.text, "Delete ticket") {
			t.Errorf("another account: %d", got.Code)
		}
	}
	if got := w.browser(t).get("/approvals/" + id); got.to() != "/sign-in?next="+escape("/approvals/"+id) {
		t.Errorf("nobody: %d to %q", got.Code, got.to())
	}
	b := w.signedIn(t, w.account)
	token := b.token()
	w.setRole(t, account.Auditor)
	contains(t, "the page for an auditor", b.get("/approvals/"+id).text,
		"Your role in this account does not allow you to decide")
	if got := b.post("/approvals/"+id, "decision", "approve", "csrf_token", token); got.Code != http.StatusForbidden {
		t.Errorf("an auditor decides: %d", got.Code)
	}
	if w.runs.all[0].Run.Status != tool.AwaitingApproval {
		t.Errorf("the run is %s", w.runs.all[0].Run.Status)
	}
}

func TestStatesOfApprovals(t *testing.T) {
	t.Parallel()
	w := setup(t, options{})
	b := w.signedIn(t, w.account)
	id := w.wait(t, w.account.ID, `{"id":"7"}`)
	run := w.runs.all[0].Run
	for status, want := range map[tool.Status]string{
		tool.Running: "Approved, and running", tool.Succeeded: "Approved, and done",
		tool.Failed: "Approved, and failed", tool.Denied: "Refused",
		tool.Canceled: "Canceled by the requester", tool.Interrupted: "Interrupted",
	} {
		run.Status = status
		contains(t, string(status), b.get("/approvals/"+id).text, want)
	}
	run.Status = tool.Failed
	w.runs.all[0].Failure = &tool.Failure{Code: "app_forbidden", Detail: "No <seat> for you.", AppStatus: 403}
	contains(t, "why it failed", b.get("/approvals/"+id).text, "Why it failed", "No &lt;seat&gt; for you.",
		"app_forbidden", "HTTP 403")
	w.runs.all[0].Failure = nil
	run.Status, run.Approval.ExpiresAt = tool.AwaitingApproval, time.Now().Add(-time.Second)
	contains(t, "too late", b.get("/approvals/"+id).text, "Nobody decided in time")
	if text := b.get("/account").text; strings.Contains(text, "Waiting for you") {
		t.Error("what is too late still waits on the account page")
	}
}
