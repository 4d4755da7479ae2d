package platformstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/platform/audit"
	"ace/internal/platform/connection"
	"ace/internal/storage/retention"
	"ace/internal/storage/row"
)

const connectSessionColumns = `id, account_id, token_digest, browser_digest, COALESCE(state_digest, ''),
	flow_digest, app, status, wish, asked_by, connection_id, code, detail, attempt, confirmed,
	created_at, expires_at, ended_at, version`

func scanConnectSession(r row.Scanner) (*connection.Session, error) {
	s := &connection.Session{}
	var status, options, askedBy string
	var created, expires, ended int64
	err := r.Scan(&s.ID, &s.AccountID, &s.TokenDigest, &s.BrowserDigest, &s.StateDigest, &s.FlowDigest, &s.App, &status,
		&options, &askedBy, &s.ConnectionID, &s.Code, &s.Detail, &s.Attempt, &s.Confirmed,
		&created, &expires, &ended, &s.Version)
	if err != nil {
		return nil, fmt.Errorf("reading a connect session: %w", err)
	}
	s.Status = connection.SessionStatus(status)
	s.CreatedAt, s.ExpiresAt, s.EndedAt = row.Time(created), row.Time(expires), row.Time(ended)
	if err := row.FromJSON(options, &s.Options); err != nil {
		return nil, err
	}
	return s, row.FromJSON(askedBy, &s.AskedBy)
}

// InsertSession implements connection.Sessions.
func (s Connections) InsertSession(ctx context.Context, in *connection.Session,
	e audit.Entry,
) (stored *connection.Session, inserted bool, err error) {
	options, err := row.JSON(in.Options)
	if err != nil {
		return nil, false, err
	}
	askedBy, err := row.JSON(in.AskedBy)
	if err != nil {
		return nil, false, err
	}
	var due []jobs.Job
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		n, err := row.Exec(
			ctx,
			tx,
			`INSERT INTO connect_session (id, account_id, token_digest, browser_digest, flow_digest, app, status,
				wish, asked_by, connection_id, code, detail, attempt, confirmed,
				created_at, expires_at, ended_at, version)
			VALUES ($1, $2, $3, '', '', $4, $5, $6, $7, '', '', '', '', $8, $9, $10, 0, 1) ON CONFLICT (id) DO NOTHING`,
			in.ID,
			in.AccountID,
			in.TokenDigest,
			in.App,
			string(in.Status),
			options,
			askedBy,
			false,
			row.Millis(in.CreatedAt),
			row.Millis(in.ExpiresAt),
		)
		if err != nil {
			return err
		}
		inserted, due = n > 0, nil
		if inserted && in.Options.NotifyURL != "" {
			due = noticeJobs(in, in.ExpiresAt)
		}
		if err := row.Schedule(ctx, tx, s.lanes, due...); err != nil {
			return err
		}
		if stored, err = scanConnectSession(tx.QueryRowContext(ctx,
			`SELECT `+connectSessionColumns+` FROM connect_session WHERE account_id = $1 AND id = $2`, in.AccountID,
			in.ID)); err != nil || !inserted {
			return err
		}
		return record(ctx, tx, e)
	})
	if err == nil {
		s.lanes.Scheduled(due...)
	}
	return stored, inserted, err
}

// noticeJobs are the jobs that send how a session ended.
func noticeJobs(in *connection.Session, at time.Time) []jobs.Job {
	return []jobs.Job{{Kind: connection.JobNotify, Ref: connection.JobRef(in.AccountID, in.ID), RunAt: at}}
}

// Session implements connection.Sessions.
func (s Connections) Session(ctx context.Context, accountID, id string) (*connection.Session, error) {
	session, found, err := row.One(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+connectSessionColumns+` FROM connect_session WHERE account_id = $1 AND id = $2`, accountID, id),
		scanConnectSession)
	if err == nil && !found {
		err = problem.New(problem.NotFound, "connect_session_not_found",
			"There is no connect session with this id. Sessions are kept for a week after their end.")
	}
	return session, err
}

// SessionByToken implements connection.Sessions.
func (s Connections) SessionByToken(ctx context.Context, digest string) (*connection.Session, error) {
	return s.connectSession(ctx, `token_digest = $1`, digest)
}

// SessionByState implements connection.Sessions.
func (s Connections) SessionByState(ctx context.Context, digest string) (*connection.Session, error) {
	return s.connectSession(ctx, `state_digest = $1`, digest)
}

func (s Connections) connectSession(ctx context.Context, condition, digest string) (*connection.Session, error) {
	session, _, err := row.One(s.db.Reader().QueryRowContext(ctx,
		`SELECT `+connectSessionColumns+` FROM connect_session WHERE `+condition, digest), scanConnectSession)
	return session, err
}

// SaveSession implements connection.Sessions.
func (s Connections) SaveSession(ctx context.Context, in *connection.Session, e audit.Entry) (saved bool, err error) {
	err = s.db.Tx(ctx, func(tx *sql.Tx) error {
		if saved, err = s.saveSession(ctx, tx, in); err != nil || !saved {
			return err
		}
		return s.recordAll(ctx, tx, nil, e)
	})
	if err != nil || !saved {
		return false, err
	}
	if in.Status.Over() && in.Options.NotifyURL != "" {
		s.lanes.Wake(connection.JobNotify)
	}
	in.Version++
	return true, nil
}

// saveSession writes a session whose version has not moved on. The caller
// raises in.Version once the transaction committed.
func (s Connections) saveSession(ctx context.Context, tx *sql.Tx, in *connection.Session) (bool, error) {
	state := sql.NullString{String: in.StateDigest, Valid: in.StateDigest != ""}
	n, err := row.Exec(
		ctx,
		tx,
		`UPDATE connect_session SET browser_digest = $4, state_digest = $5, flow_digest = $6, status = $7,
			connection_id = $8, code = $9, detail = $10,
			attempt = $11, confirmed = $12, ended_at = $13, version = version + 1
		WHERE account_id = $1 AND id = $2 AND version = $3`,
		in.AccountID,
		in.ID,
		in.Version,
		in.BrowserDigest,
		state,
		in.FlowDigest,
		string(in.Status),
		in.ConnectionID,
		in.Code,
		in.Detail,
		in.Attempt,
		in.Confirmed,
		row.Millis(in.EndedAt),
	)
	if err == nil && n > 0 && in.Status.Over() && in.Options.NotifyURL != "" {
		err = row.Schedule(ctx, tx, s.lanes, noticeJobs(in, in.EndedAt)...)
	}
	return n > 0, err
}

// errMoved rolls a transaction back whose rows have moved on.
var errMoved = errors.New("the row has moved on")

// PruneSessions implements connection.Sessions.
func (s Connections) PruneSessions(ctx context.Context, sessions, connections time.Time) (more bool, err error) {
	return retention.Run(ctx, s.db,
		retention.Rule{
			Name: "connect_session", Table: "connect_session", Age: "expires_at", Key: "id",
			Before: row.Millis(sessions) - 1,
		},
		retention.Rule{
			Name: "connection", Table: "connection", Age: "deleted_at", Key: "id", Among: `deleted_at > 0`,
			Before: row.Millis(connections) - 1,
			Stay:   `EXISTS (SELECT 1 FROM farewell WHERE connection_id = connection.id)`,
		})
}
