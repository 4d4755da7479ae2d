package config

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

// LoadFile sets environment variables that are not set from the KEY=value lines of a settings file.
// Lines may be empty or start with #; a value may be quoted. It refuses keys that known does not
// name, with the nearest one that it does.
func LoadFile(path string, known *Names) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening the settings file: %w", err)
	}
	defer func() { _ = f.Close() }()
	values, err := parseFile(f, known)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	for key, value := range values {
		if _, set := os.LookupEnv(key); set {
			continue
		}
		if err := os.Setenv(key, value); err != nil {
			return fmt.Errorf("setting %s: %w", key, err)
		}
	}
	return nil
}

func parseFile(r io.Reader, known *Names) (map[string]string, error) {
	values := map[string]string{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !ok || !strings.HasPrefix(key, "ACE_") {
			return nil, fmt.Errorf("line %d: write ACE_NAME=value", n)
		}
		if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		if err := known.Check(key, value); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if _, twice := values[key]; twice {
			return nil, fmt.Errorf("line %d: %s is set twice", n, key)
		}
		values[key] = value
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading lines: %w", err)
	}
	return values, nil
}
