package operatorhttp

import (
	"context"
	"net/http"
	"time"

	"ace/internal/foundation/openapi"
	"ace/internal/storefront/paidservice"
)

// Services is what operators do with orders of paid services.
type Services interface {
	// Decide is that of paidservice.Service.
	Decide(ctx context.Context, id, tx string) (*paidservice.Order, error)
}

// ServiceOrder is an order of a paid service as operators see it. It holds no
// payment.
type ServiceOrder struct {
	ID             string     `json:"id"`
	Service        string     `json:"service"`
	State          string     `json:"state"`
	Attention      string     `json:"attention,omitempty"`
	Reason         string     `json:"reason,omitempty"`
	Payer          string     `json:"payer"`
	PayTo          string     `json:"pay_to"`
	Amount         string     `json:"amount"`
	Asset          string     `json:"asset"`
	Network        string     `json:"network"`
	Nonce          string     `json:"nonce"`
	Transaction    string     `json:"transaction,omitempty"`
	Transport      string     `json:"transport"`
	RunAttempts    int        `json:"run_attempts"`
	SettleAttempts int        `json:"settle_attempts"`
	SupersededBy   string     `json:"superseded_by,omitempty"`
	CreatedAt      time.Time  `json:"created_at"`
	SettledAt      *time.Time `json:"settled_at,omitempty"`
	DeliveredAt    *time.Time `json:"delivered_at,omitempty"`
	// Moves is the audit trail, in the response for one order.
	Moves []ServiceMove `json:"moves,omitempty"`
}

// ServiceMove is one line of the audit trail.
type ServiceMove struct {
	At       time.Time `json:"at"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Evidence string    `json:"evidence"`
}

// ServiceOrders is a page of them.
type ServiceOrders struct {
	Orders []ServiceOrder `json:"orders"`
	Next   string         `json:"next,omitempty"`
}

// ServiceDecision is what an operator found out about a payment.
type ServiceDecision struct {
	Transaction string `json:"transaction,omitempty" doc:"That brought the money; left out: it did not come."`
}

func (s *server) mountServices(api *openapi.API) {
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: "/service-orders", ID: "listServiceOrders",
		Summary: "Orders of paid services, newest first",
	}, s.listServices)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: "/service-orders/{id}", ID: "showServiceOrder",
		Summary: "One of them with its audit trail",
	}, s.showService)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: "/service-orders/{id}/decide",
		ID: "decideServiceOrder", Summary: "Say whether its payment arrived",
	}, s.decideService)
}

type listServicesInput struct {
	State     string `query:"state"`
	Attention bool   `query:"attention" doc:"Only those that a person has to look at."`
	After     string `query:"after" doc:"Id of the last order of the page before."`
	Limit     int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
}

type listServicesOutput struct{ Body ServiceOrders }

func (s *server) listServices(ctx context.Context, in *listServicesInput) (*listServicesOutput, error) {
	found, err := s.ledger.Orders(ctx, paidservice.Filter{Attention: in.Attention, State: paidservice.State(in.State)},
		in.After, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &listServicesOutput{Body: ServiceOrders{Orders: []ServiceOrder{}}}
	for _, o := range found {
		out.Body.Orders = append(out.Body.Orders, wireService(o))
	}
	if len(found) == in.Limit {
		out.Body.Next = found[len(found)-1].ID
	}
	return out, nil
}

type serviceOutput struct{ Body ServiceOrder }

func (s *server) showService(ctx context.Context, in *idInput) (*serviceOutput, error) {
	o, err := s.ledger.Order(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	moves, err := s.ledger.Moves(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &serviceOutput{wireService(o)}
	for _, m := range moves {
		out.Body.Moves = append(out.Body.Moves, ServiceMove{m.At, string(m.Before), string(m.After), m.Evidence})
	}
	return out, nil
}

type decideInput struct {
	ID   string `path:"id"`
	Body ServiceDecision
}

func (s *server) decideService(ctx context.Context, in *decideInput) (*serviceOutput, error) {
	o, err := s.services.Decide(ctx, in.ID, in.Body.Transaction)
	if err != nil {
		return nil, err
	}
	return &serviceOutput{wireService(o)}, nil
}

func wireService(o *paidservice.Order) ServiceOrder {
	wire := ServiceOrder{
		ID: o.ID, Service: o.Service, State: string(o.State), Attention: o.Attention, Reason: o.Reason,
		Payer: o.Auth.Payer, PayTo: o.Auth.PayTo, Amount: o.Auth.Amount,
		Asset: o.Auth.Asset, Network: o.Auth.Network, Nonce: o.Auth.Nonce, Transaction: o.Tx,
		Transport:   string(o.Transport),
		RunAttempts: o.RunAttempts, SettleAttempts: o.SettleAttempts, SupersededBy: o.SupersededBy,
		CreatedAt: o.CreatedAt,
	}
	if !o.SettledAt.IsZero() {
		wire.SettledAt = &o.SettledAt
	}
	if !o.DeliveredAt.IsZero() {
		wire.DeliveredAt = &o.DeliveredAt
	}
	return wire
}
