package prose_test

import (
	"fmt"
	"strings"
	"testing"

	"ace/internal/website/readiness/prose"

	"github.com/google/go-cmp/cmp"
)

func TestContentWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want []string
	}{
		{"Bicycle repair in Lindau | your bicycle", []string{"bicycle", "repair", "lindau"}},
		{"The best of the best", nil},
		{"Über uns und Fahrräder", []string{"über", "uns", "fahrräder"}},
		{"日本語", []string{"日本語"}},
		{"", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, prose.ContentWords(tt.in)); diff != "" {
			t.Errorf("ContentWords(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want int
	}{
		{"repair prices", "repairs price list", 2},
		{"bike", "bicycle", 0},
		{"run", "runner", 0}, // too short to tell
		{"日本", "日本語", 1},
		{"", "anything", 0},
	}
	for _, tt := range tests {
		if got := prose.Overlap(strings.Fields(tt.a), strings.Fields(tt.b)); got != tt.want {
			t.Errorf("Overlap(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestJaccard(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("one two three four five six seven eight nine ten ",
		1) + "eleven twelve thirteen fourteen fifteen"
	same := prose.Jaccard(prose.Shingles(text), prose.Shingles(strings.ToUpper(text)+"!"))
	if same != 1 {
		t.Errorf("a text and its capitals have %v in common, want 1", same)
	}
	if got := prose.Jaccard(prose.Shingles(text),
		prose.Shingles("something else that has six words and more")); got != 0 {
		t.Errorf("two texts have %v in common, want 0", got)
	}
	if got := prose.Jaccard(prose.Shingles("too short"), prose.Shingles("too short")); got != 0 {
		t.Errorf("texts without shingles have %v in common, want 0", got)
	}
	half := prose.Jaccard(prose.Shingles(text),
		prose.Shingles(text+" and now another ten words that come after the first fifteen"))
	if half <= 0.3 || half >= 0.7 {
		t.Errorf("a text and one of twice its length have %v in common, want about half", half)
	}
}

func TestDatesIn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want []string
	}{
		{"on 2026-03-04, not 2026-13-04", []string{"2026-03-04"}},
		{"4 March 2026 and March 5th, 2026", []string{"2026-03-04", "2026-03-05"}},
		{"am 4. März 2026", []string{"2026-03-04"}},
		{"le 4 mars 2026, el 5 de marzo de 2026", []string{"2026-03-04", "2026-03-05"}},
		{"le 1er juillet 2026 ou le 2 juin 2026", []string{"2026-07-01", "2026-06-02"}},
		{"24.12.2026", []string{"2026-12-24"}},
		{"03/04/2026", []string{"2026-04-03", "2026-03-04"}}, // either way
		{"2026年3月4日", []string{"2026-03-04"}},
		{"31 February 2026", nil},
		{"version 1.2.3 of 2026", nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, prose.DatesIn(tt.in)); diff != "" {
			t.Errorf("DatesIn(%q) (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestHasStatement(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want bool
	}{
		{"We repair bicycles in one hour.", true},
		{"Why wait any longer for your bike? Come in.", false},
		{"Buy now. Pay later.", false},
		{"We repair bicycles in one hour", false},
		{"Version 2.5 runs on five platforms today.", true},
		{"自転車を一時間以内に修理します。", true},
		{"", false},
	}
	for _, tt := range tests {
		if got := prose.HasStatement(tt.in); got != tt.want {
			t.Errorf("HasStatement(%q) = %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in    string
		limit int
		want  string
	}{
		{" a \n b\tc ", 10, "a b c"},
		{"abcdef", 4, "abc…"},
		{"äöü", 3, "äöü"},
		{"a\u200bb\u202ec\u00ad", 10, "abc\u00ad"},
		{"a\x00b\x1bc", 10, "a b c"},
		{"x\xffy", 10, "xy"},
	}
	for _, tt := range tests {
		if got := prose.Cut(tt.in, tt.limit); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
	if got := prose.Count(1, "page", "pages") + ", " + prose.Count(0, "page", "pages"); got != "1 page, 0 pages" {
		t.Errorf("Count = %q", got)
	}
}

func FuzzDatesIn(f *testing.F) {
	f.Add("4 March 2026")
	f.Add("99.99.1999 and 31 dic 2020")
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range prose.DatesIn(text) {
			if len(d) != len("2006-01-02") {
				t.Errorf("DatesIn(%q) holds %q", text, d)
			}
		}
		if n := len([]rune(prose.Cut(text, 50))); n > 50 {
			t.Errorf("Cut(%q, 50) has %d characters", text, n)
		}
	})
}

func ExampleDatesIn() {
	fmt.Println(prose.DatesIn("Published on 4 March 2026, updated am 5. März 2026."))
	// Output: [2026-03-04 2026-03-05]
}
