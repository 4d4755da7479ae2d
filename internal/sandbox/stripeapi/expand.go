package stripeapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"ace/internal/foundation/plainjson"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payments"
)

// maxExpand is how deep an expansion goes.
const maxExpand = 4

// expandable says which field of which object holds the id of what. A kind
// that starts with "+" is a list that is shown only on request.
func expandable() map[string]string {
	return map[string]string{
		"price.product":                    object.KindProduct,
		"product.default_price":            object.KindPrice,
		"checkout.session.line_items":      "+" + object.KindSession,
		"checkout.session.payment_intent":  object.KindIntent,
		"checkout.session.subscription":    object.KindSubscription,
		"checkout.session.customer":        object.KindCustomer,
		"checkout.session.invoice":         object.KindInvoice,
		"payment_intent.latest_charge":     object.KindCharge,
		"payment_intent.customer":          object.KindCustomer,
		"charge.payment_intent":            object.KindIntent,
		"charge.customer":                  object.KindCustomer,
		"charge.refunds":                   "+" + object.KindCharge,
		"refund.charge":                    object.KindCharge,
		"refund.payment_intent":            object.KindIntent,
		"subscription.customer":            object.KindCustomer,
		"subscription.latest_invoice":      object.KindInvoice,
		"invoice.customer":                 object.KindCustomer,
		"invoice.payments":                 "",
		"shipping_cost.shipping_rate":      object.KindShippingRate,
		"shipping_option.shipping_rate":    object.KindShippingRate,
		"subscription.items":               "",
		"checkout.session.shipping_cost":   "",
		"subscription_item.price":          "",
		"item.price":                       "",
		"invoice.lines":                    "",
		"checkout.session.shipping_option": "",
	}
}

type expander struct {
	v     payments.View
	table map[string]string
	seen  map[string]map[string]any // objects read for this response
}

// render makes an object into JSON with the expansions that were asked for.
func render(ctx context.Context, v payments.View, out any, paths []string) (string, error) {
	tree := out
	if len(paths) > 0 {
		root, err := generic(out)
		if err != nil {
			return "", err
		}
		e := &expander{v: v, table: expandable(), seen: map[string]map[string]any{}}
		for _, path := range paths {
			segments := strings.Split(path, ".")
			if len(segments) > maxExpand {
				return "", object.Invalid("expand", "", "You cannot expand more than %d levels of a property (%s).",
					maxExpand, path)
			}
			if err := e.walk(ctx, root, segments, path); err != nil {
				return "", err
			}
		}
		tree = root
	}
	var b bytes.Buffer
	enc := plainjson.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(tree); err != nil {
		return "", fmt.Errorf("writing the answer: %w", err)
	}
	return b.String(), nil
}

// generic is an object as maps, with its numbers as they are written.
func generic(v any) (map[string]any, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("writing an object: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var out map[string]any
	if err := dec.Decode(&out); err != nil {
		return nil, fmt.Errorf("reading an object: %w", err)
	}
	return out, nil
}

func (e *expander) walk(ctx context.Context, at map[string]any, segments []string, path string) error {
	if len(segments) == 0 {
		return nil
	}
	name, rest := segments[0], segments[1:]
	if at["object"] == "list" && name == "data" {
		data, _ := at["data"].([]any)
		for _, o := range data {
			if inner, ok := o.(map[string]any); ok {
				if err := e.walk(ctx, inner, rest, path); err != nil {
					return err
				}
			}
		}
		return nil
	}
	kind, known := e.table[e.noun(at)+"."+name]
	if !known {
		return object.Invalid("expand", "", "This property cannot be expanded (%s).", path)
	}
	if err := e.fill(ctx, at, name, kind); err != nil {
		return err
	}
	inner, ok := at[name].(map[string]any)
	if !ok {
		return nil // null: there is nothing yet
	}
	return e.walk(ctx, inner, rest, path)
}

// noun names what a map is; the inner objects of a session have no name of
// their own in the API.
func (e *expander) noun(at map[string]any) string {
	if name, ok := at["object"].(string); ok {
		return name
	}
	return "shipping_cost"
}

// fill replaces an id by its object.
func (e *expander) fill(ctx context.Context, at map[string]any, name, kind string) error {
	if strings.HasPrefix(kind, "+") {
		if at[name] != nil {
			return nil
		}
		list, err := e.include(ctx, at, kind[1:])
		at[name] = list
		return err
	}
	id, ok := at[name].(string)
	if !ok || kind == "" {
		return nil
	}
	if e.seen[id] == nil {
		o, err := e.v.Get(ctx, kind, id, "expand")
		if err != nil {
			return fmt.Errorf("expanding %s: %w", name, err)
		}
		if e.seen[id], err = generic(o); err != nil {
			return err
		}
	}
	// Each place gets its own copy of the first level: another path may
	// expand one of them further.
	copied := make(map[string]any, len(e.seen[id]))
	maps.Copy(copied, e.seen[id])
	at[name] = copied
	return nil
}

func (e *expander) include(ctx context.Context, at map[string]any, kind string) (map[string]any, error) {
	id, _ := at["id"].(string)
	if kind == object.KindSession {
		o, err := e.v.Session(ctx, id)
		if err != nil {
			return nil, err
		}
		return generic(lineItems(o))
	}
	refunds, more, err := e.v.List(ctx, object.KindRefund, payments.Query{Limit: payments.DefaultLimit, Link: id})
	if err != nil {
		return nil, err
	}
	return generic(object.NewList("/v1/refunds?charge="+id, refunds, more))
}

// lineItems is what a session sells, as a list.
func lineItems(o *object.Session) *object.List {
	data := make([]any, 0, len(o.Lines()))
	for _, l := range o.Lines() {
		data = append(data, l)
	}
	return object.NewList("/v1/checkout/sessions/"+o.ID+"/line_items", data, false)
}
