package servicehttp

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/protocol/x402"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/storehttp/answer"
)

// ServiceOrder is the JSON of an order, wherever it is shown.
type ServiceOrder struct {
	Object  string `json:"object" enum:"service_order"`
	ID      string `json:"id" doc:"Anyone who knows it can read the order."`
	URL     string `json:"url" doc:"Where the order is read."`
	Service string `json:"service"`
	State   string `json:"state" enum:"running,awaiting_settlement,settlement_pending,completed,unpaid,failed" doc:"awaiting_settlement: the work is done and not charged yet; settlement_pending: the money may have moved."`
	Charged *bool  `json:"charged" nullable:"true" doc:"null while nobody knows."`
	// NextAction says what to do, for programs.
	NextAction  string          `json:"next_action,omitempty" enum:"wait,retry_with_same_payment,pay_again" doc:"What to do next; absent when there is nothing to do."`
	Progress    *OrderProgress  `json:"progress,omitempty" doc:"While it runs."`
	Payment     OrderPayment    `json:"payment"`
	Reason      string          `json:"reason,omitempty" doc:"Why it is unpaid or failed."`
	Result      json.RawMessage `json:"result,omitempty" doc:"The report, once it is paid; its schema is in the list of services."`
	Files       []OrderFile     `json:"files,omitempty" doc:"The files of the result, once it is paid."`
	CreatedAt   time.Time       `json:"created_at"`
	PaidAt      *time.Time      `json:"paid_at,omitempty"`
	StoredUntil *time.Time      `json:"kept_until,omitempty" doc:"Until when the result can be read."`
}

// OrderProgress is how far a run is.
type OrderProgress struct {
	Phase      string `json:"stage"`
	PagesDone  int    `json:"pages_done"`
	PagesTotal int    `json:"pages_total,omitempty" doc:"Absent until it is known."`
}

// OrderPayment is the payment of an order.
type OrderPayment struct {
	Payer       string `json:"payer"`
	Amount      string `json:"amount" doc:"In the smallest unit of the asset."`
	Asset       string `json:"asset"`
	Network     string `json:"network"`
	Transaction string `json:"transaction,omitempty" doc:"Once one is known."`
}

// OrderFile is one file of a result.
type OrderFile struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Bytes     int    `json:"bytes"`
	URL       string `json:"url"`
}

func (f *Handler) orderURL(id string) string {
	return f.BaseURL + strings.Replace(OrderPath, "{id}", id, 1)
}

// wireOrder returns the JSON of an order; work is nil unless it is paid.
func (f *Handler) wireOrder(o *paidservice.Order, work *paidservice.Work, settled *x402.SettleResponse) *ServiceOrder {
	wire := &ServiceOrder{
		Object: "service_order", ID: o.ID, URL: f.orderURL(o.ID), Service: o.Service, CreatedAt: seconds(o.CreatedAt),
		Payment: OrderPayment{
			Payer: o.Auth.Payer, Amount: o.Auth.Amount, Asset: o.Auth.Asset, Network: o.Auth.Network,
			Transaction: o.Tx,
		},
	}
	charged := o.State.Paid()
	if charged || !o.State.MayBePaid() {
		wire.Charged = &charged
	}
	wire.State, wire.NextAction = stateOf(o)
	if o.State == paidservice.Running {
		wire.Progress = &OrderProgress{
			Phase: o.Progress.Phase, PagesDone: o.Progress.Done,
			PagesTotal: o.Progress.Total,
		}
	}
	if o.State.Dead() {
		wire.Reason = o.Reason
	}
	if charged {
		paid, storedUntil := seconds(o.SettledAt), seconds(o.SettledAt.Add(paidservice.Retention))
		wire.PaidAt, wire.StoredUntil = &paid, &storedUntil
	}
	if settled != nil && settled.Transaction != "" {
		wire.Payment.Transaction = settled.Transaction
	}
	if work != nil {
		wire.Result = work.Report
		for _, file := range work.Files {
			wire.Files = append(wire.Files, OrderFile{
				Name: file.Name, MediaType: file.MediaType, Bytes: len(file.Data),
				URL: wire.URL + "/files/" + escapeName(file.Name),
			})
		}
	}
	return wire
}

// seconds is a time as JSON shows it.
func seconds(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// escapeName writes a name into an address; its folders stay folders.
func escapeName(name string) string {
	return strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
}

// stateOf is the state as callers see it, and what they do next.
func stateOf(o *paidservice.Order) (state, next string) {
	const again = "retry_with_same_payment"
	switch o.State {
	case paidservice.Reserved, paidservice.Running:
		return "running", "wait"
	case paidservice.Ran:
		return "awaiting_settlement", again
	case paidservice.Settling, paidservice.Unknown, paidservice.Reorged:
		return "settlement_pending", again
	case paidservice.Settled, paidservice.Delivered, paidservice.Final:
		return "completed", ""
	case paidservice.Released:
		if o.Sealed() {
			return "awaiting_settlement", again
		}
		return "failed", again
	case paidservice.Unpaid, paidservice.Loss:
	}
	return "unpaid", "pay_again"
}

// order serves GET /v1/orders/{id}.
func (f *Handler) order(w http.ResponseWriter, r *http.Request) {
	secret(w.Header())
	if f.Service == nil {
		httpserver.WriteProblem(w, r, errNone())
		return
	}
	view, err := f.Service.Order(r.Context(), r.PathValue("id"))
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	wire := f.wireOrder(view.Order, view.Work, view.Settlement)
	if wire.NextAction == "wait" || wire.State == "settlement_pending" {
		w.Header().Set("Retry-After", "2")
	}
	body, err := answer.JSON(wire)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

// secret keeps what only the holder of an address may see out of caches,
// indexes and other sites' logs.
func secret(h http.Header) {
	open(h)
	h.Set("Cache-Control", "private, no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("X-Content-Type-Options", "nosniff")
}

// reportPolicy lets a report show its own styles and charts and nothing else:
// it holds words of foreign websites.
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action " +
	"'none'; frame-ancestors 'none'; sandbox"

// file serves GET /v1/orders/{id}/files/{name}, whose name may hold folders.
func (f *Handler) file(w http.ResponseWriter, r *http.Request) {
	secret(w.Header())
	if f.Service == nil {
		httpserver.WriteProblem(w, r, errNone())
		return
	}
	file, err := f.Service.File(r.Context(), r.PathValue("id"), r.PathValue("name"))
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", file.MediaType)
	h.Set("Content-Security-Policy", reportPolicy)
	h.Set("Content-Disposition",
		mime.FormatMediaType(disposition(file.MediaType), map[string]string{"filename": path.Base(file.Name)}))
	_, _ = w.Write(file.Data)
}

// disposition says what a browser may show by itself: reports and plain text.
func disposition(mediaType string) string {
	kind, _, err := mime.ParseMediaType(mediaType)
	if err == nil &&
		(kind == "text/html" || kind == "text/plain" || kind == "text/markdown" || kind == "application/json") {
		return "inline"
	}
	return "attachment"
}
