package server

import (
	"net/http"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/platform/library"
	"ace/internal/platform/trigger"
	"ace/internal/platform/trigger/filter"
	"ace/internal/protocol/stdwebhook"
	"ace/internal/storage/platformstore"
)

// watch wires triggers.
//
//	apps -> trigger.Service -> events in the database -> webhooks, through the egress guard
//	        \-> tool.Service: polls and registrations, at the rate of each app
//
// Without any configuration they are posted to the inbox of the sandbox alone.
func (s *Server) watch(p *platform, store *platformstore.Store, apps *library.Library) error {
	filters, err := filter.New()
	if err != nil {
		return err
	}
	webhooks := s.practicing(egress.Webhook(), "/inbox")
	p.triggers = trigger.New(trigger.Ports{
		Store: platformstore.Triggers{Store: store}, Apps: apps, Caller: p.tools, Connections: p.connections,
		Clients: p.clients, Sender: stdwebhook.NewSender(s.guard.Client(webhooks), nil),
		Filters: filters,
		Check:   func(address string) error { return s.guard.Check(webhooks, address) },
		Wake:    s.lanes.Wake,
	}, s.sealer, &trigger.Options{BaseURL: s.cfg.PlatformBaseURL(), Log: s.log, Observer: s.metrics, Step: s.step})
	return nil
}

// pruneTriggersAfter is how long after the start keys of old events are forgotten.
const pruneTriggersAfter = time.Minute

// VerifyPost checks the signature of what a trigger has posted, as its receiver
// does.
func VerifyPost(secret string, header http.Header, body []byte) error {
	parsed, err := stdwebhook.ParseSecret(secret)
	if err != nil {
		return err
	}
	_, err = stdwebhook.Verify(header, []stdwebhook.Secret{parsed}, body, time.Now())
	return err
}
