package datapack

import (
	"bytes"
	"fmt"
	"strings"

	"ace/internal/website/datapack/generate"

	"golang.org/x/net/html"
)

// edit replaces a part of a page's source.
type edit struct {
	from, to int // bytes
	text     string
}

// Limits of a diff.
const (
	maxPatch = 128 << 10
	context3 = 3 // unchanged lines around a change
)

// install puts a block into the source of a page: into its head, or in the
// place of the JSON-LD blocks that it holds. It returns the page and the
// unified diff that leads to it; ok is false where the diff would be too long.
func install(source, script, mode, name string) (page, patch string, ok bool) {
	blocks, head := places(source)
	var edits []edit
	switch {
	case mode != generate.Add && len(blocks) > 0:
		for i, b := range blocks {
			b.text = ""
			if i == 0 {
				b.text = strings.TrimSuffix(script, "\n")
			}
			edits = append(edits, b)
		}
	default:
		edits = []edit{{head, head, script}}
	}
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(source[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(source[at:])
	patch = unified(source, edits, name)
	return b.String(), patch, len(patch) <= maxPatch
}

// places finds the JSON-LD blocks of a page and where a new one goes: before
// the end of the head, else before the body, else at the beginning.
func places(source string) (blocks []edit, head int) {
	z := html.NewTokenizer(strings.NewReader(source))
	at, open, body := 0, -1, -1
	head = -1
	for {
		kind := z.Next()
		raw := len(z.Raw())
		if kind == html.ErrorToken {
			break
		}
		switch kind {
		case html.StartTagToken:
			name, more := z.TagName()
			switch {
			case string(name) == "script" && more && isJSONLD(z):
				open = at
			case string(name) == "body" && body < 0:
				body = at
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			switch {
			case string(name) == "script" && open >= 0:
				blocks = append(blocks, edit{from: open, to: at + raw})
				open = -1
			case string(name) == "head" && head < 0:
				head = at
			}
		}
		at += raw
	}
	if head < 0 {
		head = max(body, 0)
	}
	return blocks, head
}

func isJSONLD(z *html.Tokenizer) bool {
	for {
		key, value, more := z.TagAttr()
		if string(key) == "type" {
			kind, _, _ := bytes.Cut(value, []byte(";"))
			return strings.EqualFold(strings.TrimSpace(string(kind)), "application/ld+json")
		}
		if !more {
			return false
		}
	}
}

// unified writes edits as a unified diff. The edits come in order and do not
// touch.
func unified(source string, edits []edit, name string) string {
	old := strings.SplitAfter(source, "\n")
	starts := make([]int, len(old)+1)
	for i, line := range old {
		starts[i+1] = starts[i] + len(line)
	}
	lineAt := func(offset int) int {
		low, high := 0, len(old)-1
		for low < high {
			mid := (low + high + 1) / 2
			if starts[mid] <= offset {
				low = mid
			} else {
				high = mid - 1
			}
		}
		return low
	}
	var changes []change
	for _, e := range edits {
		first, last := lineAt(e.from), lineAt(max(e.to-1, e.from))
		if len(changes) > 0 && first <= changes[len(changes)-1].last { // on one line with the edit before
			c := &changes[len(changes)-1]
			c.edits = append(c.edits, e)
			c.last = max(c.last, last)
			continue
		}
		changes = append(changes, change{first, last, []edit{e}})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- a/%s\n+++ b/%s\n", name, name)
	shift := 0
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].first-changes[n-1].last <= 2*context3 {
			n++
		}
		shift = hunk(&b, old, starts, changes[:n], shift)
		changes = changes[n:]
	}
	return b.String()
}

// change is a run of lines that edits touch.
type change struct {
	first, last int
	edits       []edit
}

// lines are what is in place of the changed lines.
func (c change) lines(old []string, starts []int) []string {
	var b strings.Builder
	whole := strings.Join(old, "")
	at := starts[c.first]
	for _, e := range c.edits {
		b.WriteString(whole[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(whole[at:starts[c.last+1]])
	if b.Len() == 0 {
		return nil
	}
	lines := strings.SplitAfter(b.String(), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// hunk writes one hunk and returns by how many lines the rest has moved.
func hunk(b *strings.Builder, old []string, starts []int, changes []change, shift int) int {
	total := len(old)
	if old[total-1] == "" {
		total-- // behind the last line break
	}
	from := max(changes[0].first-context3, 0)
	to := min(changes[len(changes)-1].last+context3, total-1)
	var body strings.Builder
	put := func(sign byte, line string) {
		body.WriteByte(sign)
		body.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			body.WriteString("\n\\ No newline at end of file\n")
		}
	}
	before, after, at := 0, 0, from
	write := func(end int) {
		for ; at < end; at++ {
			put(' ', old[at])
			before++
			after++
		}
	}
	for _, c := range changes {
		write(c.first)
		for ; at <= c.last && at < total; at++ {
			put('-', old[at])
			before++
		}
		for _, line := range c.lines(old, starts) {
			put('+', line)
			after++
		}
	}
	write(to + 1)
	fmt.Fprintf(b, "@@ -%s +%s @@\n%s", span(from, before), span(from+shift, after), body.String())
	return shift + after - before
}

// span writes the position of a hunk; an empty one is after the line before.
func span(from, count int) string {
	if count == 0 {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, count)
}
