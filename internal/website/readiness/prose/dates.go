package prose

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	isoDate   = regexp.MustCompile(`\b(19|20)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b`)
	pointDate = regexp.MustCompile(`\b([0-3]?\d)[./]([01]?\d)[./]((?:19|20)\d\d)\b`)
	dayMonth  = regexp.MustCompile(
		`\b([0-3]?\d)(?:st|nd|rd|th|er|º)?\.?\s+(?:de\s+)?(\p{L}{3,12})\.?,?\s+(?:de\s+)?((?:19|20)\d\d)\b`)
	monthDay     = regexp.MustCompile(`\b(\p{L}{3,12})\.?\s+([0-3]?\d)(?:st|nd|rd|th)?,?\s+((?:19|20)\d\d)\b`)
	kanjiDate    = regexp.MustCompile(`((?:19|20)\d\d)年\s*([01]?\d)月\s*([0-3]?\d)日`)
	monthPrefix3 = map[string]time.Month{
		"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11,
		"dec": 12,
		"mär": 3, "mai": 5, "okt": 10, "dez": 12, "fév": 2, "fev": 2, "avr": 4, "aoû": 8, "aou": 8, "déc": 12,
		"juin": 6, "juil": 7,
		"ene": 1, "abr": 4, "ago": 8, "dic": 12, "gen": 1, "mag": 5, "giu": 6, "lug": 7, "set": 9, "ott": 10, "out": 10,
		"maa": 3, "mrt": 3, "mei": 5, "maj": 5,
	}
)

// DatesIn are the dates that a text shows, as calendar days.
func DatesIn(text string) []string {
	var days []string
	add := func(year, month, day int) {
		t := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
		if month >= 1 && month <= 12 && t.Day() == day && !slices.Contains(days, t.Format(time.DateOnly)) {
			days = append(days, t.Format(time.DateOnly))
		}
	}
	days = append(days, isoDate.FindAllString(text, 50)...)
	for _, m := range pointDate.FindAllStringSubmatch(text, 50) {
		add(number(m[3]), number(m[2]), number(m[1]))
		add(number(m[3]), number(m[1]), number(m[2])) // month first, as in the United States
	}
	for _, m := range dayMonth.FindAllStringSubmatch(text, 50) {
		add(number(m[3]), month(m[2]), number(m[1]))
	}
	for _, m := range monthDay.FindAllStringSubmatch(text, 50) {
		add(number(m[3]), month(m[1]), number(m[2]))
	}
	for _, m := range kanjiDate.FindAllStringSubmatch(text, 50) {
		add(number(m[1]), number(m[2]), number(m[3]))
	}
	return days
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// month reads the name of a month in the languages of western Europe.
func month(name string) int {
	runes := []rune(strings.ToLower(name))
	for _, n := range []int{4, 3} {
		if len(runes) >= n {
			if m, ok := monthPrefix3[string(runes[:n])]; ok {
				return int(m)
			}
		}
	}
	return 0
}
