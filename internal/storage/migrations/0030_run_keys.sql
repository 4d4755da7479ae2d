-- A run with an Idempotency-Key is deduplicated by its own row. Both columns are
-- keyed digests; idempotency_key is null if there was no key, or it has expired.

-- +goose Up
ALTER TABLE tool_run ADD COLUMN idempotency_key TEXT;
ALTER TABLE tool_run ADD COLUMN fingerprint TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX tool_run_idempotency_key ON tool_run (idempotency_key);

-- +goose Down
DROP INDEX tool_run_idempotency_key;
ALTER TABLE tool_run DROP COLUMN fingerprint;
ALTER TABLE tool_run DROP COLUMN idempotency_key;
