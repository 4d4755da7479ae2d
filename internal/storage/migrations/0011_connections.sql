-- Connected apps, the links that connect them, and OAuth clients. Secrets are
-- sealed with the place of their row; links, states and cookies stand here as
-- keyed digests.

-- +goose Up
CREATE TABLE connection (
	id               TEXT PRIMARY KEY,
	account_id       TEXT NOT NULL REFERENCES account (id),
	app              TEXT NOT NULL,
	scheme           TEXT NOT NULL,
	label            TEXT NOT NULL,
	is_default       BOOLEAN NOT NULL,
	end_user         TEXT NOT NULL,
	params           TEXT NOT NULL,       -- JSON
	identity         TEXT NOT NULL,       -- JSON
	search           TEXT NOT NULL,       -- lower case: app, label and identity
	status           TEXT NOT NULL,
	reason           TEXT NOT NULL,
	scopes           TEXT NOT NULL,       -- JSON
	created_at       BIGINT NOT NULL,
	last_used_at     BIGINT NOT NULL,
	last_checked_at  BIGINT NOT NULL,
	deleted_at       BIGINT NOT NULL,
	secret           TEXT NOT NULL,       -- sealed; empty: deleted
	version          BIGINT NOT NULL,     -- of the secret
	token_expires_at BIGINT NOT NULL,
	refreshed_at     BIGINT NOT NULL,
	next_refresh_at  BIGINT NOT NULL,
	refresh_tried_at BIGINT NOT NULL,
	refresh_failed   BIGINT NOT NULL,
	refresh_class    TEXT NOT NULL,
	lease_owner      TEXT NOT NULL,
	lease_until      BIGINT NOT NULL,     -- 0: nobody renews the secret
	lease_seq        BIGINT NOT NULL      -- fences whoever comes late
);
CREATE INDEX connection_account ON connection (account_id, created_at, id);
CREATE INDEX connection_app ON connection (account_id, app);
CREATE INDEX connection_deleted ON connection (deleted_at) WHERE deleted_at > 0;
CREATE UNIQUE INDEX connection_default ON connection (account_id, app, end_user) WHERE is_default;

-- What the end of a deleted connection at its vendor needs, until it is done.
CREATE TABLE farewell (
	connection_id TEXT PRIMARY KEY,
	account_id    TEXT NOT NULL,
	connection    TEXT NOT NULL,          -- JSON, without secrets
	secret        TEXT NOT NULL,          -- sealed
	created_at    BIGINT NOT NULL
);

CREATE TABLE connect_session (
	id             TEXT PRIMARY KEY,
	account_id     TEXT NOT NULL REFERENCES account (id),
	token_digest   TEXT NOT NULL UNIQUE,
	browser_digest TEXT NOT NULL,
	state_digest   TEXT UNIQUE,           -- null: no sign-in is under way
	flow_digest    TEXT NOT NULL,
	app            TEXT NOT NULL,
	status         TEXT NOT NULL,
	wish           TEXT NOT NULL,         -- JSON
	asked_by       TEXT NOT NULL,         -- JSON
	connection_id  TEXT NOT NULL,
	code           TEXT NOT NULL,
	detail         TEXT NOT NULL,
	attempt        TEXT NOT NULL,         -- sealed
	confirmed      BOOLEAN NOT NULL,
	created_at     BIGINT NOT NULL,
	expires_at     BIGINT NOT NULL,
	ended_at       BIGINT NOT NULL,
	version        BIGINT NOT NULL
);
CREATE INDEX connect_session_expires ON connect_session (expires_at);

CREATE TABLE oauth_client (
	account_id TEXT NOT NULL,             -- empty: of the operator
	app        TEXT NOT NULL,
	issuer     TEXT NOT NULL,             -- empty: made by hand
	client_id  TEXT NOT NULL,
	box        TEXT NOT NULL,             -- sealed
	broken     BOOLEAN NOT NULL,
	updated_at BIGINT NOT NULL,
	PRIMARY KEY (account_id, app, issuer)
);

-- +goose Down
DROP TABLE oauth_client;
DROP TABLE connect_session;
DROP TABLE farewell;
DROP TABLE connection;
