package findhttp

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/platform/app"
	"ace/internal/platform/platformhttp/gate"
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

// ConnectCall is the call that gives a sign-in link.
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

func (f *Face) describeFind(api *openapi.API, base, security string) {
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: base + "/tools/find", ID: "findTools", Tags: []string{"tools"}, Security: []string{security}, Summary: "Find tools for a task in plain words",
		Description: "Looks at all apps, connected or not; what is connected comes first among equals. Nothing found is an answer with an empty list and a hint.",
	}, func(ctx context.Context, in *struct{ Body FindRequest }) (*body[Found], error) {
		return f.find(ctx, &in.Body, base)
	})
}

func (f *Face) find(ctx context.Context, in *FindRequest, base string) (*body[Found], error) {
	if strings.TrimSpace(in.Task) == "" {
		return nil, problem.New(problem.Invalid, "invalid_request", "Say what to do, in plain words.").At("/task").Advise("fix_arguments")
	}
	caller := gate.From(ctx)
	view, err := f.Library.For(ctx, caller.Account)
	if err != nil {
		return nil, err
	}
	for _, id := range in.Apps {
		if _, err := view.Catalog.App(id); err != nil {
			return nil, unknownApp(view.Index, err, id)
		}
	}
	endUser, restrict := in.EndUser, caller.Key.Restrict
	if restrict.EndUser != "" {
		endUser = restrict.EndUser
	}
	states, err := f.states(ctx, caller.Account, endUser)
	if err != nil {
		return nil, err
	}
	hits, mentioned := view.Index.Find(toolindex.Query{
		Task: in.Task, Apps: in.Apps, ReadOnly: in.ReadOnly || restrict.ReadOnlyTools, Limit: in.Limit, ConnectedOnly: in.ConnectedOnly,
		Connected: func(id string) bool { return states[id].Status == "connected" },
		Allowed:   func(a *app.App, t *app.Tool) bool { return restrict.AllowsTool(a.ID, t.IDs()...) },
	})
	out := &body[Found]{Found{Tools: []FoundTool{}, NotConnected: []NotConnected{}, QueryID: typeid.New("qry")}}
	for _, hit := range hits {
		out.Body.add(hit, states, in.Include, base)
	}
	out.Body.Hint = hint(view.Index, in, hits, mentioned)
	return out, nil
}

func (out *Found) add(hit toolindex.Hit, states map[string]AppState, include []string, base string) {
	t := hit.Tool
	found := FoundTool{
		Tool: t.ID, Name: t.Title, App: hit.App.ID, Description: t.About, Score: hit.Score, MatchedOn: hit.MatchedOn, Required: []string{},
		Annotations:      Annotations{ReadOnly: t.ReadOnly(), Destructive: t.Destructive(), Idempotent: t.SafeToRepeat(), OpenWorld: true},
		ConnectionStatus: status(hit.App.ID, waysIn(hit.App), states), ConnectionID: states[hit.App.ID].DefaultID,
	}
	for _, input := range t.In {
		if input.Required {
			found.Required = append(found.Required, input.Name)
		}
	}
	if slices.Contains(include, "input_schema") {
		found.InputSchema = t.InputSchema
	}
	if slices.Contains(include, "output_schema") {
		found.OutputSchema = t.OutputSchema
	}
	out.Tools = append(out.Tools, found)
	if found.ConnectionStatus != "not_connected" && found.ConnectionStatus != "needs_reconnect" {
		return
	}
	i := slices.IndexFunc(out.NotConnected, func(n NotConnected) bool { return n.App == hit.App.ID })
	if i < 0 {
		i = len(out.NotConnected)
		out.NotConnected = append(out.NotConnected, NotConnected{App: hit.App.ID, Connect: ConnectCall{http.MethodPost, base + "/apps/" + hit.App.ID + "/connect"}})
	}
	out.NotConnected[i].Tools = append(out.NotConnected[i].Tools, t.ID)
}

// hint says what to do where nothing fits.
func hint(index *toolindex.Index, in *FindRequest, hits []toolindex.Hit, mentioned []*app.App) *string {
	text := ""
	switch {
	case len(hits) > 0:
		return nil
	case in.ConnectedOnly:
		text = "No connected app has a tool for this. Ask again without connected_only to see which app to connect."
	case len(mentioned) > 0:
		text = mentioned[0].Name + " has no tool for this. Say it in other words, or name another app."
	default:
		text = "Nothing fits. Use plain words for one step, such as \"create an issue\", and name the app if you know it."
		for word := range strings.FieldsSeq(in.Task) {
			if near, ok := index.Closest(word); ok {
				text = "Nothing fits. Did you mean the app " + near.Name + " (" + near.ID + ")?"
				break
			}
		}
	}
	return &text
}

// unknownApp names the app that was perhaps meant.
func unknownApp(index *toolindex.Index, err error, id string) error {
	p, _ := problem.From(err)
	p = p.At("/apps")
	if near, ok := index.Closest(id); ok {
		return p.With("did_you_mean", []string{near.ID})
	}
	return p
}
