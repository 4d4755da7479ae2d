package cataloghttp

import (
	"fmt"
	"strings"
)

// linkedOffers is the catalog in the words of schema.org.
func linkedOffers(c *OfferCatalog) map[string]any {
	items := []any{}
	for i := range c.Offers {
		items = append(items, map[string]any{"@type": "ListItem", "position": i + 1, "item": linkedOffer(&c.Offers[i])})
	}
	return map[string]any{
		"@context": "https://schema.org", "@type": "OfferCatalog", "numberOfItems": c.Total,
		"itemListElement": items,
	}
}

func linkedOffer(o *Offer) map[string]any {
	kind := "Product"
	if o.Category == "service" {
		kind = "Service"
	}
	thing := map[string]any{"@type": kind, "productID": o.ProductID, "name": o.Name, "description": o.Description}
	if kind == "Service" {
		delete(thing, "productID")
		thing["identifier"] = o.ProductID
	}
	if len(o.ImageURLs) > 0 {
		thing["image"] = o.ImageURLs
	}
	linked := map[string]any{
		"@type": "Offer", "identifier": o.ID, "sku": o.ID, "name": o.Name, "price": o.Price.Decimal,
		"priceCurrency": o.Price.Currency,
		"availability":  "https://schema.org/" + linkedAvailability(o.Availability.Status), "itemOffered": thing,
		"priceSpecification": linkedPrices(o), "validFrom": o.Verification.VerifiedAt,
		"hasMerchantReturnPolicy": map[string]any{
			"@type":              "MerchantReturnPolicy",
			"merchantReturnLink": o.Links.Refunds,
		},
	}
	if o.URL != "" {
		linked["url"] = o.URL
	}
	if o.Availability.Quantity != nil {
		linked["inventoryLevel"] = map[string]any{"@type": "QuantitativeValue", "value": *o.Availability.Quantity}
	}
	if o.Delivery.Type == "shipping" {
		linked["shippingDetails"] = linkedShipping(o)
	}
	return linked
}

func linkedAvailability(status string) string {
	return map[string]string{
		"in_stock": "InStock", "low_stock": "LimitedAvailability", "preorder": "PreOrder", "backorder": "BackOrder",
		"out_of_stock": "OutOfStock", "discontinued": "Discontinued",
	}[status]
}

// unitCodes are the UN/CEFACT codes of the intervals.
var unitCodes = map[string]string{"day": "DAY", "week": "WEE", "month": "MON", "year": "ANN"}

func linkedPrices(o *Offer) []any {
	price := map[string]any{
		"@type": "UnitPriceSpecification", "price": o.Price.Decimal,
		"priceCurrency": o.Price.Currency,
	}
	if o.Price.Tax != "unspecified" {
		price["valueAddedTaxIncluded"] = o.Price.Tax == "included"
	}
	if o.Billing.Type != "recurring" {
		return []any{price}
	}
	price["priceType"] = "https://schema.org/Subscription"
	price["billingIncrement"], price["unitCode"] = o.Billing.IntervalCount, unitCodes[o.Billing.Interval]
	if !o.FreeTrial.Available {
		return []any{price}
	}
	trial := map[string]any{
		"@type": "UnitPriceSpecification", "price": "0", "priceCurrency": o.Price.Currency, "name": o.FreeTrial.Summary,
		"billingDuration": fmt.Sprintf("P%dD", o.FreeTrial.Days),
	}
	return []any{trial, price}
}

func linkedShipping(o *Offer) []any {
	details := []any{}
	for _, country := range o.Delivery.ShipsTo {
		d := map[string]any{
			"@type":               "OfferShippingDetails",
			"shippingDestination": map[string]any{"@type": "DefinedRegion", "addressCountry": country},
		}
		if o.Delivery.MaxDays > 0 {
			d["deliveryTime"] = map[string]any{
				"@type": "ShippingDeliveryTime", "transitTime": map[string]any{
					"@type": "QuantitativeValue", "minValue": o.Delivery.MinDays, "maxValue": o.Delivery.MaxDays,
					"unitCode": "DAY",
				},
			}
		}
		details = append(details, d)
	}
	return details
}

// markdownOffers is the catalog as a table that a model reads at a glance.
func markdownOffers(c *OfferCatalog) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Offers\n\nPrices verified at %s", c.VerifiedAt)
	if c.Stale {
		b.WriteString("; the payment processor cannot be reached right now, so no checkout is opened")
	}
	fmt.Fprintf(&b, ". Processor: %s (%s).\n\n", c.Processor.Name, c.Processor.Mode)
	b.WriteString("| id | name | price | trial | delivery | availability |\n| --- | --- | --- | --- | --- | --- |\n")
	for i := range c.Offers {
		o := &c.Offers[i]
		trial := "none"
		if o.FreeTrial.Available {
			trial = o.FreeTrial.Summary
		}
		availability := strings.ReplaceAll(o.Availability.Status, "_", " ")
		if o.Availability.Quantity != nil {
			availability += fmt.Sprintf(" (%d left)", *o.Availability.Quantity)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", o.ID, markdownCell(o.Name), o.Billing.Summary, trial,
			markdownCell(o.Delivery.Summary), availability)
	}
	fmt.Fprintf(&b,
		"\nTo buy one, POST `{\"line_items\":[{\"item\":{\"id\":\"ID\"},\"quantity\":1}]}` to %s and send the buyer "+
			"to `continue_url`.\n", c.Checkout.UCP)
	if c.NextCursor != nil {
		fmt.Fprintf(&b, "More offers: repeat the request with `cursor=%s`.\n", *c.NextCursor)
	}
	return []byte(b.String())
}
