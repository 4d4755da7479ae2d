package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
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
	var pretty bytes.Buffer
	if json.Indent(&pretty, answer, "  ", "  ") != nil {
		pretty.Write(answer)
	}
	lines := strings.Split(strings.TrimSpace(pretty.String()), "\n")
	rest := ""
	if len(lines) > shownLines {
		rest = fmt.Sprintf("\n  … %d more lines", len(lines)-shownLines)
		lines = lines[:shownLines]
	}
	text := "  " + res.Status
	if len(answer) > 0 {
		text += "\n  " + strings.Join(lines, "\n") + rest
	}
	_, _ = fmt.Fprintf(t.out, "\n%s\n\n", fold(text, 2))
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
	return t.bold(fold(number+explanation, len(number)))
}

// bold marks headings on a terminal that can show them.
func (t *tour) bold(text string) string {
	f, ok := t.out.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" {
		return text
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}
