package console

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/platform/app"
	"ace/internal/platform/console/page"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
)

// connectorRow is a connector of the account as lists show it.
type connectorRow struct {
	ID, App, Name, URL string
	Tools              int
	Pending            int // tools that changed and wait
	Tone, State, Why   string
}

func rowOfConnector(c *operation.Connector) connectorRow {
	row := connectorRow{
		ID: c.ID, App: c.App, Name: c.Name, URL: c.URL, Tools: c.ToolsCount, Pending: len(c.Pending), Tone: "good",
		State: "Works",
	}
	switch {
	case !c.Enabled:
		row.Tone, row.State = "off", "Switched off"
	case c.Status == "importing":
		row.Tone, row.State = "wait", "Reads its tools"
	case c.Status == "needs_auth":
		row.Tone, row.State = "stop", "Needs a sign-in"
	case c.Status == "failed":
		row.Tone, row.State = "stop", "Failed"
	case row.Pending > 0:
		row.Tone, row.State = "wait", "Changed"
	}
	if c.Error != nil {
		row.Why = c.Error.Detail
	}
	return row
}

// connectorView fills connector.html.
type connectorView struct {
	page.Frame
	Connector connectorRow
	Revision  int64
	Changes   []changeRow
	ReadOnly  []readOnlyRow // tools of which an MCP server says that they only read
	Connects  bool          // the reader may decide
	Notice    string
	Fault     string
}

// readOnlyRow is a tool of which a person says whether it only reads.
type readOnlyRow struct {
	Tool      string
	Confirmed bool
}

// changeRow is a tool that changed, part by part.
type changeRow struct {
	Tool  string
	Parts []changedPart
}

// changedPart is what a part of a tool was, and what it is.
type changedPart struct {
	Name, Before, After string
	Code                bool
}

func rowOfChange(c *operation.ConnectorChanged) changeRow {
	row := changeRow{Tool: c.Tool}
	for _, part := range []changedPart{
		{"Title", c.Before.Title, c.After.Title, false},
		{"Description", c.Before.Description, c.After.Description, false},
		{"What it does", effectWords(c.Before.Effect), effectWords(c.After.Effect), false},
		{"Inputs", indented(c.Before.Inputs), indented(c.After.Inputs), true},
		{"Request", c.Before.Call, c.After.Call, true},
	} {
		if part.Before != part.After {
			row.Parts = append(row.Parts, part)
		}
	}
	return row
}

// effectWords says what a tool does to the app.
func effectWords(effect string) string {
	switch effect {
	case app.Reads:
		return "Only reads"
	case app.Destroys:
		return "May delete"
	}
	return "Changes something"
}

func indented(text json.RawMessage) string {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return string(text) // it was taken like this
	}
	return out.String()
}

func (c *Console) connector(w http.ResponseWriter, r *http.Request) {
	view, err := c.connectorView(r)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	switch r.URL.Query().Get("done") {
	case "approved":
		view.Notice = "The changed tools are approved. Agents can find and run them again."
	case "read_only":
		view.Notice = "Noted. Every other tool needs what writing tools need."
	}
	c.pages.Show(w, r, http.StatusOK, "connector", view)
}

func (c *Console) connectorView(r *http.Request) (*connectorView, error) {
	f, caller := c.personal(r, "Connector")
	found, err := c.Operations.CustomConnector(r.Context(), caller, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	view := &connectorView{
		Frame: f, Connector: rowOfConnector(found), Revision: found.Revision,
		Connects: operation.Authorize(caller, operation.ApproveCustomConnector) == nil,
	}
	for i := range found.Pending {
		view.Changes = append(view.Changes, rowOfChange(&found.Pending[i]))
	}
	for _, name := range found.Claimed {
		view.ReadOnly = append(view.ReadOnly, readOnlyRow{Tool: name})
	}
	for _, name := range found.ReadOnly {
		view.ReadOnly = append(view.ReadOnly, readOnlyRow{name, true})
	}
	return view, nil
}

// approveConnector approves the chosen tools that changed.
func (c *Console) approveConnector(w http.ResponseWriter, r *http.Request) {
	id, tools, revision, err := decidedTools(r)
	if err == nil && len(tools) == 0 {
		err = problem.New(problem.Invalid, "invalid_request", "Choose the tools whose change you approve.")
	}
	if err == nil {
		_, err = c.Operations.ApproveCustomConnector(r.Context(), gate.From(r.Context()), id,
			operation.ConnectorApproval{Tools: tools, Revision: revision})
	}
	c.decidedConnector(w, r, "approved", err)
}

// setReadOnly says which tools of an MCP server only read.
func (c *Console) setReadOnly(w http.ResponseWriter, r *http.Request) {
	id, tools, revision, err := decidedTools(r)
	if err == nil {
		_, err = c.Operations.SetReadOnlyTools(r.Context(), gate.From(r.Context()), id,
			operation.ConnectorReadOnly{Tools: tools, Revision: revision})
	}
	c.decidedConnector(w, r, "read_only", err)
}

// decidedTools reads a form about tools. It names the revision that its reader saw.
func decidedTools(r *http.Request) (id string, tools []string, revision int64, err error) {
	if revision, err = strconv.ParseInt(r.PostFormValue("revision"), 10, 64); err != nil || revision <= 0 {
		err = problem.New(problem.Invalid, "invalid_request", "The form does not say what was looked at.")
	}
	return r.PathValue("id"), slices.Clone(r.PostForm["tool"]), revision, err
}

// decidedConnector leads back to the connector, or says why a decision did not
// count.
func (c *Console) decidedConnector(w http.ResponseWriter, r *http.Request, done string, err error) {
	if err == nil {
		back(w, r, "/connectors/"+r.PathValue("id")+"?done="+done)
		return
	}
	p := httpserver.ProblemOf(r.Context(), err)
	view, viewErr := c.connectorView(r)
	if viewErr != nil || p.Kind == problem.Internal {
		c.fail(w, r, err)
		return
	}
	view.Fault = p.Detail
	c.pages.Show(w, r, p.Kind.Status(), "connector", view)
}
