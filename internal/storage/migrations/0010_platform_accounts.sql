-- Accounts of the platform, the people who act for them, API keys, and the
-- record of changes. Secrets stand here as keyed digests only.

-- +goose Up
CREATE TABLE account (
	id          TEXT PRIMARY KEY,
	name        TEXT NOT NULL UNIQUE,
	created_at  BIGINT NOT NULL,
	disabled_at BIGINT NOT NULL
);

CREATE TABLE account_user (
	id            TEXT PRIMARY KEY,
	account_id    TEXT NOT NULL REFERENCES account (id),
	email         TEXT UNIQUE,            -- lower case; null: none
	name          TEXT NOT NULL,
	role          TEXT NOT NULL,
	password_hash TEXT NOT NULL,          -- argon2id; empty: none
	subject       TEXT UNIQUE,            -- of the OpenID provider; null: not linked
	failures      BIGINT NOT NULL,
	blocked_until BIGINT NOT NULL,
	created_at    BIGINT NOT NULL
);
CREATE INDEX account_user_account ON account_user (account_id, created_at);

CREATE TABLE sign_in_link (
	digest     TEXT PRIMARY KEY,
	user_id    TEXT NOT NULL REFERENCES account_user (id) ON DELETE CASCADE,
	expires_at BIGINT NOT NULL
);

CREATE TABLE console_session (
	digest     TEXT PRIMARY KEY,
	user_id    TEXT NOT NULL REFERENCES account_user (id) ON DELETE CASCADE,
	token      TEXT NOT NULL,             -- against requests of other sites
	created_at BIGINT NOT NULL,
	seen_at    BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX console_session_user ON console_session (user_id);

CREATE TABLE api_key (
	id           TEXT PRIMARY KEY,
	account_id   TEXT NOT NULL REFERENCES account (id),
	digest       TEXT NOT NULL UNIQUE,
	name         TEXT NOT NULL,
	prefix       TEXT NOT NULL,
	last4        TEXT NOT NULL,
	permissions  BIGINT NOT NULL,
	restrictions TEXT NOT NULL,           -- JSON
	approval     TEXT NOT NULL,
	created_by   TEXT NOT NULL,
	expires_at   BIGINT NOT NULL,
	created_at   BIGINT NOT NULL,
	last_used_at BIGINT NOT NULL,
	revoked_at   BIGINT NOT NULL
);
CREATE INDEX api_key_account ON api_key (account_id, created_at);

CREATE TABLE audit_entry (
	account_id TEXT NOT NULL,
	seq        BIGINT NOT NULL,
	at         BIGINT NOT NULL,
	actor      TEXT NOT NULL,             -- JSON
	actor_id   TEXT NOT NULL,
	action     TEXT NOT NULL,
	target     TEXT NOT NULL,
	detail     TEXT NOT NULL,             -- JSON
	hash       TEXT NOT NULL,
	PRIMARY KEY (account_id, seq)
);

-- +goose Down
DROP TABLE audit_entry;
DROP TABLE api_key;
DROP TABLE console_session;
DROP TABLE sign_in_link;
DROP TABLE account_user;
DROP TABLE account;
