// Package servicehttp is the HTTP transport of the paid services: REST and the
// tools of agents return the same objects.
//
//	GET  /v1/services                     what there is, at what price, and whether it works
//	POST /v1/services/{service}/run       no payment: 402 with PAYMENT-REQUIRED
//	                                      payment:    200 with the result, 202 while it
//	                                      runs or is unknown, 402 if it was refused
//	GET  /v1/services/{service}/run       402, for who only looks for the price
//	GET  /v1/orders/{id}[/files/{name}]   how far it is; the result and its files
//
//	run_ tools ── payment of _meta, argument or header ──> the same, as MCP results
//
// The transports are those of x402 version 2 (package protocol/x402).
package servicehttp

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/jsonread"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/x402"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/storehttp/agenttool"
	"ace/internal/storefront/storehttp/answer"
)

// Paths of the services.
const (
	ListPath  = "/v1/services"
	RunPath   = "/v1/services/{service}/run"
	OrderPath = "/v1/orders/{id}"
	FilePath  = "/v1/orders/{id}/files/{name...}"
)

// Handler serves paid services. Its fields are set once. It is an
// agenttool.Services.
type Handler struct {
	BaseURL string // of the store, without a slash at the end
	// Service sells. Nil: there is none, and every call says so.
	Service *paidservice.Service
	// MaxTime is how long one call may take. 0: 90 s.
	MaxTime time.Duration
}

// Mount adds the calls to api, and serves them by handle.
func (f *Handler) Mount(api *openapi.API, handle func(string, http.HandlerFunc, ...httpserver.Middleware)) {
	longest := f.MaxTime
	if longest == 0 {
		longest = 90 * time.Second
	}
	handle("GET "+ListPath, f.list)
	handle("POST "+RunPath, f.run, httpserver.AllowTime(longest))
	handle("GET "+RunPath, f.price)
	handle("GET "+OrderPath, f.order)
	handle("GET "+FilePath, f.file)
	for _, path := range []string{ListPath, RunPath, OrderPath, FilePath} {
		handle("OPTIONS "+path, preflight)
	}
	describe(api)
}

// open lets pages of every origin call, and read what x402 clients need.
func open(h http.Header) {
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", strings.Join(append(x402.ExposeHeaders(), "Location", "X-Request-Id"), ", "))
}

func preflight(w http.ResponseWriter, _ *http.Request) {
	open(w.Header())
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
	w.Header().Set("Access-Control-Allow-Headers",
		strings.Join(append(x402.AllowHeaders(), "Accept", "Prefer", "Idempotency-Key", "If-None-Match"), ", "))
	w.Header().Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}

func errNone() error {
	return problem.New(problem.Unavailable, "services_not_offered",
		"This store runs no paid services, so nothing was done and nothing charged.")
}

// listAge is how long clients may keep the list, in seconds.
const listAge = 60

func (f *Handler) list(w http.ResponseWriter, r *http.Request) {
	open(w.Header())
	list, err := f.List(r.Context())
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	body, err := answer.JSON(list)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	d, err := answer.NewDocument("application/json", body, &answer.Options{MaxAge: listAge})
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	d.Write(w, r)
}

// List implements agenttool.Services.
func (f *Handler) List(context.Context) (*agenttool.ServiceList, error) {
	if f.Service == nil {
		return nil, errNone()
	}
	sold := f.Service.List()
	list := &agenttool.ServiceList{
		Object: "service_list", X402Version: x402.Version, Services: []agenttool.Service{},
		Payments: agenttool.ServicePayments{
			Mode: sold.Mode, Available: sold.Available, Networks: sold.Networks, Parameter: x402.Argument,
			Header: x402.HeaderSignature,
		},
	}
	inputs := map[string]agenttool.Tool{}
	for _, t := range agenttool.Table() {
		inputs[t.Name] = t
	}
	for i := range sold.Services {
		s := &sold.Services[i]
		one := agenttool.Service{
			ID: s.ID, Tool: s.Tool, Name: s.Name, Description: s.Description, Available: s.Available,
			ChargedWhen:   "result_ready",
			MaxRunSeconds: int(sold.RunWait / time.Second), RetentionDays: int(sold.Retention / (24 * time.Hour)),
			InputSchema: inputs[s.Tool].InputSchema, OutputSchema: s.OutputSchema,
			HTTP: &agenttool.ServiceHTTP{
				Method: http.MethodPost,
				URL:    f.BaseURL + strings.Replace(RunPath, "{service}", s.ID, 1),
			},
			MCP: agenttool.ServiceMCP{URL: f.BaseURL + "/mcp", Tool: s.Tool},
		}
		if s.Reason != "" {
			one.UnavailableReason = &s.Reason
		}
		if s.Price != nil {
			one.Price = &agenttool.ServicePrice{
				Display: "$" + s.Price.Dollars, Currency: "USD", Amount: s.Price.Amount, Decimals: s.Price.Decimals,
				Symbol: s.Price.Symbol, Network: s.Price.Network,
			}
			quote, err := answer.JSON(s.Quote)
			if err != nil {
				return nil, fmt.Errorf("encoding the quote of %s: %w", s.ID, err)
			}
			one.PaymentRequired = quote
		}
		list.Services = append(list.Services, one)
	}
	return list, nil
}

// maxArguments bounds the body of a call, payment included.
const maxArguments = 64 << 10

// run serves POST /v1/services/{service}/run.
func (f *Handler) run(w http.ResponseWriter, r *http.Request) {
	open(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	if f.Service == nil {
		httpserver.WriteProblem(w, r, errNone())
		return
	}
	call, err := readCall(r)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	out, err := f.Service.Run(r.Context(), *call)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	f.write(w, r, out)
}

// readCall reads a request. The payment is taken out of it: nothing else sees
// it.
func readCall(r *http.Request) (*paidservice.Call, error) {
	body, err := httpserver.ReadBody(r, maxArguments)
	if err != nil {
		return nil, err
	}
	var value *jsonread.Value
	if len(body) > 0 {
		if err := httpserver.CheckJSONType(r); err != nil {
			return nil, err
		}
		if value, err = jsonread.Parse(body); err != nil {
			return nil, err
		}
	}
	payment, arguments, err := x402.FromTool(value, nil, r.Header)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 && payment == nil {
		arguments = nil // only the price is asked for
	}
	key := strings.TrimSpace(r.Header.Get("Idempotency-Key"))
	if len(key) > 255 {
		return nil, problem.New(problem.Invalid, "too_long",
			"An idempotency key has at most 255 characters.").At("Idempotency-Key")
	}
	return &paidservice.Call{
		Service: r.PathValue("service"), Arguments: arguments, Payment: payment, IdempotencyKey: key,
		Transport: paidservice.HTTP,
		Wait:      preferredWait(r.Header.Values("Prefer")), Leave: httpserver.Draining(r.Context()),
	}, nil
}

// preferredWait reads Prefer (RFC 7240): respond-async and wait=N. 0 says
// nothing; negative: not at all.
func preferredWait(fields []string) time.Duration {
	for _, field := range fields {
		for preference := range strings.SplitSeq(field, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(preference), "=")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "respond-async":
				return -1
			case "wait":
				seconds, err := strconv.Atoi(strings.Trim(strings.TrimSpace(value), `"`))
				switch {
				case err != nil || seconds < 0 || seconds > 3600:
				case seconds == 0:
					return -1
				default:
					return time.Duration(seconds) * time.Second
				}
			}
		}
	}
	return 0
}

// price serves GET /v1/services/{service}/run: 402 with what a run costs.
func (f *Handler) price(w http.ResponseWriter, r *http.Request) {
	open(w.Header())
	w.Header().Set("Cache-Control", "no-store")
	if f.Service == nil {
		httpserver.WriteProblem(w, r, errNone())
		return
	}
	if r.Header.Get(x402.HeaderSignature) != "" {
		// A client that sent a payment must not get 402: it may be spent already.
		w.Header().Set("Allow", "POST")
		httpserver.WriteProblem(w, r, problem.New(problem.MethodNotAllowed, "method_not_allowed",
			"Send the payment with POST and the arguments as a JSON body."))
		return
	}
	quote, err := f.Service.Quote(r.PathValue("service"), paidservice.HTTP, x402.ReasonPaymentRequired)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	f.write(w, r, &paidservice.Outcome{Status: paidservice.StatusDue, Quote: quote})
}

// write writes an outcome as an HTTP response.
func (f *Handler) write(w http.ResponseWriter, r *http.Request, out *paidservice.Outcome) {
	status, body, err := f.encode(w.Header(), r, out)
	if err != nil {
		httpserver.WriteProblem(w, r, err)
		return
	}
	if out.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((out.RetryAfter+time.Second-1)/time.Second)))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func (f *Handler) encode(
	h http.Header,
	r *http.Request,
	out *paidservice.Outcome,
) (status int, body []byte, err error) {
	h.Set("Content-Type", "application/json")
	if out.Settlement != nil {
		value, err := out.Settlement.Header()
		if err != nil {
			return 0, nil, err
		}
		h.Set(x402.HeaderResponse, value)
	}
	switch out.Status {
	case paidservice.StatusDue:
		value, err := out.Quote.Header()
		if err != nil {
			return 0, nil, err
		}
		h.Set(x402.HeaderRequired, value)
		httpserver.NoteProblem(r.Context(), out.Quote.Error)
		body, err := answer.JSON(out.Quote)
		return http.StatusPaymentRequired, body, err
	case paidservice.StatusFailed:
		httpserver.NoteProblem(r.Context(), out.Problem.Code)
		h.Set("Content-Type", "application/problem+json")
		body, err := answer.JSON(f.failed(r, out))
		return out.Problem.Kind.Status(), body, err
	case paidservice.StatusPaid:
		h.Set("Cache-Control", "private, no-store")
		status = http.StatusOK
	default:
		status = http.StatusAccepted
	}
	wire := f.wireOrder(out.Order, out.Work, out.Settlement)
	h.Set("Location", wire.URL)
	body, err = answer.JSON(wire)
	return status, body, err
}

// failedRun is the problem of a run that was not charged.
type failedRun struct {
	httpserver.ProblemBody
	Charged              bool   `json:"charged"`
	RetryWithSamePayment bool   `json:"retry_with_same_payment"`
	OrderID              string `json:"order_id,omitempty"`
	OrderURL             string `json:"order_url,omitempty"`
}

func (f *Handler) failed(r *http.Request, out *paidservice.Outcome) failedRun {
	body := failedRun{ProblemBody: httpserver.NewProblemBody(r, out.Problem), RetryWithSamePayment: true}
	if out.Order != nil {
		body.OrderID, body.OrderURL = out.Order.ID, f.orderURL(out.Order.ID)
	}
	return body
}
