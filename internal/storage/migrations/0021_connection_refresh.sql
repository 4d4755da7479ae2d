-- Connections say themselves when their credentials are renewed next: the jobs
-- that did are gone. A claim moves next_refresh_at to the end of its lease.

-- +goose Up
DELETE FROM job WHERE kind = 'connection_refresh';
CREATE INDEX connection_refresh ON connection (next_refresh_at)
	WHERE next_refresh_at > 0 AND deleted_at = 0 AND status IN ('active', 'failing');

-- +goose Down
DROP INDEX connection_refresh;
INSERT INTO job (kind, ref, run_at, lease_until, tries, token, sequence, reason)
	SELECT 'connection_refresh', account_id || '/' || id, next_refresh_at, 0, 0, 0, 0, '' FROM connection
	WHERE next_refresh_at > 0 AND deleted_at = 0 AND status IN ('active', 'failing');
