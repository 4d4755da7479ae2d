package filter_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"ace/internal/platform/trigger/filter"
)

func language(t *testing.T) *filter.Language {
	t.Helper()
	l, err := filter.New()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestMeant(t *testing.T) {
	t.Parallel()
	const document = `{"from":"ann@acme.com","size":12,"price":1.5,"big":9007199254740993,"none":null,
		"tags":["a","b"],"file":{"name":"x.pdf"}}`
	decoder := json.NewDecoder(strings.NewReader(document))
	decoder.UseNumber()
	var data any
	if err := decoder.Decode(&data); err != nil {
		t.Fatal(err)
	}
	for expression, want := range map[string]bool{
		`data.from.endsWith("@acme.com")`:                       true,
		`data.from.upperAscii() == "ANN@ACME.COM"`:              true,
		`data.from.matches("^bob")`:                             false,
		`data.size > 10 && data.size < 12.5`:                    true,
		`data.price == 1.5`:                                     true,
		`data.big == 9007199254740993`:                          true,
		`data.big == 9007199254740992`:                          false,
		`data.none == null`:                                     true,
		`"b" in data.tags`:                                      true,
		`data.tags.exists(t, t == "c")`:                         false,
		`has(data.file.name) && data.file.name.contains("pdf")`: true,
		`data.missing == 1`:                                     false,
		`!has(data.missing)`:                                    true,
		`data.file.missing.deeper == 1`:                         false,
		`data["from"] != ""`:                                    true,
	} {
		f, err := language(t).Compile(expression)
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		if meant, err := f.Meant(data); err != nil || meant != want {
			t.Errorf("%s = %t, %v, want %t", expression, meant, err, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]string{
		`data.from ==`:      "line 1, column 13: Syntax error",
		`dta.from == "x"`:   "line 1, column 1: undeclared reference to 'dta'",
		"true &&\n foo(1)":  "line 2, column 5: undeclared reference to 'foo'",
		`"text"`:            "this is string",
		`1 + 2`:             "this is int",
		`data.a.matches("[`: "Syntax error",
		strings.Repeat("(", 300) + "true" + strings.Repeat(")", 300): "recursion",
		`data.a == "` + strings.Repeat("x", filter.MaxLength) + `"`:  "size",
	} {
		_, err := language(t).Compile(expression)
		if mistakes := filter.Mistakes(nil); !errors.As(err, &mistakes) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", expression, err, want)
		}
	}
}

// TestCost bounds what one evaluation costs.
func TestCost(t *testing.T) {
	t.Parallel()
	list := make([]any, 1000)
	for i := range list {
		list[i] = json.Number("1")
	}
	f, err := language(t).Compile(`data.all(a, data.all(b, data.all(c, a == b && b == c)))`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Meant(list); err == nil || !strings.Contains(err.Error(), "cost limit") {
		t.Errorf("a thousand million steps: %v", err)
	}
	f, err = language(t).Compile(`data.from < 5`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Meant(map[string]any{"from": "x"}); err == nil {
		t.Error("a text is less than a number")
	}
}
