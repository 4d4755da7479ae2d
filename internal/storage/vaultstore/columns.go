package vaultstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"ace/internal/foundation/seal"
	"ace/internal/storage/row"
)

// Column is a column that holds sealed texts, and how their places follow from
// its rows.
type Column struct {
	Table, Column string
	// Place are the names that the texts are bound to, where they are others than
	// Table and Column.
	PlaceTable string
	Key        []string           // columns of the primary key
	Row        func([]any) string // the row of the place, of the key's values; nil: the first value
	Account    string             // SQL expression of the account; empty: none
	Batch      int                // rows read at a time; zero: 50
}

// Columns are all columns that hold sealed texts and outlive an hour. A test
// compares them with the places in the sources and the schema.
func Columns() []Column {
	return []Column{
		{Table: "signing_key", Column: "sealed", Key: []string{"name"}},
		{
			Table: "oauth_client", Column: "box", Key: []string{"account_id", "app", "issuer"}, Account: "account_id",
			Row: func(key []any) string { return fmt.Sprint(key[1], " ", key[2]) },
		},
		{Table: "connection", Column: "secret", Key: []string{"id"}, Account: "account_id"},
		{Table: "farewell", Column: "secret", Key: []string{"connection_id"}, Account: "account_id"},
		{Table: "connect_session", Column: "attempt", Key: []string{"id"}, Account: "account_id"},
		{Table: "paid_order", Column: "payload", Key: []string{"id"}},
		{Table: "app_trigger", Column: "registration", Key: []string{"id"}, Account: "account_id"},
		{Table: "tool_run", Column: "request", Key: []string{"id"}, Account: "account_id"},
		{Table: "tool_run", Column: "result", Key: []string{"id"}, Account: "account_id"},
		{
			// of a MiB each
			Table: "tool_file_piece", Column: "piece", PlaceTable: "tool_file", Key: []string{"file_id", "number"},
			Batch:   4,
			Account: "(SELECT account_id FROM tool_file WHERE id = tool_file_piece.file_id)",
			Row:     func(key []any) string { return fmt.Sprint(key[0], "/", key[1]) },
		},
	}
}

// sealed is one text, and where it is stored.
type sealed struct {
	key  []any
	text string
	at   seal.Place
}

func (c *Column) batch() int {
	if c.Batch > 0 {
		return c.Batch
	}
	return 50
}

// place is what a text of a row is bound to.
func (c *Column) place(key []any, account string) seal.Place {
	p := seal.Place{Table: c.Table, Column: c.Column, Account: account}
	if c.PlaceTable != "" {
		p.Table = c.PlaceTable
	}
	if c.Row != nil {
		p.Row = c.Row(key)
	} else {
		p.Row = fmt.Sprint(key[0])
	}
	return p
}

// read returns texts that do not begin with prefix, in the order of their
// keys, those after a key alone.
func (v *Vault) read(ctx context.Context, c *Column, prefix string, after []any, limit int) ([]sealed, error) {
	account := "''"
	if c.Account != "" {
		account = c.Account
	}
	keys := strings.Join(c.Key, ", ")
	query := fmt.Sprintf(`SELECT %s, COALESCE(%s, ''), %s FROM %s WHERE %s <> '' AND substr(%s, 1, %d) <> $1`, keys,
		account, c.Column, c.Table, c.Column, c.Column, max(1, len(prefix)))
	args := []any{prefix}
	if after != nil {
		var marks []string
		for i := range after {
			marks = append(marks, fmt.Sprintf("$%d", i+2))
		}
		query += fmt.Sprintf(` AND (%s) > (%s)`, keys, strings.Join(marks, ", "))
		args = append(args, after...)
	}
	rows, err := v.db.Reader().QueryContext(ctx, fmt.Sprintf(`%s ORDER BY %s LIMIT %d`, query, keys, limit), args...)
	return row.Collect(rows, err, func(r row.Scanner) (sealed, error) {
		s := sealed{key: make([]any, len(c.Key))}
		var account string
		var into []any
		for i := range s.key {
			into = append(into, &s.key[i])
		}
		if err := r.Scan(append(into, &account, &s.text)...); err != nil {
			return s, fmt.Errorf("reading %s.%s: %w", c.Table, c.Column, err)
		}
		s.at = c.place(s.key, account)
		return s, nil
	})
}

// write puts texts in the place of those that were read, each only where that
// is unchanged, and returns how many it wrote.
func (v *Vault) write(ctx context.Context, c *Column, rows []sealed, texts []string) (written int, err error) {
	where := []string{c.Column + " = $2"}
	for i, name := range c.Key {
		where = append(where, fmt.Sprintf("%s = $%d", name, i+3))
	}
	statement := fmt.Sprintf(`UPDATE %s SET %s = $1 WHERE %s`, c.Table, c.Column, strings.Join(where, " AND "))
	err = v.db.Tx(ctx, func(tx *sql.Tx) error {
		written = 0
		for i := range rows {
			n, err := row.Exec(ctx, tx, statement, append([]any{texts[i], rows[i].text}, rows[i].key...)...)
			if err != nil {
				return err
			}
			written += int(n)
		}
		return nil
	})
	return written, err
}

// counts returns how many texts of a column each key has sealed; "?" are texts
// that no key of ours has sealed.
func (v *Vault) counts(ctx context.Context, c *Column) (map[string]int, error) {
	query := fmt.Sprintf(
		`SELECT CASE WHEN substr(%[1]s, 1, 3) = 'v1.' THEN 'v1' WHEN substr(%[1]s, 1, 3) = 'v2.' THEN substr(%[1]s,
			4, 8) ELSE '?' END AS id, COUNT(*)
		FROM %[2]s WHERE %[1]s <> '' GROUP BY 1`,
		c.Column,
		c.Table,
	)
	rows, err := v.db.Reader().QueryContext(ctx, query)
	type count struct {
		id string
		n  int
	}
	all, err := row.Collect(rows, err, func(r row.Scanner) (c count, err error) {
		if err := r.Scan(&c.id, &c.n); err != nil {
			return c, fmt.Errorf("counting sealed texts: %w", err)
		}
		return c, nil
	})
	found := map[string]int{}
	for _, one := range all {
		found[one.id] = one.n
	}
	return found, err
}

// samples returns a few sealed texts of every column.
func (v *Vault) samples(ctx context.Context) ([]sealed, error) {
	var all []sealed
	for _, c := range Columns() {
		some, err := v.read(ctx, &c, "", nil, 5)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
