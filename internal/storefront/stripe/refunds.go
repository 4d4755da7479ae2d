package stripe

import (
	"context"

	stripego "github.com/stripe/stripe-go/v85"

	"ace/internal/foundation/problem"
	"ace/internal/storefront/order"
)

// Refund implements order.Processor.
func (c *Client) Refund(ctx context.Context, req order.RefundRequest) (string, error) {
	params := &stripego.RefundCreateParams{
		PaymentIntent: stripego.String(req.PaymentRef), Amount: stripego.Int64(toStripe(req.Amount)),
		Metadata: map[string]string{"order_id": req.OrderID, "refund_id": req.Key},
	}
	params.IdempotencyKey = stripego.String(req.Key)
	refund, err := c.api.V1Refunds.Create(ctx, params)
	if err == nil {
		return refund.ID, nil
	}
	if burnt(err) {
		// The failure is repeated for this key; the money may have moved.
		return c.findRefund(ctx, req)
	}
	return "", classify(err, "refunding", problem.New(problem.Unprocessable, "refund_refused",
		"The payment processor does not give this amount back. Look at the payment in its dashboard."))
}

// findRefund looks for a refund whose creation returned a failure.
func (c *Client) findRefund(ctx context.Context, req order.RefundRequest) (string, error) {
	params := &stripego.RefundListParams{PaymentIntent: stripego.String(req.PaymentRef)}
	for refund, err := range c.api.V1Refunds.List(ctx, params).All(ctx) {
		if err != nil {
			return "", classify(err, "looking for a refund", unavailable())
		}
		if refund.Metadata["refund_id"] == req.Key {
			return refund.ID, nil
		}
	}
	return "", problem.New(problem.Unprocessable, "refund_refused",
		"The payment processor failed and holds no such refund: nothing was moved. Start the refund again.")
}

// Refunded implements order.Processor.
func (c *Client) Refunded(ctx context.Context, paymentRef string) (int64, error) {
	params := &stripego.PaymentIntentRetrieveParams{}
	params.AddExpand("latest_charge")
	intent, err := c.api.V1PaymentIntents.Retrieve(ctx, paymentRef, params)
	if err != nil {
		return 0, classify(err, "reading a payment", unavailable())
	}
	if intent.LatestCharge == nil {
		return 0, nil
	}
	return fromStripe(intent.LatestCharge.AmountRefunded, string(intent.Currency)).Minor, nil
}

// Buyer implements order.Processor.
func (c *Client) Buyer(ctx context.Context, pageRef string) (order.Buyer, error) {
	session, err := c.api.V1CheckoutSessions.Retrieve(ctx, pageRef, nil)
	if err != nil {
		return order.Buyer{}, classify(err, "reading the buyer of a page", unavailable())
	}
	if session.CustomerDetails == nil {
		return order.Buyer{}, nil
	}
	return order.Buyer{Name: session.CustomerDetails.Name, Email: session.CustomerDetails.Email}, nil
}
