-- Runs of tools and the files that go with them. What was sent and what was
-- answered is sealed; both are forgotten within a day.

-- +goose Up
CREATE TABLE tool_run (
	id               TEXT PRIMARY KEY,
	account_id       TEXT NOT NULL,
	actor            TEXT NOT NULL,      -- JSON
	key_id           TEXT NOT NULL,      -- empty: a person
	tool             TEXT NOT NULL,
	app              TEXT NOT NULL,
	connection_id    TEXT NOT NULL,      -- empty: none was needed
	end_user         TEXT NOT NULL,
	status           TEXT NOT NULL,
	async            BOOLEAN NOT NULL,
	safe             BOOLEAN NOT NULL,   -- may be sent again
	sent             BOOLEAN NOT NULL,   -- may have been sent
	cancelling       BOOLEAN NOT NULL,
	attempts         BIGINT NOT NULL,
	app_status       BIGINT NOT NULL,
	code             TEXT NOT NULL,
	output_bytes     BIGINT NOT NULL,
	timeout_ms       BIGINT NOT NULL,
	approval_id      TEXT UNIQUE,        -- null: none was needed
	approval_until   BIGINT NOT NULL,
	decided_by       TEXT NOT NULL,      -- JSON; empty: not yet
	decided_at       BIGINT NOT NULL,
	decided_reason   TEXT NOT NULL,
	owner            TEXT NOT NULL,
	lease_until      BIGINT NOT NULL,
	created_at       BIGINT NOT NULL,
	started_at       BIGINT NOT NULL,
	ended_at         BIGINT NOT NULL,
	request          TEXT NOT NULL,      -- sealed
	result           TEXT NOT NULL,      -- sealed
	kept_until       BIGINT NOT NULL     -- of result
);
CREATE INDEX tool_run_account ON tool_run (account_id, created_at);
CREATE INDEX tool_run_unfinished ON tool_run (status, lease_until) WHERE status IN ('running', 'awaiting_approval');
CREATE INDEX tool_run_kept ON tool_run (kept_until) WHERE result <> '';
CREATE INDEX tool_run_created ON tool_run (created_at);

CREATE TABLE tool_file (
	id         TEXT PRIMARY KEY,
	account_id TEXT NOT NULL,
	end_user   TEXT NOT NULL,
	name       TEXT NOT NULL,
	media_type TEXT NOT NULL,
	size       BIGINT NOT NULL,
	sha256     TEXT NOT NULL,
	created_at BIGINT NOT NULL,
	expires_at BIGINT NOT NULL
);
CREATE INDEX tool_file_account ON tool_file (account_id, expires_at);
CREATE INDEX tool_file_expires ON tool_file (expires_at);

CREATE TABLE tool_file_piece (
	file_id TEXT NOT NULL REFERENCES tool_file (id) ON DELETE CASCADE,
	number  BIGINT NOT NULL,
	piece   TEXT NOT NULL,               -- sealed
	PRIMARY KEY (file_id, number)
);

-- +goose Down
DROP TABLE tool_file_piece;
DROP TABLE tool_file;
DROP TABLE tool_run;
