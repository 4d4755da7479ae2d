package written_test

import (
	"strings"
	"testing"

	"ace/internal/website/datapack/written"

	"github.com/google/go-cmp/cmp"
)

func TestDates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want []string
	}{
		{"on 2026-03-19 at ten", []string{"2026-03-19"}},
		{"19 March 2026 and Mar. 20, 2026", []string{"2026-03-19", "2026-03-20"}},
		{"19th March, 2026", []string{"2026-03-19"}},
		{"19. März 2026", []string{"2026-03-19"}},
		{"le 1er août 2026, le 3 juillet 2026, le 4 juin 2026", []string{"2026-08-01", "2026-07-03", "2026-06-04"}},
		{"19 de marzo de 2026", []string{"2026-03-19"}},
		{"19.03.2026", []string{"2026-03-19"}},
		{"03/19/2026", []string{"2026-03-19"}},
		{"03/04/2026", []string{"2026-04-03", "2026-03-04"}},
		{"2026-02-30, 31 June 2026, 5 Foo 2026, 99/99/2026", nil},
		{"3.14 and 2026", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, written.Dates(tt.in)); diff != "" {
			t.Errorf("Dates(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestAmounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want []written.Amount
	}{
		{"£49.00", []written.Amount{{Value: "49.00", Currency: "GBP", Sign: "£"}}},
		{"1.249,50 €", []written.Amount{{Value: "1249.50", Currency: "EUR", Sign: "€"}}},
		{"€ 1 249,50", []written.Amount{{Value: "1249.50", Currency: "EUR", Sign: "€"}}},
		{"CHF 1'249.-", []written.Amount{{Value: "1249", Currency: "CHF", Sign: "CHF"}}},
		{"49,- kr", []written.Amount{{Value: "49", Sign: "kr"}}},
		{"US$1,000", []written.Amount{{Value: "1000", Currency: "USD", Sign: "US$"}}},
		{"$5 or $6.50", []written.Amount{{Value: "5", Sign: "$"}, {Value: "6.50", Sign: "$"}}},
		{"from £24", []written.Amount{{Value: "24", Currency: "GBP", Sign: "£", From: true}}},
		{"£24 - £30", []written.Amount{
			{Value: "24", Currency: "GBP", Sign: "£", Spread: true},
			{Value: "30", Currency: "GBP", Sign: "£"},
		}},
		{"24 mm, 3.5 kg, 2026", nil},
		{"EURO 5", nil},
		{"", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, written.Amounts(tt.in)); diff != "" {
			t.Errorf("Amounts(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"1.249,00": "1249.00", "1,249.00": "1249.00", "1.249": "1249",
		"12,5": "12.5", "49": "49", "1 000": "1000", "": "", "x": "",
	} {
		if got := written.Number(in); got != want {
			t.Errorf("Number(%q) = %q, want %q", in, got, want)
		}
	}
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"49", "49.00", true},
		{"49.50", "49.5", true},
		{"49", "490", false},
		{"100", "1", false},
		{"49.00", "49.01", false},
	} {
		if got := written.Same(tt.a, tt.b); got != tt.want {
			t.Errorf("Same(%s, %s) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
	for _, tt := range []struct{ sign, lang, want string }{
		{"$", "en-CA", "CAD"},
		{"$", "en", ""},
		{"$", "de-DE", ""},
		{"kr.", "da-DK", "DKK"},
		{"£", "en-US", ""},
	} {
		if got := written.Settle(tt.sign, tt.lang); got != tt.want {
			t.Errorf("Settle(%s, %s) = %q, want %q", tt.sign, tt.lang, got, tt.want)
		}
	}
}

func TestOpening(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"Mon-Fri 9:00-17:30", "Monday,Tuesday,Wednesday,Thursday,Friday 09:00-17:30"},
		{"Saturday and Sunday: 10am to 4pm", "Saturday,Sunday 10:00-16:00"},
		{"Mo bis Fr 8 bis 18 Uhr", ""}, // the first hour alone is not sure
		{"Mo bis Fr 8.00 bis 18.00 Uhr", "Monday,Tuesday,Wednesday,Thursday,Friday 08:00-18:00"},
		{"Wed 12:00pm-12:00am", "Wednesday 12:00-00:00"},
		{"Sunday closed 10:00-12:00", ""},
		{"Mon-Fri 9-5", ""},
		{"Mon 9:00-12:00 and 13:00-17:00", ""},
		{"9:00-17:00", ""},
		{"Fri-Mon 9:00-17:00", ""},
		{"Mon 25:00-26:00", ""},
	}
	for _, tt := range tests {
		days, opens, closes, ok := written.Opening(tt.in)
		got := ""
		if ok {
			got = strings.Join(days, ",") + " " + opens + "-" + closes
		}
		if got != tt.want {
			t.Errorf("Opening(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want written.Address
		ok   bool
	}{
		{
			"4 Mill Lane, Ludlow SY8 1AA",
			written.Address{Street: "4 Mill Lane", City: "Ludlow", Code: "SY8 1AA", Country: "GB"},
			true,
		},
		{
			"123 Main St, Suite 4, Springfield, IL 62701",
			written.Address{
				Street: "123 Main St, Suite 4", City: "Springfield", Region: "IL", Code: "62701",
				Country: "US",
			},
			true,
		},
		{"Mühlgasse 4a, 04109 Leipzig", written.Address{Street: "Mühlgasse 4a", City: "Leipzig", Code: "04109"}, true},
		{"The Old Mill, Mill Lane 4", written.Address{}, true},
		{"5 apples, 3 pears", written.Address{}, false},
		{"Mill Lane", written.Address{}, false},
		{"", written.Address{}, false},
	}
	for _, tt := range tests {
		got, ok := written.ParseAddress(tt.in)
		tt.want.Whole = tt.in
		if ok != tt.ok || got != tt.want {
			t.Errorf("ParseAddress(%q) = %+v, %v, want %+v, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func TestCheckDigit(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]bool{
		"4006381333931": true, "4006381333932": false, "036000291452": true,
		"96385074": true, "00012345600012": true, "12345": false, "400638133393x": false, "": false,
	} {
		if got := written.CheckDigit(number); got != want {
			t.Errorf("CheckDigit(%s) = %v, want %v", number, got, want)
		}
	}
}

func FuzzWritten(f *testing.F) {
	for _, seed := range []string{
		"19 March 2026, £1,249.50 to $7", "Mon-Fri 9:00am-5:30pm",
		"4 Mill Lane, Ludlow SY8 1AA", "1.2.3.4,5.6 €", "99:99-99:99 mo",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range written.Dates(text) {
			if len(d) != len("2026-03-19") {
				t.Errorf("Dates(%q) = %q", text, d)
			}
		}
		for _, a := range written.Amounts(text) {
			if a.Value == "" || written.Number(a.Value) == "" {
				t.Errorf("Amounts(%q) = %+v", text, a)
			}
		}
		if days, opens, closes, ok := written.Opening(text); ok &&
			(len(days) == 0 || len(opens) != 5 || len(closes) != 5) {
			t.Errorf("Opening(%q) = %v %s %s", text, days, opens, closes)
		}
		if a, ok := written.ParseAddress(text); ok && a.Whole == "" {
			t.Errorf("ParseAddress(%q) = %+v", text, a)
		}
		if written.CheckDigit(text) && len(text) < 8 {
			t.Errorf("CheckDigit(%q)", text)
		}
	})
}
