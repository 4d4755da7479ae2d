package platformstore

import (
	"ace/internal/foundation/jobs"
	"ace/internal/platform/connection"
	"ace/internal/storage/row"
)

// Refreshes returns the connections whose credentials are due to be renewed, as
// jobs of the kind connection.JobRefresh.
func (s Connections) Refreshes() jobs.Source {
	return &row.Due{
		DB: s.db, Kind: connection.JobRefresh, Table: "connection", Column: "next_refresh_at",
		Waiting: `next_refresh_at > 0 AND deleted_at = 0 AND status IN ('active', 'failing')`,
	}
}
