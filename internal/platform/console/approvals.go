package console

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"
	"unicode/utf8"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/platform/audit"
	"ace/internal/platform/console/page"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/definition"
)

// Approvals are runs that wait for a person.
type Approvals interface {
	// Approvals returns those that wait, the oldest first.
	Approvals(ctx context.Context, accountID string) ([]*tool.Awaiting, error)
	// Approval returns approval_not_found (NotFound), also for one of another
	// account.
	Approval(ctx context.Context, accountID, id string) (*tool.Awaiting, error)
	// Decide returns approval_not_found, and approval_over (Conflict).
	Decide(ctx context.Context, by audit.Actor, accountID, id string, approve bool, reason string) (*tool.Run, error)
}

// approvalRow is a run that waits, or waited, for a person.
type approvalRow struct {
	ID, App, AppName, Title string
	Tool                    string // id
	Effect, Risk            string
	By                      string
	EndUser                 string
	AskedAt, Until          time.Time
}

func rowOfApproval(w *tool.Awaiting) approvalRow {
	r := w.Run
	row := approvalRow{
		ID: r.Approval.ID, App: r.App, AppName: r.App, Title: r.Tool, Tool: r.Tool, Effect: "Changes something",
		Risk: "write", By: whoDid(r.By), EndUser: r.EndUser,
		AskedAt: r.CreatedAt, Until: r.Approval.ExpiresAt,
	}
	if w.App != nil && w.Tool != nil {
		shown := rowOfTool(w.Tool)
		row.AppName, row.Title, row.Effect, row.Risk = w.App.Name, definition.Title(
			w.App,
			w.Tool,
		), shown.Effect, shown.Risk
	}
	return row
}

// approvalView fills approval.html.
type approvalView struct {
	page.Frame
	Run        approvalRow
	Waits      bool
	Tone       string
	State      string
	Reason     string // of the user who decided
	Failure    *tool.Failure
	DecidedBy  string
	Arguments  string // JSON, indented
	Connection *connectionRow
	Connects   bool // the reader may decide
	Fault      string
}

func (c *Console) approval(w http.ResponseWriter, r *http.Request) {
	view, err := c.approvalView(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	c.pages.Show(w, r, http.StatusOK, "approval", view)
}

func (c *Console) approvalView(r *http.Request) (*approvalView, error) {
	f, caller := c.personal(r, "Approval")
	one, err := c.Approvals.Approval(r.Context(), caller.Account, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	f.Narrow = true
	view := &approvalView{
		Frame: f, Run: rowOfApproval(one), Connects: caller.Session.User.Role.Connects(),
		Reason: one.Run.Approval.Reason, Failure: one.Failure,
	}
	view.Tone, view.State, view.Waits = stateOfRun(one.Run)
	if !one.Run.Approval.DecidedAt.IsZero() {
		view.DecidedBy = whoDid(one.Run.Approval.DecidedBy)
	}
	if len(one.Arguments) > 0 && view.Waits {
		var text bytes.Buffer
		if err := json.Indent(&text, one.Arguments, "", "  "); err != nil {
			text.Reset()
			text.Write(one.Arguments) // it was taken like this
		}
		view.Arguments = text.String()
	}
	if one.Run.ConnectionID == "" {
		return view, nil
	}
	conn, err := c.Connections.Get(r.Context(), caller.Account, one.Run.ConnectionID)
	if problem.Is(err, "connection_not_found") {
		return view, nil
	}
	if err != nil {
		return nil, err
	}
	row, err := c.rowOfConnection(r, conn)
	view.Connection = &row
	return view, err
}

// stateOfRun says how a run that needed a person stands.
func stateOfRun(r *tool.Run) (tone, state string, waits bool) {
	switch r.Status {
	case tool.AwaitingApproval:
		if time.Now().Before(r.Approval.ExpiresAt) {
			return "wait", "Waits for you", true
		}
		return "off", "Nobody decided in time", false
	case tool.Running:
		return "wait", "Approved, and running", false
	case tool.Succeeded:
		return "good", "Approved, and done", false
	case tool.Failed:
		return "stop", "Approved, and failed", false
	case tool.Denied:
		return "off", "Refused", false
	case tool.Canceled:
		return "off", "Canceled by the requester", false
	case tool.Interrupted:
	}
	return "stop", "Interrupted", false
}

const maxReason = 500 // characters

func (c *Console) decide(w http.ResponseWriter, r *http.Request) {
	caller, id := gate.From(r.Context()), r.PathValue("id")
	reason, decision := r.PostFormValue("reason"), r.PostFormValue("decision")
	err := problem.New(problem.Invalid, "invalid_request", "The form does not say what was decided.")
	if (decision == "approve" || decision == "deny") && utf8.RuneCountInString(reason) <= maxReason {
		if _, failed := c.Approvals.Decide(r.Context(), caller.Actor, caller.Account, id, decision == "approve",
			reason); failed != nil {
			c.notDecided(w, r, failed)
			return
		}
		back(w, r, "/approvals/"+id)
		return
	}
	c.notDecided(w, r, err)
}

// notDecided shows the run as it stands, and why the decision did not count.
func (c *Console) notDecided(w http.ResponseWriter, r *http.Request, err error) {
	p := httpserver.ProblemOf(r.Context(), err)
	view, viewErr := c.approvalView(r)
	if viewErr != nil || p.Kind == problem.Internal {
		c.fail(w, r, err)
		return
	}
	view.Fault = p.Detail
	c.pages.Show(w, r, p.Kind.Status(), "approval", view)
}

// waiting are the runs of an account that wait for a person.
func (c *Console) waiting(ctx context.Context, accountID string) ([]approvalRow, error) {
	found, err := c.Approvals.Approvals(ctx, accountID)
	if err != nil {
		return nil, err
	}
	var rows []approvalRow
	for _, one := range found {
		if _, _, waits := stateOfRun(one.Run); waits {
			rows = append(rows, rowOfApproval(one))
		}
	}
	return rows, nil
}
