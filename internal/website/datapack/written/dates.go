// Package written reads what people write on pages: days, amounts of money,
// hours, addresses and trade numbers.
//
//	Dates     "19. März 2026"                 -> 2026-03-19
//	Amounts   "from £1,249.50"                -> 1249.50 GBP, from
//	Opening   "Mon-Fri 9:00am - 5:30pm"       -> days, 09:00, 17:30
//	Address   "4 Mill Lane, Ludlow SY8 1AA"   -> street, city, code, country
//	CheckDigit                                   of a GTIN
//
// What may be read in two ways is reported as such or not at all.
package written

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// months knows the names of months by their first letters in the languages that
// Dates reads: English, German, French, Spanish, Italian, Dutch, Portuguese.
var months = map[string]time.Month{
	"jan": 1, "feb": 2, "fév": 2, "fev": 2, "mar": 3, "mär": 3, "mrt": 3, "maa": 3, "apr": 4, "avr": 4, "abr": 4,
	"may": 5, "mai": 5, "mag": 5, "mei": 5, "mayo": 5,
	"jun": 6, "juin": 6, "giu": 6, "jul": 7, "juil": 7, "lug": 7, "aug": 8, "aoû": 8, "ago": 8, "sep": 9, "set": 9,
	"oct": 10, "okt": 10, "ott": 10, "out": 10,
	"nov": 11, "dec": 12, "dez": 12, "déc": 12, "dic": 12, "gen": 1, "ene": 1,
}

var datePatterns = regexp.MustCompile(`(?i)\b(?:` +
	`(\d{4})-(\d{2})-(\d{2})` + // 2026-03-19
	// 19 March 2026, 19. März 2026, 19 de marzo de 2026
	`|(\d{1,2})(?:st|nd|rd|th|er|\.|º)?\s+(?:de\s+)?(\pL{3,10})\.?,?\s+(?:de\s+)?(\d{4})` +
	`|(\pL{3,10})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})` + // March 19, 2026
	`|(\d{1,2})([./])(\d{1,2})[./](\d{4})` + // 19.03.2026, 03/19/2026
	`)`)

// Dates finds the days that a text names, as 2026-03-19, in their order. Where
// 03/04/2026 may be read in two ways both are returned.
func Dates(text string) []string {
	var days []string
	for _, m := range datePatterns.FindAllStringSubmatch(text, 500) {
		switch {
		case m[1] != "":
			days = day(days, m[1], atoi(m[2]), m[3])
		case m[4] != "":
			days = day(days, m[6], int(month(m[5])), m[4])
		case m[7] != "":
			days = day(days, m[9], int(month(m[7])), m[8])
		default:
			days = day(days, m[13], atoi(m[12]), m[10])
			if m[11] == "/" && m[10] != m[12] {
				days = day(days, m[13], atoi(m[10]), m[12])
			}
		}
	}
	return days
}

func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

func month(name string) time.Month {
	name = strings.ToLower(name)
	runes := []rune(name)
	for n := min(4, len(runes)); n >= 3; n-- {
		if m, ok := months[string(runes[:n])]; ok {
			return m
		}
	}
	return 0
}

// day appends a day that exists.
func day(days []string, year string, month int, dayOfMonth string) []string {
	y, d := atoi(year), atoi(dayOfMonth)
	t := time.Date(y, time.Month(month), d, 0, 0, 0, 0, time.UTC)
	if month < 1 || y < 1900 || y > 2200 || t.Day() != d || int(t.Month()) != month {
		return days
	}
	return append(days, t.Format(time.DateOnly))
}
