-- Events of connected apps that accounts watch, and their deliveries. next_at is
-- when something is due for a trigger (a poll, a renewal, the end of its
-- registration), deliver_at when an event is posted next; a claim moves either to
-- the end of its lease. 0: nothing is due.

-- +goose Up
CREATE TABLE app_trigger (
	id             TEXT PRIMARY KEY,
	account_id     TEXT NOT NULL REFERENCES account (id),
	app            TEXT NOT NULL,
	event          TEXT NOT NULL,
	connection_id  TEXT NOT NULL,
	end_user       TEXT NOT NULL,
	description    TEXT NOT NULL,
	config         TEXT NOT NULL,       -- JSON
	webhook_url    TEXT NOT NULL,
	destination    TEXT NOT NULL,       -- host and port of webhook_url
	mode           TEXT NOT NULL,
	status         TEXT NOT NULL,
	reason         TEXT NOT NULL,
	detail         TEXT NOT NULL,
	generation     BIGINT NOT NULL,     -- of the signing secret
	previous_until BIGINT NOT NULL,
	registration   TEXT NOT NULL,       -- sealed
	poll_interval  BIGINT NOT NULL,     -- milliseconds
	cursor         TEXT NOT NULL,
	next_at        BIGINT NOT NULL,
	idle           BIGINT NOT NULL,
	failures       BIGINT NOT NULL,
	last_poll_at   BIGINT NOT NULL,
	last_error     TEXT NOT NULL,
	renew_at       BIGINT NOT NULL,
	last_event_at  BIGINT NOT NULL,
	sequence       BIGINT NOT NULL,     -- of the newest event
	revision       BIGINT NOT NULL,
	created_at     BIGINT NOT NULL,
	updated_at     BIGINT NOT NULL,
	deleted_at     BIGINT NOT NULL      -- 0: it is not
);
CREATE INDEX app_trigger_account ON app_trigger (account_id, created_at, id);
CREATE INDEX app_trigger_connection ON app_trigger (connection_id);
CREATE INDEX app_trigger_due ON app_trigger (next_at) WHERE next_at > 0;

CREATE TABLE trigger_event (
	id             TEXT PRIMARY KEY,
	account_id     TEXT NOT NULL,
	trigger_id     TEXT NOT NULL REFERENCES app_trigger (id),
	sequence       BIGINT NOT NULL,
	type           TEXT NOT NULL,
	body           TEXT NOT NULL,       -- JSON, as it is posted
	state          TEXT NOT NULL,
	reason         TEXT NOT NULL,
	destination    TEXT NOT NULL,
	deliver_at     BIGINT NOT NULL,
	in_flight      BOOLEAN NOT NULL,    -- claimed, and not recorded since
	series         BIGINT NOT NULL,
	attempt        BIGINT NOT NULL,
	interruptions  BIGINT NOT NULL,
	attempts       TEXT NOT NULL,       -- JSON
	received_at    BIGINT NOT NULL,
	ended_at       BIGINT NOT NULL,
	UNIQUE (trigger_id, sequence)
);
CREATE INDEX trigger_event_due ON trigger_event (deliver_at, destination) WHERE deliver_at > 0;

-- What has been seen outlives the events that are shown: an app may list or send
-- an event again after months.
CREATE TABLE trigger_key (
	trigger_id     TEXT NOT NULL REFERENCES app_trigger (id),
	key            TEXT NOT NULL,       -- digest of what identifies the event
	seen_at        BIGINT NOT NULL,
	PRIMARY KEY (trigger_id, key)
);
CREATE INDEX trigger_key_seen ON trigger_key (seen_at);

-- +goose Down
DROP TABLE trigger_key;
DROP TABLE trigger_event;
DROP TABLE app_trigger;
