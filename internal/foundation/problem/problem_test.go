package problem_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"ace/internal/foundation/problem"
)

func TestFrom(t *testing.T) {
	t.Parallel()
	sold := problem.New(problem.Conflict, "sold_out", "This offer is sold out.")
	tests := []struct {
		name     string
		err      error
		wantCode string
		wantOK   bool
	}{
		{"bare", sold, "sold_out", true},
		{"wrapped", fmt.Errorf("opening session: %w", sold), "sold_out", true},
		{"foreign", errors.New("dial tcp 10.0.0.1: refused"), "internal_error", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, ok := problem.From(tt.err)
			if p.Code != tt.wantCode || ok != tt.wantOK {
				t.Errorf("From(%v) = %q, %v, want %q, %v", tt.err, p.Code, ok, tt.wantCode, tt.wantOK)
			}
		})
	}
}

func TestForeignTextStaysInside(t *testing.T) {
	t.Parallel()
	p, _ := problem.From(errors.New("password=hunter2"))
	if got := p.Error(); got == "" || problem.Is(p, "password") || len(p.Items) != 0 {
		t.Errorf("From(foreign) = %q", got)
	}
}

func TestCopiesDoNotShare(t *testing.T) {
	t.Parallel()
	base := problem.New(problem.Invalid, "invalid_request", "Some values are wrong.")
	one := base.At("/a")
	two := one.At("/b").After(time.Second).Advise("fix_arguments")
	three := two.With("connect", "a").With("app", "notes")
	if len(two.Members) != 0 || len(three.Members) != 2 || three.With("app", "mail").Members["app"] != "mail" ||
		three.Members["app"] != "notes" {
		t.Errorf("members %v, %v: a derived problem changed its source", two.Members, three.Members)
	}
	if len(base.Items) != 0 || len(one.Items) != 1 || len(two.Items) != 2 || one.RetryAfter != 0 ||
		one.NextAction != "" {
		t.Errorf("items %d, %d, %d: a derived problem changed its source", len(base.Items), len(one.Items),
			len(two.Items))
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]problem.Kind{
		400: problem.Malformed, 404: problem.NotFound, 415: problem.UnsupportedMedia, 418: problem.Invalid,
		500: problem.Internal, 502: problem.Internal,
	} {
		if got := problem.KindOf(status); got != want {
			t.Errorf("KindOf(%d) = %v, want %v", status, got, want)
		}
	}
}
