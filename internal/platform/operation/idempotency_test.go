package operation_test

import (
	"errors"
	"strconv"
	"testing"

	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/operation"
)

func setup(t *testing.T) (requests *operation.Idempotency, newID func() string) {
	t.Helper()
	box, err := seal.New(make([]byte, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	return operation.NewIdempotency(idempotency.New(idempotency.NewMemory(), box.MAC)), func() string {
		n++
		return "id" +
			strconv.Itoa(n)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	requests, newID := setup(t)
	type request struct{ App string }
	tests := []struct {
		name, scope, key string
		body             request
		fails            error
		id               string
		replayed         bool
		code             string
		runs             int
	}{
		{"first", "acc_1 connect", "k1", request{"a"}, nil, "id1", false, "", 1},
		{"again", "acc_1 connect", "k1", request{"a"}, nil, "id1", true, "", 0},
		{"another body", "acc_1 connect", "k1", request{"b"}, nil, "", false, "idempotency_key_reused", 0},
		{"another account", "acc_2 connect", "k1", request{"b"}, nil, "id4", false, "", 1},
		{"without a key", "acc_1 connect", "", request{"a"}, nil, "id5", false, "", 1},
		{
			"fails", "acc_1 connect", "k2",
			request{"a"},
			problem.New(problem.Conflict, "not_now", ""), "", false, "not_now",
			1,
		},
		{"after a failure", "acc_1 connect", "k2", request{"a"}, nil, "id6", false, "", 1},
	}
	for _, tt := range tests {
		runs := 0
		made, err := requests.Create(t.Context(), tt.scope, tt.key, tt.body, newID,
			func(string) error { runs++; return tt.fails })
		p, _ := problem.From(err)
		if runs != tt.runs || tt.code == "" && err != nil || tt.code != "" && (err == nil || p.Code != tt.code) {
			t.Errorf("%s: %v after %d runs, want %q after %d", tt.name, err, runs, tt.code, tt.runs)
		}
		if err == nil && (made.ID != tt.id || made.Replayed != tt.replayed) {
			t.Errorf("%s: %+v, want %s %t", tt.name, made, tt.id, tt.replayed)
		}
	}
}

func TestCreateWhileTheFirstRuns(t *testing.T) {
	t.Parallel()
	requests, newID := setup(t)
	_, err := requests.Create(t.Context(), "s", "k", 1, newID, func(string) error {
		_, err := requests.Create(
			t.Context(),
			"s",
			"k",
			1,
			newID,
			func(string) error { return errors.New("ran twice") },
		)
		return err
	})
	if !problem.Is(err, "idempotency_in_progress") {
		t.Errorf("a repetition within the first: %v, want idempotency_in_progress", err)
	}
}
