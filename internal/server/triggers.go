package server

import (
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
func (s *Server) watch(p *platform, store *platformstore.Store, apps *library.Library) error {
	filters, err := filter.New()
	if err != nil {
		return err
	}
	p.triggers = trigger.New(trigger.Ports{
		Store: platformstore.Triggers{Store: store}, Apps: apps, Caller: p.tools, Connections: p.connections,
		Clients: p.clients, Sender: stdwebhook.NewSender(s.guard.Client(egress.Webhook()), nil),
		Filters: filters,
		Check:   func(address string) error { return s.guard.Check(egress.Webhook(), address) },
		Wake:    s.lanes.Wake,
	}, s.sealer, &trigger.Options{BaseURL: s.cfg.PlatformBaseURL(), Log: s.log, Observer: s.metrics, Step: s.step})
	return nil
}

// pruneTriggersAfter is how long after the start keys of old events are forgotten.
const pruneTriggersAfter = time.Minute
