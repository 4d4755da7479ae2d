package payments

import (
	"context"
	"fmt"

	"ace/internal/sandbox/object"
	"ace/internal/sandbox/rowstore"
)

// seedOffer is one product and its price of the catalog of a first start.
type seedOffer struct {
	product     string // prod_test_…
	name, about string
	shippable   bool
	key         string // lookup key; the price is price_test_ + key
	nickname    string
	currency    string
	amount      int64
	interval    string // empty: one time
	tax         string
	metadata    map[string]string // of the price
}

// Catalog of a first start. Ids and lookup keys never change, so that
// documentation and tests can name them.
func seedOffers() []seedOffer {
	assistant := "A research assistant that reads the sources you give it and answers with quotes. One seat, every " +
		"model, cancel at any time."
	return []seedOffer{
		{
			product: "prod_test_assistant_pro", name: "Assistant Pro", about: assistant, key: "assistant_pro_monthly",
			nickname: "Assistant Pro, monthly", currency: "usd", amount: 1900, interval: "month", tax: "exclusive",
			metadata: map[string]string{"category": "software", "trial_days": "14"},
		},
		{
			product: "prod_test_assistant_pro", name: "Assistant Pro", about: assistant, key: "assistant_pro_yearly",
			nickname: "Assistant Pro, yearly", currency: "usd", amount: 19000, interval: "year", tax: "exclusive",
			metadata: map[string]string{"category": "software"},
		},
		{
			product: "prod_test_prompt_handbook", name: "Prompt Handbook", key: "prompt_handbook",
			about: "A book of 120 pages on writing instructions for language models, with exercises. PDF and " +
				"EPUB, yours to keep.",
			nickname: "Prompt Handbook, download", currency: "usd", amount: 2900, tax: "inclusive",
			metadata: map[string]string{"category": "software", "delivery": "digital"},
		},
		{
			product: "prod_test_home_box", name: "Home Box", key: "home_box", shippable: true,
			about: "A quiet small computer that runs the assistant in your own home. Power supply and cable " +
				"included, two years of warranty.",
			nickname: "Home Box", currency: "usd", amount: 14900, tax: "exclusive",
			metadata: map[string]string{
				"category": "hardware", "delivery": "shipping", "ship_to": "US,DE",
				"delivery_days_min": "3", "delivery_days_max": "7", "stock": "25",
			},
		},
		{
			product: "prod_test_founders_mug", name: "Founders Mug", key: "founders_mug", shippable: true,
			about:    "A stoneware mug from the first production run, numbered by hand. The run is sold out.",
			nickname: "Founders Mug", currency: "usd", amount: 1800, tax: "exclusive",
			metadata: map[string]string{
				"category": "hardware", "delivery": "shipping", "ship_to": "US,DE", "availability": "sold_out",
			},
		},
		{
			product: "prod_test_prompt_handbook_jp", name: "Prompt Handbook, Japanese edition",
			key:      "prompt_handbook_jp",
			about:    "The Prompt Handbook in Japanese. PDF and EPUB, yours to keep.",
			nickname: "Prompt Handbook, Japanese download", currency: "jpy", amount: 4200, tax: "inclusive",
			metadata: map[string]string{"category": "software", "delivery": "digital"},
		},
		{
			product: "prod_test_setup_call", name: "Setup Call", key: "setup_call",
			about: "One hour with an engineer who sets the assistant up for your team, by video call, within five " +
				"working days.",
			nickname: "Setup Call, one hour", currency: "usd", amount: 9000, tax: "exclusive",
			metadata: map[string]string{"category": "service", "delivery": "service"},
		},
	}
}

// seed fills the catalog once in the life of a database.
func (tx *Tx) seed(ctx context.Context) error {
	var done bool
	if err := rowstore.Setting(ctx, tx.tx, settingSeeded, &done); err != nil || done {
		return err
	}
	made := map[string]bool{}
	for _, o := range seedOffers() {
		if err := tx.seedOne(ctx, o, made); err != nil {
			return fmt.Errorf("filling the catalogue with %s: %w", o.key, err)
		}
	}
	return rowstore.PutSetting(ctx, tx.tx, settingSeeded, true)
}

func (tx *Tx) seedOne(ctx context.Context, o seedOffer, made map[string]bool) error {
	if !made[o.product] {
		made[o.product] = true
		_, err := tx.CreateProduct(ctx, ProductParams{
			ID: o.product, Name: &o.name, Description: &o.about, Shippable: &o.shippable,
			Metadata: map[string]string{"agent_offer": "true", "category": o.metadata["category"]},
		})
		if err != nil {
			return err
		}
	}
	o.metadata["agent_offer"] = "true"
	in := PriceParams{
		Currency: o.currency, Product: o.product, Amount: &o.amount, Nickname: &o.nickname, LookupKey: &o.key,
		TaxBehavior: &o.tax, Metadata: o.metadata,
	}
	price := &object.Price{
		ID: "price_test_" + o.key, Object: object.KindPrice, Active: true, Scheme: object.BillingSchemeUnit,
		Created:  tx.now.Unix(),
		Currency: o.currency, TaxBehavior: "unspecified", Type: "one_time",
	}
	if o.interval != "" {
		in.Recurring = &object.Recurring{Interval: o.interval, IntervalCount: 1, UsageType: "licensed"}
		price.Recurring = in.Recurring
	}
	return tx.createPrice(ctx, price, in)
}
