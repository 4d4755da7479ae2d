package platformstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"ace/internal/platform/usage"
	"ace/internal/storage/row"
)

const dayMillis = 24 * 60 * 60 * 1000

// grouping is the expression that runs are grouped by.
func grouping(by usage.By) (string, error) {
	switch by {
	case usage.ByApp:
		return `app`, nil
	case usage.ByTool:
		return `tool`, nil
	case usage.ByKey:
		return `key_id`, nil
	case usage.ByDay:
		return `created_at / ` + strconv.Itoa(dayMillis), nil
	}
	return "", fmt.Errorf("runs are not grouped by %q", by)
}

// Usage implements usage.Store.
func (s Runs) Usage(ctx context.Context, accountID string, q usage.Query) ([]usage.Count, error) {
	group, err := grouping(q.By)
	if err != nil {
		return nil, err
	}
	args := []any{accountID, row.Millis(q.From), row.Millis(q.To)}
	where := `account_id = $1 AND created_at >= $2 AND created_at < $3`
	among := func(column string, values []string) {
		var places []string
		for _, v := range values {
			args = append(args, v)
			places = append(places, "$"+strconv.Itoa(len(args)))
		}
		if len(places) > 0 {
			where += ` AND ` + column + ` IN (` + strings.Join(places, `, `) + `)`
		}
	}
	among(`app`, q.Apps)
	among(`tool`, q.Tools)
	if q.EndUser != "" {
		among(`end_user`, []string{q.EndUser})
	}
	order := `COUNT(*) DESC, ` + group
	if q.By == usage.ByDay {
		order = group
	}
	args = append(args, int64(q.Limit))
	rows, err := s.db.Reader().QueryContext(ctx,
		`SELECT `+group+`, COUNT(*), CAST(SUM(CASE WHEN status = 'succeeded' THEN 1 ELSE 0 END) AS BIGINT),
			CAST(SUM(CASE WHEN status IN ('failed', 'interrupted') THEN 1 ELSE 0 END) AS BIGINT), CAST(SUM(attempts)
			AS BIGINT), CAST(SUM(output_bytes) AS BIGINT),
			CAST(SUM(CASE WHEN started_at > 0 AND ended_at > started_at THEN ended_at - started_at ELSE 0 END) AS
			BIGINT), MAX(created_at)
		FROM tool_run WHERE `+where+` GROUP BY `+group+` ORDER BY `+order+` LIMIT $`+strconv.Itoa(len(args)), args...)
	return row.Collect(rows, err, func(r row.Scanner) (usage.Count, error) {
		var c usage.Count
		var duration, last int64
		if err := r.Scan(&c.Group, &c.Runs, &c.Succeeded, &c.Failed, &c.Attempts, &c.OutputBytes,
			&duration, &last); err != nil {
			return c, fmt.Errorf("reading a count of runs: %w", err)
		}
		c.Duration, c.LastRunAt = time.Duration(duration)*time.Millisecond, row.Time(last)
		if q.By == usage.ByDay {
			days, err := strconv.ParseInt(c.Group, 10, 64)
			if err != nil {
				return c, fmt.Errorf("reading a day: %w", err)
			}
			c.Group = row.Time(days * dayMillis).Format(time.DateOnly)
		}
		return c, nil
	})
}
