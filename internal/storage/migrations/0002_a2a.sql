-- Tasks of A2A, kept for a while so that every replica knows them. Portable
-- text: times are milliseconds, a task is JSON in TEXT.

-- +goose Up
CREATE TABLE a2a_task (
	id          TEXT PRIMARY KEY,
	scope       TEXT NOT NULL,   -- the list that the task is in
	owner       TEXT NOT NULL,   -- keyed digest of the client's network
	ref         TEXT NOT NULL,   -- the checkout session that it is about, or ''
	state       TEXT NOT NULL,
	finished    BOOLEAN NOT NULL,
	body        TEXT NOT NULL,   -- JSON
	version     BIGINT NOT NULL,
	status_at   BIGINT NOT NULL,
	expires_at  BIGINT NOT NULL
);
CREATE INDEX a2a_task_scope ON a2a_task (scope, status_at, id);
CREATE INDEX a2a_task_owner ON a2a_task (owner, status_at);
CREATE INDEX a2a_task_age ON a2a_task (expires_at);

CREATE TABLE a2a_message (
	key         TEXT PRIMARY KEY, -- keyed digest of conversation and message id
	task_id     TEXT NOT NULL REFERENCES a2a_task (id) ON DELETE CASCADE,
	fingerprint TEXT NOT NULL
);
CREATE INDEX a2a_message_task ON a2a_message (task_id);

-- +goose Down
DROP TABLE a2a_message;
DROP TABLE a2a_task;
