package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ace/internal/storefront/operatorhttp"
)

// serviceCmd is what operators do with orders of paid services.
type serviceCmd struct {
	Orders serviceOrdersCmd `cmd:"" help:"List orders of paid services, newest first."`
	Show   serviceShowCmd   `cmd:"" help:"Show one order with its audit trail."`
	Decide serviceDecideCmd `cmd:"" help:"Record whether the payment of an order arrived, if no program can find out."`
}

type serviceOrdersCmd struct {
	operating `embed:""`
	Attention bool   `help:"Only orders that the operator has to look at."`
	State     string `placeholder:"STATE" help:"Only orders in this state."`
	After     string `placeholder:"ID" help:"Start after this order."`
	Limit     int    `default:"50" help:"Orders to show, 1 to 500."`
}

// Run lists orders of paid services.
func (c *serviceOrdersCmd) Run(w *world) error {
	query := url.Values{
		"limit": {strconv.Itoa(c.Limit)}, "attention": {strconv.FormatBool(c.Attention)},
		"state": {c.State}, "after": {c.After},
	}
	var page operatorhttp.ServiceOrders
	if err := c.call(w.ctx, http.MethodGet, "/service-orders?"+query.Encode(), nil, &page); err != nil {
		return err
	}
	return c.print(w, page, func(out io.Writer) {
		if len(page.Orders) == 0 {
			_, _ = fmt.Fprintln(out, "No such orders.")
			return
		}
		_, _ = fmt.Fprintln(out, "ORDER\tWHEN\tSERVICE\tSTATE\tAMOUNT\tNETWORK\tPAYER\tTRANSACTION")
		for i := range page.Orders {
			o := &page.Orders[i]
			_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", o.ID, o.CreatedAt.Local().Format(time.DateTime),
				o.Service, serviceState(o), o.Amount, o.Network, o.Payer, o.Transaction)
		}
		if page.Next != "" {
			_, _ = fmt.Fprintf(out, "\nMore: ace service orders --after %s\n", page.Next)
		}
	})
}

func serviceState(o *operatorhttp.ServiceOrder) string {
	if o.Attention != "" {
		return o.State + " (needs attention: " + o.Attention + ")"
	}
	if o.Reason != "" {
		return o.State + " (" + o.Reason + ")"
	}
	return o.State
}

type serviceShowCmd struct {
	operating `embed:""`
	ID        string `arg:"" help:"Id of the order."`
}

// Run shows an order of a paid service.
func (c *serviceShowCmd) Run(w *world) error {
	var o operatorhttp.ServiceOrder
	if err := c.call(w.ctx, http.MethodGet, "/service-orders/"+url.PathEscape(c.ID), nil, &o); err != nil {
		return err
	}
	return c.print(w, o, func(out io.Writer) { describeService(out, &o) })
}

func describeService(out io.Writer, o *operatorhttp.ServiceOrder) {
	row := func(name string, value any) { _, _ = fmt.Fprintf(out, "%s\t%v\n", name, value) }
	row("order", o.ID)
	row("service", o.Service+" over "+strings.ToUpper(o.Transport))
	row("state", serviceState(o))
	row("payment", o.Amount+" of "+o.Asset+" on "+o.Network)
	row("from", o.Payer)
	row("to", o.PayTo)
	row("nonce", o.Nonce)
	row("transaction", o.Transaction)
	row("attempts", fmt.Sprintf("%d to run, %d to settle", o.RunAttempts, o.SettleAttempts))
	if o.SupersededBy != "" {
		row("superseded by", o.SupersededBy)
	}
	for _, m := range o.Moves {
		row(m.At.Local().Format(time.DateTime), strings.TrimPrefix(m.From+" -> ", " -> ")+m.To+": "+m.Evidence)
	}
	if o.Attention == "settlement_unknown" {
		_, _ = fmt.Fprintf(out,
			"\nLook for the nonce on the network. If the money arrived: ace service decide %s --transaction 0x…\nIf "+
				"it did not: ace service decide %s --unpaid\n", o.ID, o.ID)
	}
}

type serviceDecideCmd struct {
	operating   `embed:""`
	ID          string `arg:"" help:"Id of the order."`
	Transaction string `required:"" xor:"outcome" placeholder:"HASH" help:"The transaction that brought the money: the result is handed out."`
	Unpaid      bool   `required:"" xor:"outcome" help:"The money did not come: the payer is asked for another payment."`
}

// Run decides an order by hand.
func (c *serviceDecideCmd) Run(w *world) error {
	var o operatorhttp.ServiceOrder
	if err := c.call(w.ctx, http.MethodPost, "/service-orders/"+url.PathEscape(c.ID)+"/decide",
		operatorhttp.ServiceDecision{Transaction: c.Transaction}, &o); err != nil {
		return err
	}
	return c.print(w, o, func(out io.Writer) { _, _ = fmt.Fprintf(out, "Order %s is %s.\n", o.ID, o.State) })
}
