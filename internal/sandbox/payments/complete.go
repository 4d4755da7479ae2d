package payments

import (
	"context"
	"encoding/json"
	"fmt"

	"ace/internal/foundation/typeid"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payform"
	"ace/internal/sandbox/rowstore"
)

// payment is an accepted way to pay, or none when nothing is due.
type payment struct {
	form       *payform.Form
	method     *object.MethodDetails // of a card
	failsLater bool
	payer      string
}

func (p payment) billing() object.BillingDetails {
	return object.BillingDetails{Address: &p.form.Address, Email: p.form.Email, Name: p.form.Name}
}

// complete ends an open session with everything that belongs to it, in this
// one transaction.
func (tx *Tx) complete(ctx context.Context, o *object.Session, p payment) (*PayOutcome, error) {
	o.Status, o.URL = object.SessionComplete, nil
	o.PaymentStatus = object.PaymentNotRequired
	o.CustomerDetails = &object.CustomerDetails{
		Address: &p.form.Address, Email: p.form.Email, Name: p.form.Name, TaxExempt: "none", TaxIDs: []string{},
	}
	if o.NeedsShipping() {
		o.Collected = &object.Collected{Shipping: p.form.Shipping}
	}
	o.Private.PaidBy, o.Private.PaymentMethod = p.payer, p.form.Method
	if o.Mode == object.ModeSubscription || object.Text(o.CustomerCreation) == "always" {
		if err := tx.addCustomer(ctx, o, p); err != nil {
			return nil, err
		}
	}
	settle := tx.payNow
	switch {
	case o.Mode == object.ModeSubscription:
		settle = tx.subscribe
	case o.AmountTotal == 0:
		settle = func(context.Context, *object.Session, payment) error { return nil }
	case p.form.Method == object.MethodDebit:
		settle = tx.payLater
	}
	if err := settle(ctx, o, p); err != nil {
		return nil, err
	}
	if err := tx.update(ctx, o); err != nil {
		return nil, err
	}
	if err := tx.emit(ctx, "checkout.session.completed", o); err != nil {
		return nil, err
	}
	return &PayOutcome{Result: Completed, Session: o}, nil
}

func (tx *Tx) addCustomer(ctx context.Context, o *object.Session, p payment) error {
	c := &object.Customer{
		ID: typeid.New("cus_test"), Object: object.KindCustomer, Address: &p.form.Address, Created: tx.now.Unix(),
		Currency: &o.Currency, Email: p.form.Email, Metadata: map[string]string{}, Name: p.form.Name,
		Shipping: p.form.Shipping,
	}
	o.Customer = &c.ID
	return tx.insert(ctx, c)
}

func (tx *Tx) newCharge(intent *object.PaymentIntent, billing object.BillingDetails, method *object.MethodDetails,
	status string,
) *object.Charge {
	done := status == "succeeded"
	c := &object.Charge{
		ID: typeid.New("ch_test"), Object: object.KindCharge, Amount: intent.Amount, Billing: billing, IsCaptured: done,
		Created: tx.now.Unix(), Currency: intent.Currency, Customer: intent.Customer, Description: intent.Description,
		Metadata: intent.Metadata, Paid: done, PaymentIntent: intent.ID, MethodDetails: *method,
		Shipping:     intent.Shipping,
		ReceiptEmail: intent.ReceiptEmail, Status: status,
	}
	if done {
		c.Captured = intent.Amount
		c.Outcome = &object.Outcome{
			NetworkStatus: "approved_by_network", SellerMessage: "Payment complete.",
			Type: "authorized",
		}
	}
	return c
}

func (tx *Tx) payNow(ctx context.Context, o *object.Session, p payment) error {
	o.PaymentStatus = object.PaymentPaid
	return tx.recordPayment(ctx, o, p, p.method, "succeeded")
}

// recordPayment stores the session's payment intent and its one charge.
func (tx *Tx) recordPayment(ctx context.Context, o *object.Session, p payment, method *object.MethodDetails,
	status string,
) error {
	intent, fresh, err := tx.intentOf(ctx, o)
	if err != nil {
		return err
	}
	intent.Customer, intent.ReceiptEmail, intent.Shipping = o.Customer, &p.form.Email, p.form.Shipping
	intent.LastError, intent.MethodTypes = nil, []string{method.Type}
	charge := tx.newCharge(intent, p.billing(), method, status)
	intent.LatestCharge = &charge.ID
	intent.Status = "processing"
	if status == "succeeded" {
		intent.Status, intent.Received = "succeeded", intent.Amount
	}
	o.PaymentIntent, o.Private.Intent = &intent.ID, intent.ID
	if err := tx.save(ctx, intent, fresh); err != nil {
		return err
	}
	return tx.insert(ctx, charge)
}

// debit is a bank debit that is on its way.
type debit struct {
	Session string `json:"session"`
	Fails   bool   `json:"fails"`
}

// payLater completes the session unpaid; the money comes, or does not, when
// the clock says so.
func (tx *Tx) payLater(ctx context.Context, o *object.Session, p payment) error {
	o.PaymentStatus = object.PaymentUnpaid
	method := &object.MethodDetails{
		Type: object.MethodDebit,
		Bank: &object.BankDetail{BankName: "Sandbox Bank", Last4: "6789"},
	}
	if err := tx.recordPayment(ctx, o, p, method, "pending"); err != nil {
		return err
	}
	doc, err := json.Marshal(debit{Session: o.ID, Fails: p.form.DebitFails})
	if err != nil {
		return fmt.Errorf("keeping the debit of %s: %w", o.ID, err)
	}
	return rowstore.Insert(ctx, tx.tx, rowstore.Row{
		Id: typeid.New("deb_test"), Kind: object.KindDebit, Seq: tx.p.nextSeq(), Created: tx.now.UnixMilli(),
		Status: "pending",
		Link:   o.ID, DueAt: tx.now.Add(p.form.DebitAfter).UnixMilli(), Doc: string(doc), Private: "{}",
	})
}

// settle ends a bank debit.
func (tx *Tx) settle(ctx context.Context, r rowstore.Row) error {
	var d debit
	if err := json.Unmarshal([]byte(r.Doc), &d); err != nil {
		return fmt.Errorf("reading debit %s: %w", r.Id, err)
	}
	o, err := load[object.Session](ctx, tx.View, d.Session, "session")
	if err != nil {
		return err
	}
	intent, err := load[object.PaymentIntent](ctx, tx.View, o.Private.Intent, "payment_intent")
	if err != nil {
		return err
	}
	charge, err := load[object.Charge](ctx, tx.View, object.Text(intent.LatestCharge), "charge")
	if err != nil {
		return err
	}
	r.DueAt, r.Status = 0, "succeeded"
	event := "checkout.session.async_payment_succeeded"
	if d.Fails {
		r.Status, event = "failed", "checkout.session.async_payment_failed"
		failDebit(intent, charge)
	} else {
		o.PaymentStatus, intent.Status, intent.Received = object.PaymentPaid, "succeeded", intent.Amount
		charge.Status, charge.Paid, charge.IsCaptured, charge.Captured = "succeeded", true, true, charge.Amount
	}
	for _, changed := range []record{o, intent, charge} {
		if err := tx.update(ctx, changed); err != nil {
			return err
		}
	}
	if err := rowstore.Update(ctx, tx.tx, r); err != nil {
		return err
	}
	return tx.emit(ctx, event, o)
}

func failDebit(intent *object.PaymentIntent, charge *object.Charge) {
	const message = "The bank account had insufficient funds for this debit."
	intent.Status = "requires_payment_method"
	intent.LastError = &object.LastError{
		Code: "payment_intent_payment_attempt_failed", Message: message,
		Type: object.TypeCard,
	}
	charge.Status, charge.FailureCode, charge.FailureMessage = "failed", new("insufficient_funds"), new(message)
}
