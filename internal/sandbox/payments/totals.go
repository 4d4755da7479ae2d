package payments

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"ace/internal/foundation/typeid"
)

// addLines freezes the prices that are sold now: a later change of the
// catalogue does not touch an open session.
func (tx *Tx) addLines(ctx context.Context, o *Session, in SessionParams) error {
	var recurring *Recurring
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
		product, err := load[Product](ctx, tx.View, price.Product, param+"[price]")
		if err != nil {
			return err
		}
		if !product.Active {
			return Invalid(param+"[price]", "", "The product of price %s is not active.", price.ID)
		}
		o.Currency = price.Currency
		line := &LineItem{
			ID: typeid.New("li_test"), Object: objectItem, Currency: price.Currency, Description: product.Name,
			Price: price, Quantity: l.Quantity,
		}
		if err := mergeMetadata(&line.Metadata, l.Metadata, param+"[metadata]"); err != nil {
			return err
		}
		o.private.Lines = append(o.private.Lines, line)
	}
	if in.Mode == ModeSubscription && recurring == nil {
		return Invalid("mode", "", "You must provide at least one recurring price in `subscription` mode when using prices.")
	}
	if in.Currency != "" && in.Currency != o.Currency {
		return Invalid("currency", "", "The prices of this session are in %s.", o.Currency)
	}
	return nil
}

func (tx *Tx) sellable(ctx context.Context, id, param string) (*Price, error) {
	if id == "" {
		return nil, Missing(param)
	}
	price, err := load[Price](ctx, tx.View, id, param)
	if err != nil {
		return nil, err
	}
	if !price.Active {
		return nil, Invalid(param, "", "The price specified is inactive. This field only accepts active prices.")
	}
	return price, nil
}

func fits(price *Price, l LineParams, o *Session, recurring *Recurring, param string) error {
	switch {
	case l.Quantity < 1:
		return Invalid(param+"[quantity]", "parameter_invalid_integer", "Quantity is required and must be at least 1. Set `%s[quantity]`.", param)
	case l.Quantity > 999_999:
		return Invalid(param+"[quantity]", "parameter_invalid_integer", "The quantity can be at most 999999.")
	case o.Currency != "" && price.Currency != o.Currency:
		return Invalid(param+"[price]", "", "All prices of a session must be in one currency: %s is in %s.", price.ID, price.Currency)
	case o.Mode == ModePayment && price.Recurring != nil:
		return Invalid(param+"[price]", "", "You specified `payment` mode but passed a recurring price. Either switch to `subscription` mode or use only one-time prices.")
	case price.Recurring != nil && recurring != nil &&
		(price.Recurring.Interval != recurring.Interval || price.Recurring.IntervalCount != recurring.IntervalCount):
		return Invalid(param+"[price]", "", "All recurring prices of a session must have the same interval.")
	}
	return nil
}

// ShippingRateParams describes a way of shipping.
type ShippingRateParams struct {
	DisplayName string
	Type        string // empty: fixed_amount
	Fixed       *Money
	Estimate    *Estimate
	TaxBehavior string
	TaxCode     string
	Metadata    map[string]string
}

var countryCode = regexp.MustCompile(`^[A-Z]{2}$`)

func (tx *Tx) addShipping(ctx context.Context, o *Session, in SessionParams) error {
	if in.ShippingCountriesGiven {
		if len(in.ShippingCountries) == 0 {
			return Missing("shipping_address_collection[allowed_countries]")
		}
		for i, c := range in.ShippingCountries {
			if !countryCode.MatchString(c) || !slices.Contains(countryCodes(), c) {
				return Invalid(fmt.Sprintf("shipping_address_collection[allowed_countries][%d]", i), "",
					"%q is no country that goods can be shipped to. Use ISO 3166-1 codes of two letters.", c)
			}
		}
		o.ShippingAddress = &ShippingCollection{Countries: in.ShippingCountries}
	}
	if len(in.ShippingOptions) > maxShippingOptions {
		return Invalid("shipping_options", "", "A session has at most %d shipping options.", maxShippingOptions)
	}
	if len(in.ShippingOptions) > 0 && in.Mode == ModeSubscription {
		return Invalid("shipping_options", "", "`shipping_options` can only be used in `payment` mode.")
	}
	for i, option := range in.ShippingOptions {
		param := fmt.Sprintf("shipping_options[%d]", i)
		rate, err := tx.rateOf(ctx, option, param)
		if err != nil {
			return err
		}
		if rate.Fixed.Currency != o.Currency {
			return Invalid(param, "", "The shipping rate is in %s, the prices are in %s.", rate.Fixed.Currency, o.Currency)
		}
		o.ShippingOptions = append(o.ShippingOptions, ShippingOption{Amount: rate.Fixed.Amount, Rate: rate.ID})
	}
	if len(o.ShippingOptions) > 0 {
		o.chooseShipping(o.ShippingOptions[0])
	}
	return nil
}

func (tx *Tx) rateOf(ctx context.Context, option ShippingOptionParams, param string) (*ShippingRate, error) {
	if option.Data == nil {
		if option.Rate == "" {
			return nil, Missing(param + "[shipping_rate]")
		}
		return load[ShippingRate](ctx, tx.View, option.Rate, param+"[shipping_rate]")
	}
	return tx.createShippingRate(ctx, *option.Data, param+"[shipping_rate_data]")
}

func (tx *Tx) createShippingRate(ctx context.Context, in ShippingRateParams, param string) (*ShippingRate, error) {
	switch {
	case in.DisplayName == "":
		return nil, Missing(param + "[display_name]")
	case in.Type != "" && in.Type != "fixed_amount":
		return nil, Invalid(param+"[type]", "", "Invalid type: must be fixed_amount")
	case in.Fixed == nil:
		return nil, Missing(param + "[fixed_amount]")
	case !knownCurrency(in.Fixed.Currency):
		return nil, Invalid(param+"[fixed_amount][currency]", "", "Invalid currency: %s.", in.Fixed.Currency)
	}
	if err := checkAmount(param+"[fixed_amount][amount]", in.Fixed.Currency, in.Fixed.Amount); err != nil {
		return nil, err
	}
	o := &ShippingRate{
		ID: typeid.New("shr_test"), Object: KindShippingRate, Active: true, Created: tx.now.Unix(), Estimate: in.Estimate,
		DisplayName: in.DisplayName, Fixed: in.Fixed, TaxBehavior: or(in.TaxBehavior, "unspecified"),
		TaxCode: orNil(in.TaxCode), Type: "fixed_amount",
	}
	if err := mergeMetadata(&o.Metadata, in.Metadata, param+"[metadata]"); err != nil {
		return nil, err
	}
	return o, tx.insert(ctx, o)
}
