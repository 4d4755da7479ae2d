package operation

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/app"
	"ace/internal/platform/library"
	"ace/internal/platform/tool/definition"
	"ace/internal/platform/toolindex"
)

// FindRequest is a task in plain words.
type FindRequest struct {
	Task          string   `json:"task" minLength:"1" maxLength:"1000" doc:"What to do, in plain words: one step. Name the app if you know it." example:"send an email to my boss"`
	Apps          []string `json:"apps,omitempty" maxItems:"10" doc:"Only these apps."`
	ConnectedOnly bool     `json:"connected_only,omitempty" doc:"Only apps that are connected."`
	ReadOnly      bool     `json:"read_only,omitempty" doc:"Only tools that change nothing."`
	Limit         int      `json:"limit,omitempty" minimum:"1" maximum:"25" default:"8"`
	Include       []string `json:"include,omitempty" maxItems:"2" doc:"input_schema adds the arguments of each tool as a JSON Schema, output_schema what it answers, where that is known."`
	EndUser       string   `json:"end_user,omitempty" maxLength:"200" doc:"Connections of this user of yours count."`
}

// FoundTool is a tool that fits a task.
type FoundTool struct {
	Tool             string          `json:"tool" doc:"Id of the tool: give it to run." example:"gmail__send_email"`
	Name             string          `json:"name"`
	App              string          `json:"app"`
	Description      string          `json:"description"`
	Score            float64         `json:"score" doc:"From 0 to 1; the first is nearest."`
	MatchedOn        []string        `json:"matched_on" doc:"What fits: app, name, phrase, words, verb."`
	Annotations      Annotations     `json:"annotations"`
	ConnectionStatus string          `json:"connection_status" enum:"connected,needs_reconnect,not_connected,not_required"`
	ConnectionID     string          `json:"connection_id,omitempty" doc:"The connection that a run uses where it names none."`
	Required         []string        `json:"required" doc:"Arguments that a run needs."`
	InputSchema      json.RawMessage `json:"input_schema,omitempty" doc:"JSON Schema of the arguments."`
	OutputSchema     json.RawMessage `json:"output_schema,omitempty" doc:"JSON Schema of what it answers, where that is known."`
}

// Annotations are hints about what a tool does.
type Annotations struct {
	ReadOnly    bool `json:"read_only"`
	Destructive bool `json:"destructive"`
	Idempotent  bool `json:"idempotent"`
	OpenWorld   bool `json:"open_world"`
}

// NotConnected is an app that has fitting tools and is not connected.
type NotConnected struct {
	App     string      `json:"app"`
	Tools   []string    `json:"tools"`
	Connect ConnectCall `json:"connect"`
}

// ConnectCall is the REST call that creates a sign-in link.
type ConnectCall struct {
	Method string `json:"method"`
	Href   string `json:"href"`
}

// Found is what fits a task.
type Found struct {
	Tools        []FoundTool    `json:"tools"`
	NotConnected []NotConnected `json:"not_connected"`
	Hint         *string        `json:"hint" nullable:"true" doc:"What to do where nothing, or nothing good, was found."`
	QueryID      string         `json:"query_id" doc:"Name this when you report a bad answer."`
}

// FindTools returns tools for a task, of all apps, connected or not; what is
// connected comes first among equals. Nothing found is an empty list and a hint.
// Its problems are invalid_request (Invalid) and app_not_found (NotFound).
func (s *Service) FindTools(ctx context.Context, c *Caller, in FindRequest) (*Found, error) {
	if err := Authorize(c, FindTools); err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Task) == "" {
		return nil, problem.New(problem.Invalid, "invalid_request", "Say what to do, in plain words.").At("/task").
			Advise("fix_arguments")
	}
	view, err := s.Library.For(ctx, c.Account)
	if err != nil {
		return nil, err
	}
	for _, id := range in.Apps {
		if _, err := view.Catalog.App(id); err != nil {
			return nil, unknownApp(view, err, id)
		}
	}
	states, err := s.appStates(ctx, c, in.EndUser)
	if err != nil {
		return nil, err
	}
	restrict := c.Restrictions()
	q := toolindex.Query{
		Task: in.Task, Apps: in.Apps, ReadOnly: in.ReadOnly || restrict.ReadOnlyTools,
		Limit: limited(in.Limit, 8, 25), ConnectedOnly: in.ConnectedOnly,
		Connected: func(id string) bool { return states[id].status == statusConnected },
	}
	if len(restrict.Apps)+len(restrict.Tools) > 0 {
		q.Allowed = func(h *toolindex.Handle) bool { return restrict.AllowsTool(h.App, h.IDs...) }
	}
	q.RawRequests = c.Key == nil || restrict.RawRequests
	found := view.Index.Find(q)
	out := &Found{Tools: []FoundTool{}, NotConnected: []NotConnected{}, QueryID: typeid.New("qry")}
	for _, hit := range found.Hits {
		a, t, err := view.Catalog.Tool(hit.Tool)
		if err != nil {
			return nil, err
		}
		out.add(hit, a, t, states, in.Include)
	}
	out.Hint = hint(view, &in, &q, &found)
	return out, nil
}

func (out *Found) add(hit toolindex.Hit, a *app.App, t *app.Tool, states map[string]appState, include []string) {
	found := FoundTool{
		Tool:        t.ID,
		Name:        definition.Title(a, t),
		App:         a.ID,
		Description: t.About,
		Score:       hit.Score,
		MatchedOn:   hit.MatchedOn,
		Required:    append([]string{}, hit.Required...),
		Annotations: Annotations{
			ReadOnly: t.ReadOnly(), Destructive: t.Destructive(),
			Idempotent: t.SafeToRepeat(), OpenWorld: true,
		},
		ConnectionStatus: statusOf(a, states),
		ConnectionID:     states[a.ID].defaultID,
	}
	if slices.Contains(include, "input_schema") {
		found.InputSchema = t.InputSchema
	}
	if slices.Contains(include, "output_schema") {
		found.OutputSchema = t.OutputSchema
	}
	out.Tools = append(out.Tools, found)
	if found.ConnectionStatus != statusNotConnected && found.ConnectionStatus != statusNeedsReconnect {
		return
	}
	i := slices.IndexFunc(out.NotConnected, func(n NotConnected) bool { return n.App == a.ID })
	if i < 0 {
		i = len(out.NotConnected)
		out.NotConnected = append(out.NotConnected,
			NotConnected{App: a.ID, Connect: ConnectCall{"POST", "/api/v1/apps/" + a.ID + "/connect"}})
	}
	out.NotConnected[i].Tools = append(out.NotConnected[i].Tools, t.ID)
}

// hint says what to do where nothing fits, or only a raw request.
func hint(view *library.View, in *FindRequest, q *toolindex.Query, found *toolindex.Result) *string {
	text := ""
	wanted := found.Named
	if len(in.Apps) > 0 {
		wanted = in.Apps
	}
	switch {
	case found.NoTool && len(wanted) > 0 && !in.ConnectedOnly:
		text = noTool(view, wanted[0], q.RawRequests && !q.ReadOnly)
	case len(found.Missing) > 0 && (len(found.Hits) == 0 || len(found.Named) == 0):
		text = found.Missing[0] + " is not among the apps here. Leave the name out if another app may do it; " +
			"the owner " +
			"of the account can add " + found.Missing[0] + " as a custom connector."
	case len(found.Hits) > 0:
		return nil
	case in.ConnectedOnly:
		text = "No connected app has a tool for this. Ask again without connected_only to see which app to connect."
	default:
		text = "Nothing fits. Use plain words for one step, such as \"create an issue\", and name the app if you " +
			"know it."
		words := strings.Fields(in.Task)
		for _, word := range words[:min(len(words), maxHintWords)] {
			if near, ok := view.Index.Closest(word); ok {
				text = "Nothing fits. Did you mean the app " + nameOf(view, near) + " (" + near + ")?"
				break
			}
		}
	}
	return &text
}

// noTool says that an app has no tool for a task, and what reaches it.
func noTool(view *library.View, id string, raw bool) string {
	text := nameOf(view, id) + " has no tool for this."
	a, err := view.Catalog.App(id)
	if err != nil || a.Base == "" {
		return text + " Say it in other words, or name another app."
	}
	text += " " + app.ToolID(id, app.NameRequest) + " sends any request to its API"
	if a.Docs != "" {
		text += ", which is documented at " + a.Docs
	}
	if !raw {
		return text + "; this key may not send raw requests: ask for a key with raw_requests."
	}
	return text + "."
}

// maxHintWords bounds the words of a task that are compared with all apps.
const maxHintWords = 20

// nameOf returns the name of an app of a view.
func nameOf(view *library.View, id string) string {
	a, err := view.Catalog.App(id)
	if err != nil {
		return id
	}
	return a.Name
}

// unknownApp names the app that was perhaps meant.
func unknownApp(view *library.View, err error, id string) error {
	p, _ := problem.From(err)
	p = p.At("/apps")
	if near, ok := view.Index.Closest(id); ok {
		return p.With("did_you_mean", []string{near})
	}
	return p
}
