package platformstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/account"
	"ace/internal/platform/audit"
	"ace/internal/storage/row"
)

// oldAtOnce bounds the old rows that go with a new one: more than one, so that
// they become fewer, and so few that no sign-in waits for them.
const oldAtOnce = 100

// InsertLink implements account.Store. Links that are too old go with it.
func (s *Store) InsertLink(ctx context.Context, digest, userID string, expires time.Time, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := row.Exec(ctx, tx, `DELETE FROM sign_in_link WHERE digest IN (
				SELECT digest FROM sign_in_link WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)`,
			row.Millis(e.At), oldAtOnce); err != nil {
			return err
		}
		if _, err := row.Exec(ctx, tx, `INSERT INTO sign_in_link (digest, user_id, expires_at) VALUES ($1, $2, $3)`,
			digest, userID, row.Millis(expires)); err != nil {
			return err
		}
		return record(ctx, tx, e)
	})
}

// TakeLink implements account.Store.
func (s *Store) TakeLink(ctx context.Context, digest string, now time.Time) (*account.User, error) {
	var user *account.User
	err := s.db.Tx(ctx, func(tx *sql.Tx) error {
		user = nil
		userID, found, err := row.One(tx.QueryRowContext(ctx,
			`DELETE FROM sign_in_link WHERE digest = $1 AND expires_at > $2 RETURNING user_id`, digest,
			row.Millis(now)),
			func(r row.Scanner) (id string, err error) { return id, r.Scan(&id) })
		if err != nil || !found {
			return err
		}
		u, err := scanUser(tx.QueryRowContext(ctx, `SELECT `+userColumns+` FROM account_user WHERE id = $1`, userID))
		if err != nil {
			return err
		}
		user = &u.User
		return nil
	})
	return user, err
}

// InsertSession implements account.Store. Sessions that are over go with it.
func (s *Store) InsertSession(ctx context.Context, session *account.Session, expires time.Time, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := row.Exec(ctx, tx, `DELETE FROM console_session WHERE digest IN (
				SELECT digest FROM console_session WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)`,
			row.Millis(e.At), oldAtOnce); err != nil {
			return err
		}
		if _, err := row.Exec(
			ctx,
			tx,
			`INSERT INTO console_session (digest, user_id, token, created_at, seen_at, expires_at, id, method, address)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			session.ID,
			session.User.ID,
			session.Token,
			row.Millis(session.CreatedAt),
			row.Millis(session.SeenAt),
			row.Millis(expires),
			session.PublicID,
			session.Method,
			session.Address,
		); err != nil {
			return err
		}
		return record(ctx, tx, e)
	})
}

const selectSession = `SELECT console_session.digest, console_session.id, console_session.method,
	console_session.address, console_session.token, console_session.created_at, console_session.seen_at, ` +
	accountColumns + `, ` + userColumns + `
	FROM console_session JOIN account_user ON account_user.id = console_session.user_id
	JOIN account ON account.id = account_user.account_id`

// Sessions implements account.Store.
func (s *Store) Sessions(ctx context.Context, userID string, now time.Time,
	idle time.Duration,
) ([]*account.Session, error) {
	rows, err := s.db.Reader().QueryContext(ctx, selectSession+`
		WHERE console_session.user_id = $1 AND console_session.expires_at > $2 AND console_session.seen_at > $3
			AND account.disabled_at = 0
		ORDER BY console_session.seen_at DESC, console_session.digest LIMIT 100`,
		userID, row.Millis(now), row.Millis(now.Add(-idle)))
	return row.Collect(rows, err, scanSession)
}

// EndSession implements account.Store.
func (s *Store) EndSession(ctx context.Context, userID, publicID string, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(ctx, tx, `DELETE FROM console_session WHERE user_id = $1 AND id = $2`, userID, publicID)
		if err != nil {
			return err
		}
		if n == 0 {
			return problem.New(problem.NotFound, "session_not_found", "This sign-in has ended already.")
		}
		return record(ctx, tx, e)
	})
}

// EndOtherSessions implements account.Store.
func (s *Store) EndOtherSessions(ctx context.Context, userID, keepSession string, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := row.Exec(ctx, tx, `DELETE FROM console_session WHERE user_id = $1 AND digest <> $2`, userID,
			keepSession); err != nil {
			return err
		}
		return record(ctx, tx, e)
	})
}

// Session implements account.Store.
func (s *Store) Session(ctx context.Context, digest string, now time.Time,
	idle time.Duration,
) (*account.Session, error) {
	session, _, err := row.One(s.db.Reader().QueryRowContext(ctx,
		selectSession+`
		WHERE console_session.digest = $1 AND console_session.expires_at > $2 AND console_session.seen_at > $3
			AND account.disabled_at = 0`,
		digest, row.Millis(now), row.Millis(now.Add(-idle))), scanSession)
	return session, err
}

func scanSession(r row.Scanner) (*account.Session, error) {
	s, u := &account.Session{}, &userRow{}
	var created, seen, accountCreated, disabled, userCreated int64
	fields := append(
		[]any{&s.ID, &s.PublicID, &s.Method, &s.Address, &s.Token, &created, &seen},
		accountFields(&s.Account, &accountCreated, &disabled)...)
	if err := r.Scan(append(fields, u.fields(&userCreated)...)...); err != nil {
		return nil, fmt.Errorf("reading a session: %w", err)
	}
	u.complete(userCreated)
	s.User, s.CreatedAt, s.SeenAt = u.User, row.Time(created), row.Time(seen)
	s.Account.CreatedAt, s.Account.DisabledAt = row.Time(accountCreated), row.Time(disabled)
	return s, nil
}

// TouchSession implements account.Store.
func (s *Store) TouchSession(ctx context.Context, digest string, now time.Time) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		_, err := row.Exec(ctx, tx, `UPDATE console_session SET seen_at = $2 WHERE digest = $1 AND seen_at < $2`,
			digest, row.Millis(now))
		return err
	})
}

// DeleteSession implements account.Store.
func (s *Store) DeleteSession(ctx context.Context, digest string, e audit.Entry) error {
	return s.db.Tx(ctx, func(tx *sql.Tx) error {
		if _, err := row.Exec(ctx, tx, `DELETE FROM console_session WHERE digest = $1`, digest); err != nil {
			return err
		}
		return record(ctx, tx, e)
	})
}
