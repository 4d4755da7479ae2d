package htmltext

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxColumns bounds the width of a table that is drawn as one.
const maxColumns = 40

// table writes rows and columns as a table. What only lays out a page - one
// column, tables inside - is written as the blocks it holds.
func (w *writer) table(n *html.Node) {
	w.flush()
	if caption := first(n, func(n *html.Node) bool { return n.DataAtom == atom.Caption }); caption != nil {
		w.raw(w.capture(caption))
		w.flush()
	}
	if first(n, func(n *html.Node) bool { return n.DataAtom == atom.Table }) != nil {
		w.layout(n)
		return
	}
	w.inCell = true
	rows, width := w.rows(n)
	w.inCell = false
	if width < 2 || width > maxColumns || len(rows) == 0 {
		w.layout(n)
		return
	}
	if !w.markdown {
		lines := make([]string, len(rows))
		for i, row := range rows {
			lines[i] = strings.Join(row, " | ")
		}
		w.block(strings.Join(lines, "\n"))
		return
	}
	var b strings.Builder
	for i, row := range rows {
		for len(row) < width {
			row = append(row, "")
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("| --- ", width) + "|\n")
		}
	}
	w.block(strings.TrimSuffix(b.String(), "\n"))
}

func (w *writer) rows(n *html.Node) (rows [][]string, width int) {
	for tr := range n.Descendants() {
		if tr.DataAtom != atom.Tr || dropped(tr) {
			continue
		}
		var row []string
		empty := true
		for c := tr.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom != atom.Td && c.DataAtom != atom.Th || dropped(c) {
				continue
			}
			cell := strings.TrimSpace(w.capture(c))
			empty = empty && cell == ""
			row = append(row, cell)
		}
		if !empty {
			rows = append(rows, row)
			width = max(width, len(row))
		}
	}
	return rows, width
}

// layout writes a table as if its cells were blocks.
func (w *writer) layout(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Caption {
			w.node(c)
		}
	}
	w.flush()
}
