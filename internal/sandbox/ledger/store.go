package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"ace/internal/protocol/x402"
	"ace/internal/sandbox/rowstore"
)

const transferColumns = `tx, network, asset, payer, pay_to, nonce, amount, created_at`

func scanTransfer(scan func(...any) error) (Transfer, error) {
	var t Transfer
	var at int64
	err := scan(&t.Tx, &t.Network, &t.Asset, &t.Payer, &t.PayTo, &t.Nonce, &t.Amount, &at)
	t.At = time.UnixMilli(at).UTC()
	return t, err
}

// find returns the transfer of an authorization, or sql.ErrNoRows.
func find(ctx context.Context, q rowstore.Querier, k x402.Key) (Transfer, error) {
	t, err := scanTransfer(q.QueryRowContext(ctx,
		`SELECT `+transferColumns+` FROM x402_transfers WHERE asset = $1 AND payer = $2 AND nonce = $3`,
		k.Asset, k.Payer, k.Nonce).Scan)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return t, fmt.Errorf("looking for an authorization: %w", err)
	}
	return t, err
}

// byHash returns a transfer by its hash, or sql.ErrNoRows.
func byHash(ctx context.Context, q rowstore.Querier, tx string) (Transfer, error) {
	return scanTransfer(q.QueryRowContext(ctx, `SELECT `+transferColumns+` FROM x402_transfers WHERE tx = $1`, tx).Scan)
}

// list returns the latest transfers from or to an address; "": of everybody.
func list(ctx context.Context, q rowstore.Querier, address string, limit int) (transfers []Transfer, err error) {
	rows, err := q.QueryContext(ctx, `SELECT `+transferColumns+` FROM x402_transfers
		WHERE $1 = '' OR payer = $1 OR pay_to = $1 ORDER BY created_at DESC, tx LIMIT $2`, address, limit)
	if err != nil {
		return nil, fmt.Errorf("listing transfers: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		t, err := scanTransfer(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("reading a transfer: %w", err)
		}
		transfers = append(transfers, t)
	}
	return transfers, rows.Err()
}

// balance is what an address has; one that was never seen has the gift.
func balance(ctx context.Context, q rowstore.Querier, asset, address string) (n int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT balance FROM x402_accounts WHERE asset = $1 AND address = $2`, asset,
		address).Scan(&n)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Gift, nil
	case err != nil:
		return 0, fmt.Errorf("reading the balance of %s: %w", address, err)
	}
	return n, nil
}

// credit adds to what an address has, or takes away.
func credit(ctx context.Context, tx *sql.Tx, asset, address string, n int64, now time.Time) error {
	_, err := tx.ExecContext(ctx,
		`INSERT INTO x402_accounts (asset, address, balance, created_at) VALUES ($1, $2, $3 + $4, $5)
		ON CONFLICT (asset, address) DO UPDATE SET balance = x402_accounts.balance + $4`,
		asset, address, int64(Gift), n, now.UnixMilli())
	if err != nil {
		return fmt.Errorf("changing the balance of %s: %w", address, err)
	}
	return nil
}

// write keeps a transfer and moves its money.
func (t Transfer) write(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx,
		`INSERT INTO x402_transfers (`+transferColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		t.Tx, t.Network, t.Asset, t.Payer, t.PayTo, t.Nonce, t.Amount, t.At.UnixMilli())
	if err != nil {
		return fmt.Errorf("keeping a transfer: %w", err)
	}
	if err := credit(ctx, tx, t.Asset, t.Payer, -t.Amount, t.At); err != nil {
		return err
	}
	return credit(ctx, tx, t.Asset, t.PayTo, t.Amount, t.At)
}

// account is one row of the page.
type account struct {
	Address string
	Balance int64
}

// accounts returns the addresses that moved last.
func accounts(ctx context.Context, q rowstore.Querier, asset string, limit int) (all []account, err error) {
	rows, err := q.QueryContext(ctx,
		`SELECT address, balance FROM x402_accounts WHERE asset = $1 ORDER BY created_at DESC, address LIMIT $2`,
		asset, limit)
	if err != nil {
		return nil, fmt.Errorf("listing accounts: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var a account
		if err := rows.Scan(&a.Address, &a.Balance); err != nil {
			return nil, fmt.Errorf("reading an account: %w", err)
		}
		all = append(all, a)
	}
	return all, rows.Err()
}

// State is what tests count.
type State struct {
	Accounts  int64 `json:"accounts"`
	Transfers int64 `json:"transfers"`
	Moved     int64 `json:"moved"` // atomic units, of all transfers
}

// State counts what the ledger holds.
func (l *Ledger) State(ctx context.Context) (State, error) {
	var s State
	err := l.db.Reader().QueryRowContext(ctx,
		`SELECT (SELECT COUNT(*) FROM x402_accounts), COUNT(*), COALESCE(SUM(amount), 0) FROM x402_transfers`).
		Scan(&s.Accounts, &s.Transfers, &s.Moved)
	if err != nil {
		return s, fmt.Errorf("counting transfers: %w", err)
	}
	return s, nil
}
