-- The sweep of payments walks through the processor's list in parts: where the
-- current walk stands, beside the time up to which all walks are complete.

-- +goose Up
ALTER TABLE watermark ADD COLUMN walk_until BIGINT NOT NULL DEFAULT 0; -- 0: no walk is under way
ALTER TABLE watermark ADD COLUMN walk_cursor TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE watermark DROP COLUMN walk_cursor;
ALTER TABLE watermark DROP COLUMN walk_until;
