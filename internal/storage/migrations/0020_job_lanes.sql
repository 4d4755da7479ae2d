-- Jobs are claimed by lane, in the order in which they became ready. ready_at
-- is when a row may be claimed: its time, or the end of its lease; 0: parked.
-- The server writes the lane of the rows that are there when it starts.

-- +goose Up
ALTER TABLE job ADD COLUMN lane TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN ready_at BIGINT NOT NULL DEFAULT 0;
UPDATE job SET ready_at = CASE WHEN run_at > 0 AND lease_until > run_at THEN lease_until ELSE run_at END;
DROP INDEX job_due;
CREATE INDEX job_ready ON job (lane, ready_at) WHERE ready_at > 0;
CREATE INDEX job_parked ON job (kind, ref) WHERE run_at = 0;

-- +goose Down
DROP INDEX job_parked;
DROP INDEX job_ready;
CREATE INDEX job_due ON job (run_at);
ALTER TABLE job DROP COLUMN ready_at;
ALTER TABLE job DROP COLUMN lane;
