package payments

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ace/internal/foundation/typeid"
)

// Result is what became of an attempt to pay.
type Result int

// The results.
const (
	Completed   Result = iota // the session is complete now, by this attempt
	Declined                  // the session stays open; Reason says why
	Challenged                // the buyer's bank asks; Attempt names the question
	AlreadyDone               // the session was complete before; nothing was charged
	Expired                   // the session's time is over; nothing was charged
)

// PayOutcome is the answer of Pay and Resolve.
type PayOutcome struct {
	Result  Result
	Session *Session
	Attempt string     // with Challenged
	Reason  *LastError // with Declined
	Form    *PayForm   // what was typed, without the card; with Declined after a challenge
}

// Pay tries to pay a session with a form that Check found right. Payer is a
// token of the browser. Whatever is sent how often: a session is paid once.
func (tx *Tx) Pay(ctx context.Context, id string, form *PayForm, payer string) (*PayOutcome, error) {
	o, err := tx.session(ctx, id, "session")
	if err != nil {
		return nil, err
	}
	if done := ended(o); done != nil {
		return done, nil
	}
	if err := o.choose(form); err != nil {
		return nil, err
	}
	if o.NeedsMethod() && !slices.Contains(o.MethodTypes, form.Method) {
		return nil, Invalid("payment_method_types", "", "This session cannot be paid by %q.", form.Method)
	}
	if !o.NeedsMethod() || form.Method == MethodDebit {
		return tx.complete(ctx, o, payment{form: form, payer: payer})
	}
	says, method := form.Card.judge()
	if says.failsLater && o.AmountTotal > 0 {
		says = testCards()["4000000000000002"]
	}
	switch {
	case says.code != "":
		return tx.decline(ctx, o, says, method)
	case says.authenticate:
		return tx.challenge(ctx, o, form, method, payer)
	default:
		return tx.complete(ctx, o, payment{form: form, method: method, failsLater: says.failsLater, payer: payer})
	}
}

// ended answers the outcome for a session that can no longer be paid, or nil.
func ended(o *Session) *PayOutcome {
	switch o.Status {
	case SessionOpen:
		return nil
	case SessionComplete:
		return &PayOutcome{Result: AlreadyDone, Session: o}
	default:
		return &PayOutcome{Result: Expired, Session: o}
	}
}

// choose applies the buyer's way of shipping to the total.
func (o *Session) choose(form *PayForm) error {
	if option := o.option(form.ShippingRate); option != nil && form.ShippingRate != "" {
		o.chooseShipping(*option)
	}
	return o.total()
}

func (tx *Tx) decline(ctx context.Context, o *Session, says verdict, method *MethodDetails) (*PayOutcome, error) {
	reason := &LastError{Code: says.code, DeclineCode: says.declineCode, Message: says.message, Type: TypeCard}
	return &PayOutcome{Result: Declined, Session: o, Reason: reason}, tx.note(ctx, o, method, reason, "requires_payment_method")
}

// note keeps the payment intent of a session that is not paid yet.
func (tx *Tx) note(ctx context.Context, o *Session, method *MethodDetails, reason *LastError, status string) error {
	if o.Mode != ModePayment {
		return nil
	}
	intent, fresh, err := tx.intentOf(ctx, o)
	if err != nil {
		return err
	}
	intent.Status, intent.LastError, intent.MethodTypes = status, reason, []string{method.Type}
	if err := tx.save(ctx, intent, fresh); err != nil {
		return err
	}
	o.private.Intent = intent.ID
	return tx.update(ctx, o)
}

func (tx *Tx) save(ctx context.Context, o record, fresh bool) error {
	if fresh {
		return tx.insert(ctx, o)
	}
	return tx.update(ctx, o)
}

// intentOf answers the one payment intent of a session.
func (tx *Tx) intentOf(ctx context.Context, o *Session) (intent *PaymentIntent, fresh bool, err error) {
	if o.private.Intent != "" {
		intent, err = load[PaymentIntent](ctx, tx.View, o.private.Intent, "payment_intent")
	} else {
		fresh = true
		intent = tx.newIntent(o.ID, o.AmountTotal, o.Currency)
		intent.Description = o.private.IntentText
		err = mergeMetadata(&intent.Metadata, o.private.IntentMetadata, "metadata")
	}
	if err == nil {
		intent.Amount = o.AmountTotal
	}
	return intent, fresh, err
}

func (tx *Tx) newIntent(paidFor string, amount int64, currency string) *PaymentIntent {
	return &PaymentIntent{
		ID: typeid.New("pi_test"), Object: KindIntent, Amount: amount, CaptureMethod: "automatic", Created: tx.now.Unix(),
		Currency: currency, Metadata: map[string]string{}, MethodTypes: []string{MethodCard}, Status: "requires_payment_method",
		private: intentPrivate{For: paidFor},
	}
}

// attempt is a card payment that waits for the buyer's bank. Of the card it
// keeps what a charge keeps.
type attempt struct {
	Session  string           `json:"session"`
	Payer    string           `json:"payer"`
	Email    string           `json:"email"`
	Name     string           `json:"name"`
	Address  Address          `json:"address"`
	Shipping *ShippingDetails `json:"shipping"`
	Rate     string           `json:"rate"`
	Method   *MethodDetails   `json:"method"`
	Made     time.Time        `json:"made"`
}

func (tx *Tx) challenge(ctx context.Context, o *Session, form *PayForm, method *MethodDetails, payer string) (*PayOutcome, error) {
	doc, err := json.Marshal(attempt{
		Session: o.ID, Payer: payer, Email: form.Email, Name: form.Name, Address: form.Address, Shipping: form.Shipping,
		Rate: form.ShippingRate, Method: method, Made: tx.now,
	})
	if err != nil {
		return nil, fmt.Errorf("keeping an attempt to pay %s: %w", o.ID, err)
	}
	r := row{
		id: typeid.New("pat_test"), kind: kindAttempt, seq: tx.p.nextSeq(), created: tx.now.UnixMilli(),
		status: "pending", link: o.ID, doc: string(doc), private: "{}",
	}
	if err := insertRow(ctx, tx.tx, r); err != nil {
		return nil, err
	}
	return &PayOutcome{Result: Challenged, Session: o, Attempt: r.id}, tx.note(ctx, o, method, nil, "requires_action")
}

// Resolve answers the question of the buyer's bank. An attempt is answered
// once; a second answer changes nothing.
func (tx *Tx) Resolve(ctx context.Context, sessionID, attemptID string, approved bool) (*PayOutcome, error) {
	o, err := tx.session(ctx, sessionID, "session")
	if err != nil {
		return nil, err
	}
	r, err := tx.attemptRow(ctx, sessionID, attemptID)
	if err != nil {
		return nil, err
	}
	if done := ended(o); done != nil {
		return done, nil
	}
	var a attempt
	if err := json.Unmarshal([]byte(r.doc), &a); err != nil {
		return nil, fmt.Errorf("reading attempt %s: %w", attemptID, err)
	}
	form := &PayForm{
		Email: a.Email, Method: MethodCard, Name: a.Name, Address: a.Address, Shipping: a.Shipping, ShippingRate: a.Rate,
	}
	if err := o.choose(form); err != nil {
		return nil, err
	}
	answered := r.status != "pending"
	r.status = "refused"
	if approved && !answered {
		r.status = "approved"
	}
	if err := updateRow(ctx, tx.tx, r); err != nil {
		return nil, err
	}
	if r.status == "approved" {
		return tx.complete(ctx, o, payment{form: form, method: a.Method, payer: a.Payer})
	}
	out, err := tx.decline(ctx, o, verdict{
		code:    "payment_intent_authentication_failure",
		message: "Your bank did not confirm that it is you, so nothing was charged. Try again, or use another card.",
	}, a.Method)
	if out != nil {
		out.Form = form
	}
	return out, err
}

func (tx *Tx) attemptRow(ctx context.Context, sessionID, attemptID string) (row, error) {
	r, err := getRow(ctx, tx.tx, kindAttempt, attemptID)
	if err != nil || r.link != sessionID {
		return row{}, NoSuch("attempt", attemptID, "attempt")
	}
	return r, nil
}

// AttemptPending reports whether the bank's question is still open.
func (v View) AttemptPending(ctx context.Context, sessionID, attemptID string) bool {
	r, err := getRow(ctx, v.q, kindAttempt, attemptID)
	return err == nil && r.link == sessionID && r.status == "pending"
}
