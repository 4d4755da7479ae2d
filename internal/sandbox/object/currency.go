package object

import (
	"strconv"
	"strings"
)

// Amounts are counted as the API counts them
// (https://docs.stripe.com/currencies): in the minor unit, except that ISK
// and UGX, which have no decimals, are sent with two that are always zero, and
// that amounts of currencies with three decimals end in a zero.

// maxAmount is the largest amount of one payment: eight digits.
const maxAmount = 99_999_999

// currencies lists what the processor takes.
const currencies = "aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd bwp byn bzd " +
	"cad cdf chf clp cny cop crc cve czk djf dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gnf gtq gyd hkd hnl " +
	"htg huf idr ils inr isk jmd jod jpy kes kgs khr kmf krw kwd kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk " +
	"mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf " +
	"sar sbd scr sek sgd shp sle sos srd std szl thb tjs tnd top try ttd twd tzs uah ugx usd uyu uzs vnd vuv wst " +
	"xaf xcd xof xpf yer zar zmw"

// KnownCurrency reports whether the processor takes a currency (lower case).
func KnownCurrency(c string) bool {
	return len(c) == 3 && strings.Contains(" "+currencies+" ", " "+c+" ")
}

const (
	withoutDecimals = "bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf"
	zeroDecimals    = "isk ugx" // no decimals, sent with two
	threeDecimals   = "bhd jod kwd omr tnd"
)

// step is what an amount must be a multiple of.
func step(currency string) int64 {
	switch {
	case strings.Contains(zeroDecimals, currency):
		return 100
	case strings.Contains(threeDecimals, currency):
		return 10
	default:
		return 1
	}
}

// exponent is how many decimals the sent amount has.
func exponent(currency string) int {
	switch {
	case strings.Contains(withoutDecimals, currency):
		return 0
	case strings.Contains(threeDecimals, currency):
		return 3
	default:
		return 2
	}
}

// CheckAmount returns an error that blames param for an amount that cannot be
// charged in the currency.
func CheckAmount(param, currency string, amount int64) error {
	switch {
	case amount < 0:
		return Invalid(param, "parameter_invalid_integer", "Invalid non-negative integer: %d", amount)
	case amount > maxAmount:
		return Invalid(param, "amount_too_large", "Amount must be no more than %s.",
			Display(maxAmount/step(currency)*step(currency), currency))
	case amount%step(currency) != 0:
		return Invalid(param, "invalid_charge_amount", "Amounts of %s must be multiples of %d.",
			strings.ToUpper(currency), step(currency))
	}
	return nil
}

// Display is an amount for people: "USD 19.00", "JPY 4200", "ISK 500".
func Display(amount int64, currency string) string {
	code := strings.ToUpper(currency)
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	if strings.Contains(zeroDecimals, strings.ToLower(currency)) && amount%100 == 0 {
		return code + " " + sign + strconv.FormatInt(amount/100, 10)
	}
	digits := strconv.FormatInt(amount, 10)
	e := exponent(strings.ToLower(currency))
	if e == 0 {
		return code + " " + sign + digits
	}
	if missing := e + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	return code + " " + sign + digits[:len(digits)-e] + "." + digits[len(digits)-e:]
}

// toStep rounds an amount half up to what can be charged.
func toStep(numerator, denominator int64, currency string) int64 {
	s := step(currency) * denominator
	return (numerator + s/2) / s * step(currency)
}
