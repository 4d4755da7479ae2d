package rules

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// format reports whether a text is written as a data type of the vocabulary
// asks for. Text, and quantities such as "7 ft", may be anything.
func format(dataType, text string) bool {
	switch dataType {
	case "Number", "Float":
		_, err := strconv.ParseFloat(text, 64)
		return err == nil && !strings.ContainsAny(text, "xXpPiInN_")
	case "Integer":
		_, err := strconv.ParseInt(text, 10, 64)
		return err == nil
	case "Boolean":
		return text == "true" || text == "false" || text == "True" || text == "False"
	case "Date":
		return isDate(text) || isDateTime(text)
	case "DateTime":
		return isDateTime(text) || isDate(text) // a day without its hour is common and read
	case "Time":
		return timePattern.MatchString(text)
	case "Duration":
		return isDuration(text)
	case "URL":
		return isURL(text)
	default:
		return true
	}
}

// formats describes data types in words.
func formats(dataTypes []string) string {
	words := map[string]string{
		"Number": "a number", "Float": "a number", "Integer": "a whole number", "Boolean": "true or false",
		"Date":     "a date (2026-03-19)",
		"DateTime": "a time (2026-03-19T10:00:00+01:00)", "Time": "a time of day (10:00:00)",
		"Duration": "a duration (PT1H30M)", "URL": "an address", "Text": "text",
	}
	var list []string
	for _, t := range dataTypes {
		if w, ok := words[t]; ok {
			list = append(list, w)
		} else {
			list = append(list, t)
		}
	}
	return few(list)
}

var (
	datePattern = regexp.MustCompile(`^-?\d{4}(-\d{2}(-\d{2})?)?$`)
	timePattern = regexp.MustCompile(`^([01]\d|2[0-4]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?$`)
	// ISO 8601, weeks and fractions included; a P alone is none.
	durationPattern = regexp.MustCompile(
		`^-?P(\d+([.,]\d+)?W|(\d+([.,]\d+)?Y)?(\d+([.,]\d+)?M)?(\d+([.,]\d+)?D)?(T(\d+([.,]\d+)?H)?(\d+([.,` +
			`]\d+)?M)?(\d+([.,]\d+)?S)?)?)$`,
	)
)

// isDate reads a year, a month or a day of ISO 8601, also as an interval.
func isDate(text string) bool {
	if start, end, ok := strings.Cut(text, "/"); ok {
		return (start == ".." || isDate(start) || isDateTime(start)) &&
			(end == ".." || end == "" || isDate(end) || isDateTime(end) || isDuration(end))
	}
	if !datePattern.MatchString(text) {
		return false
	}
	for _, layout := range []string{"2006", "2006-01", time.DateOnly} {
		if _, err := time.Parse(layout, strings.TrimPrefix(text, "-")); err == nil {
			return true
		}
	}
	return false
}

func isDateTime(text string) bool {
	day, hour, ok := strings.Cut(text, "T")
	if !ok {
		day, hour, ok = strings.Cut(text, " ")
	}
	return ok && len(day) == 10 && isDate(day) && timePattern.MatchString(hour)
}

func isDuration(text string) bool {
	return durationPattern.MatchString(text) && !strings.HasSuffix(text, "P") && !strings.HasSuffix(text, "T")
}

func isURL(text string) bool {
	if strings.ContainsAny(text, " <>\"{}|\\^`\n\t") && !strings.Contains(text, "{") {
		return false
	}
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	if u.Scheme != "" {
		return u.Host != "" || u.Opaque != "" || u.Path != ""
	}
	return strings.ContainsAny(text, "/.#?-_") // "tbd" and the like are words, not paths
}
