// Command toolpack derives tools of the apps in catalog/apps.jsonl from API
// descriptions, and writes catalog/tools.pack, tools.lock and tools.sources. These are
// committed: nothing else needs the descriptions. Operations in tools.left-out make
// no tool.
//
//	toolpack -specs DIR            write them
//	toolpack -specs DIR -verify    compare them with what would be written
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ace/catalog"
	"ace/internal/platform/library"
	"ace/internal/platform/toolpack"
	"ace/internal/platform/toolpack/derive"
)

func main() {
	var c command
	flag.StringVar(&c.specs, "specs", "", "folder with index-*.jsonl and the files that they name; *.zst needs zstd")
	flag.StringVar(&c.out, "out", "catalog", "folder of tools.pack, tools.lock and tools.sources")
	flag.IntVar(&c.maxTools, "max", 150, "tools of one app at most")
	flag.BoolVar(&c.verify, "verify", false, "write nothing; fail if the files differ")
	flag.StringVar(&c.leftOut, "left-out", "", "file for what has no tool, with the reason")
	flag.Parse()
	if err := c.run(context.Background(), os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "toolpack:", err)
		os.Exit(1)
	}
}

type command struct {
	specs, out, leftOut string
	maxTools            int
	verify              bool
}

// run derives tools of the apps that have none.
func (c *command) run(ctx context.Context, out io.Writer) error {
	rows, err := library.ReadRows(catalog.Files, catalog.Rows)
	if err != nil {
		return err
	}
	sources, err := c.sources(ctx)
	if err != nil {
		return err
	}
	lock, err := readOr(filepath.Join(c.out, catalog.Lock), derive.ReadLock)
	if err != nil {
		return err
	}
	refused, err := readOr(filepath.Join(c.out, catalog.Refused), derive.ReadRefused)
	if err != nil {
		return err
	}
	made := derive.Make(derive.Options{
		Apps: rows, Sources: sources, Lock: lock, MaxTools: c.maxTools, Refused: refused,
	})
	var pack, frozen bytes.Buffer
	if err := errors.Join(toolpack.Write(&pack, made.Tools), made.Lock.Write(&frozen)); err != nil {
		return err
	}
	tools := 0
	for _, one := range made.Tools {
		tools += len(one.Tools)
	}
	_, _ = fmt.Fprintf(out, "%d tools of %d apps, %d bytes\n", tools, len(made.Tools), pack.Len())
	if err := c.reportLeftOut(out, made.LeftOut); err != nil {
		return err
	}
	var used strings.Builder
	for _, id := range slices.Sorted(maps.Keys(made.Used)) {
		_, _ = fmt.Fprintf(&used, "%s\t%s\n", id, strings.Join(made.Used[id], " "))
	}
	for name, text := range map[string][]byte{
		catalog.Pack: pack.Bytes(), catalog.Lock: frozen.Bytes(), catalog.Sources: []byte(used.String()),
	} {
		path := filepath.Join(c.out, name)
		if !c.verify {
			if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // a file of the repository
				return fmt.Errorf("writing %s: %w", path, err)
			}
			continue
		}
		there, err := os.ReadFile(path) //nolint:gosec // named by the caller
		if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		if !bytes.Equal(there, text) {
			return fmt.Errorf("%s differs from what the descriptions give: run \"make catalog\"", path)
		}
	}
	return nil
}

// readOr reads a file of the catalog, or returns the zero value if there is none.
func readOr[T any](path string, read func(io.Reader) (T, error)) (value T, err error) {
	file, err := os.Open(path) //nolint:gosec // named by the caller
	if errors.Is(err, fs.ErrNotExist) {
		return value, nil
	}
	if err != nil {
		return value, fmt.Errorf("reading %s: %w", path, err)
	}
	defer func() { _ = file.Close() }()
	return read(file)
}

// sources lists the descriptions of a folder, in the order of its indexes.
func (c *command) sources(ctx context.Context) ([]derive.Source, error) {
	indexes, err := filepath.Glob(filepath.Join(c.specs, "index-*.jsonl"))
	if err != nil || len(indexes) == 0 {
		return nil, fmt.Errorf("%s holds no index-*.jsonl", c.specs)
	}
	var sources []derive.Source
	for _, index := range indexes {
		text, err := os.ReadFile(index) //nolint:gosec // named by the caller
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", index, err)
		}
		for line := range strings.Lines(string(text)) {
			var one struct {
				File    string   `json:"file"`
				Servers []string `json:"servers"`
				Date    string   `json:"spec_date"`
			}
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				return nil, fmt.Errorf("reading %s: %w", index, err)
			}
			if one.File == "" { // of an archive, which is not read here
				continue
			}
			path := filepath.Join(c.specs, filepath.Base(one.File))
			sources = append(sources, derive.Source{
				File: one.File, Servers: one.Servers, Date: one.Date,
				Read: func() ([]byte, error) { return readSource(ctx, path) },
			})
		}
	}
	return sources, nil
}

// readSource reads a description, compressed or not.
func readSource(ctx context.Context, path string) ([]byte, error) {
	if filepath.Ext(path) != ".zst" {
		return os.ReadFile(path) //nolint:gosec // named by the caller
	}
	text, err := exec.CommandContext(ctx, "zstd", "-dcq", path).Output() //nolint:gosec // named by the caller
	if err != nil {
		return nil, fmt.Errorf("decompressing %s: %w", path, err)
	}
	return text, nil
}

// reportLeftOut prints how often there is which reason, and writes the list.
func (c *command) reportLeftOut(out io.Writer, all []derive.LeftOut) error {
	reasons := map[string]int{}
	for _, one := range all {
		reasons[one.Reason]++
	}
	_, _ = fmt.Fprintf(out, "Left out: %d\n", len(all))
	names := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		if reasons[a] != reasons[b] {
			return reasons[b] - reasons[a]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names[:min(len(names), 20)] {
		_, _ = fmt.Fprintf(out, "  %d\t%s\n", reasons[name], name)
	}
	if c.leftOut == "" {
		return nil
	}
	file, err := os.Create(c.leftOut)
	if err != nil {
		return fmt.Errorf("writing the list of what is left out: %w", err)
	}
	buffered := bufio.NewWriter(file)
	for _, one := range all {
		_, _ = fmt.Fprintf(buffered, "%s\t%s\t%s\n", one.App, one.What, one.Reason) // Flush returns the error
	}
	return errors.Join(buffered.Flush(), file.Close())
}
