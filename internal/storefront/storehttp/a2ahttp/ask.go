package a2ahttp

import (
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/a2a"
	"ace/internal/protocol/jsonrpc"
)

// The skills and their own words.
const (
	skillSite     = "site"
	skillCheckout = "checkout"
	actionCreate  = "create_checkout"
)

// ask is what a message asks for. The zero ask is one in words, for which
// there is no model that would understand them.
type ask struct {
	action  *action
	input   json.RawMessage // an object that fits the action's schema
	at      string          // the field of the input, for what is wrong with it
	unknown string          // why the request cannot be served; "": it is known
}

// readAsk finds the one structured request in a message.
func (f *Handler) readAsk(m *a2a.Message) (ask, *jsonrpc.Error) {
	var found ask
	asked := false
	for i, p := range m.Parts {
		at := fmt.Sprintf("message.parts[%d]", i)
		if fault := acceptable(p, at); fault != nil {
			return ask{}, fault
		}
		data, field := structured(p)
		if data == nil {
			continue
		}
		if asked {
			return ask{}, a2a.InvalidParams(a2a.FieldViolation{
				Field:       at,
				Description: "A message asks for one action. Send another message for the next.", Reason: "TOO_MANY",
			})
		}
		asked = true
		var fault *jsonrpc.Error
		if found, fault = f.readRequest(data, at+"."+field); fault != nil {
			return ask{}, fault
		}
	}
	return found, nil
}

// acceptable refuses parts that are neither JSON nor words.
func acceptable(p a2a.Part, at string) *jsonrpc.Error {
	media, _, err := mime.ParseMediaType(p.MediaType)
	known := p.MediaType == "" || err == nil && (media == a2a.MediaJSON || media == a2a.MediaText)
	if known && (p.Data != nil || p.Text != nil) && (p.Data == nil || media != a2a.MediaText) {
		return nil
	}
	return a2a.NewError(a2a.CodeContentTypeNotSupport,
		at+": this agent reads data parts with JSON (application/json) and text parts (text/plain), no files.",
		"supported", a2a.MediaJSON+", "+a2a.MediaText)
}

// structured returns the request in a part, if there is one, and the member
// that holds it. Text counts where it says that it is JSON, or is an object with
// a skill or an action: so some clients send what the card shows as examples.
func structured(p a2a.Part) (data json.RawMessage, field string) {
	if p.Data != nil {
		return p.Data, "data"
	}
	text := json.RawMessage(strings.TrimSpace(*p.Text))
	if p.MediaType != "" && strings.HasPrefix(p.MediaType, a2a.MediaJSON) {
		return text, "text"
	}
	if o, err := jsonread.Read(text); err == nil && (o.Has("skill") || o.Has("action")) {
		return text, "text"
	}
	return nil, ""
}

// readRequest reads {"skill":…,"action":…,"input":{…}}. Without a skill the
// action tells it.
func (f *Handler) readRequest(data json.RawMessage, at string) (ask, *jsonrpc.Error) {
	o, err := jsonread.Read(data)
	if err == nil {
		o.Need("action", "Name the action, for example search_pages.")
	}
	skill, name, input := o.Text("skill", 128), o.Text("action", 128), o.Object("input")
	if err == nil {
		err = o.Err()
	}
	if err != nil {
		return ask{}, faults(err, at)
	}
	found := ask{at: at + ".input", input: json.RawMessage(`{}`)}
	if input.Present() {
		found.input = o.JSON("input")
	}
	if found.action, found.unknown = f.find(skill, name); found.action == nil {
		return found, nil
	}
	if err := found.action.input.Check(found.input); err != nil {
		return ask{}, faults(err, found.at)
	}
	return found, nil
}

// faults words what is wrong in what a client sent.
func faults(err error, at string) *jsonrpc.Error {
	p, ok := problem.From(err)
	if !ok {
		p = problem.New(problem.Invalid, "invalid_json", "This JSON cannot be read.")
	}
	if p.Kind == problem.Malformed && len(p.Items) == 0 {
		p = p.At("")
	}
	violations := make([]a2a.FieldViolation, 0, 1+len(p.Items))
	for _, item := range p.Items {
		violations = append(violations, a2a.FieldViolation{
			Field: a2a.Field(at, item.Pointer), Description: item.Detail,
			Reason: strings.ToUpper(item.Code),
		})
	}
	if len(violations) == 0 {
		violations = append(violations,
			a2a.FieldViolation{Field: at, Description: p.Detail, Reason: strings.ToUpper(p.Code)})
	}
	return a2a.InvalidParams(violations...)
}

// find returns an action, or why there is none.
func (f *Handler) find(skill, name string) (a *action, unknown string) {
	var skills []string
	for _, s := range f.skills {
		skills = append(skills, s.id)
		if skill != "" && skill != s.id {
			continue
		}
		var names []string
		for _, a := range s.actions {
			if a.Name == name {
				return a, ""
			}
			names = append(names, a.Name)
		}
		if skill != "" {
			return nil, fmt.Sprintf("The skill %s has no action of this name. It has: %s.", skill,
				strings.Join(names, ", "))
		}
	}
	if skill != "" {
		return nil, "This agent has no skill of this name. It has: " + strings.Join(skills, ", ") + "."
	}
	return nil, "No skill of this agent has an action of this name. Name the skill too; there are: " +
		strings.Join(skills, ", ") + "."
}
