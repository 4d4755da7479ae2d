package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"ace/internal/foundation/typeid"
)

// RefundParams gives money back.
type RefundParams struct {
	Charge, PaymentIntent string // one of them
	Amount                *int64 // nil: all that is left
	Reason                string // empty, or one of three words of the API
	Metadata              map[string]string
}

// CreateRefund gives all or a part of a charge back, never more than was paid.
func (tx *Tx) CreateRefund(ctx context.Context, in RefundParams) (*Refund, error) {
	if in.Reason != "" && !slices.Contains([]string{"duplicate", "fraudulent", "requested_by_customer"}, in.Reason) {
		return nil, Invalid("reason", "", "Invalid reason: must be one of duplicate, fraudulent, or requested_by_customer")
	}
	charge, err := tx.chargeOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if charge.Status != "succeeded" {
		return nil, refusedByState("charge", "charge_not_refundable", "Charge %s is %s and cannot be refunded.", charge.ID, charge.Status)
	}
	left := charge.Amount - charge.AmountRefunded
	if left == 0 {
		return nil, refusedByState("charge", "charge_already_refunded", "Charge %s has already been refunded.", charge.ID)
	}
	amount := left
	if in.Amount != nil {
		amount = *in.Amount
	}
	switch {
	case amount < 1:
		return nil, Invalid("amount", "parameter_invalid_integer", "Invalid positive integer: %d", amount)
	case amount > left:
		return nil, refusedByState("amount", "", "Refund amount (%s) is greater than unrefunded amount on charge (%s)",
			Display(amount, charge.Currency), Display(left, charge.Currency))
	}
	if err := checkAmount("amount", charge.Currency, amount); err != nil {
		return nil, err
	}
	return tx.refund(ctx, charge, amount, in)
}

func (tx *Tx) refund(ctx context.Context, charge *Charge, amount int64, in RefundParams) (*Refund, error) {
	o := &Refund{
		ID: typeid.New("re_test"), Object: KindRefund, Amount: amount, Charge: charge.ID, Created: tx.now.Unix(),
		Currency: charge.Currency, PaymentIntent: charge.PaymentIntent, Reason: orNil(in.Reason), Status: "succeeded",
	}
	if err := mergeMetadata(&o.Metadata, in.Metadata, "metadata"); err != nil {
		return nil, err
	}
	charge.AmountRefunded += amount
	charge.Refunded = charge.AmountRefunded == charge.Amount
	if err := tx.insert(ctx, o); err != nil {
		return nil, err
	}
	if err := tx.update(ctx, charge); err != nil {
		return nil, err
	}
	return o, tx.emit(ctx, "charge.refunded", charge)
}

func (tx *Tx) chargeOf(ctx context.Context, in RefundParams) (*Charge, error) {
	switch {
	case in.Charge == "" && in.PaymentIntent == "":
		return nil, Invalid("payment_intent", "parameter_missing", "One of the following params should be provided for this request: payment_intent or charge.")
	case in.Charge != "":
		charge, err := load[Charge](ctx, tx.View, in.Charge, "charge")
		if err == nil && in.PaymentIntent != "" && in.PaymentIntent != charge.PaymentIntent {
			return nil, Invalid("payment_intent", "", "Charge %s does not belong to payment intent %s.", in.Charge, in.PaymentIntent)
		}
		return charge, err
	}
	if _, err := load[PaymentIntent](ctx, tx.View, in.PaymentIntent, "payment_intent"); err != nil {
		return nil, err
	}
	r, err := getByKey(ctx, tx.tx, KindCharge, in.PaymentIntent)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, refusedByState("payment_intent", "", "This PaymentIntent (%s) does not have a successful charge to refund.", in.PaymentIntent)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the charge of %s: %w", in.PaymentIntent, err)
	}
	return decode[Charge](r)
}
