package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// shownLines bounds how much of a response people get to see.
	shownLines = 40
	// shownWidth is the width of a terminal at its default size.
	shownWidth = 80
)

func (t *tour) announce(explanation string, req *http.Request, body []byte) {
	t.step++
	if t.json {
		return
	}
	var text strings.Builder
	fmt.Fprintf(&text, "  %s %s\n", req.Method, req.URL)
	if prefer := req.Header.Get("Prefer"); prefer != "" {
		fmt.Fprintf(&text, "  Prefer: %s\n", prefer)
	}
	if req.Header.Get("Authorization") != "" {
		fmt.Fprintf(&text, "  Authorization: Bearer %s\n", shownKey(t.key))
	}
	if len(body) > 0 {
		fmt.Fprintf(&text, "  %s\n", body)
	}
	_, _ = fmt.Fprintf(t.out, "%s\n\n%s", t.heading(explanation), fold(text.String(), 2))
}

// shownKey is the beginning of a key, as lists of keys show it.
func shownKey(key string) string { return key[:min(len(key), len("ace_")+4)] + "…" }

func (t *tour) show(explanation string, req *http.Request, res *http.Response, answer []byte) {
	answer = bytes.TrimSpace(answer)
	if t.json {
		line := map[string]any{
			"step": t.step, "explanation": explanation, "method": req.Method,
			"url": req.URL.String(), "status": res.StatusCode,
		}
		if len(answer) > 0 {
			line["answer"] = json.RawMessage(answer)
		}
		_ = json.NewEncoder(t.out).Encode(line)
		return
	}
	text := "  " + t.out.status(res)
	if len(answer) > 0 {
		text += "\n  " + strings.Join(shorten(answer), "\n  ")
	}
	_, _ = fmt.Fprintf(t.out, "\n%s\n\n", fold(text, 2))
}

// status is the status of a response in its colour.
func (t *terminal) status(res *http.Response) string {
	if res.StatusCode < http.StatusBadRequest {
		return t.green(res.Status)
	}
	return t.red(res.Status)
}

// matter are the fields of responses that a newcomer needs to follow the tour,
// in the order in which they are shown. Fields in them are chosen alike.
var matter = []string{
	"id",
	"run_id",
	"session_id",
	"tool",
	"name",
	"ok",
	"status",
	"connection_status",
	"available",
	"availability",
	"connected",
	"price",
	"type",
	"amount",
	"display",
	"offers",
	"services",
	"tools",
	"totals",
	"continue_url",
	"order",
	"permalink_url",
	"url",
	"expires_at",
	"messages",
	"content",
	"code",
	"detail",
	"next_action",
	"error",
	"accepts",
	"scheme",
	"network",
	"payTo",
	"mode",
	"webhook_url",
	"posts",
	"headers",
	"webhook-id",
	"webhook-timestamp",
	"webhook-signature",
	"body",
}

// entire are fields that are shown with all that is in them.
var entire = []string{"account", "output"}

// shownItems bounds how many entries of a list are shown.
const shownItems = 3

// shorten returns the lines of a JSON response with the fields that matter. A
// response without any, and one that is no JSON, is shown from its beginning.
func shorten(answer []byte) []string {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber()
	if decoder.Decode(&value) == nil {
		var out shown
		if out.write(value, ""); out.written > 0 {
			lines := strings.Split(out.text.String(), "\n")
			if out.left > 0 {
				lines = append(lines, fmt.Sprintf("… %s; --json prints all", count(out.left, "further field")))
			}
			return lines
		}
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, answer, "", "  ") != nil {
		pretty.Write(answer)
	}
	lines := strings.Split(strings.TrimSpace(pretty.String()), "\n")
	if len(lines) > shownLines {
		lines = append(lines[:shownLines:shownLines], fmt.Sprintf("… %d more lines", len(lines)-shownLines))
	}
	return lines
}

// shown is a response of which only the fields that matter are written.
type shown struct {
	text          strings.Builder
	written, left int // fields
}

func (s *shown) write(value any, indent string) {
	switch v := value.(type) {
	case map[string]any:
		s.object(v, indent)
	case []any:
		s.list(v, indent)
	default:
		text, _ := json.Marshal(v)
		s.text.Write(text)
	}
}

func (s *shown) object(fields map[string]any, indent string) {
	s.text.WriteString("{")
	first := true
	for _, name := range slices.Concat(matter, entire) {
		value, ok := fields[name]
		if !ok || value == nil {
			continue
		}
		if !first {
			s.text.WriteString(",")
		}
		first = false
		s.written++
		fmt.Fprintf(&s.text, "\n%s  %q: ", indent, name)
		if slices.Contains(entire, name) {
			text, _ := json.MarshalIndent(value, indent+"  ", "  ")
			s.text.Write(text)
		} else {
			s.write(value, indent+"  ")
		}
	}
	for name := range fields {
		if !slices.Contains(matter, name) && !slices.Contains(entire, name) {
			s.left++
		}
	}
	if !first {
		s.text.WriteString("\n" + indent)
	}
	s.text.WriteString("}")
}

func (s *shown) list(items []any, indent string) {
	s.text.WriteString("[")
	for i, item := range items {
		if i == shownItems {
			fmt.Fprintf(&s.text, "\n%s  … %d more", indent, len(items)-i)
			break
		}
		if i > 0 {
			s.text.WriteString(",")
		}
		s.text.WriteString("\n" + indent + "  ")
		s.write(item, indent+"  ")
	}
	if len(items) > 0 {
		s.text.WriteString("\n" + indent)
	}
	s.text.WriteString("]")
}

func (t *tour) say(format string, args ...any) {
	if !t.json {
		_, _ = fmt.Fprintf(t.out, "%s\n\n", fold(fmt.Sprintf(format, args...), 0))
	}
}

// fold breaks lines that are wider than a terminal at spaces; what follows
// stands some columns further in than the line began. A word that would not fit
// on a line of its own, such as an address, stays where it is and whole, so that
// it can be copied.
func fold(text string, hang int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		body, end := strings.TrimRight(line, "\n"), ""
		if len(body) < len(line) {
			end = "\n"
		}
		indent := body[:len(body)-len(strings.TrimLeft(body, " "))]
		next := indent + strings.Repeat(" ", hang)
		at := 0
		for i, word := range strings.Split(body[len(indent):], " ") {
			width := utf8.RuneCountInString(word)
			switch {
			case i == 0:
				out.WriteString(indent)
				at = len(indent)
			case at+1+width > shownWidth && len(next)+width <= shownWidth:
				out.WriteString("\n" + next)
				at = len(next)
			default:
				out.WriteString(" ")
				at++
			}
			out.WriteString(word)
			at += width
		}
		out.WriteString(end)
	}
	return out.String()
}

// heading is the explanation of the step with its number.
func (t *tour) heading(explanation string) string {
	number := fmt.Sprintf("%d. ", t.step)
	return t.out.bold(fold(number+explanation, len(number)))
}
