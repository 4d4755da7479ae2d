package payments

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ace/internal/foundation/typeid"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payform"
	"ace/internal/sandbox/rowstore"
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

// PayOutcome is the response of Pay and Resolve.
type PayOutcome struct {
	Result  Result
	Session *object.Session
	Attempt string            // with Challenged
	Reason  *object.LastError // with Declined
	Form    *payform.Form     // what was typed, without the card; with Declined after a challenge
}

// Pay tries to pay a session with a form that Check found right. Payer is a
// token of the browser. Whatever is sent how often: a session is paid once.
func (tx *Tx) Pay(ctx context.Context, id string, form *payform.Form, payer string) (*PayOutcome, error) {
	o, err := tx.session(ctx, id, "session")
	if err != nil {
		return nil, err
	}
	if done := ended(o); done != nil {
		return done, nil
	}
	if err := choose(o, form); err != nil {
		return nil, err
	}
	if o.NeedsMethod() && !slices.Contains(o.MethodTypes, form.Method) {
		return nil, object.Invalid("payment_method_types", "", "This session cannot be paid by %q.", form.Method)
	}
	if !o.NeedsMethod() || form.Method == object.MethodDebit {
		return tx.complete(ctx, o, payment{form: form, payer: payer})
	}
	says, method := form.Card.Check()
	if says.FailsLater && o.AmountTotal > 0 {
		says = payform.GenericDecline()
	}
	switch {
	case says.Code != "":
		return tx.decline(ctx, o, says, method)
	case says.Authenticate:
		return tx.challenge(ctx, o, form, method, payer)
	default:
		return tx.complete(ctx, o, payment{form: form, method: method, failsLater: says.FailsLater, payer: payer})
	}
}

// ended returns the outcome for a session that can no longer be paid, or nil.
func ended(o *object.Session) *PayOutcome {
	switch o.Status {
	case object.SessionOpen:
		return nil
	case object.SessionComplete:
		return &PayOutcome{Result: AlreadyDone, Session: o}
	default:
		return &PayOutcome{Result: Expired, Session: o}
	}
}

// choose applies the buyer's way of shipping to the total.
func choose(o *object.Session, form *payform.Form) error {
	if option := o.Option(form.ShippingRate); option != nil && form.ShippingRate != "" {
		o.ChooseShipping(*option)
	}
	return o.Total()
}

func (tx *Tx) decline(ctx context.Context, o *object.Session, says payform.Verdict,
	method *object.MethodDetails,
) (*PayOutcome, error) {
	reason := &object.LastError{
		Code: says.Code, DeclineCode: says.DeclineCode, Message: says.Message,
		Type: object.TypeCard,
	}
	return &PayOutcome{Result: Declined, Session: o, Reason: reason}, tx.note(ctx, o, method, reason,
		"requires_payment_method")
}

// note keeps the payment intent of a session that is not paid yet.
func (tx *Tx) note(ctx context.Context, o *object.Session, method *object.MethodDetails, reason *object.LastError,
	status string,
) error {
	if o.Mode != object.ModePayment {
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
	o.Private.Intent = intent.ID
	return tx.update(ctx, o)
}

func (tx *Tx) save(ctx context.Context, o record, fresh bool) error {
	if fresh {
		return tx.insert(ctx, o)
	}
	return tx.update(ctx, o)
}

// intentOf returns the one payment intent of a session.
func (tx *Tx) intentOf(ctx context.Context, o *object.Session) (intent *object.PaymentIntent, fresh bool, err error) {
	if o.Private.Intent != "" {
		intent, err = load[object.PaymentIntent](ctx, tx.View, o.Private.Intent, "payment_intent")
	} else {
		fresh = true
		intent = tx.newIntent(o.ID, o.AmountTotal, o.Currency)
		intent.Description = o.Private.IntentText
		err = mergeMetadata(&intent.Metadata, o.Private.IntentMetadata, "metadata")
	}
	if err == nil {
		intent.Amount = o.AmountTotal
	}
	return intent, fresh, err
}

func (tx *Tx) newIntent(paidFor string, amount int64, currency string) *object.PaymentIntent {
	return &object.PaymentIntent{
		ID: typeid.New("pi_test"), Object: object.KindIntent, Amount: amount, CaptureMethod: "automatic",
		Created:  tx.now.Unix(),
		Currency: currency, Metadata: map[string]string{}, MethodTypes: []string{object.MethodCard},
		Status:  "requires_payment_method",
		Private: object.IntentPrivate{For: paidFor},
	}
}

// attempt is a card payment that waits for the buyer's bank. Of the card it
// keeps what a charge keeps.
type attempt struct {
	Session  string                  `json:"session"`
	Payer    string                  `json:"payer"`
	Email    string                  `json:"email"`
	Name     string                  `json:"name"`
	Address  object.Address          `json:"address"`
	Shipping *object.ShippingDetails `json:"shipping"`
	Rate     string                  `json:"rate"`
	Method   *object.MethodDetails   `json:"method"`
	Made     time.Time               `json:"made"`
}

func (tx *Tx) challenge(ctx context.Context, o *object.Session, form *payform.Form, method *object.MethodDetails,
	payer string,
) (*PayOutcome, error) {
	doc, err := json.Marshal(attempt{
		Session: o.ID, Payer: payer, Email: form.Email, Name: form.Name, Address: form.Address, Shipping: form.Shipping,
		Rate: form.ShippingRate, Method: method, Made: tx.now,
	})
	if err != nil {
		return nil, fmt.Errorf("keeping an attempt to pay %s: %w", o.ID, err)
	}
	r := rowstore.Row{
		Id: typeid.New("pat_test"), Kind: object.KindAttempt, Seq: tx.p.nextSeq(), Created: tx.now.UnixMilli(),
		Status: "pending", Link: o.ID, Doc: string(doc), Private: "{}",
	}
	if err := rowstore.Insert(ctx, tx.tx, r); err != nil {
		return nil, err
	}
	return &PayOutcome{Result: Challenged, Session: o, Attempt: r.Id}, tx.note(ctx, o, method, nil, "requires_action")
}

// Resolve completes the confirmation that the buyer's bank asked for. An
// attempt is decided once; a second decision changes nothing.
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
	if err := json.Unmarshal([]byte(r.Doc), &a); err != nil {
		return nil, fmt.Errorf("reading attempt %s: %w", attemptID, err)
	}
	form := &payform.Form{
		Email: a.Email, Method: object.MethodCard, Name: a.Name, Address: a.Address, Shipping: a.Shipping,
		ShippingRate: a.Rate,
	}
	if err := choose(o, form); err != nil {
		return nil, err
	}
	answered := r.Status != "pending"
	r.Status = "refused"
	if approved && !answered {
		r.Status = "approved"
	}
	if err := rowstore.Update(ctx, tx.tx, r); err != nil {
		return nil, err
	}
	if r.Status == "approved" {
		return tx.complete(ctx, o, payment{form: form, method: a.Method, payer: a.Payer})
	}
	out, err := tx.decline(ctx, o, payform.Verdict{
		Code:    "payment_intent_authentication_failure",
		Message: "Your bank did not confirm that it is you, so nothing was charged. Try again, or use another card.",
	}, a.Method)
	if out != nil {
		out.Form = form
	}
	return out, err
}

func (tx *Tx) attemptRow(ctx context.Context, sessionID, attemptID string) (rowstore.Row, error) {
	r, err := rowstore.Get(ctx, tx.tx, object.KindAttempt, attemptID)
	if err != nil || r.Link != sessionID {
		return rowstore.Row{}, object.NoSuch("attempt", attemptID, "attempt")
	}
	return r, nil
}

// AttemptPending reports whether the bank's question is still open.
func (v View) AttemptPending(ctx context.Context, sessionID, attemptID string) bool {
	r, err := rowstore.Get(ctx, v.q, object.KindAttempt, attemptID)
	return err == nil && r.Link == sessionID && r.Status == "pending"
}
