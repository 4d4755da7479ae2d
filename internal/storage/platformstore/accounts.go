package platformstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/sqldb"
	"ace/internal/platform/account"
	"ace/internal/platform/audit"
	"ace/internal/storage/row"
)

const accountColumns = `account.id, account.name, account.created_at, account.disabled_at`

func accountFields(a *account.Account, created, disabled *int64) []any {
	return []any{&a.ID, &a.Name, created, disabled}
}

func scanAccount(r row.Scanner) (*account.Account, error) {
	a := &account.Account{}
	var created, disabled int64
	if err := r.Scan(accountFields(a, &created, &disabled)...); err != nil {
		return nil, fmt.Errorf("reading an account: %w", err)
	}
	a.CreatedAt, a.DisabledAt = row.Time(created), row.Time(disabled)
	return a, nil
}

const userColumns = `account_user.id, account_user.account_id, COALESCE(account_user.email, ''), account_user.name,
	account_user.role,
	account_user.password_hash, COALESCE(account_user.subject, ''), account_user.created_at`

// userRow is a user with the kept digest of the password.
type userRow struct {
	account.User
	hash string
}

func (u *userRow) fields(created *int64) []any {
	return []any{&u.ID, &u.AccountID, &u.Email, &u.Name, &u.Role, &u.hash, &u.Subject, created}
}

func (u *userRow) complete(created int64) {
	u.CreatedAt, u.HasPassword = row.Time(created), u.hash != ""
}

func scanUser(r row.Scanner) (*userRow, error) {
	u := &userRow{}
	var created int64
	if err := r.Scan(u.fields(&created)...); err != nil {
		return nil, fmt.Errorf("reading a user: %w", err)
	}
	u.complete(created)
	return u, nil
}

// InsertAccount implements account.Store.
func (s *Store) InsertAccount(ctx context.Context, a *account.Account, owner *account.User, e audit.Entry) error {
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := row.Exec(ctx,
			tx, `INSERT INTO account (id, name, created_at, disabled_at) VALUES ($1, $2, $3, $4)`,
			a.ID, a.Name, row.Millis(a.CreatedAt), row.Millis(a.DisabledAt)); err != nil {
			return err
		}
		if _, err := row.Exec(
			ctx,
			tx,
			`INSERT INTO account_user (id, account_id, email, name, role, password_hash, subject, failures,
				blocked_until, created_at)
			VALUES ($1, $2, NULLIF($3, ''), $4, $5, '', NULL, 0, 0, $6)`,
			owner.ID,
			owner.AccountID,
			owner.Email,
			owner.Name,
			string(owner.Role),
			row.Millis(owner.CreatedAt),
		); err != nil {
			return err
		}
		return record(ctx, tx, e)
	})
	if sqldb.UniqueViolation(err) {
		return problem.New(problem.Conflict, "account_exists",
			"There is an account of this name, or a user with this e-mail address. Choose another.")
	}
	return err
}

// Accounts implements account.Store.
func (s *Store) Accounts(ctx context.Context) ([]*account.Account, error) {
	rows, err := s.db.Reader().QueryContext(ctx, `SELECT `+accountColumns+` FROM account ORDER BY name`)
	return row.Collect(rows, err, scanAccount)
}

// SetDisabled implements account.Store.
func (s *Store) SetDisabled(ctx context.Context, accountID string, at time.Time, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(ctx, tx,
			`UPDATE account SET disabled_at = $2 WHERE id = $1 AND (disabled_at = 0) <> (CAST($2 AS BIGINT) = 0)`,
			accountID, row.Millis(at))
		if err != nil || n == 0 {
			return err
		}
		return record(ctx, tx, e)
	})
}

// AccountByName implements account.Store.
func (s *Store) AccountByName(ctx context.Context, name string) (*account.Account, error) {
	return s.account(ctx, `account.name = $1`, name)
}

// Account implements account.Store.
func (s *Store) Account(ctx context.Context, id string) (*account.Account, error) {
	return s.account(ctx, `account.id = $1`, id)
}

func (s *Store) account(ctx context.Context, condition, value string) (*account.Account, error) {
	a, found, err := row.One(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+accountColumns+` FROM account WHERE `+condition, value), scanAccount)
	if err == nil && !found {
		err = problem.New(problem.NotFound, "account_not_found",
			`There is no account of this name. "ace account list" shows all, "ace account create" makes one.`)
	}
	return a, err
}

// Users implements account.Store.
func (s *Store) Users(ctx context.Context, accountID string) ([]*account.User, error) {
	rows, err := s.db.Reader().QueryContext(ctx,
		`SELECT `+userColumns+` FROM account_user WHERE account_id = $1 ORDER BY created_at, id`, accountID)
	return row.Collect(rows, err, func(r row.Scanner) (*account.User, error) {
		u, err := scanUser(r)
		if err != nil {
			return nil, err
		}
		return &u.User, nil
	})
}

// UserByEmail implements account.Store.
func (s *Store) UserByEmail(ctx context.Context, email string) (*account.User, string, error) {
	if email == "" {
		return nil, "", nil
	}
	return s.user(ctx, `account_user.email = $1`, email)
}

// OwnerOf implements account.Store.
func (s *Store) OwnerOf(ctx context.Context, name string) (*account.User, string, error) {
	return s.user(
		ctx,
		`account_user.role = 'owner' AND account_user.account_id = (SELECT id FROM account WHERE name = $1) ORDER `+
			`BY created_at, id LIMIT 1`,
		name,
	)
}

// UserByID implements account.Store.
func (s *Store) UserByID(ctx context.Context, id string) (*account.User, string, error) {
	return s.user(ctx, `account_user.id = $1`, id)
}

// UserBySubject implements account.Store.
func (s *Store) UserBySubject(ctx context.Context, subject string) (*account.User, error) {
	u, _, err := s.user(ctx, `account_user.subject = $1`, subject)
	return u, err
}

func (s *Store) user(ctx context.Context, condition string, value string) (*account.User, string, error) {
	u, found, err := row.One(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+userColumns+` FROM account_user WHERE `+condition, value), scanUser)
	if err != nil || !found {
		return nil, "", err
	}
	return &u.User, u.hash, nil
}

// SetPassword implements account.Store.
func (s *Store) SetPassword(ctx context.Context, userID, hash, keepSession string, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := row.Exec(ctx,
			tx, `UPDATE account_user SET password_hash = $2 WHERE id = $1`, userID,
			hash); err != nil {
			return err
		}
		if _, err := row.Exec(ctx, tx, `DELETE FROM console_session WHERE user_id = $1 AND digest <> $2`, userID,
			keepSession); err != nil {
			return err
		}
		return record(ctx, tx, e)
	})
}

// SetSubject implements account.Store.
func (s *Store) SetSubject(ctx context.Context, userID, subject string, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := row.Exec(ctx, tx, `UPDATE account_user SET subject = $2 WHERE id = $1 AND subject IS NULL`, userID,
			subject); err != nil {
			return err
		}
		return record(ctx, tx, e)
	})
}

// RedirectURLs implements account.Store and connection.Landings.
func (s *Store) RedirectURLs(ctx context.Context, accountID string) ([]string, error) {
	text, found, err := row.One(s.db.Reader().QueryRowContext(ctx, `SELECT redirect_urls FROM account WHERE id = $1`,
		accountID), func(r row.Scanner) (text string, err error) {
		return text, r.Scan(&text)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the redirect addresses of an account: %w", err)
	}
	if !found {
		return nil, accountNotFound()
	}
	list := []string{}
	return list, row.FromJSON(text, &list)
}

// ChangeRedirectURLs implements account.Store. The first statement holds the row,
// so that of two changes at a time the second one sees the first.
func (s *Store) ChangeRedirectURLs(ctx context.Context, accountID string,
	change func([]string) ([]string, audit.Entry, error),
) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		text, found, err := row.One(tx.QueryRowContext(ctx,
			`UPDATE account SET redirect_urls = redirect_urls WHERE id = $1 RETURNING redirect_urls`, accountID),
			func(r row.Scanner) (text string, err error) { return text, r.Scan(&text) })
		if err != nil {
			return fmt.Errorf("reading the redirect addresses of an account: %w", err)
		}
		if !found {
			return accountNotFound()
		}
		before := []string{}
		if err := row.FromJSON(text, &before); err != nil {
			return err
		}
		list, entry, err := change(before)
		if err != nil || entry.Action == "" {
			return err
		}
		if text, err = row.JSON(append([]string{}, list...)); err != nil {
			return err
		}
		if _, err := row.Exec(ctx, tx, `UPDATE account SET redirect_urls = $2 WHERE id = $1`, accountID,
			text); err != nil {
			return err
		}
		return record(ctx, tx, entry)
	})
}

func accountNotFound() error {
	return problem.New(problem.NotFound, "account_not_found", "There is no account with this id.")
}
