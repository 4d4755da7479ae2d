// Package edit measures how far a name is from the one that was probably
// meant, for errors that suggest the right one.
package edit

import "strings"

// Distance is how many bytes have to be inserted, deleted, replaced or exchanged
// with their neighbor to turn a into b (optimal string alignment). It takes
// len(a)*len(b) steps: bound the length of foreign names.
func Distance(a, b string) int {
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			d := row[j]
			if a[i] != b[j] {
				d++
			}
			d = min(d, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			next[j+1] = d
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}

// Within reports whether the distance of a and b is at most limit. Names whose
// lengths differ by more cost nothing.
func Within(a, b string, limit int) bool {
	return max(len(a)-len(b), len(b)-len(a)) <= limit && Distance(a, b) <= limit
}

// Longest is the length in bytes of the longest name that Nearest looks at.
const Longest = 60

// Nearest returns the known name that a wrong one is most like: at most a third
// of it differs, or one name begins with the other. Upper and lower case are the
// same, and so are hyphens and underscores. It returns "" for none, and for names
// longer than Longest; of equally near ones, the first.
func Nearest(name string, known []string) string {
	if len(name) > Longest {
		return ""
	}
	name = plain(name)
	best, least := "", max(1, len(name)/3)+1
	for _, one := range known {
		folded := plain(one)
		d := Distance(name, folded)
		if len(name) >= 3 && (strings.HasPrefix(folded, name) || strings.HasPrefix(name, folded)) {
			d = min(d, 1)
		}
		if d < least {
			best, least = one, d
		}
	}
	return best
}

func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "_")) }
