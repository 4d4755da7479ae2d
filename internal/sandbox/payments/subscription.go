package payments

import (
	"context"
	"fmt"
	"time"

	"ace/internal/foundation/typeid"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/rowstore"
)

// subscribe makes the subscription of a session and its first invoice.
func (tx *Tx) subscribe(ctx context.Context, o *object.Session, p payment) error {
	sub := &object.Subscription{
		ID: typeid.New("sub_test"), Object: object.KindSubscription, AutomaticTax: o.AutomaticTax,
		BillingAnchor:    tx.now.Unix(),
		CollectionMethod: "charge_automatically", Created: tx.now.Unix(), Currency: o.Currency, Customer: *o.Customer,
		Description: o.Private.SubText, Metadata: o.Private.SubMetadata, StartDate: tx.now.Unix(),
		Status: object.SubActive,
		Private: object.SubscriptionPrivate{
			Session: o.ID, TaxOn: o.AutomaticTax.Enabled, Method: p.method, FailsOff: p.failsLater,
			Billing:   p.billing(),
			EndAction: o.Private.MissingMethodEnd,
		},
	}
	var end time.Time
	for _, l := range o.Private.Lines {
		if l.Price.Recurring == nil {
			continue
		}
		end = nextPeriod(tx.now, tx.now, l.Price.Recurring)
		if days := o.Private.TrialDays; days > 0 {
			end = tx.now.AddDate(0, 0, int(days))
			sub.Status, sub.TrialStart, sub.TrialEnd = object.SubTrialing, new(tx.now.Unix()), new(end.Unix())
			sub.BillingAnchor = end.Unix()
		}
		sub.Private.Items = append(sub.Private.Items, &object.SubItem{
			ID: typeid.New("si_test"), Object: "subscription_item", Created: tx.now.Unix(), PeriodStart: tx.now.Unix(),
			PeriodEnd: end.Unix(), Metadata: map[string]string{}, Price: l.Price, Quantity: l.Quantity,
			Subscription: sub.ID,
		})
	}
	sub.ShowItems()
	invoice, err := tx.invoice(ctx, sub, o.Private.Lines, o.AmountSubtotal, o.AmountTotal, "subscription_create")
	if err != nil {
		return err
	}
	if o.AmountTotal > 0 {
		o.PaymentStatus = object.PaymentPaid
	}
	o.Subscription, o.Invoice = &sub.ID, &invoice.ID
	if err := tx.insert(ctx, sub); err != nil {
		return err
	}
	return tx.emit(ctx, "customer.subscription.created", sub)
}

// nextPeriod is the end of the period that begins at from. Months end on the
// anchor's day, or on the last day of a shorter month.
func nextPeriod(anchor, from time.Time, r *object.Recurring) time.Time {
	n := int(r.IntervalCount)
	switch r.Interval {
	case "day":
		return from.AddDate(0, 0, n)
	case "week":
		return from.AddDate(0, 0, 7*n)
	case "year":
		n *= 12
	}
	first := time.Date(from.Year(), from.Month()+time.Month(n), 1, from.Hour(), from.Minute(), from.Second(),
		0, from.Location())
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(anchor.Day(), last)-1)
}

// invoice bills lines and, when something is due, charges the stored method.
func (tx *Tx) invoice(ctx context.Context, sub *object.Subscription, lines []*object.LineItem, subtotal, total int64,
	reason string,
) (*object.Invoice, error) {
	item := sub.Private.Items[0]
	o := &object.Invoice{
		ID: typeid.New("in_test"), Object: object.KindInvoice, AmountDue: total, AmountLeft: total, AttemptCount: 1,
		Attempted:     true,
		BillingReason: reason, Collection: sub.CollectionMethod, Created: tx.now.Unix(), Currency: sub.Currency,
		Customer: sub.Customer, CustomerEmail: sub.Private.Billing.Email, CustomerName: sub.Private.Billing.Name,
		Metadata: map[string]string{}, PeriodStart: item.PeriodStart, PeriodEnd: item.PeriodEnd, Status: "open",
		Subtotal: subtotal, Total: total, Parent: object.InvoiceParent{Type: "subscription_details"},
	}
	o.Number = "SANDBOX-" + o.ID[len(o.ID)-8:]
	o.Parent.Details.Subscription = sub.ID
	o.Lines = object.NewList("/v1/invoices/"+o.ID+"/lines", invoiceLines(lines, o), false)
	o.Payments = object.NewList("/v1/invoice_payments?invoice="+o.ID, nil, false)
	sub.LatestInvoice = &o.ID
	if total == 0 {
		o.Status = "paid"
	} else if err := tx.chargeInvoice(ctx, sub, o); err != nil {
		return nil, err
	}
	return o, tx.insert(ctx, o)
}

func invoiceLines(lines []*object.LineItem, o *object.Invoice) []any {
	data := make([]any, 0, len(lines))
	for _, l := range lines {
		data = append(data, map[string]any{
			"id": typeid.New("il_test"), "object": "line_item", "amount": l.Total, "currency": l.Currency,
			"description": l.Description, "quantity": l.Quantity, "livemode": false, "metadata": map[string]string{},
			"period": map[string]int64{"start": o.PeriodStart, "end": o.PeriodEnd},
			"pricing": map[string]any{
				"type":          "price_details",
				"price_details": map[string]string{"price": l.Price.ID, "product": l.Price.Product},
			},
		})
	}
	return data
}

// chargeInvoice takes the money of an invoice, or leaves it open when the card
// refuses.
func (tx *Tx) chargeInvoice(ctx context.Context, sub *object.Subscription, o *object.Invoice) error {
	if sub.Private.Method == nil || sub.Private.FailsOff {
		return nil
	}
	intent := tx.newIntent(o.ID, o.Total, o.Currency)
	intent.Customer, intent.ReceiptEmail = &sub.Customer, &o.CustomerEmail
	intent.Status, intent.Received = "succeeded", o.Total
	intent.MethodTypes = []string{sub.Private.Method.Type}
	charge := tx.newCharge(intent, sub.Private.Billing, sub.Private.Method, "succeeded")
	intent.LatestCharge = &charge.ID
	if err := tx.insert(ctx, intent); err != nil {
		return err
	}
	if err := tx.insert(ctx, charge); err != nil {
		return err
	}
	o.Status, o.AmountPaid, o.AmountLeft = "paid", o.Total, 0
	o.Payments.Data = []any{map[string]any{
		"id": typeid.New("inpay_test"), "object": "invoice_payment", "amount_paid": o.Total,
		"amount_requested": o.Total,
		"created":          tx.now.Unix(), "currency": o.Currency, "invoice": o.ID, "is_default": true,
		"livemode": false,
		"status":   "paid",
		"payment":  map[string]string{"type": "payment_intent", "payment_intent": intent.ID},
	}}
	return nil
}

// bill ends the current period of a subscription: a trial or a paid one.
func (tx *Tx) bill(ctx context.Context, r rowstore.Row) error {
	sub, err := decode[object.Subscription](r)
	if err != nil {
		return err
	}
	start := time.Unix(sub.PeriodEnd(), 0).UTC()
	if sub.Private.Method == nil && sub.Private.EndAction == "cancel" {
		return tx.end(ctx, sub)
	}
	if sub.Private.Method == nil && sub.Private.EndAction == "pause" {
		sub.Status = object.SubPaused
		return tx.changed(ctx, sub)
	}
	anchor := time.Unix(sub.BillingAnchor, 0).UTC()
	var lines []*object.LineItem
	var subtotal, total int64
	for _, item := range sub.Private.Items {
		item.PeriodStart, item.PeriodEnd = start.Unix(), nextPeriod(anchor, start, item.Price.Recurring).Unix()
		line := &object.LineItem{
			Currency: sub.Currency, Description: object.Text(item.Price.Nickname),
			Price: item.Price, Quantity: item.Quantity,
		}
		line.Subtotal, line.Tax, line.Total = object.LineAmounts(item.Price, item.Quantity, sub.Private.TaxOn)
		lines = append(lines, line)
		subtotal, total = subtotal+line.Subtotal, total+line.Total
	}
	sub.ShowItems()
	invoice, err := tx.invoice(ctx, sub, lines, subtotal, total, "subscription_cycle")
	if err != nil {
		return fmt.Errorf("billing %s: %w", sub.ID, err)
	}
	sub.Status = object.SubActive
	if invoice.Status != "paid" {
		sub.Status = object.SubPastDue
	}
	return tx.changed(ctx, sub)
}

func (tx *Tx) changed(ctx context.Context, sub *object.Subscription) error {
	if err := tx.update(ctx, sub); err != nil {
		return err
	}
	return tx.emit(ctx, "customer.subscription.updated", sub)
}

// CancelSubscription ends a subscription at once. Nothing is given back.
func (tx *Tx) CancelSubscription(ctx context.Context, id string) (*object.Subscription, error) {
	sub, err := load[object.Subscription](ctx, tx.View, id, "subscription")
	if err != nil {
		return nil, err
	}
	if sub.Status == object.SubCanceled {
		return nil, object.NoSuch(object.KindSubscription, id, "subscription")
	}
	return sub, tx.end(ctx, sub)
}

func (tx *Tx) end(ctx context.Context, sub *object.Subscription) error {
	sub.Status, sub.CanceledAt, sub.EndedAt = object.SubCanceled, new(tx.now.Unix()), new(tx.now.Unix())
	if err := tx.update(ctx, sub); err != nil {
		return err
	}
	return tx.emit(ctx, "customer.subscription.deleted", sub)
}
