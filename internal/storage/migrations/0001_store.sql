-- Sessions, orders and the work around them. Portable text: times are
-- milliseconds, structures are JSON in TEXT (see the domain types), flags are
-- BOOLEAN.

-- +goose Up
CREATE TABLE checkout_session (
	id          TEXT PRIMARY KEY,
	token       TEXT NOT NULL UNIQUE,
	state       TEXT NOT NULL,
	protocol    TEXT NOT NULL,
	offer_id    TEXT NOT NULL,   -- of the current page, for counting stock
	quantity    BIGINT NOT NULL,
	counted     BOOLEAN NOT NULL,
	client_key  TEXT NOT NULL,
	signed      BOOLEAN NOT NULL,
	buyer       TEXT NOT NULL,   -- JSON; emptied once the page is open
	return_url  TEXT NOT NULL,
	agent       TEXT NOT NULL,   -- JSON
	notices     TEXT NOT NULL,   -- JSON
	ending      TEXT NOT NULL,
	order_id    TEXT NOT NULL,
	version     BIGINT NOT NULL,
	created_at  BIGINT NOT NULL,
	updated_at  BIGINT NOT NULL
);
CREATE INDEX checkout_session_stock ON checkout_session (counted, offer_id, state);

CREATE TABLE checkout_page (
	session_id  TEXT NOT NULL REFERENCES checkout_session (id) ON DELETE CASCADE,
	position    BIGINT NOT NULL, -- the last one is the current page
	n           BIGINT NOT NULL,
	state       TEXT NOT NULL,
	ref         TEXT NOT NULL,
	url         TEXT NOT NULL,
	quote       TEXT NOT NULL,   -- JSON
	expires_at  BIGINT NOT NULL,
	created_at  BIGINT NOT NULL,
	PRIMARY KEY (session_id, position)
);

CREATE TABLE checkout_move (     -- the audit trail
	session_id  TEXT NOT NULL REFERENCES checkout_session (id) ON DELETE CASCADE,
	version     BIGINT NOT NULL,
	at          BIGINT NOT NULL,
	evidence    TEXT NOT NULL,
	before      TEXT NOT NULL,
	after       TEXT NOT NULL,
	PRIMARY KEY (session_id, version)
);

CREATE TABLE processor_event (
	id          TEXT PRIMARY KEY,
	type        TEXT NOT NULL,
	received_at BIGINT NOT NULL
);
CREATE INDEX processor_event_age ON processor_event (received_at);

CREATE TABLE store_order (
	id           TEXT PRIMARY KEY,
	checkout_id  TEXT NOT NULL UNIQUE,
	token        TEXT NOT NULL,
	status       TEXT NOT NULL,
	reason       TEXT NOT NULL,
	quote        TEXT NOT NULL,  -- JSON
	paid         TEXT NOT NULL,  -- JSON
	payment_ref  TEXT NOT NULL,
	refunded     BIGINT NOT NULL,
	protocol     TEXT NOT NULL,
	version      BIGINT NOT NULL,
	created_at   BIGINT NOT NULL,
	updated_at   BIGINT NOT NULL
);
CREATE INDEX store_order_age ON store_order (created_at, id);
CREATE INDEX store_order_payment ON store_order (payment_ref);

CREATE TABLE order_refund (
	id            TEXT PRIMARY KEY,
	order_id      TEXT NOT NULL REFERENCES store_order (id),
	payment_ref   TEXT NOT NULL,
	minor         BIGINT NOT NULL,
	currency      TEXT NOT NULL,
	state         TEXT NOT NULL,
	processor_ref TEXT NOT NULL,
	reason        TEXT NOT NULL,
	failure       TEXT NOT NULL,
	created_at    BIGINT NOT NULL,
	updated_at    BIGINT NOT NULL
);
CREATE INDEX order_refund_order ON order_refund (order_id, created_at);

CREATE TABLE order_event (
	id        TEXT PRIMARY KEY,
	type      TEXT NOT NULL,
	order_id  TEXT NOT NULL REFERENCES store_order (id),
	at        BIGINT NOT NULL,
	body      TEXT NOT NULL
);
CREATE INDEX order_event_order ON order_event (order_id, at);

CREATE TABLE order_delivery (
	event_id     TEXT NOT NULL REFERENCES order_event (id),
	sink         TEXT NOT NULL,
	state        TEXT NOT NULL,
	attempts     BIGINT NOT NULL,
	last_error   TEXT NOT NULL,
	delivered_at BIGINT NOT NULL,
	PRIMARY KEY (event_id, sink)
);

CREATE TABLE job (
	kind        TEXT NOT NULL,
	ref         TEXT NOT NULL,
	run_at      BIGINT NOT NULL, -- 0: parked
	lease_until BIGINT NOT NULL,
	tries       BIGINT NOT NULL,
	token       BIGINT NOT NULL,
	sequence    BIGINT NOT NULL,
	reason      TEXT NOT NULL,
	PRIMARY KEY (kind, ref)
);
CREATE INDEX job_due ON job (run_at);

CREATE TABLE idempotency (
	scope       TEXT NOT NULL,
	key         TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	resource_id TEXT NOT NULL,
	lease_until BIGINT NOT NULL,
	expires_at  BIGINT NOT NULL,
	status      BIGINT NOT NULL, -- 0: not answered yet
	body        TEXT NOT NULL,
	PRIMARY KEY (scope, key)
);
CREATE INDEX idempotency_age ON idempotency (expires_at);

CREATE TABLE watermark (
	name  TEXT PRIMARY KEY,
	at    BIGINT NOT NULL
);

CREATE TABLE signing_key (
	name    TEXT PRIMARY KEY,
	sealed  TEXT NOT NULL
);

-- +goose Down
DROP TABLE signing_key;
DROP TABLE watermark;
DROP TABLE idempotency;
DROP TABLE job;
DROP TABLE order_delivery;
DROP TABLE order_event;
DROP TABLE order_refund;
DROP TABLE store_order;
DROP TABLE processor_event;
DROP TABLE checkout_move;
DROP TABLE checkout_page;
DROP TABLE checkout_session;
