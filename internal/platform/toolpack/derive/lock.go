package derive

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Key is an operation of an app.
type Key struct{ App, Call string }

// Lock holds the names of tools by their operations: ids are part of the public
// interface, and remain where a description changes.
type Lock map[Key]string

// ReadLock reads a lock: a line for each tool with app, name and call, separated
// by tabs.
func ReadLock(r io.Reader) (Lock, error) {
	lock := Lock{}
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		parts := strings.Split(lines.Text(), "\t")
		if len(parts) != 3 {
			return nil, fmt.Errorf("line %d of the lock is not app, name and call", number)
		}
		lock[Key{parts[0], parts[2]}] = parts[1]
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the lock: %w", err)
	}
	return lock, nil
}

// Write writes a lock, sorted by app and name.
func (l Lock) Write(w io.Writer) error {
	keys := slices.SortedFunc(maps.Keys(l), func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(l[a], l[b]), cmp.Compare(a.Call, b.Call))
	})
	out := bufio.NewWriter(w)
	for _, key := range keys {
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\n", key.App, l[key], key.Call) // Flush returns the error
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the lock: %w", err)
	}
	return nil
}
