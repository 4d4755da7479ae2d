package app

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Misread is a definition that does not follow the format. Its errors name
// lines of the text.
type Misread struct{ Faults []Fault }

// Error implements error: the errors with semicolons between them.
func (m *Misread) Error() string {
	texts := make([]string, len(m.Faults))
	for i, f := range m.Faults {
		texts[i] = f.String()
	}
	return strings.Join(texts, "; ")
}

// at returns an error on the line of a node, in the form of the YAML package,
// which collects such errors of all nodes.
func at(node *yaml.Node, format string, args ...any) error {
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %s", node.Line, fmt.Sprintf(format, args...))}}
}

// all joins such errors to one; an error of another kind takes precedence.
func all(errs []error) error {
	joined := &yaml.TypeError{}
	for _, err := range errs {
		var faults *yaml.TypeError
		if !errors.As(err, &faults) {
			return err
		}
		joined.Errors = append(joined.Errors, faults.Errors...)
	}
	if len(joined.Errors) == 0 {
		return nil
	}
	return joined
}

// strict decodes a node like the decoder of the whole file: yaml's own
// Node.Decode does not refuse unknown fields.
func strict(node *yaml.Node, v any) error {
	text, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	err = decoder.Decode(v)
	var faults *yaml.TypeError
	var copied yaml.Node
	if !errors.As(err, &faults) || yaml.Unmarshal(text, &copied) != nil || len(copied.Content) == 0 {
		return err
	}
	lines := map[int]int{}
	linesOf(copied.Content[0], node, lines)
	moved := &yaml.TypeError{}
	for _, fault := range faults.Errors {
		moved.Errors = append(moved.Errors, lineOf.ReplaceAllStringFunc(fault, func(line string) string {
			n, _ := strconv.Atoi(strings.TrimPrefix(line, "line "))
			return fmt.Sprintf("line %d", lines[n])
		}))
	}
	return moved
}

// lineOf matches the lines that an error names.
var lineOf = regexp.MustCompile(`\bline \d+`)

// linesOf returns where the lines of a re-encoded text are in the original
// text.
func linesOf(copied, node *yaml.Node, lines map[int]int) {
	if _, known := lines[copied.Line]; !known {
		lines[copied.Line] = node.Line
	}
	for i := range min(len(copied.Content), len(node.Content)) {
		linesOf(copied.Content[i], node.Content[i], lines)
	}
}

// Messages of the YAML package that refer to Go, and what they mean.
var (
	unknownMember = regexp.MustCompile(`^field (\S+) not found in type \S+$`)
	wrongKind     = regexp.MustCompile(`^cannot unmarshal !!(\w+)(?: .*)? into (.+)$`)
	givenTwice    = regexp.MustCompile(`^mapping key "(.+)" already defined at line (\d+)$`)
	placed        = regexp.MustCompile(`^(?:yaml: )?(line \d+): (.*)$`)
)

// misread turns an error of the YAML package into errors that users can fix.
func misread(err error) error {
	texts := []string{err.Error()}
	var faults *yaml.TypeError
	if errors.As(err, &faults) {
		texts = faults.Errors
	}
	m := &Misread{}
	for _, text := range texts {
		f := Fault{At: "the file", Text: strings.TrimPrefix(text, "yaml: ")}
		if errors.Is(err, io.EOF) {
			f.Text = "it is empty: write one definition"
		}
		if parts := placed.FindStringSubmatch(text); parts != nil {
			f = Fault{At: parts[1], Text: mended(parts[2])}
			if faults == nil { // no YAML: where the parser noticed, a line early at times
				f.At = "near " + f.At
			}
		}
		m.Faults = append(m.Faults, f)
	}
	return m
}

func mended(text string) string {
	if parts := unknownMember.FindStringSubmatch(text); parts != nil {
		return fmt.Sprintf("nothing is called %q here: correct the name, or remove it", parts[1])
	}
	if parts := givenTwice.FindStringSubmatch(text); parts != nil {
		return fmt.Sprintf("%q stands on line %s already: keep one of them", parts[1], parts[2])
	}
	if parts := wrongKind.FindStringSubmatch(text); parts != nil {
		return fmt.Sprintf("%s stands here where %s belongs", written(parts[1]), wanted(parts[2]))
	}
	return text
}

func written(tag string) string {
	switch tag {
	case "map":
		return "a mapping"
	case "seq":
		return "a list"
	case "int", "float":
		return "a number"
	case "bool":
		return "true or false"
	}
	return "a text"
}

func wanted(kind string) string {
	switch {
	case strings.HasPrefix(kind, "[]"):
		return "a list"
	case kind == "bool":
		return "true or false"
	case strings.HasPrefix(kind, "int"):
		return "a whole number"
	case strings.HasPrefix(kind, "float"):
		return "a number"
	case kind == "string" || strings.HasSuffix(kind, "Tier"):
		return "a text"
	}
	return "a mapping"
}
