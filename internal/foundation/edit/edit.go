// Package edit measures how far a name is from the one that was probably
// meant, for errors that suggest the right one.
package edit

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
