package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"

	"ace/internal/foundation/sqldb"
)

// tables returns the tables that are copied. Which replicas run is true for one
// installation at one moment.
func tables(ctx context.Context, db *sqldb.DB, migrations fs.FS) ([]sqldb.Table, error) {
	all, err := db.Tables(ctx, migrations)
	return slices.DeleteFunc(all, func(t sqldb.Table) bool { return t.Name == "keyset_replica" }), err
}

// Digest counts rows and sums up what they hold.
type Digest struct {
	Rows int64  `json:"rows"`
	Sum  string `json:"digest"` // hexadecimal
}

// summing makes a Digest of rows in any order.
type summing struct {
	rows int64
	sum  big.Int
}

func (s *summing) add(line []byte) {
	one := sha256.Sum256(line)
	s.rows++
	s.sum.Add(&s.sum, new(big.Int).SetBytes(one[:]))
}

func (s *summing) digest() Digest {
	var b [sha256.Size]byte
	modulus := new(big.Int).Lsh(big.NewInt(1), 8*sha256.Size)
	new(big.Int).Mod(&s.sum, modulus).FillBytes(b[:])
	return Digest{s.rows, hex.EncodeToString(b[:])}
}

// read calls each with every row of a table, as a line of JSON: an array of the
// values in the order of the columns.
func read(ctx context.Context, tx *sql.Tx, t *sqldb.Table, each func(line []byte) error) error {
	rows, err := tx.QueryContext(ctx, "SELECT "+names(t)+" FROM "+t.Name)
	if err != nil {
		return fmt.Errorf("reading table %s: %w", t.Name, err)
	}
	defer func() { _ = rows.Close() }()
	values, targets := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range values {
		targets[i] = &values[i]
	}
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return fmt.Errorf("reading table %s: %w", t.Name, err)
		}
		for i := range values {
			if values[i], err = portable(t.Columns[i].Kind, values[i]); err != nil {
				return fmt.Errorf("reading column %s of table %s: %w", t.Columns[i].Name, t.Name, err)
			}
		}
		line.Reset()
		if err := encoder.Encode(values); err != nil {
			return fmt.Errorf("encoding a row of table %s: %w", t.Name, err)
		}
		if err := each(line.Bytes()); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading table %s: %w", t.Name, err)
	}
	return nil
}

// portable is a value as every engine returns it.
func portable(kind sqldb.ColumnKind, value any) (any, error) {
	if b, ok := value.([]byte); ok {
		value = string(b)
	}
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		if kind == sqldb.Text && utf8.ValidString(v) {
			return v, nil
		}
	case int64:
		if kind == sqldb.Boolean && (v == 0 || v == 1) {
			return v == 1, nil
		}
		if kind == sqldb.Integer {
			return v, nil
		}
	case bool:
		if kind == sqldb.Boolean {
			return v, nil
		}
	}
	return nil, fmt.Errorf("a %T is no portable %s", value, kind)
}

// maxArgs bounds the values of one INSERT, for both engines.
const maxArgs = 1000

// inserter writes rows into a table, many at once.
type inserter struct {
	ctx   context.Context
	tx    *sql.Tx
	table *sqldb.Table
	args  []any
}

// add takes a line that read has made.
func (i *inserter) add(line []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var values []any
	if err := decoder.Decode(&values); err != nil {
		return fmt.Errorf("decoding a row of table %s: %w", i.table.Name, err)
	}
	if len(values) != len(i.table.Columns) {
		return fmt.Errorf("a row of table %s has %d values for %d columns", i.table.Name, len(values),
			len(i.table.Columns))
	}
	for n, v := range values {
		if number, ok := v.(json.Number); ok {
			whole, err := number.Int64()
			if err != nil {
				return fmt.Errorf("column %s of table %s: %w", i.table.Columns[n].Name, i.table.Name, err)
			}
			values[n] = whole
		}
	}
	i.args = append(i.args, values...)
	if len(i.args)+len(values) > maxArgs {
		return i.flush()
	}
	return nil
}

// flush writes what waits.
func (i *inserter) flush() error {
	if len(i.args) == 0 {
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "INSERT INTO %s (%s) VALUES ", i.table.Name, names(i.table))
	for n := range i.args {
		switch {
		case n == 0:
			text.WriteString("(")
		case n%len(i.table.Columns) == 0:
			text.WriteString("), (")
		default:
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "$%d", n+1)
	}
	text.WriteString(")")
	if _, err := i.tx.ExecContext(i.ctx, text.String(), i.args...); err != nil {
		return fmt.Errorf("writing table %s: %w", i.table.Name, err)
	}
	i.args = i.args[:0]
	return nil
}

func names(t *sqldb.Table) string {
	all := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		all[i] = c.Name
	}
	return strings.Join(all, ", ")
}

// source calls each with every row of a table.
type source func(t *sqldb.Table, each func(line []byte) error) error

// ErrNotEmpty says that a database holds rows and nothing is written into it.
var ErrNotEmpty = errors.New("the database is not empty: nothing was written; name a new one")

// fill writes the rows of from into a database without rows, in one transaction,
// and compares what is there then. want may be nil: the rows themselves are
// compared.
func fill(ctx context.Context, db *sqldb.DB, all []sqldb.Table, from source, want map[string]Digest,
	last func(tx *sql.Tx) error,
) (map[string]Digest, error) {
	var got map[string]Digest
	err := db.Tx(ctx, func(tx *sql.Tx) error {
		got = map[string]Digest{}
		for i := range all {
			if err := fillTable(ctx, tx, &all[i], from, want, got); err != nil {
				return err
			}
		}
		return last(tx)
	})
	return got, err
}

func fillTable(ctx context.Context, tx *sql.Tx, t *sqldb.Table, from source, want, got map[string]Digest) error {
	var there bool
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM "+t.Name+")").Scan(&there); err != nil {
		return fmt.Errorf("reading table %s: %w", t.Name, err)
	}
	if there {
		return fmt.Errorf("table %s has rows: %w", t.Name, ErrNotEmpty)
	}
	var sent, stored summing
	rows := &inserter{ctx: ctx, tx: tx, table: t}
	err := from(t, func(line []byte) error {
		sent.add(line)
		return rows.add(line)
	})
	if err == nil {
		err = rows.flush()
	}
	if err == nil {
		err = read(ctx, tx, t, func(line []byte) error { stored.add(line); return nil })
	}
	if err != nil {
		return err
	}
	got[t.Name] = stored.digest()
	if d, ok := want[t.Name]; stored.digest() != sent.digest() || ok && d != stored.digest() {
		return fmt.Errorf("table %s: %w", t.Name, errDiffers)
	}
	return nil
}

var errDiffers = errors.New("the rows that were written are not those that were read")

// lines calls each with every line of r.
func lines(r io.Reader, each func(line []byte) error) error {
	decoder := json.NewDecoder(r)
	for {
		var line json.RawMessage
		if err := decoder.Decode(&line); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading rows: %w", err)
		}
		if err := each(append(line, '\n')); err != nil {
			return err
		}
	}
}
