-- Attempts to sign in, charged before a password is checked; and what people see
-- of their own sign-ins.

-- +goose Up
CREATE TABLE sign_in_attempt (
	subject       TEXT PRIMARY KEY,       -- keyed digest of a user or an unknown name, alone or with a network
	failures      BIGINT NOT NULL,        -- in a row
	blocked_until BIGINT NOT NULL,
	seen_at       BIGINT NOT NULL
);
CREATE INDEX sign_in_attempt_seen ON sign_in_attempt (seen_at);

ALTER TABLE console_session ADD COLUMN id TEXT NOT NULL DEFAULT '';
ALTER TABLE console_session ADD COLUMN method TEXT NOT NULL DEFAULT '';   -- link, password, identity; empty: before this column
ALTER TABLE console_session ADD COLUMN address TEXT NOT NULL DEFAULT '';  -- network address of the sign-in
UPDATE console_session SET id = 'ses_' || substr(digest, 1, 26);

-- +goose Down
ALTER TABLE console_session DROP COLUMN address;
ALTER TABLE console_session DROP COLUMN method;
ALTER TABLE console_session DROP COLUMN id;
DROP TABLE sign_in_attempt;
