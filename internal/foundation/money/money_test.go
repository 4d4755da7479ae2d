package money_test

import (
	"math"
	"testing"

	"ace/internal/foundation/money"
)

func TestDecimal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   money.Amount
		want string
	}{
		{money.Amount{Minor: 1900, Currency: "USD"}, "USD 19.00"},
		{money.Amount{Minor: 5, Currency: "USD"}, "USD 0.05"},
		{money.Amount{Minor: 0, Currency: "EUR"}, "EUR 0.00"},
		{money.Amount{Minor: 1900, Currency: "JPY"}, "JPY 1900"},
		{money.Amount{Minor: 1, Currency: "KWD"}, "KWD 0.001"},
		{money.Amount{Minor: 12345, Currency: "KWD"}, "KWD 12.345"},
		{money.Amount{Minor: -5, Currency: "BHD"}, "BHD -0.005"},
		{money.Amount{Minor: -1900, Currency: "USD"}, "USD -19.00"},
		{money.Amount{Minor: 1, Currency: "CLF"}, "CLF 0.0001"},
		{money.Amount{Minor: math.MinInt64, Currency: "USD"}, "USD -92233720368547758.08"},
	}
	for _, tt := range tests {
		if got := tt.in.String(); got != tt.want {
			t.Errorf("%d %s = %q, want %q", tt.in.Minor, tt.in.Currency, got, tt.want)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		minor, n, want int64
		ok             bool
	}{
		{1900, 3, 5700, true},
		{1900, 0, 0, true},
		{-5, 2, -10, true},
		{math.MaxInt64, 2, 0, false},
		{math.MaxInt64 / 2, 3, 0, false},
		{math.MinInt64, -1, 0, false},
	}
	for _, tt := range tests {
		got, ok := money.Amount{Minor: tt.minor, Currency: "USD"}.Times(tt.n)
		if ok != tt.ok || got.Minor != tt.want {
			t.Errorf("%d times %d = %d, %v, want %d, %v", tt.minor, tt.n, got.Minor, ok, tt.want, tt.ok)
		}
	}
}

func TestValidCurrency(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"USD": true, "usd": false, "US": false, "USDC": false, "U$D": false,
		"": false,
	} {
		if got := money.ValidCurrency(in); got != want {
			t.Errorf("ValidCurrency(%q) = %v, want %v", in, got, want)
		}
	}
}
