package server

import (
	"context"
	"crypto/tls"
	"fmt"

	"ace/internal/foundation/egress"
	"ace/internal/platform/connection"
	"ace/internal/platform/connection/clients"
	"ace/internal/platform/library"
	"ace/internal/platform/notifier"
	"ace/internal/platform/oauthclient"
	"ace/internal/protocol/stdwebhook"
	"ace/internal/sandbox/notes"
	"ace/internal/storage/platformstore"
)

// demoApp is the sandbox's third-party app.
const demoApp = "demo-notes"

// connect wires connected apps.
//
//	store, library, clients, vendors by OAuth and by HTTP -> connection.Service
func (s *Server) connect(ctx context.Context, p *platform, store *platformstore.Store, apps *library.Library) error {
	p.clients = clients.New(store, s.sealer)
	vendors := oauthclient.New(s.guard.Client(s.practicing(egress.OAuth(), "/notes")), &oauthclient.Options{
		PlatformURL: s.cfg.PlatformBaseURL(), Name: s.cfg.PlatformName, Registrations: p.clients,
		Certified: s.certified, Apps: s.demoVendor(),
	})
	p.connections = connection.New(connection.Ports{
		Store: platformstore.Connections{Store: store}, Apps: apps, Clients: p.clients, Authorizer: vendors,
		Checker: p.executor, Stepper: vendors,
		Landings: store, Notices: &notifier.Notifier{
			Sessions: platformstore.Connections{
				Store: store,
			},
			Sender: stdwebhook.NewSender(s.guard.Client(egress.Webhook()), nil),
			MAC:    s.sealer.MAC,
			Log:    s.log,
			Check:  func(address string) error { return s.guard.Check(egress.Webhook(), address) },
		},
	}, s.sealer, &connection.Options{BaseURL: s.cfg.PlatformBaseURL(), Log: s.log, Observer: s.metrics, Step: s.step})
	p.connectors.Connections, p.connectors.Clients = p.connections, p.clients
	return s.keepClients(ctx, p.clients)
}

// demoVendor is how the sandbox's third-party app signs people in: no other app
// reaches the sandbox.
func (s *Server) demoVendor() map[string]oauthclient.HTTPClient {
	if !s.cfg.SandboxOn() {
		return nil
	}
	return map[string]oauthclient.HTTPClient{
		demoApp: s.guard.Client(trusting(egress.OAuth(), s.cfg.SandboxBaseURL())),
	}
}

// certified returns a way out for OAuth that shows a client certificate.
func (s *Server) certified(certificate tls.Certificate) (oauthclient.HTTPClient, error) {
	o := s.egressOptions()
	shown := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.TLS != nil {
		shown = o.TLS.Clone()
	}
	shown.Certificates = []tls.Certificate{certificate}
	o.TLS = shown
	return egress.New(o).Client(egress.OAuth()), nil
}

// keepClients seals the operator's OAuth clients into the database, and the one
// that the demo app knows from the start.
func (s *Server) keepClients(ctx context.Context, keeper *clients.Clients) error {
	set, err := s.cfg.OAuthClients()
	if err != nil {
		return err
	}
	var all []*connection.Client
	for id, one := range set {
		all = append(all, &connection.Client{App: id, ID: one.ID, Secret: one.Secret, Extra: one.Extra})
	}
	if s.cfg.SandboxOn() {
		all = append(all, &connection.Client{App: demoApp, ID: notes.ClientID, Secret: notes.ClientSecret})
	}
	if err := keeper.StoreAll(ctx, all); err != nil {
		return fmt.Errorf("storing the OAuth clients of the operator: %w", err)
	}
	return nil
}
