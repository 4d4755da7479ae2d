package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"ace/internal/foundation/typeid"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/rowstore"
)

// RefundParams gives money back.
type RefundParams struct {
	Charge, PaymentIntent string // one of them
	Amount                *int64 // nil: all that is left
	Reason                string // empty, or one of three words of the API
	Metadata              map[string]string
}

// CreateRefund gives all or a part of a charge back, never more than was paid.
func (tx *Tx) CreateRefund(ctx context.Context, in RefundParams) (*object.Refund, error) {
	if in.Reason != "" && !slices.Contains([]string{"duplicate", "fraudulent", "requested_by_customer"}, in.Reason) {
		return nil, object.Invalid("reason",
			"", "Invalid reason: must be one of duplicate, fraudulent, or requested_by_customer")
	}
	charge, err := tx.chargeOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if charge.Status != "succeeded" {
		return nil, object.RefusedByState("charge", "charge_not_refundable", "Charge %s is %s and cannot be refunded.",
			charge.ID, charge.Status)
	}
	left := charge.Amount - charge.AmountRefunded
	if left == 0 {
		return nil, object.RefusedByState("charge", "charge_already_refunded", "Charge %s has already been refunded.",
			charge.ID)
	}
	amount := left
	if in.Amount != nil {
		amount = *in.Amount
	}
	switch {
	case amount < 1:
		return nil, object.Invalid("amount", "parameter_invalid_integer", "Invalid positive integer: %d", amount)
	case amount > left:
		return nil, object.RefusedByState("amount",
			"", "Refund amount (%s) is greater than unrefunded amount on charge (%s)",
			object.Display(amount, charge.Currency), object.Display(left, charge.Currency))
	}
	if err := object.CheckAmount("amount", charge.Currency, amount); err != nil {
		return nil, err
	}
	return tx.refund(ctx, charge, amount, in)
}

func (tx *Tx) refund(ctx context.Context, charge *object.Charge, amount int64,
	in RefundParams,
) (*object.Refund, error) {
	o := &object.Refund{
		ID: typeid.New("re_test"), Object: object.KindRefund, Amount: amount, Charge: charge.ID, Created: tx.now.Unix(),
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

func (tx *Tx) chargeOf(ctx context.Context, in RefundParams) (*object.Charge, error) {
	switch {
	case in.Charge == "" && in.PaymentIntent == "":
		return nil, object.Invalid("payment_intent", "parameter_missing",
			"One of the following params should be provided for this request: payment_intent or charge.")
	case in.Charge != "":
		charge, err := load[object.Charge](ctx, tx.View, in.Charge, "charge")
		if err == nil && in.PaymentIntent != "" && in.PaymentIntent != charge.PaymentIntent {
			return nil, object.Invalid("payment_intent", "", "Charge %s does not belong to payment intent %s.",
				in.Charge, in.PaymentIntent)
		}
		return charge, err
	}
	if _, err := load[object.PaymentIntent](ctx, tx.View, in.PaymentIntent, "payment_intent"); err != nil {
		return nil, err
	}
	r, err := rowstore.GetByKey(ctx, tx.tx, object.KindCharge, in.PaymentIntent)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, object.RefusedByState("payment_intent",
			"", "This PaymentIntent (%s) does not have a successful charge to refund.", in.PaymentIntent)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the charge of %s: %w", in.PaymentIntent, err)
	}
	return decode[object.Charge](r)
}
