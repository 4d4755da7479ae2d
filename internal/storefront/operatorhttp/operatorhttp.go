// Package operatorhttp is the HTTP API for operators: what "ace order" and its
// like call. It is served on a socket in the data folder that only the owner
// of the process may open, or called in the same process when no server runs.
//
//	ace order … ── HTTP over data/control.sock ──> running server
//	           └─ no socket: the same handler in this process
package operatorhttp

import (
	"context"
	"net/http"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jobs"
	"ace/internal/foundation/openapi"
	"ace/internal/storefront/order"
	"ace/internal/storefront/paidservice"
)

// Order is an order as operators see it.
type Order struct {
	ID           string     `json:"id"`
	CheckoutID   string     `json:"checkout_id"`
	Status       string     `json:"status"`
	Reason       string     `json:"reason,omitempty"`
	OfferID      string     `json:"offer_id"`
	OfferName    string     `json:"offer_name"`
	Quantity     int64      `json:"quantity"`
	Total        string     `json:"total"`
	Amount       int64      `json:"amount"`
	Refunded     int64      `json:"refunded"`
	Currency     string     `json:"currency"`
	Protocol     string     `json:"protocol"`
	PaymentRef   string     `json:"payment_ref,omitempty"`
	Subscription string     `json:"subscription_ref,omitempty"`
	ProcessorRef string     `json:"processor_session"`
	Live         bool       `json:"live"`
	CreatedAt    time.Time  `json:"created_at"`
	Refunds      []Refund   `json:"refunds,omitempty"`
	Deliveries   []Delivery `json:"deliveries,omitempty"`
}

// Refund is money on its way back.
type Refund struct {
	ID        string    `json:"id"`
	OrderID   string    `json:"order_id"`
	State     string    `json:"state"`
	Amount    int64     `json:"amount"`
	Display   string    `json:"display"`
	Reason    string    `json:"reason,omitempty"`
	Failure   string    `json:"failure,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

// Delivery is an event on its way to the operator's systems.
type Delivery struct {
	EventID   string `json:"event_id"`
	Sink      string `json:"sink"`
	State     string `json:"state"`
	Attempts  int    `json:"attempts"`
	LastError string `json:"last_error,omitempty"`
}

// Orders is a page of orders.
type Orders struct {
	Orders []Order `json:"orders"`
	Next   string  `json:"next,omitempty"`
}

// RefundRequest asks for a refund.
type RefundRequest struct {
	Amount int64  `json:"amount,omitempty" minimum:"0" doc:"Minor units; 0 or left out: all that is left."`
	Reason string `json:"reason,omitempty" maxLength:"500"`
}

// Parked is work that was given up.
type Parked struct {
	Jobs []ParkedJob `json:"jobs"`
}

// ParkedJob is one of them.
type ParkedJob struct {
	Kind  string `json:"kind"`
	Ref   string `json:"ref"`
	Tries int    `json:"tries"`
}

// Jobs returns the jobs that were given up.
type Jobs interface {
	ParkedJobs(ctx context.Context) ([]jobs.Job, error)
}

// ServiceLedger is the ledger of paid services.
type ServiceLedger interface {
	paidservice.Ledger
	// Order returns one order, or service_order_not_found (NotFound).
	Order(ctx context.Context, id string) (*paidservice.Order, error)
}

type server struct {
	orders   *order.Service
	jobs     Jobs
	services Services
	ledger   ServiceLedger
}

// New returns the handler.
func New(orders *order.Service, parked Jobs, services Services, ledger ServiceLedger) http.Handler {
	s := &server{orders, parked, services, ledger}
	mux := httpserver.NewMux(nil)
	api := openapi.New(mux, "ACE control", "1", nil)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: "/orders", ID: "listOrders",
		Summary: "Orders, newest first",
	}, s.list)
	openapi.Handle(api,
		openapi.Operation{Method: http.MethodGet, Path: "/orders/{id}", ID: "showOrder", Summary: "One order"}, s.show)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: "/orders/{id}/refund", ID: "refundOrder",
		Summary: "Give money back",
	}, s.refund)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: "/orders/{id}/accept", ID: "acceptOrder",
		Summary: "Take an order out of review",
	}, s.accept)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodPost, Path: "/orders/{id}/resend", ID: "resendOrder",
		Summary: "Deliver its events again",
	}, s.resend)
	openapi.Handle(api, openapi.Operation{
		Method: http.MethodGet, Path: "/jobs/parked", ID: "listParked",
		Summary: "Work that was given up",
	}, s.parked)
	s.mountServices(api)
	return mux
}

type listInput struct {
	Status []string `query:"status" enum:"confirmed,review,refund_due,refunded" doc:"Any of these."`
	After  string   `query:"after" doc:"Id of the last order of the page before."`
	Limit  int      `query:"limit" minimum:"1" maximum:"500" default:"50"`
}

type listOutput struct{ Body Orders }

func (s *server) list(ctx context.Context, in *listInput) (*listOutput, error) {
	var filter order.Filter
	for _, status := range in.Status {
		filter.Statuses = append(filter.Statuses, order.Status(status))
	}
	found, err := s.orders.List(ctx, filter, in.After, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &listOutput{Body: Orders{Orders: []Order{}}}
	for _, o := range found {
		out.Body.Orders = append(out.Body.Orders, wireOrder(o))
	}
	if len(found) == in.Limit {
		out.Body.Next = found[len(found)-1].ID
	}
	return out, nil
}

type idInput struct {
	ID string `path:"id"`
}

type orderOutput struct{ Body Order }

func (s *server) show(ctx context.Context, in *idInput) (*orderOutput, error) {
	details, err := s.orders.Show(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &orderOutput{Body: wireOrder(details.Order)}
	for i := range details.Refunds {
		out.Body.Refunds = append(out.Body.Refunds, wireRefund(&details.Refunds[i]))
	}
	for _, d := range details.Deliveries {
		out.Body.Deliveries = append(out.Body.Deliveries,
			Delivery{d.EventID, d.Sink, string(d.State), d.Attempts, d.LastError})
	}
	return out, nil
}

type refundInput struct {
	ID   string `path:"id"`
	Body RefundRequest
}

type refundOutput struct{ Body Refund }

func (s *server) refund(ctx context.Context, in *refundInput) (*refundOutput, error) {
	refund, err := s.orders.Refund(ctx, in.ID, in.Body.Amount, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	return &refundOutput{wireRefund(refund)}, nil
}

func (s *server) accept(ctx context.Context, in *idInput) (*orderOutput, error) {
	o, err := s.orders.Accept(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &orderOutput{wireOrder(o)}, nil
}

type resendOutput struct {
	Body struct {
		Deliveries int `json:"deliveries"`
	}
}

func (s *server) resend(ctx context.Context, in *idInput) (*resendOutput, error) {
	out := &resendOutput{}
	var err error
	out.Body.Deliveries, err = s.orders.Resend(ctx, in.ID)
	return out, err
}

type parkedOutput struct{ Body Parked }

func (s *server) parked(ctx context.Context, _ *struct{}) (*parkedOutput, error) {
	found, err := s.jobs.ParkedJobs(ctx)
	if err != nil {
		return nil, err
	}
	out := &parkedOutput{Body: Parked{Jobs: []ParkedJob{}}}
	for _, job := range found {
		out.Body.Jobs = append(out.Body.Jobs, ParkedJob{job.Kind, job.Ref, job.Tries})
	}
	return out, nil
}

func wireOrder(o *order.Order) Order {
	return Order{
		ID: o.ID, CheckoutID: o.CheckoutID, Status: string(o.Status), Reason: o.Reason, OfferID: o.Quote.Offer.ID,
		OfferName: o.Quote.Offer.Name,
		Quantity:  o.Quote.Quantity, Total: o.Paid.Amount().String(), Amount: o.Paid.Total, Refunded: o.Refunded,
		Currency: o.Paid.Currency,
		Protocol: o.Protocol, PaymentRef: o.Paid.PaymentRef, Subscription: o.Paid.SubscriptionRef,
		ProcessorRef: o.Paid.PageRef, Live: o.Paid.Live, CreatedAt: o.CreatedAt,
	}
}

func wireRefund(r *order.Refund) Refund {
	return Refund{r.ID, r.OrderID, string(r.State), r.Amount.Minor, r.Amount.String(), r.Reason, r.Failure, r.CreatedAt}
}
