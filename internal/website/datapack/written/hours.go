package written

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	dayNames = []struct {
		words *regexp.Regexp
		name  string
	}{
		{regexp.MustCompile(`(?i)\b(mon(day)?s?|montags?|mo)\b`), "Monday"},
		{regexp.MustCompile(`(?i)\b(tue(s(day)?)?s?|dienstags?|di)\b`), "Tuesday"},
		{regexp.MustCompile(`(?i)\b(wed(nesday)?s?|mittwochs?|mi)\b`), "Wednesday"},
		{regexp.MustCompile(`(?i)\b(thu(r(s(day)?)?)?s?|donnerstags?|do)\b`), "Thursday"},
		{regexp.MustCompile(`(?i)\b(fri(day)?s?|freitags?|fr)\b`), "Friday"},
		{regexp.MustCompile(`(?i)\b(sat(urday)?s?|samstags?|sonnabends?|sa)\b`), "Saturday"},
		{regexp.MustCompile(`(?i)\b(sun(day)?s?|sonntags?|so)\b`), "Sunday"},
	}
	hours = regexp.MustCompile(
		`(?i)\b(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm|uhr|h)?\s*(?:-|–|—|to|bis|till|until)\s*(\d{1,` +
			`2})(?:[:.](\d{2}))?\s*(am|pm|uhr|h)?\b`,
	)
	dayRange  = regexp.MustCompile(`(?i)^[^\d]*?(-|–|—|\bto\b|\bbis\b)`)
	closedDay = regexp.MustCompile(`(?i)\b(closed|geschlossen|fermé|cerrado)\b`)
)

// Opening reads "Mon-Fri 9:00-17:30". Hours such as "9-5" are ambiguous and left as they are.
func Opening(text string) (days []string, opens, closes string, ok bool) {
	times := hours.FindAllStringSubmatchIndex(text, 2)
	if len(times) != 1 || closedDay.MatchString(text) {
		return nil, "", "", false
	}
	m := times[0]
	group := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return text[m[2*i]:m[2*i+1]]
	}
	opens, sure1 := Clock(group(1), group(2), group(3))
	closes, sure2 := Clock(group(4), group(5), group(6))
	if !sure1 || !sure2 {
		return nil, "", "", false
	}
	before := text[:m[0]]
	var at, places []int // days, and where they are
	for i, d := range dayNames {
		if place := d.words.FindStringIndex(before); place != nil {
			at, places = append(at, i), append(places, place[0])
		}
	}
	switch {
	case len(at) == 2 && dayRange.MatchString(before) && places[0] < places[1]:
		for i := at[0]; i <= at[1]; i++ {
			days = append(days, dayNames[i].name)
		}
	case len(at) > 0 && !dayRange.MatchString(strings.TrimRight(before, " -–—:")):
		for _, i := range at {
			days = append(days, dayNames[i].name)
		}
	default:
		return nil, "", "", false
	}
	return days, opens, closes, true
}

// Clock makes "5", "30", "pm" 17:30. An hour alone, without minutes or words,
// is not sure.
func Clock(hour, minute, word string) (string, bool) {
	h := 0
	for _, c := range hour {
		h = h*10 + int(c-'0')
	}
	switch strings.ToLower(word) {
	case "pm":
		if h < 12 {
			h += 12
		}
	case "am":
		if h == 12 {
			h = 0
		}
	case "":
		if minute == "" {
			return "", false
		}
	}
	if minute == "" {
		minute = "00"
	}
	if h > 24 || minute > "59" {
		return "", false
	}
	return fmt.Sprintf("%02d:%s", h, minute), true
}
