package server

import (
	"ace/internal/config"
	"ace/internal/foundation/egress"
	"ace/internal/storefront/order"
	"ace/internal/storefront/ordersink"
)

// sinks are where order events go, by name. The names are stored with the
// deliveries: a sink that is removed leaves its deliveries behind.
func (s *Server) sinks() (map[string]order.Sink, error) {
	sinks := map[string]order.Sink{}
	if s.cfg.OrderWebhookURL != "" {
		purpose := egress.Webhook()
		if config.Local(s.cfg.OrderWebhookURL) { // a receiver on this machine, which only the operator can name
			purpose = trusting(purpose, s.cfg.OrderWebhookURL)
		}
		webhook, err := ordersink.NewWebhook(s.cfg.OrderWebhookURL, s.cfg.OrderWebhookSecret, s.guard.Client(purpose))
		if err != nil {
			return nil, err
		}
		sinks["webhook"] = webhook
	}
	if s.cfg.SMTPURL != "" {
		mailer, err := ordersink.NewMailer(s.cfg.SMTPURL, s.cfg.MailFrom, s.cfg.SiteName, s.cfg.Contact, nil)
		if err != nil {
			return nil, err
		}
		sinks["receipt"] = mailer
	}
	return sinks, nil
}
