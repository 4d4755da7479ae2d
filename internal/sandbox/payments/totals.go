package payments

import (
	"context"
	"fmt"

	"ace/internal/foundation/typeid"
	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payform"
)

// addLines freezes the prices that are sold now: a later change of the
// catalog does not touch an open session.
func (tx *Tx) addLines(ctx context.Context, o *object.Session, in SessionParams) error {
	var recurring *object.Recurring
	for i, l := range in.Lines {
		param := fmt.Sprintf("line_items[%d]", i)
		price, err := tx.sellable(ctx, l.Price, param+"[price]")
		if err != nil {
			return err
		}
		if err := fits(price, l, o, recurring, param); err != nil {
			return err
		}
		if price.Recurring != nil {
			recurring = price.Recurring
		}
		product, err := load[object.Product](ctx, tx.View, price.Product, param+"[price]")
		if err != nil {
			return err
		}
		if !product.Active {
			return object.Invalid(param+"[price]", "", "The product of price %s is not active.", price.ID)
		}
		o.Currency = price.Currency
		line := &object.LineItem{
			ID: typeid.New("li_test"), Object: object.ObjectItem, Currency: price.Currency, Description: product.Name,
			Price: price, Quantity: l.Quantity,
		}
		if err := mergeMetadata(&line.Metadata, l.Metadata, param+"[metadata]"); err != nil {
			return err
		}
		o.Private.Lines = append(o.Private.Lines, line)
	}
	if in.Mode == object.ModeSubscription && recurring == nil {
		return object.Invalid("mode", "",
			"You must provide at least one recurring price in `subscription` mode when using prices.")
	}
	if in.Currency != "" && in.Currency != o.Currency {
		return object.Invalid("currency", "", "The prices of this session are in %s.", o.Currency)
	}
	return nil
}

func (tx *Tx) sellable(ctx context.Context, id, param string) (*object.Price, error) {
	if id == "" {
		return nil, object.Missing(param)
	}
	price, err := load[object.Price](ctx, tx.View, id, param)
	if err != nil {
		return nil, err
	}
	if !price.Active {
		return nil, object.Invalid(param, "", "The price specified is inactive. This field only accepts active prices.")
	}
	return price, nil
}

func fits(price *object.Price, l LineParams, o *object.Session, recurring *object.Recurring, param string) error {
	switch {
	case l.Quantity < 1:
		return object.Invalid(param+"[quantity]", "parameter_invalid_integer",
			"Quantity is required and must be at least 1. Set `%s[quantity]`.", param)
	case l.Quantity > 999_999:
		return object.Invalid(param+"[quantity]", "parameter_invalid_integer", "The quantity can be at most 999999.")
	case o.Currency != "" && price.Currency != o.Currency:
		return object.Invalid(param+"[price]", "", "All prices of a session must be in one currency: %s is in %s.",
			price.ID, price.Currency)
	case o.Mode == object.ModePayment && price.Recurring != nil:
		return object.Invalid(param+"[price]", "",
			"You specified `payment` mode but passed a recurring price. Either switch to `subscription` mode or use "+
				"only one-time prices.")
	case price.Recurring != nil && recurring != nil &&
		(price.Recurring.Interval != recurring.Interval || price.Recurring.IntervalCount != recurring.IntervalCount):
		return object.Invalid(param+"[price]", "", "All recurring prices of a session must have the same interval.")
	}
	return nil
}

// ShippingRateParams describes a way of shipping.
type ShippingRateParams struct {
	DisplayName string
	Type        string // empty: fixed_amount
	Fixed       *object.Money
	Estimate    *object.Estimate
	TaxBehavior string
	TaxCode     string
	Metadata    map[string]string
}

func (tx *Tx) addShipping(ctx context.Context, o *object.Session, in SessionParams) error {
	if in.ShippingCountriesGiven {
		if len(in.ShippingCountries) == 0 {
			return object.Missing("shipping_address_collection[allowed_countries]")
		}
		for i, c := range in.ShippingCountries {
			if !payform.KnownCountry(c) {
				return object.Invalid(fmt.Sprintf("shipping_address_collection[allowed_countries][%d]", i), "",
					"%q is no country that goods can be shipped to. Use ISO 3166-1 codes of two letters.", c)
			}
		}
		o.ShippingAddress = &object.ShippingCollection{Countries: in.ShippingCountries}
	}
	if len(in.ShippingOptions) > maxShippingOptions {
		return object.Invalid("shipping_options", "", "A session has at most %d shipping options.", maxShippingOptions)
	}
	if len(in.ShippingOptions) > 0 && in.Mode == object.ModeSubscription {
		return object.Invalid("shipping_options", "", "`shipping_options` can only be used in `payment` mode.")
	}
	for i, option := range in.ShippingOptions {
		param := fmt.Sprintf("shipping_options[%d]", i)
		rate, err := tx.rateOf(ctx, option, param)
		if err != nil {
			return err
		}
		if rate.Fixed.Currency != o.Currency {
			return object.Invalid(param, "", "The shipping rate is in %s, the prices are in %s.", rate.Fixed.Currency,
				o.Currency)
		}
		o.ShippingOptions = append(o.ShippingOptions, object.ShippingOption{Amount: rate.Fixed.Amount, Rate: rate.ID})
	}
	if len(o.ShippingOptions) > 0 {
		o.ChooseShipping(o.ShippingOptions[0])
	}
	return nil
}

func (tx *Tx) rateOf(ctx context.Context, option ShippingOptionParams, param string) (*object.ShippingRate, error) {
	if option.Data == nil {
		if option.Rate == "" {
			return nil, object.Missing(param + "[shipping_rate]")
		}
		return load[object.ShippingRate](ctx, tx.View, option.Rate, param+"[shipping_rate]")
	}
	return tx.createShippingRate(ctx, *option.Data, param+"[shipping_rate_data]")
}

func (tx *Tx) createShippingRate(ctx context.Context, in ShippingRateParams,
	param string,
) (*object.ShippingRate, error) {
	switch {
	case in.DisplayName == "":
		return nil, object.Missing(param + "[display_name]")
	case in.Type != "" && in.Type != "fixed_amount":
		return nil, object.Invalid(param+"[type]", "", "Invalid type: must be fixed_amount")
	case in.Fixed == nil:
		return nil, object.Missing(param + "[fixed_amount]")
	case !object.KnownCurrency(in.Fixed.Currency):
		return nil, object.Invalid(param+"[fixed_amount][currency]", "", "Invalid currency: %s.", in.Fixed.Currency)
	}
	if err := object.CheckAmount(param+"[fixed_amount][amount]", in.Fixed.Currency, in.Fixed.Amount); err != nil {
		return nil, err
	}
	o := &object.ShippingRate{
		ID: typeid.New("shr_test"), Object: object.KindShippingRate, Active: true, Created: tx.now.Unix(),
		Estimate:    in.Estimate,
		DisplayName: in.DisplayName, Fixed: in.Fixed, TaxBehavior: or(in.TaxBehavior, "unspecified"),
		TaxCode: orNil(in.TaxCode), Type: "fixed_amount",
	}
	if err := mergeMetadata(&o.Metadata, in.Metadata, param+"[metadata]"); err != nil {
		return nil, err
	}
	return o, tx.insert(ctx, o)
}
