package object

import "testing"

func TestDisplay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		amount   int64
		currency string
		want     string
	}{
		{1900, "usd", "USD 19.00"},
		{5, "usd", "USD 0.05"},
		{0, "eur", "EUR 0.00"},
		{-1234, "eur", "EUR -12.34"},
		{4200, "jpy", "JPY 4200"},
		{1230, "kwd", "KWD 1.230"},
		{50000, "isk", "ISK 500"},
		{50000, "ugx", "UGX 500"},
		{5, "kwd", "KWD 0.005"},
	}
	for _, tt := range tests {
		if got := Display(tt.amount, tt.currency); got != tt.want {
			t.Errorf("Display(%d, %s) = %q, want %q", tt.amount, tt.currency, got, tt.want)
		}
	}
}

func TestLineAmounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name                 string
		price                Price
		quantity             int64
		taxed                bool
		subtotal, tax, total int64
	}{
		{"untaxed", Price{Amount: 999, Currency: "usd"}, 3, false, 2997, 0, 2997},
		{
			"added, rounded half up",
			Price{Amount: 1905, Currency: "usd", TaxBehavior: "exclusive"},
			1, true, 1905,
			191, 2096,
		},
		{
			"unspecified is added",
			Price{Amount: 1000, Currency: "usd", TaxBehavior: "unspecified"},
			1, true, 1000,
			100, 1100,
		},
		{"contained", Price{Amount: 1100, Currency: "usd", TaxBehavior: "inclusive"}, 1, true, 1100, 100, 1100},
		{"no decimals", Price{Amount: 4200, Currency: "jpy", TaxBehavior: "exclusive"}, 1, true, 4200, 420, 4620},
		{"multiples of ten", Price{Amount: 1230, Currency: "kwd", TaxBehavior: "exclusive"}, 1, true, 1230, 120, 1350},
		{
			"multiples of a hundred",
			Price{Amount: 50500, Currency: "isk", TaxBehavior: "exclusive"},
			1, true, 50500,
			5100, 55600,
		},
	}
	for _, tt := range tests {
		subtotal, tax, total := LineAmounts(&tt.price, tt.quantity, tt.taxed)
		if subtotal != tt.subtotal || tax != tt.tax || total != tt.total {
			t.Errorf("%s: lineAmounts = %d, %d, %d, want %d, %d, %d", tt.name, subtotal, tax, total, tt.subtotal,
				tt.tax, tt.total)
		}
		if CheckAmount("x", tt.price.Currency, total) != nil {
			t.Errorf("%s: the total %d cannot be charged in %s", tt.name, total, tt.price.Currency)
		}
	}
}
