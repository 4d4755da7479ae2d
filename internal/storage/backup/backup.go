package backup

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ace/internal/foundation/sqldb"
)

// format is the version of the files.
const format = 1

const manifestFile = "manifest.json"

// Manifest says what a backup holds. It is written last: without it a backup is
// none.
type Manifest struct {
	Format  int              `json:"format"`
	Version string           `json:"ace_version"`
	Schema  int64            `json:"schema"`
	At      time.Time        `json:"at"`  // when the snapshot began
	KEK     string           `json:"kek"` // which key wraps the keys of secrets; no secret
	Tables  map[string]Table `json:"tables"`
	// Check is the SHA-256 of this file with an empty Check.
	Check string `json:"check"`
}

// Table is one table of a backup.
type Table struct {
	Digest
	SHA256 string `json:"sha256"` // of the file
	Bytes  int64  `json:"bytes"`
}

// Write writes a backup of db into a new folder dir. It blocks no writer.
func Write(ctx context.Context, db *sqldb.DB, migrations fs.FS, dir, version string) (*Manifest, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the backup: %w", err)
	}
	schema, err := db.Schema(ctx, migrations)
	if err != nil {
		return nil, err
	}
	all, err := tables(ctx, db, migrations)
	if err != nil {
		return nil, err
	}
	m := &Manifest{
		Format: format, Version: version, Schema: schema.Version, At: time.Now().UTC().Truncate(time.Second),
		Tables: map[string]Table{},
	}
	err = db.Snapshot(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, `SELECT kek FROM keyset`).Scan(&m.KEK)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("reading which key wraps the keys of secrets: %w", err)
		}
		for i := range all {
			if m.Tables[all[i].Name], err = writeTable(ctx, tx, &all[i], dir); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, m.write(dir)
}

func writeTable(ctx context.Context, tx *sql.Tx, t *sqldb.Table, dir string) (written Table, err error) {
	file, err := os.OpenFile(fileOf(dir, t.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Table{}, fmt.Errorf("writing a backup: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	check := sha256.New()
	sized := &counting{to: io.MultiWriter(file, check)}
	compressed := gzip.NewWriter(sized)
	var rows summing
	err = read(ctx, tx, t, func(line []byte) error {
		rows.add(line)
		_, err := compressed.Write(line)
		return err
	})
	if err = errors.Join(err, compressed.Close(), file.Sync()); err != nil {
		return Table{}, fmt.Errorf("writing a backup: %w", err)
	}
	return Table{rows.digest(), hex.EncodeToString(check.Sum(nil)), sized.n}, nil
}

type counting struct {
	to io.Writer
	n  int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.n += int64(n)
	return n, err
}

func fileOf(dir, table string) string { return filepath.Join(dir, table+".jsonl.gz") }

// sum returns what Check has to be.
func (m *Manifest) sum() (string, error) {
	open := *m
	open.Check = ""
	text, err := json.Marshal(open)
	if err != nil {
		return "", fmt.Errorf("encoding the manifest: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// write writes the manifest under its name once all of it is on the disk.
func (m *Manifest) write(dir string) (err error) {
	if m.Check, err = m.sum(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the manifest: %w", err)
	}
	unfinished := filepath.Join(dir, "unfinished")
	file, err := os.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	_, err = file.Write(append(text, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(unfinished, filepath.Join(dir, manifestFile))
	}
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	return nil
}

// Read reads the manifest of the backup in dir and every file that it names. Its
// errors say what is wrong with the backup.
func Read(dir string) (*Manifest, error) {
	text, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no backup, or one that was not finished: it has no %s", dir, manifestFile)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	m := &Manifest{}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(m); err != nil {
		return nil, fmt.Errorf("the manifest is damaged: %w", err)
	}
	if m.Format != format {
		return nil, fmt.Errorf("the backup is of format %d, this version reads %d", m.Format, format)
	}
	if sum, err := m.sum(); err != nil || sum != m.Check {
		return nil, errors.Join(err, errors.New("the manifest is damaged: its checksum is wrong"))
	}
	for name, t := range m.Tables {
		if err := check(dir, name, &t); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// check reads the file of a table and compares it with the manifest.
func check(dir, name string, t *Table) error {
	file, err := os.Open(fileOf(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the backup lacks the file of table %s", name)
	}
	if err != nil {
		return fmt.Errorf("reading a backup: %w", err)
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return fmt.Errorf("reading a backup: %w", err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != t.SHA256 {
		return fmt.Errorf("the file of table %s is damaged: its checksum is wrong", name)
	}
	return nil
}

// Load writes the backup in dir into db, whose tables must be absent or empty, and
// brings it to the newest schema. Its side effects are held: see Held.
func Load(ctx context.Context, db *sqldb.DB, migrations fs.FS, dir string) (*Manifest, error) {
	m, err := Read(dir)
	if err != nil {
		return nil, err
	}
	all, err := prepare(ctx, db, migrations, m.Schema)
	if err != nil {
		return nil, err
	}
	want := map[string]Digest{}
	for name, t := range m.Tables {
		want[name] = t.Digest
	}
	for _, t := range all {
		if _, ok := want[t.Name]; !ok {
			return nil, fmt.Errorf("the backup lacks table %s of schema %d", t.Name, m.Schema)
		}
	}
	if len(want) != len(all) {
		return nil, fmt.Errorf("the backup has %d tables, schema %d has %d", len(want), m.Schema, len(all))
	}
	_, err = fill(ctx, db, all, func(t *sqldb.Table, each func([]byte) error) error {
		return unpack(dir, t.Name, each)
	}, want, func(tx *sql.Tx) error { return hold(ctx, tx, m.At) })
	if err != nil {
		return nil, err
	}
	_, err = db.Migrate(ctx, migrations)
	return m, err
}

func unpack(dir, table string, each func(line []byte) error) error {
	file, err := os.Open(fileOf(dir, table))
	if err != nil {
		return fmt.Errorf("reading a backup: %w", err)
	}
	defer func() { _ = file.Close() }()
	compressed, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("reading a backup: %w", err)
	}
	return lines(compressed, each)
}

// prepare brings an empty database to a schema and returns its tables.
func prepare(ctx context.Context, db *sqldb.DB, migrations fs.FS, version int64) ([]sqldb.Table, error) {
	schema, err := db.Schema(ctx, migrations)
	switch {
	case err != nil:
		return nil, err
	case version > schema.Newest:
		return nil, fmt.Errorf("the rows are of schema %d and this version knows %d: use the version that wrote "+
			"them, or a later one", version, schema.Newest)
	case schema.Version > version:
		return nil, fmt.Errorf("the database has schema %d already: %w", schema.Version, ErrNotEmpty)
	}
	if err := db.MigrateTo(ctx, migrations, version); err != nil {
		return nil, err
	}
	return tables(ctx, db, migrations)
}

// Move copies all rows of from into to, whose tables must be absent or empty, and returns
// what both hold. Nobody may write to from meanwhile.
func Move(ctx context.Context, from, to *sqldb.DB, migrations fs.FS) (map[string]Digest, error) {
	schema, err := from.Schema(ctx, migrations)
	if err != nil {
		return nil, err
	}
	if schema.Pending > 0 {
		return nil, errors.New("the database is of an older version: bring it up to date with ace migrate first")
	}
	all, err := prepare(ctx, to, migrations, schema.Version)
	if err != nil {
		return nil, err
	}
	var moved map[string]Digest
	err = from.Snapshot(ctx, func(seen *sql.Tx) error {
		moved, err = fill(ctx, to, all, func(t *sqldb.Table, each func([]byte) error) error {
			return read(ctx, seen, t, each)
		}, nil, func(*sql.Tx) error { return nil })
		return err
	})
	return moved, err
}
