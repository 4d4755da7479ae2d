// Package triggerhttp mounts the REST routes of triggers, and the URLs that apps
// send their events to.
//
//	GET    /apps/{app}/triggers           what can be watched
//	POST   /triggers                      watch an event
//	GET, PATCH, DELETE /triggers/{id}
//	POST   /triggers/{id}/rotate-secret, /test
//	GET    /triggers/{id}/events[/{event}]
//	POST   /triggers/{id}/events/{event}/replay, /triggers/{id}/replay-failed
//	       /hooks/t/{trigger}/{token}     what apps send; see ingress.go
//
// A handler decodes the request, calls one operation and encodes its result.
package triggerhttp

import (
	"context"
	"encoding/json"
	"net/http"

	"ace/internal/foundation/openapi"
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
	"ace/internal/platform/platformhttp/reply"
)

// Handler serves triggers. Its fields are set once.
type Handler struct {
	BaseURL    string // of the platform, without a slash at the end
	Operations *operation.Service
}

// Rules are the operations of the routes, by the pattern of http.ServeMux.
func Rules(base string) gate.Rules {
	return gate.Rules{
		"GET " + base + "/apps/{app}/triggers":                  {Operation: operation.ListTriggerTypes},
		"GET " + base + "/triggers":                             {Operation: operation.ListTriggers},
		"POST " + base + "/triggers":                            {Operation: operation.CreateTrigger},
		"GET " + base + "/triggers/{id}":                        {Operation: operation.GetTrigger},
		"PATCH " + base + "/triggers/{id}":                      {Operation: operation.ChangeTrigger},
		"DELETE " + base + "/triggers/{id}":                     {Operation: operation.DeleteTrigger},
		"POST " + base + "/triggers/{id}/rotate-secret":         {Operation: operation.RotateTriggerSecret},
		"POST " + base + "/triggers/{id}/test":                  {Operation: operation.TestTrigger},
		"POST " + base + "/triggers/{id}/replay-failed":         {Operation: operation.ReplayFailedEvents},
		"GET " + base + "/triggers/{id}/events":                 {Operation: operation.ListTriggerEvents},
		"GET " + base + "/triggers/{id}/events/{event}":         {Operation: operation.GetTriggerEvent},
		"POST " + base + "/triggers/{id}/events/{event}/replay": {Operation: operation.ReplayTriggerEvent},

		"GET /hooks/t/{trigger}/{token}":  {Open: true, Uncounted: true},
		"POST /hooks/t/{trigger}/{token}": {Open: true, Uncounted: true},
	}
}

// Describe mounts and documents the routes. base is the path of the REST API, key
// the name of the security scheme for keys.
func (h *Handler) Describe(api *openapi.API, mux gate.Mux, base, key string) {
	route := func(method, path string, id operation.ID, summary, about string) openapi.Operation {
		return openapi.Operation{
			Method: method, Path: base + path, ID: id.String(), Tags: []string{"triggers"},
			Security: []string{key}, Summary: summary, Description: about,
		}
	}
	openapi.Handle(api, route(
		http.MethodGet,
		"/apps/{app}/triggers",
		operation.ListTriggerTypes,
		"List the events of an app that can be watched",
		"Each with the schema of its config and a sample of its data.",
	),
		h.types)
	reply.HandleList(api, route(http.MethodGet, "/triggers", operation.ListTriggers, "List triggers",
		"Newest first. A restricted key sees those of its own apps and end user."), h.list)
	create := route(
		http.MethodPost,
		"/triggers",
		operation.CreateTrigger,
		"Watch an event in a connected app and get a signed webhook",
		"The app is asked to send the event, or is polled for the first time, before this call returns. If that "+
			"fails, nothing is created and the problem is trigger_setup_failed. Each event is then posted to "+
			"webhook_url as Standard Webhooks say, signed with signing_secret, which is shown here. A delivery has "+
			"three attempts: at once, after 30 seconds and after 5 minutes, a fifth more or less. Receivers drop a "+
			"webhook-id that they have seen. A response of 410 pauses the trigger.",
	)
	create.Status = http.StatusCreated
	openapi.Handle(api, create, h.create)
	openapi.Handle(api, route(http.MethodGet, "/triggers/{id}", operation.GetTrigger, "Get a trigger",
		"Its state and its health."), h.get)
	openapi.Handle(api, route(http.MethodPatch, "/triggers/{id}", operation.ChangeTrigger, "Change a trigger",
		"Another webhook URL, another interval, paused or active."), h.change)
	openapi.Handle(api, route(http.MethodDelete, "/triggers/{id}", operation.DeleteTrigger, "Delete a trigger",
		"Nothing more is posted. Its registration at the app is ended, and tried again for three days if the app "+
			"cannot be reached."), h.remove)
	openapi.Handle(api, route(http.MethodPost, "/triggers/{id}/rotate-secret", operation.RotateTriggerSecret,
		"Replace the signing secret of a trigger",
		"Deliveries carry signatures with both secrets until the overlap has passed."), h.rotate)
	test := route(http.MethodPost, "/triggers/{id}/test", operation.TestTrigger, "Post the sample of a trigger",
		"Adds an event with the sample of the vendor to the history, and delivers it like every other.")
	test.Status = http.StatusAccepted
	openapi.Handle(api, test, h.test)
	openapi.Handle(api, route(http.MethodGet, "/triggers/{id}/events", operation.ListTriggerEvents,
		"List the last 50 events of a trigger", "Newest first, with every attempt to deliver them."), h.events)
	openapi.Handle(api, route(http.MethodGet, "/triggers/{id}/events/{event}", operation.GetTriggerEvent,
		"Get an event of a trigger", "With every attempt to deliver it."), h.event)
	replay := route(http.MethodPost, "/triggers/{id}/events/{event}/replay", operation.ReplayTriggerEvent,
		"Deliver an event again", "Under the same webhook-id, with three attempts. An event that is still being "+
			"delivered is refused (event_pending).")
	replay.Status = http.StatusAccepted
	openapi.Handle(api, replay, h.replay)
	failed := route(http.MethodPost, "/triggers/{id}/replay-failed", operation.ReplayFailedEvents,
		"Deliver all failed events again", "Those among the last 50.")
	failed.Status = http.StatusAccepted
	openapi.Handle(api, failed, h.replayFailed)
	describePost(api)
	mux.HandleFunc("GET /hooks/t/{trigger}/{token}", h.ingress)
	mux.HandleFunc("POST /hooks/t/{trigger}/{token}", h.ingress)
}

// describePost documents what is posted to the webhooks of accounts.
func describePost(api *openapi.API) {
	example, err := json.Marshal(operation.ExamplePost("demo-notes", "demo-notes.new_note",
		json.RawMessage(`{"id":"note_abc","title":"Shopping","body":"Milk and bread",`+
			`"created_at":"2026-11-22T10:00:00.000Z","updated_at":"2026-11-22T10:00:00.000Z"}`)))
	if err != nil {
		panic(err) // it is a constant
	}
	header := func(name, about string, required bool) openapi.Parameter {
		return openapi.Parameter{Name: name, In: "header", Description: about, Required: required}
	}
	openapi.DescribeWebhook(api, openapi.Operation{
		Method: http.MethodPost, ID: "triggerEvent", Tags: []string{"triggers"}, Summary: "An event of a trigger",
		Description: "Posted to webhook_url of a trigger, as Standard Webhooks say. GET /apps/{app}/triggers has an " +
			"example for each event.",
	}, openapi.Description{
		Parameters: []openapi.Parameter{
			header("webhook-id", "Id of the event, the same on every attempt and replay.", true),
			header("webhook-timestamp", "When the attempt was made, in seconds since 1970.", true),
			header(
				"webhook-signature",
				"v1, and an HMAC-SHA-256 of id, timestamp and body; two while a replaced secret "+
					"still signs.",
				true,
			),
			header("x-ace-attempt", "1, 2 or 3.", true),
			header("x-ace-trigger-id", "Id of the trigger.", true),
			header("x-ace-replay", "Number of the replay. Left out in the first delivery.", false),
		},
		Request: &openapi.Content{
			Schema:  json.RawMessage(`{"$ref":"#/components/schemas/TriggerPost"}`),
			Example: example,
		},
		Responses: map[int]openapi.Content{
			http.StatusNoContent: {Description: "It has arrived. Every status from 200 to 299 says so."},
			http.StatusGone:      {Description: "No more of it: the trigger is paused (webhook_gone)."},
			0: {
				Description: "It is posted again after 30 seconds and after 5 minutes, a fifth more or less, then " +
					"it has failed.",
			},
		},
	})
}

// byEvent is the input of a route that names an event.
type byEvent struct {
	reply.ByID
	Event string `path:"event" maxLength:"64"`
}

func (h *Handler) types(ctx context.Context, in *reply.ByApp) (*reply.Body[operation.TriggerTypes], error) {
	return reply.With(h.Operations.ListTriggerTypes(ctx, gate.From(ctx), in.App))
}

func (h *Handler) list(ctx context.Context, in *operation.ListTriggersRequest,
) (*reply.Page[operation.TriggerList], error) {
	page, err := h.Operations.ListTriggers(ctx, gate.From(ctx), *in)
	return reply.List(ctx, h.BaseURL, page, err)
}

func (h *Handler) create(ctx context.Context, in *struct {
	reply.Key
	Body operation.TriggerRequest
},
) (*reply.Created[operation.Trigger], error) {
	created, replayed, err := h.Operations.CreateTrigger(ctx, gate.From(ctx), in.Key.Key, in.Body)
	return reply.New(created, replayed, err, func(t *operation.Trigger) string { return "/api/v1/triggers/" + t.ID })
}

func (h *Handler) get(ctx context.Context, in *reply.ByID) (*reply.Body[operation.Trigger], error) {
	return reply.With(h.Operations.Trigger(ctx, gate.From(ctx), in.ID))
}

func (h *Handler) change(ctx context.Context, in *struct {
	reply.ByID
	Body operation.TriggerChange
},
) (*reply.Body[operation.Trigger], error) {
	return reply.With(h.Operations.ChangeTrigger(ctx, gate.From(ctx), in.ID, in.Body))
}

func (h *Handler) remove(ctx context.Context, in *reply.ByID) (*struct{}, error) {
	return reply.Empty(h.Operations.DeleteTrigger(ctx, gate.From(ctx), in.ID))
}

func (h *Handler) rotate(ctx context.Context, in *struct {
	reply.ByID
	Body *operation.TriggerRotation
},
) (*reply.Body[operation.Trigger], error) {
	var body operation.TriggerRotation
	if in.Body != nil {
		body = *in.Body
	}
	return reply.With(h.Operations.RotateTriggerSecret(ctx, gate.From(ctx), in.ID, body))
}

func (h *Handler) test(ctx context.Context, in *reply.ByID) (*reply.Body[operation.TriggerEvent], error) {
	return reply.With(h.Operations.TestTrigger(ctx, gate.From(ctx), in.ID))
}

func (h *Handler) events(ctx context.Context, in *reply.ByID) (*reply.Body[operation.TriggerEvents], error) {
	return reply.With(h.Operations.ListTriggerEvents(ctx, gate.From(ctx), in.ID))
}

func (h *Handler) event(ctx context.Context, in *byEvent) (*reply.Body[operation.TriggerEvent], error) {
	return reply.With(h.Operations.TriggerEvent(ctx, gate.From(ctx), in.ID, in.Event))
}

func (h *Handler) replay(ctx context.Context, in *byEvent) (*reply.Body[operation.TriggerEvent], error) {
	return reply.With(h.Operations.ReplayTriggerEvent(ctx, gate.From(ctx), in.ID, in.Event))
}

func (h *Handler) replayFailed(ctx context.Context, in *reply.ByID) (*reply.Body[operation.Replayed], error) {
	return reply.With(h.Operations.ReplayFailedEvents(ctx, gate.From(ctx), in.ID))
}
