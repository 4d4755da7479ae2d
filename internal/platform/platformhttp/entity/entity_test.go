package entity_test

import (
	"testing"

	"ace/internal/platform/platformhttp/entity"
)

func TestTag(t *testing.T) {
	t.Parallel()
	one, err := entity.Tag(map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	if two, err := entity.Tag(map[string]int{"a": 2}); err != nil || two == one || len(one) < 10 {
		t.Errorf("Tag = %s and %s, %v, want two", one, two, err)
	}
	if _, err := entity.Tag(func() {}); err == nil {
		t.Error("what cannot be written has a tag")
	}
	for header, want := range map[string]bool{
		"": false, one: true, "W/" + one: true, `"x", ` + one: true, "*": true,
		`"x"`: false, one[1 : len(one)-1]: false,
	} {
		if got := entity.Matches(header, one); got != want {
			t.Errorf("Matches(%s, %s) = %v, want %v", header, one, got, want)
		}
	}
}
