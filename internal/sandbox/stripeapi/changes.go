package stripeapi

import (
	"context"

	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payments"
)

func createProduct(ctx context.Context, tx *payments.Tx, c *call) (any, error) {
	in := productParams(c.form)
	in.ID = c.form.String("id")
	if err := c.form.Err(); err != nil {
		return nil, err
	}
	return tx.CreateProduct(ctx, in)
}

func updateProduct(ctx context.Context, tx *payments.Tx, c *call) (any, error) {
	in := productParams(c.form)
	in.DefaultPrice = c.form.Text("default_price")
	if err := c.form.Err(); err != nil {
		return nil, err
	}
	return tx.UpdateProduct(ctx, c.id(), in)
}

func createPrice(ctx context.Context, tx *payments.Tx, c *call) (any, error) {
	in, err := newPriceParams(c.form)
	if err != nil {
		return nil, err
	}
	return tx.CreatePrice(ctx, in)
}

func updatePrice(ctx context.Context, tx *payments.Tx, c *call) (any, error) {
	in := priceParams(c.form)
	if err := c.form.Err(); err != nil {
		return nil, err
	}
	return tx.UpdatePrice(ctx, c.id(), in)
}

func (s *server) createSession(ctx context.Context, tx *payments.Tx, c *call) (any, error) {
	in := sessionParams(c.form)
	if err := c.form.Err(); err != nil {
		return nil, err
	}
	in.PageURL = func(id string) string { return s.opts.PageURL(c.r, id) }
	return tx.CreateSession(ctx, in)
}

func expireSession(ctx context.Context, tx *payments.Tx, c *call) (any, error) {
	if err := c.form.Err(); err != nil {
		return nil, err
	}
	return tx.ExpireSession(ctx, c.id())
}

func sessionLines(ctx context.Context, v payments.View, c *call) (any, error) {
	q, err := query(c.form)
	if err != nil {
		return nil, err
	}
	if err := c.form.Err(); err != nil {
		return nil, err
	}
	o, err := v.Session(ctx, c.id())
	if err != nil {
		return nil, err
	}
	return pageOf(lineItems(o), o.Lines(), q)
}

// pageOf cuts a page out of the lines of a session.
func pageOf(all *object.List, lines []*object.LineItem, q payments.Query) (any, error) {
	from, to := 0, len(lines)
	found := q.StartingAfter == "" && q.EndingBefore == ""
	for i, l := range lines {
		switch l.ID {
		case q.StartingAfter:
			from, found = i+1, true
		case q.EndingBefore:
			to, found = i, true
		}
	}
	if !found {
		return nil, object.NoSuch("line item", q.StartingAfter+q.EndingBefore, "starting_after")
	}
	if q.EndingBefore != "" {
		from = max(from, to-q.Limit)
		all.HasMore = from > 0
	} else {
		all.HasMore = to-from > q.Limit
		to = min(to, from+q.Limit)
	}
	all.Data = all.Data[from:to]
	return all, nil
}

func createRefund(ctx context.Context, tx *payments.Tx, c *call) (any, error) {
	in := payments.RefundParams{
		Charge: c.form.String("charge"), PaymentIntent: c.form.String("payment_intent"), Amount: c.form.Int("amount"),
		Reason: c.form.String("reason"), Metadata: c.form.Map("metadata"),
	}
	if err := c.form.Err(); err != nil {
		return nil, err
	}
	return tx.CreateRefund(ctx, in)
}

func cancelSubscription(ctx context.Context, tx *payments.Tx, c *call) (any, error) {
	if err := c.form.Err(); err != nil {
		return nil, err
	}
	return tx.CancelSubscription(ctx, c.id())
}

func createEndpoint(ctx context.Context, tx *payments.Tx, c *call) (any, error) {
	in := payments.EndpointParams{
		URL: c.form.String("url"), Description: c.form.String("description"), APIVersion: c.form.String("api_version"),
		Metadata: c.form.Map("metadata"),
	}
	in.Events, _ = c.form.Strings("enabled_events")
	if err := c.form.Err(); err != nil {
		return nil, err
	}
	return tx.CreateEndpoint(ctx, in)
}

func deleteEndpoint(ctx context.Context, tx *payments.Tx, c *call) (any, error) {
	if err := c.form.Err(); err != nil {
		return nil, err
	}
	if err := tx.DeleteEndpoint(ctx, c.id()); err != nil {
		return nil, err
	}
	return map[string]any{"id": c.id(), "object": object.KindEndpoint, "deleted": true}, nil
}
