package site

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// matter is what the head of a Markdown file says: lines of "name: value"
// between two lines of three hyphens.
type matter struct {
	title, description, lang string
	label, list              string
	updated                  time.Time
	private, template        bool
	nav, foot                int
}

// parseMatter splits a file into its head and its text. A file without a head
// is all text.
func parseMatter(file string) (m matter, text string, err error) {
	file = strings.ReplaceAll(strings.TrimPrefix(file, "\ufeff"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(file, "---\n")
	if !ok {
		return m, file, nil
	}
	head, text, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		if head, ok = strings.CutSuffix(rest, "\n---"); !ok {
			return m, "", errors.New("the head begins with --- and has no end: close it with a line of ---")
		}
	}
	for line := range strings.SplitSeq(head, "\n") {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
				continue
			}
			return m, "", fmt.Errorf("the line %q of the head is not name: value", line)
		}
		if err := m.set(strings.TrimSpace(name), unquote(strings.TrimSpace(value))); err != nil {
			return m, "", err
		}
	}
	return m, text, nil
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// set keeps one value. Names that are not known here belong to other tools.
func (m *matter) set(name, value string) (err error) {
	switch name {
	case "title":
		m.title = value
	case "description":
		m.description = value
	case "label":
		m.label = value
	case "lang":
		m.lang = value
	case "list":
		if value != listOffers && value != listServices {
			return fmt.Errorf("list is %q: write offers or services", value)
		}
		m.list = value
	case "updated", "last_updated", "date":
		m.updated, err = parseDay(value)
	case "private":
		m.private, err = strconv.ParseBool(value)
	case "template":
		m.template, err = strconv.ParseBool(value)
	case "nav":
		m.nav, err = strconv.Atoi(value)
	case "foot":
		m.foot, err = strconv.Atoi(value)
	}
	if err != nil {
		return fmt.Errorf("%s is %q: write a day such as 2026-01-31, a number, or true or false", name, value)
	}
	return nil
}

func parseDay(value string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, value); err == nil {
		return t, nil
	}
	return time.Parse(time.DateOnly, value)
}
