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
	if t.Hook == nil && t.Poll == nil {
		c.fault(at, "say how the event comes: by hook, poll or both")
	}
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
}

func (c *checker) hook(at string, h *Hook, known []string) {
	known = append(known, triggerID, hookURL, hookSecret)
	if h.Renew != nil {
		known = append(known, expires)
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
