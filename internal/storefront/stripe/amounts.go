package stripe

import (
	"strings"

	"ace/internal/foundation/money"
)

// Where Stripe's minor unit differs from that of ISO 4217: ISK and UGX have no
// decimals but are sent with two, MGA has two but is sent with none
// (https://docs.stripe.com/currencies).
var decimals = map[string]int{"ISK": 2, "UGX": 2, "MGA": 0}

// fromStripe returns an amount of Stripe in the minor unit of ISO 4217.
func fromStripe(amount int64, currency string) money.Amount {
	currency = strings.ToUpper(currency)
	theirs, differs := decimals[currency]
	if !differs {
		return money.Amount{Minor: amount, Currency: currency}
	}
	for range theirs - money.Exponent(currency) {
		amount /= 10
	}
	for range money.Exponent(currency) - theirs {
		amount *= 10
	}
	return money.Amount{Minor: amount, Currency: currency}
}

// toStripe is the way back.
func toStripe(a money.Amount) int64 {
	amount := a.Minor
	theirs, differs := decimals[a.Currency]
	if !differs {
		return amount
	}
	for range theirs - money.Exponent(a.Currency) {
		amount *= 10
	}
	for range money.Exponent(a.Currency) - theirs {
		amount /= 10
	}
	return amount
}
