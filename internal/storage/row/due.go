package row

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/sqldb"
)

// Due is work that each row of a table needs from time to time: a column says
// when, so that a million rows need no job each. It implements jobs.Source.
//
//	column 0           nothing to do
//	column <= now      due: Claim moves it to the end of the lease
//	column == lease    End moves it on, and so may the handler, in its own
//	                   transaction; whichever comes second changes nothing
//
// The table has the columns id (its key) and account_id. The rows that are
// waiting are in an index on the column with the condition Waiting.
type Due struct {
	DB      *sqldb.DB
	Kind    string // of the jobs
	Table   string
	Column  string // milliseconds in the time of the database
	Waiting string // the condition of the index, in its own words
}

// Ref returns the ref of a row in a job: its account and its id.
func Ref(accountID, id string) string { return accountID + "/" + id }

// Claim implements jobs.Source.
func (d *Due) Claim(ctx context.Context, limit int, lease time.Duration) ([]jobs.Job, error) {
	var claimed []jobs.Job
	_, err := d.DB.Light(ctx, func(rows *sql.Rows) error {
		var accountID, id string
		var until int64
		if err := rows.Scan(&accountID, &id, &until); err != nil {
			return fmt.Errorf("reading a row that is due: %w", err)
		}
		claimed = append(claimed, jobs.Job{
			Kind: d.Kind, Ref: Ref(accountID, id), Token: until, LeaseUntil: Time(until),
		})
		return nil
	},
		`WITH due AS MATERIALIZED (
			SELECT id FROM `+d.Table+` WHERE `+d.Waiting+` AND `+d.Column+` <= `+sqldb.Now+`
			ORDER BY `+d.Column+` LIMIT $1`+sqldb.SkipLocked+`)
		UPDATE `+d.Table+` SET `+d.Column+` = `+sqldb.Now+` + $2 WHERE id IN (SELECT id FROM due)
		RETURNING account_id, id, `+d.Column, limit, lease.Milliseconds())
	if err != nil {
		return nil, fmt.Errorf("claiming rows of %s: %w", d.Table, err)
	}
	return claimed, nil
}

// Next implements jobs.Source.
func (d *Due) Next(ctx context.Context) (time.Duration, bool, error) {
	wait, found, err := One(d.DB.LightReader().QueryRowContext(ctx,
		`SELECT `+d.Column+` - `+sqldb.Now+` FROM `+d.Table+` WHERE `+d.Waiting+` ORDER BY `+d.Column+` LIMIT 1`),
		func(r Scanner) (wait int64, err error) { return wait, r.Scan(&wait) })
	if err != nil {
		return 0, false, fmt.Errorf("looking for the next row of %s: %w", d.Table, err)
	}
	return time.Duration(wait) * time.Millisecond, found, nil
}

// End implements jobs.Source. What is done, and has not been moved on by its
// handler, is never due again.
func (d *Due) End(ctx context.Context, ended []jobs.End) (again bool, err error) {
	var args []any
	for _, end := range ended {
		_, id, _ := strings.Cut(end.Ref, "/")
		args = append(args, id, end.Token, end.Done || end.RunAt.IsZero(), Delay(end.RunAt))
	}
	values, args := Values(args, "TEXT", "BIGINT", "BOOLEAN", "BIGINT")
	_, err = d.DB.Light(ctx, nil,
		`UPDATE `+d.Table+` SET `+d.Column+` = CASE WHEN e.column3 THEN 0 ELSE `+sqldb.Now+` + e.column4 END
		FROM (`+values+`) AS e
		WHERE `+d.Table+`.id = e.column1 AND `+d.Table+`.`+d.Column+` = e.column2`,
		args...)
	if err != nil {
		return false, fmt.Errorf("freeing rows of %s: %w", d.Table, err)
	}
	return false, nil
}
