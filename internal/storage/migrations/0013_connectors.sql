-- Apps that accounts have added themselves. Their keys are those of their
-- connections; nothing here is secret.

-- +goose Up
CREATE TABLE connector (
	id            TEXT PRIMARY KEY,
	account_id    TEXT NOT NULL REFERENCES account (id),
	slug          TEXT NOT NULL,
	type          TEXT NOT NULL,
	name          TEXT NOT NULL,
	about         TEXT NOT NULL,
	base          TEXT NOT NULL,
	settings      TEXT NOT NULL,       -- JSON
	status        TEXT NOT NULL,
	code          TEXT NOT NULL,
	detail        TEXT NOT NULL,
	enabled       BOOLEAN NOT NULL,
	connection_id TEXT NOT NULL,
	tools         TEXT NOT NULL,       -- JSON
	skipped       TEXT NOT NULL,       -- JSON
	last_ok_at    BIGINT NOT NULL,
	created_at    BIGINT NOT NULL,
	updated_at    BIGINT NOT NULL,
	revision      BIGINT NOT NULL,
	UNIQUE (account_id, slug)
);

-- +goose Down
DROP TABLE connector;
