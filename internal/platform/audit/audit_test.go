package audit_test

import (
	"fmt"
	"slices"
	"testing"

	"ace/internal/platform/audit"
)

func chain(t *testing.T, n int) []audit.Entry {
	t.Helper()
	var entries []audit.Entry
	var seq int64
	var hash string
	for i := range n {
		e, err := audit.New("acc_1", audit.Operator(), "key.created", fmt.Sprint("key_", i),
			map[string]string{"b": "2", "a": "1"}).Chained(seq, hash)
		if err != nil {
			t.Fatal(err)
		}
		entries, seq, hash = append(entries, e), e.Seq, e.Hash
	}
	return entries
}

func TestVerify(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(entries []audit.Entry) []audit.Entry
		want   int64
	}{
		{"untouched", func(e []audit.Entry) []audit.Entry { return e }, 0},
		{"none", func([]audit.Entry) []audit.Entry { return nil }, 0},
		{"other words", func(e []audit.Entry) []audit.Entry { e[2].Action = "key.renamed"; return e }, 3},
		{"other time", func(e []audit.Entry) []audit.Entry { e[0].At = e[0].At.Add(1e9); return e }, 1},
		{
			"other detail", func(e []audit.Entry) []audit.Entry { e[3].Detail = map[string]string{"a": "2"}; return e },
			4,
		},
		{"one taken out", func(e []audit.Entry) []audit.Entry { return slices.Delete(e, 1, 2) }, 2},
		{"two exchanged", func(e []audit.Entry) []audit.Entry { e[1], e[2] = e[2], e[1]; return e }, 2},
		{"the newest taken off", func(e []audit.Entry) []audit.Entry { return e[:4] }, 0}, // what the chain cannot tell
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := audit.Verify(tt.change(chain(t, 5)))
			if err != nil || got != tt.want {
				t.Errorf("Verify = %d, %v, want %d", got, err, tt.want)
			}
		})
	}
}

func ExampleVerify() {
	first, _ := audit.New("acc_1", audit.Operator(), "key.created", "key_1", nil).Chained(0, "")
	second, _ := audit.New("acc_1", audit.Operator(), "key.revoked", "key_1", nil).Chained(first.Seq, first.Hash)
	broken, _ := audit.Verify([]audit.Entry{first, second})
	fmt.Println("whole:", broken == 0)
	second.Target = "key_2"
	broken, _ = audit.Verify([]audit.Entry{first, second})
	fmt.Println("first that was changed:", broken)
	// Output:
	// whole: true
	// first that was changed: 2
}
