package sqldb

import (
	"context"
	"database/sql/driver"
	"regexp"
)

// fixedPlans is a connection to SQLite whose statements have one plan, whatever
// is bound to them. SQLite (3.47 and later) looks at the value of a parameter
// that is alone after LIMIT, and of a pattern after LIKE, to choose a plan:
// each time such a parameter is bound, the statement is parsed again
// (sqlite3Reprepare), which costs more than running it. An expression is not
// looked at.
//
//	LIMIT $3  ->  LIMIT CAST($3 AS INTEGER)
type fixedPlans struct{ conn }

var (
	boundLimit   = regexp.MustCompile(`\b(LIMIT|OFFSET) (\$\d+)`)
	boundPattern = regexp.MustCompile(`\b(LIKE|GLOB) (\$\d+)`)
)

func fixPlan(query string) string {
	query = boundLimit.ReplaceAllString(query, `$1 CAST($2 AS INTEGER)`)
	return boundPattern.ReplaceAllString(query, `$1 CAST($2 AS TEXT)`)
}

// PrepareContext implements driver.ConnPrepareContext.
func (f fixedPlans) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return f.conn.PrepareContext(ctx, fixPlan(query))
}
