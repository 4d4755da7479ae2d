-- MCP clients that a person let in by signing in: their access token is an API
-- key with an audience, their refresh token a row beside it. Tokens and codes
-- are here as keyed digests only.

-- +goose Up
ALTER TABLE api_key ADD COLUMN client_name TEXT NOT NULL DEFAULT '';
ALTER TABLE api_key ADD COLUMN client_host TEXT NOT NULL DEFAULT '';
ALTER TABLE api_key ADD COLUMN audience TEXT NOT NULL DEFAULT '';            -- the one URL that the token is for; empty: a key
ALTER TABLE api_key ADD COLUMN token_expires_at BIGINT NOT NULL DEFAULT 0;  -- of the access token

CREATE TABLE key_grant (
	key_id     TEXT PRIMARY KEY REFERENCES api_key (id) ON DELETE CASCADE,
	client_id  TEXT NOT NULL,
	refresh    TEXT NOT NULL,             -- digest of the refresh token
	previous   TEXT NOT NULL,             -- digest of the one that it replaced; empty: none
	rotated_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL            -- of the refresh token
);

CREATE TABLE grant_code (
	digest     TEXT PRIMARY KEY,
	consent    TEXT NOT NULL,             -- JSON
	key_id     TEXT NOT NULL,             -- of the key that it became; empty: not used
	expires_at BIGINT NOT NULL            -- of a used one: until when its repetition is noticed
);
CREATE INDEX grant_code_expires ON grant_code (expires_at);

-- +goose Down
DROP TABLE grant_code;
DROP TABLE key_grant;
ALTER TABLE api_key DROP COLUMN token_expires_at;
ALTER TABLE api_key DROP COLUMN audience;
ALTER TABLE api_key DROP COLUMN client_host;
ALTER TABLE api_key DROP COLUMN client_name;
