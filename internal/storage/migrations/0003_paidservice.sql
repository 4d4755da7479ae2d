-- Orders of paid services. Addresses are lower case; payload holds a sealed
-- payment until it is spent or can no longer be.

-- +goose Up
CREATE TABLE paid_order (
	id              TEXT PRIMARY KEY,
	service         TEXT NOT NULL,
	price_version   BIGINT NOT NULL,
	network         TEXT NOT NULL,
	asset           TEXT NOT NULL,
	payer           TEXT NOT NULL,
	nonce           TEXT NOT NULL,
	pay_to          TEXT NOT NULL,
	amount          TEXT NOT NULL,
	valid_before    BIGINT NOT NULL, -- Unix seconds, as the token counts
	fingerprint     TEXT NOT NULL,
	state           TEXT NOT NULL,
	version         BIGINT NOT NULL,
	transport       TEXT NOT NULL,
	arguments       TEXT NOT NULL,   -- JSON
	payload         TEXT NOT NULL,   -- sealed
	signature_sum   TEXT NOT NULL,
	head            BIGINT NOT NULL,
	lease_owner     TEXT NOT NULL,
	lease_until     BIGINT NOT NULL,
	stage           TEXT NOT NULL,
	done            BIGINT NOT NULL,
	total           BIGINT NOT NULL,
	run_attempts    BIGINT NOT NULL,
	settle_attempts BIGINT NOT NULL,
	doubt_at        BIGINT NOT NULL,
	result_id       TEXT NOT NULL,
	result_sum      TEXT NOT NULL,
	tx              TEXT NOT NULL,
	settlement      TEXT NOT NULL,   -- JSON, or empty
	reason          TEXT NOT NULL,
	detail          TEXT NOT NULL,
	attention       TEXT NOT NULL,
	superseded_by   TEXT NOT NULL,
	created_at      BIGINT NOT NULL,
	updated_at      BIGINT NOT NULL,
	sealed_at       BIGINT NOT NULL,
	settled_at      BIGINT NOT NULL,
	delivered_at    BIGINT NOT NULL,
	final_at        BIGINT NOT NULL,
	UNIQUE (network, asset, payer, nonce)
);
CREATE INDEX paid_order_payer ON paid_order (payer, created_at);
CREATE INDEX paid_order_tx ON paid_order (tx);
CREATE INDEX paid_order_age ON paid_order (created_at, id);

CREATE TABLE paid_alias (
	service   TEXT NOT NULL,
	payer     TEXT NOT NULL,
	kind      TEXT NOT NULL,
	value     TEXT NOT NULL,
	order_id  TEXT NOT NULL REFERENCES paid_order (id),
	PRIMARY KEY (service, payer, kind, value)
);

CREATE TABLE paid_move (         -- the audit trail
	order_id  TEXT NOT NULL REFERENCES paid_order (id),
	version   BIGINT NOT NULL,
	at        BIGINT NOT NULL,
	evidence  TEXT NOT NULL,
	before    TEXT NOT NULL,
	after     TEXT NOT NULL,
	PRIMARY KEY (order_id, version)
);

CREATE TABLE paid_result (
	id          TEXT PRIMARY KEY,
	report      TEXT NOT NULL,   -- JSON
	created_at  BIGINT NOT NULL
);
CREATE INDEX paid_result_age ON paid_result (created_at);

CREATE TABLE paid_file (
	result_id   TEXT NOT NULL REFERENCES paid_result (id) ON DELETE CASCADE,
	position    BIGINT NOT NULL,
	name        TEXT NOT NULL,
	media_type  TEXT NOT NULL,
	data        TEXT NOT NULL,   -- base64
	PRIMARY KEY (result_id, name)
);

CREATE TABLE paid_price (
	service  TEXT NOT NULL,
	version  BIGINT NOT NULL,
	terms    TEXT NOT NULL,      -- JSON
	since    BIGINT NOT NULL,
	PRIMARY KEY (service, version)
);

-- +goose Down
DROP TABLE paid_price;
DROP TABLE paid_file;
DROP TABLE paid_result;
DROP TABLE paid_move;
DROP TABLE paid_alias;
DROP TABLE paid_order;
