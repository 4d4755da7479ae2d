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
	err := readLines(r, func(parts []string) { lock[Key{parts[0], parts[2]}] = parts[1] })
	if err != nil {
		return nil, fmt.Errorf("reading the lock: %w", err)
	}
	return lock, nil
}

// ReadRefused reads Options.Refused: a line for each operation with app, call and
// reason, separated by tabs.
func ReadRefused(r io.Reader) (map[Key]string, error) {
	refused := map[Key]string{}
	err := readLines(r, func(parts []string) { refused[Key{parts[0], parts[1]}] = parts[2] })
	if err != nil {
		return nil, fmt.Errorf("reading the operations left out: %w", err)
	}
	return refused, nil
}

// readLines reads lines of three parts that are separated by tabs.
func readLines(r io.Reader, add func(parts []string)) error {
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		parts := strings.Split(lines.Text(), "\t")
		if len(parts) != 3 {
			return fmt.Errorf("line %d has %d parts, not 3", number, len(parts))
		}
		add(parts)
	}
	return lines.Err()
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
