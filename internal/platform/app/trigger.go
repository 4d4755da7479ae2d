package app

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// Trigger is an event of an app: how the app is asked to send it, how it is
// looked for, or both.
//
//	new_issue:
//	  title: New issue
//	  about: An issue was opened in a repository.
//	  in: {owner!: string, repo!: string}
//	  hook: {subscribe: …, unsubscribe: …, verify: …, id: …, data: /issue}
//	  docs: https://docs.github.com/…
//	  scopes: [repo]
//	  sample: {…}        # the data of one event, as the vendor documents it
//
// Templates of its calls name inputs, what subscribing has kept, and:
//
//	{trigger_id}   an id of letters, digits and _, new with each trigger
//	{hook_url}     where the app sends events of this trigger
//	{hook_secret}  a secret that ACE has made for this trigger
//	{expires}      when a registration has to end at the latest (RFC 3339)
//	{cursor}       how far a poll has come; empty at first, unless it is a time
type Trigger struct {
	ID    string `yaml:"-"` // app.name: the type of its events
	App   string `yaml:"-"`
	Name  string `yaml:"-"`
	Title string `yaml:"title"`
	About string `yaml:"about"`
	In    Inputs `yaml:"in"`
	Hook  *Hook  `yaml:"hook"`
	// Poll is how the event is looked for where there is no Hook, or where its
	// signatures cannot be checked: see Verify.ByClient.
	Poll *Poll `yaml:"poll"`
	// Docs is where the vendor documents the event.
	Docs string `yaml:"docs"`
	// Scopes are what an OAuth connection needs for it, some of those that the app
	// asks for or may ask for.
	Scopes []string `yaml:"scopes"`
	// Sample is the data of one event. A trigger without one has not been run
	// against what its vendor documents, and is offered to nobody.
	Sample map[string]any `yaml:"sample"`

	InputSchema []byte `yaml:"-"` // JSON Schema 2020-12, made of In
	// Generic says that the config of each trigger names the tool that is polled; see
	// NewItem.
	Generic bool `yaml:"-"`
}

// Offered reports whether accounts can create the trigger.
func (t *Trigger) Offered() bool { return t.Sample != nil }

// Offers returns the triggers that accounts can create, in their order.
func (a *App) Offers() []*Trigger {
	var list []*Trigger
	for _, t := range a.Triggers.All() {
		if t.Offered() {
			list = append(list, t)
		}
	}
	return list
}

// TriggerCall is a call that a trigger makes; see Tool.
type TriggerCall struct {
	Call    string            `yaml:"call"` // "POST /hooks"
	Base    string            `yaml:"base"` // where not the app's
	Query   map[string]string `yaml:"query"`
	Headers map[string]string `yaml:"headers"`
	Body    map[string]any    `yaml:"body"` // JSON
	Form    map[string]string `yaml:"form"` // instead of Body
	GraphQL string            `yaml:"graphql"`
	// Keep are values of the response that later calls and signatures name: name =
	// pointer.
	Keep map[string]string `yaml:"keep"`
	OK   Expect            `yaml:"ok"`
}

// Tool returns the request as a tool, so that whatever runs tools can send it.
// It takes its values from the arguments of the call by their names.
func (r *TriggerCall) Tool(appID, name string) *Tool {
	t := &Tool{
		ID: ToolID(appID, name), App: appID, Name: name, Call: r.Call, Base: r.Base, OK: r.OK, GraphQL: r.GraphQL,
		Fixed: Fixed{Query: r.Query, Headers: r.Headers, Body: r.Body},
	}
	if r.Form != nil {
		t.Body, t.Fixed.Body = BodyForm, map[string]any{}
		for field, value := range r.Form {
			t.Fixed.Body[field] = value
		}
	}
	t.complete()
	if t.Body == BodyNone && len(t.Fixed.Body) > 0 {
		t.Body = BodyJSON
	}
	return t
}

// Hook says how an app sends an event by itself.
type Hook struct {
	Subscribe   TriggerCall `yaml:"subscribe"`
	Unsubscribe TriggerCall `yaml:"unsubscribe"`
	Renew       *Renew      `yaml:"renew"`
	// Handshake is how the app is convinced that the URL is ours: one of the
	// constants below.
	Handshake Handshake `yaml:"handshake"`
	Verify    Verify    `yaml:"verify"`

	Items string            `yaml:"items"` // pointer to a list of events in one request; empty: the request is one
	Match map[string]string `yaml:"match"` // pointers and the texts there; other events are not meant. Templates
	// ID identifies an event: a pointer into it, or header:NAME. Empty: the digest
	// of the event.
	ID   string `yaml:"id"`
	Data string `yaml:"data"` // pointer to what an event is about; default: all of it
}

// Renew says how a registration that ends by itself is extended.
type Renew struct {
	TriggerCall `yaml:",inline"`
	// Again says that the app has no call for it: a new registration replaces the
	// old one.
	Again bool     `yaml:"again"`
	Every Duration `yaml:"every"`
}

// Handshake is how an app checks a URL before it sends events there.
type Handshake struct {
	Type string // one of the constants; empty: none
	Arg  string // name of a parameter, a field, a header or an event
}

// The handshakes.
const (
	EchoQuery   = "echo_query"   // the response is the value of a parameter, as text
	EchoJSON    = "echo_json"    // the response is the value of a field, as text
	EchoHeader  = "echo_header"  // a header is sent back; its value is the key of later signatures
	Respond200  = "get_200"      // GET and HEAD are answered with 200
	IgnoreEvent = "ignore_event" // the first event only tries the URL; its name is in a header or in event_type
)

// UnmarshalYAML reads echo_query(validationToken).
func (h *Handshake) UnmarshalYAML(node *yaml.Node) error {
	text := node.Value
	for i := range len(text) {
		if text[i] == '(' && text[len(text)-1] == ')' {
			*h = Handshake{text[:i], text[i+1 : len(text)-1]}
			return nil
		}
	}
	*h = Handshake{Type: text}
	return nil
}

// Kinds of Verify.
const (
	VerifyHMAC  = "hmac"
	VerifyToken = "token_equals" // the hook_secret itself, in a header or in the body
	VerifyURL   = "secret_url"   // the app signs nothing: the secret part of the URL alone
)

// Verify says how a request proves that the app sent it.
type Verify struct {
	Type string `yaml:"type"`
	Alg  string `yaml:"alg"` // sha256 (also ""), sha1
	// Key is a template of kept values, of the operator's client and of
	// {hook_secret}, which it is by default. base64:{name} is decoded first.
	Key    string `yaml:"key"`
	Over   string `yaml:"over"`   // template of {body}, {ts}, {url}, {method}
	Header string `yaml:"header"` // with the signature, or the token
	At     string `yaml:"at"`     // pointer to the token in the body, instead
	Prefix string `yaml:"prefix"` // before the signature
	Enc    string `yaml:"enc"`    // hex (also ""), base64
	// Scheme and TS name the signature and the time where the header holds several
	// values: t=…,v1=…. A TS that begins with / is a pointer into the body.
	Scheme   string `yaml:"scheme"`
	TS       string `yaml:"ts"`
	TSHeader string `yaml:"ts_header"`
	// Tolerance is how far the time may be from now; it needs TS or TSHeader.
	Tolerance Duration `yaml:"tolerance"`
}

// ByClient reports whether the app signs with the secret of the OAuth client.
func (v *Verify) ByClient() bool { return slices.Contains(Names(v.Key), "client_secret") }

// Poll says how events are looked for.
type Poll struct {
	TriggerCall `yaml:",inline"`
	// Tool is a tool of the app instead of a call, with Arguments; templates.
	Tool      string         `yaml:"tool"`
	Arguments map[string]any `yaml:"arguments"`
	// Baseline is the call that returns the first cursor, where the list itself
	// does not.
	Baseline *Baseline `yaml:"baseline"`

	Items string `yaml:"items"` // pointer to the list; "/": the response itself
	Each  string `yaml:"each"`  // pointer to a list inside each item, whose entries are meant
	// ID is a pointer to what stays the same of an item wherever it stands in the
	// list. Version is one to what changes with it; "digest": its whole content.
	ID      string `yaml:"id"`
	Version string `yaml:"version"`
	// Cursor is a pointer into an item, or into the response where there is nothing
	// in items. It goes into {cursor} of the next poll. With Time and no pointer the
	// cursor is the time of the poll.
	Cursor string `yaml:"cursor"`
	// Time says that the cursor is a time, and how {cursor} writes it: one of the
	// constants below. The first is when the trigger was created. Items that are
	// older than the cursor are no events, and each poll looks back a little: lists
	// may be behind, and several items may have one time.
	Time  string            `yaml:"time"`
	Step  int64             `yaml:"step"` // added to a cursor that is a number
	Lost  int               `yaml:"lost"` // status that says that the cursor is too old
	Match map[string]string `yaml:"match"`
	// Order of the list: newest (also "") or oldest first, or any.
	Order  string   `yaml:"order"`
	Data   string   `yaml:"data"`   // pointer to what an event is about; default: all of the item
	Paging *Paging  `yaml:"paging"` // where not the app's
	Every  Duration `yaml:"every"`  // default 5m
}

// pageInput is the argument with which a list goes on. It is no name of a template.
const pageInput = "next page"

// List returns the request of a poll as a tool that reads page after page.
func (p *Poll) List(a *App, name string) *Tool {
	t := p.TriggerCall.Tool(a.ID, name)
	t.Effect, t.Items, t.Paging = Reads, p.Items, p.Paging
	if t.Paging == nil {
		t.Paging = a.Paging
	}
	if t.Paging == nil || t.Paging.In == "" {
		t.Paging = &Paging{Type: "none"}
		return t
	}
	in := Input{Name: pageInput, Wire: t.Paging.In, Where: t.Paging.Where}
	if t.Paging.Type == PagingPage || t.Paging.Type == PagingOffset {
		in.Schema = map[string]any{"type": "integer"}
	}
	paging := *t.Paging
	paging.In = pageInput
	t.In, t.Paging = Inputs{in}, &paging
	return t
}

// Orders of a list.
const (
	NewestFirst = "newest"
	OldestFirst = "oldest"
	AnyOrder    = "any"
)

// FurtherPage returns a tool that List has returned without the fixed parameter in
// whose place the next page is named: some apps read both in one.
func FurtherPage(t *Tool) *Tool {
	further := *t
	further.Fixed.Query = maps.Clone(t.Fixed.Query)
	for _, in := range t.In {
		if in.Name == pageInput {
			delete(further.Fixed.Query, in.Wire)
		}
	}
	return &further
}

// Baseline is the call for a first cursor.
type Baseline struct {
	TriggerCall `yaml:",inline"`
	Cursor      string `yaml:"cursor"`
}

// Duration is a time.Duration that a definition writes as 5m or 144h.
type Duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(node *yaml.Node) error {
	parsed, err := time.ParseDuration(node.Value)
	if err != nil {
		return at(node, "%q is no duration such as 5m", node.Value)
	}
	*d = Duration(parsed)
	return nil
}

// complete fills in what follows from the rest.
func (t *Trigger) complete(appID string) error {
	t.App, t.ID = appID, appID+"."+t.Name
	schema, err := t.In.schema()
	if err != nil {
		return fmt.Errorf("trigger %s: %w", t.Name, err)
	}
	t.InputSchema = schema
	return nil
}
