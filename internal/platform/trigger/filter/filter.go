// Package filter says which events of a trigger are posted, by an expression of the
// Common Expression Language over what the event is about:
//
//	data.from.endsWith("@acme.com") && data.size < 1000000
//
// Expressions read data alone. They call nothing, end after a bounded number of
// steps, and are checked when a trigger is created.
package filter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"
)

// Limits.
const (
	MaxLength = 1000   // characters of an expression
	maxCost   = 20_000 // steps of one evaluation
	maxDepth  = 50     // of brackets inside each other
)

// Language compiles expressions. It is safe for concurrent use.
type Language struct{ env *cel.Env }

// New returns the language of filters.
func New() (*Language, error) {
	env, err := cel.NewEnv(cel.Variable("data", cel.DynType), cel.CrossTypeNumericComparisons(true), ext.Strings(),
		cel.ParserRecursionLimit(maxDepth), cel.ParserExpressionSizeLimit(MaxLength))
	if err != nil {
		return nil, fmt.Errorf("preparing the language of filters: %w", err)
	}
	return &Language{env}, nil
}

// Mistake is why an expression is no filter.
type Mistake struct {
	Line, Column int // from 1; 0: not at one place
	Text         string
}

// Mistakes is the error of Compile.
type Mistakes []Mistake

// Error implements error.
func (m Mistakes) Error() string {
	var all []string
	for _, one := range m {
		text := one.Text
		if one.Line > 0 {
			text = fmt.Sprintf("line %d, column %d: %s", one.Line, one.Column, text)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// Filter is a compiled expression. It is safe for concurrent use.
type Filter struct{ program cel.Program }

// Compile returns the filter of an expression. What the expression gets wrong is
// Mistakes.
func (l *Language) Compile(expression string) (*Filter, error) {
	ast, issues := l.env.Compile(expression)
	if err := issues.Err(); err != nil {
		var mistakes Mistakes
		for _, one := range issues.Errors() {
			m := Mistake{Text: one.Message}
			if one.Location != nil && one.Location.Line() > 0 {
				m.Line, m.Column = one.Location.Line(), one.Location.Column()+1
			}
			mistakes = append(mistakes, m)
		}
		return nil, mistakes
	}
	if kind := ast.OutputType(); !kind.IsExactType(cel.BoolType) && !kind.IsExactType(cel.DynType) {
		return nil, Mistakes{{Text: "a filter is true or false; this is " + kind.String()}}
	}
	program, err := l.env.Program(ast, cel.CostLimit(maxCost))
	if err != nil {
		return nil, Mistakes{{Text: err.Error()}}
	}
	return &Filter{program}, nil
}

// ErrNotBool says that an expression was neither true nor false.
var ErrNotBool = errors.New("the filter is neither true nor false")

// Meant reports whether an event about data is posted. One without what the
// expression names is not. An error is any other: a comparison of a text with a
// number, or too many steps.
func (f *Filter) Meant(data any) (bool, error) {
	result, _, err := f.program.Eval(map[string]any{"data": numbers(data)})
	switch {
	case err != nil && strings.Contains(err.Error(), "no such key"):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("evaluating a filter: %w", err)
	}
	meant, ok := result.Value().(bool)
	if !ok {
		return false, ErrNotBool
	}
	return meant, nil
}

// numbers returns a decoded document whose numbers CEL can read.
func numbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole
		}
		fraction, err := v.Float64()
		if err != nil {
			return v.String()
		}
		return fraction
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = numbers(one)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, one := range v {
			object[name] = numbers(one)
		}
		return object
	}
	return value
}
