package app

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Names that the templates of a trigger may use besides inputs and kept values.
const (
	triggerID  = "trigger_id"
	hookURL    = "hook_url"
	hookSecret = "hook_secret"
	expires    = "expires"
	cursor     = "cursor"
)

// trigger checks an event.
func (c *checker) trigger(name string, t *Trigger) {
	at := "triggers/" + name
	c.match(at, toolShape, name)
	if t.Title == "" || t.About == "" || len(t.About) > 300 || !strings.HasSuffix(t.About, ".") {
		c.fault(at+"/about", "a trigger has a title, and a sentence about it of at most 300 characters")
	}
	switch {
	case t.Hook == nil && t.Poll == nil:
		c.fault(at, "say how the event comes: by hook or poll")
	case t.Hook != nil && t.Poll != nil && !t.Hook.Verify.ByClient():
		c.fault(at, "both hook and poll: only where the hook is signed with the secret of the OAuth client")
	}
	c.eventDocs(at, t)
	known := c.known(nil)
	for i := range t.In {
		c.input(at, &t.In[i])
		known = append(known, t.In[i].Name)
	}
	if t.Hook != nil {
		c.hook(at+"/hook", t.Hook, known)
	}
	if t.Poll != nil {
		c.poll(at+"/poll", t.Poll, known)
	}
	for i := range t.In {
		if !t.uses(t.In[i].Name) {
			c.fault(at+"/in/"+t.In[i].Name, "nothing of the trigger names it")
		}
	}
}

// eventDocs checks where the facts of an event are from, and what it needs.
func (c *checker) eventDocs(at string, t *Trigger) {
	if !c.local && t.Offered() {
		c.address(at+"/docs", t.Docs)
	}
	var asked []string
	for i := range c.app.Schemes {
		if o := c.app.Schemes[i].OAuth; o != nil {
			asked = slices.Concat(asked, o.Scopes.Default, o.Scopes.Optional)
		}
	}
	if t.Hook != nil && len(asked) > 0 && len(t.Scopes) == 0 {
		c.fault(at+"/scopes", "name the scopes that the registration needs")
	}
	for _, scope := range t.Scopes {
		if !slices.Contains(asked, scope) {
			c.fault(at+"/scopes", "the app asks for no scope %q, not even optionally", scope)
		}
	}
}

// uses reports whether a trigger names one of its inputs.
func (t *Trigger) uses(input string) bool {
	var calls []TriggerCall
	var more []string
	if h := t.Hook; h != nil {
		calls = append(calls, h.Subscribe, h.Unsubscribe)
		more = slices.AppendSeq(more, maps.Values(h.Match))
	}
	if p := t.Poll; p != nil {
		calls = append(calls, p.TriggerCall)
		more = append(slices.AppendSeq(more, maps.Values(p.Match)), texts(p.Arguments)...)
		if p.Baseline != nil {
			calls = append(calls, p.Baseline.TriggerCall)
		}
	}
	return slices.ContainsFunc(calls, func(call TriggerCall) bool { return names(input, call) }) ||
		slices.ContainsFunc(more, func(text string) bool { return slices.Contains(Names(text), input) })
}

func (c *checker) hook(at string, h *Hook, known []string) {
	known = append(known, triggerID, hookURL, hookSecret)
	if h.Renew != nil {
		known = append(known, expires)
		if !names(expires, h.Subscribe) && !h.Renew.Again && !names(expires, h.Renew.TriggerCall) {
			c.fault(at+"/renew", "nothing names {expires}: the app would not know how long it has to last")
		}
		if time.Duration(h.Renew.Every) < time.Minute {
			c.fault(at+"/renew/every", "say how often the registration is renewed")
		}
		if h.Renew.Again == (h.Renew.Call != "") {
			c.fault(at+"/renew", "either a call, or again: true")
		}
	}
	c.request(at+"/subscribe", &h.Subscribe, known)
	if !names(hookURL, h.Subscribe) {
		c.fault(at+"/subscribe", "nothing names {hook_url}: the app would not know where to send events")
	}
	known = append(slices.Collect(maps.Keys(h.Subscribe.Keep)), known...)
	c.request(at+"/unsubscribe", &h.Unsubscribe, known)
	if h.Renew != nil && h.Renew.Call != "" {
		c.request(at+"/renew", &h.Renew.TriggerCall, known)
	}
	if !slices.Contains([]string{"", EchoQuery, EchoJSON, EchoHeader, Respond200, IgnoreEvent}, h.Handshake.Type) {
		c.fault(at+"/handshake", "%q is no handshake that is known", h.Handshake.Type)
	}
	if h.Handshake.Type == EchoHeader {
		known = append(known, "handshake")
	}
	for pointer, want := range h.Match {
		c.templates(at+"/match"+pointer, known, want)
	}
	c.verify(at+"/verify", &h.Verify, known)
	if h.ID != "" && !strings.HasPrefix(h.ID, "/") && !strings.HasPrefix(h.ID, "header:") {
		c.fault(at+"/id", "%q is neither a pointer nor header:NAME", h.ID)
	}
}

func (c *checker) verify(at string, v *Verify, known []string) {
	switch v.Type {
	case VerifyURL:
		return
	case VerifyToken:
		if (v.Header == "") == (v.At == "") {
			c.fault(at, "say where the token is: in a header, or at a pointer into the body")
		}
		return
	case VerifyHMAC:
	default:
		c.fault(at+"/type", "%q is none of hmac, token_equals, secret_url", v.Type)
		return
	}
	if v.Header == "" || !strings.Contains(v.Over, "{body}") {
		c.fault(at, "a signature is in a header, over a template with {body}")
	}
	c.templates(at+"/over", []string{"body", "ts", "url", "method"}, v.Over)
	c.templates(at+"/key", known, strings.TrimPrefix(v.Key, "base64:"))
	if !slices.Contains([]string{"", "sha256", "sha1"}, v.Alg) ||
		!slices.Contains([]string{"", "hex", "base64"}, v.Enc) {
		c.fault(at, "alg is sha256 or sha1, enc hex or base64")
	}
	if timed := v.TS != "" || v.TSHeader != ""; timed != (v.Tolerance > 0) {
		c.fault(at+"/tolerance", "a signed time has a tolerance, and a tolerance needs a signed time")
	}
}

func (c *checker) poll(at string, p *Poll, known []string) {
	known = append(known, cursor)
	switch {
	case p.Tool != "" && p.Call != "":
		c.fault(at, "either a tool or a call")
	case p.Tool != "":
		t, ok := c.app.Tools.Get(p.Tool)
		if !ok || t.Effect != Reads {
			c.fault(at+"/tool", "%q is no tool of this app that only reads", p.Tool)
		}
	default:
		c.request(at, &p.TriggerCall, known)
	}
	if p.Baseline != nil {
		c.request(at+"/baseline", &p.Baseline.TriggerCall, known)
		if p.Baseline.Cursor == "" {
			c.fault(at+"/baseline/cursor", "say where the cursor is")
		}
	}
	if !strings.HasPrefix(p.Items, "/") {
		c.fault(at+"/items", "a pointer to the list; / is the response itself")
	}
	// The place of a row in a list is no identity: a row that is inserted above
	// moves all others.
	if !strings.HasPrefix(p.ID, "/") || p.ID == "/" || p.ID == "/index" {
		c.fault(at+"/id", "a pointer to what stays the same of an item when others are inserted before it")
	}
	c.cursor(at, p)
	if p.Version != "" && p.Version != Digest && !strings.HasPrefix(p.Version, "/") {
		c.fault(at+"/version", "a pointer, or digest")
	}
	if !slices.Contains([]string{"", NewestFirst, OldestFirst, AnyOrder}, p.Order) {
		c.fault(at+"/order", "%q is none of newest, oldest, any", p.Order)
	}
	if d := time.Duration(p.Every); d != 0 && d < MinPoll {
		c.fault(at+"/every", "at least %s", MinPoll)
	}
}

// times are the ways to write a cursor.
var times = []string{"", TimeRFC3339, TimeMillis, TimeUnix, TimeUnixMS, TimeDate, TimeAgo}

// cursor checks how a poll goes on.
func (c *checker) cursor(at string, p *Poll) {
	if !slices.Contains(times, p.Time) {
		c.fault(at+"/time", "%q is none of %s", p.Time, strings.Join(times[1:], ", "))
	}
	if p.Time != "" && p.Baseline != nil {
		c.fault(at+"/baseline", "a time begins with now: it needs no call")
	}
	// A parameter can be left out of the first call; what is in a body cannot.
	inBody := names(cursor, TriggerCall{Body: p.Body, Form: p.Form, Call: p.Call})
	if inBody && p.Time == "" && p.Baseline == nil {
		c.fault(at+"/cursor", "the first call has none: say time, or baseline")
	}
	if names(cursor, p.TriggerCall) && p.Time == "" && p.Cursor == "" {
		c.fault(at+"/cursor", "say where the next one is")
	}
}

// Digest is the Version of items whose whole content counts.
const Digest = "digest"

// MinPoll is the shortest time between two polls.
const MinPoll = time.Minute

func (c *checker) request(at string, r *TriggerCall, known []string) {
	method, path := splitCall(r.Call)
	if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, method) || !strings.HasPrefix(path, "/") {
		c.fault(at+"/call", "%q is no method and path", r.Call)
	}
	if r.Body != nil && r.Form != nil {
		c.fault(at, "either body or form")
	}
	c.templates(at+"/call", known, path)
	for _, fields := range []map[string]string{r.Query, r.Headers, r.Form} {
		for name, template := range fields {
			c.templates(at+"/"+name, known, template)
		}
	}
	for _, text := range texts(r.Body) {
		c.templates(at+"/body", known, text)
	}
}

// names reports whether a template of the request uses a value.
func names(value string, r TriggerCall) bool {
	all := append(texts(r.Body), r.Call)
	for _, fields := range []map[string]string{r.Query, r.Headers, r.Form} {
		all = slices.AppendSeq(all, maps.Values(fields))
	}
	return slices.ContainsFunc(all, func(text string) bool { return slices.Contains(Names(text), value) })
}

// texts returns the texts inside a value.
func texts(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, texts(one)...)
		}
		return all
	case map[string]any:
		var all []string
		for _, one := range v {
			all = append(all, texts(one)...)
		}
		return all
	}
	return nil
}
