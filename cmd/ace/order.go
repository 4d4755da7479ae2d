package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"ace/internal/config"
	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/plainjson"
	"ace/internal/server"
	"ace/internal/storefront/operatorhttp"
)

// orderCmd is what operators do with orders.
type orderCmd struct {
	List   orderListCmd   `cmd:"" help:"List orders, newest first."`
	Show   orderShowCmd   `cmd:"" help:"Show one order with its refunds and deliveries."`
	Refund orderRefundCmd `cmd:"" help:"Refund an order, all that is left or a part."`
	Accept orderAcceptCmd `cmd:"" help:"Take an order out of review."`
	Resend orderResendCmd `cmd:"" help:"Deliver the events of an order again."`
}

// operating is what every operator command shares.
type operating struct {
	config.Settings `embed:"" hidden:""`
	JSON            bool `name:"json" help:"Print JSON."`
}

// call sends one request to the running server, or does it here, and decodes
// the response into out, unless that is nil.
func (o *operating) call(ctx context.Context, method, path string, in, out any) (err error) {
	if err := o.Check(); err != nil {
		return err
	}
	client, done, err := server.Operate(ctx, &o.Settings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	return operate(ctx, client, method, path, in, out)
}

// refusal is a call that the operator's handler refused.
type refusal struct{ httpserver.ProblemBody }

func (r *refusal) Error() string { return fmt.Sprintf("%s (%s)", r.Detail, r.Code) }

// operate sends one request to the operator's handler and decodes the response
// into out, unless that is nil.
func operate(ctx context.Context, client *http.Client, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encoding the request: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://ace"+path, body)
	if err != nil {
		return fmt.Errorf("preparing the request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("calling the server: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= 400 {
		var problem httpserver.ProblemBody
		if err := json.NewDecoder(res.Body).Decode(&problem); err != nil {
			return fmt.Errorf("the server returned %s", res.Status)
		}
		return &refusal{problem}
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(res.Body).Decode(out); err != nil {
		return fmt.Errorf("reading the response: %w", err)
	}
	return nil
}

// print writes v as JSON, or as text for people.
func (o *operating) print(w *world, v any, people func(out io.Writer)) error {
	if o.JSON {
		enc := plainjson.NewEncoder(w.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	}
	table := tabwriter.NewWriter(w.stdout, 0, 4, 2, ' ', 0)
	people(table)
	return table.Flush()
}

type orderListCmd struct {
	operating `embed:""`
	Status    []string `enum:"confirmed,review,refund_due,refunded" help:"Only orders in these states (${enum})."`
	After     string   `placeholder:"ID" help:"Start after this order."`
	Limit     int      `default:"50" help:"Orders to show, 1 to 500."`
}

// Run lists orders.
func (c *orderListCmd) Run(w *world) error {
	query := url.Values{"limit": {strconv.Itoa(c.Limit)}, "status": {strings.Join(c.Status, ",")}, "after": {c.After}}
	if len(c.Status) == 0 {
		query.Del("status")
	}
	var page operatorhttp.Orders
	if err := c.call(w.ctx, http.MethodGet, "/orders?"+query.Encode(), nil, &page); err != nil {
		return err
	}
	return c.print(w, page, func(out io.Writer) {
		if len(page.Orders) == 0 {
			_, _ = fmt.Fprintln(out, "No orders yet.")
			return
		}
		_, _ = fmt.Fprintln(out, "ORDER\tWHEN\tOFFER\tTOTAL\tSTATUS")
		for _, o := range page.Orders {
			_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", o.ID, o.CreatedAt.Local().Format(time.DateTime),
				quantified(o), o.Total, status(o))
		}
		if page.Next != "" {
			_, _ = fmt.Fprintf(out, "\nMore: ace order list --after %s\n", page.Next)
		}
	})
}

func quantified(o operatorhttp.Order) string {
	if o.Quantity == 1 {
		return o.OfferName
	}
	return fmt.Sprintf("%d × %s", o.Quantity, o.OfferName)
}

func status(o operatorhttp.Order) string {
	if o.Reason == "" {
		return o.Status
	}
	return o.Status + " (" + o.Reason + ")"
}

type orderShowCmd struct {
	operating `embed:""`
	ID        string `arg:"" help:"Id of the order."`
}

// Run shows an order.
func (c *orderShowCmd) Run(w *world) error {
	var o operatorhttp.Order
	if err := c.call(w.ctx, http.MethodGet, "/orders/"+url.PathEscape(c.ID), nil, &o); err != nil {
		return err
	}
	return c.print(w, o, func(out io.Writer) { describe(out, o) })
}

func describe(out io.Writer, o operatorhttp.Order) {
	row := func(name string, value any) { _, _ = fmt.Fprintf(out, "%s\t%v\n", name, value) }
	row("order", o.ID)
	row("status", status(o))
	row("offer", quantified(o)+" ("+o.OfferID+")")
	row("total", o.Total)
	row("bought", o.CreatedAt.Local().Format(time.DateTime)+" over "+strings.ToUpper(o.Protocol))
	row("checkout", o.CheckoutID)
	row("processor", strings.TrimSpace(o.ProcessorRef+" "+o.PaymentRef+" "+o.Subscription))
	for _, r := range o.Refunds {
		row("refund", strings.TrimSpace(r.Display+" "+r.State+" "+r.Failure))
	}
	for _, d := range o.Deliveries {
		row("event",
			strings.TrimSpace(fmt.Sprintf("%s to %s: %s after %d attempts %s", d.EventID, d.Sink, d.State, d.Attempts,
				d.LastError)))
	}
	switch o.Status {
	case "review":
		_, _ = fmt.Fprintf(out, "\nLook at the payment, then: ace order accept %s, or ace order refund %s\n", o.ID,
			o.ID)
	case "refund_due":
		_, _ = fmt.Fprintf(out, "\nThis cannot be delivered: ace order refund %s\n", o.ID)
	}
}

type orderRefundCmd struct {
	operating `embed:""`
	ID        string `arg:"" help:"Id of the order."`
	Amount    int64  `placeholder:"MINOR" help:"Amount in the minor unit of the currency, for example cents. Default: all that is left."`
	Reason    string `help:"For your records."`
}

// Run refunds an order.
func (c *orderRefundCmd) Run(w *world) error {
	var refund operatorhttp.Refund
	path := "/orders/" + url.PathEscape(c.ID) + "/refund"
	if err := c.call(w.ctx, http.MethodPost, path, operatorhttp.RefundRequest{Amount: c.Amount, Reason: c.Reason},
		&refund); err != nil {
		return err
	}
	return c.print(w, refund, func(out io.Writer) {
		_, _ = fmt.Fprintf(out, "%s of order %s went back to the buyer (%s).\n", refund.Display, refund.OrderID,
			refund.ID)
	})
}

type orderAcceptCmd struct {
	operating `embed:""`
	ID        string `arg:"" help:"Id of the order."`
}

// Run takes an order out of review.
func (c *orderAcceptCmd) Run(w *world) error {
	var o operatorhttp.Order
	if err := c.call(w.ctx, http.MethodPost, "/orders/"+url.PathEscape(c.ID)+"/accept", nil, &o); err != nil {
		return err
	}
	return c.print(w, o, func(out io.Writer) { _, _ = fmt.Fprintf(out, "Order %s is %s.\n", o.ID, o.Status) })
}

type orderResendCmd struct {
	operating `embed:""`
	ID        string `arg:"" help:"Id of the order."`
}

// Run delivers the events of an order again.
func (c *orderResendCmd) Run(w *world) error {
	var answer struct {
		Deliveries int `json:"deliveries"`
	}
	if err := c.call(w.ctx, http.MethodPost, "/orders/"+url.PathEscape(c.ID)+"/resend", nil, &answer); err != nil {
		return err
	}
	return c.print(w, answer, func(out io.Writer) {
		_, _ = fmt.Fprintf(out, "%d deliveries of order %s start again.\n", answer.Deliveries, c.ID)
	})
}
