-- +goose Up

-- Every object of the processor's API: the JSON that is answered, and beside
-- it what objects are searched by.
CREATE TABLE objects (
    id         TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,   -- product, price, checkout.session, …
    seq        BIGINT NOT NULL, -- order of creation; lists run from the newest
    created_at BIGINT NOT NULL, -- milliseconds of the sandbox clock
    status     TEXT NOT NULL,
    link       TEXT NOT NULL,   -- the object that this one belongs to, or ''
    unique_key TEXT,            -- lookup key of a price; session of a payment intent; payment intent of a charge
    due_at     BIGINT,          -- when the clock has to act on the object
    doc        TEXT NOT NULL,
    private    TEXT NOT NULL    -- what the API never shows; never a card number
);
-- One lookup key names one price, one session has one payment intent, and one
-- payment intent has one charge: the last line of defence of the money rules.
CREATE UNIQUE INDEX objects_unique_key ON objects (kind, unique_key);
CREATE INDEX objects_in_order ON objects (kind, seq);
CREATE INDEX objects_by_link ON objects (kind, link, seq);
CREATE INDEX objects_due ON objects (due_at);

-- One row per event and endpoint.
CREATE TABLE deliveries (
    event_id    TEXT NOT NULL,
    endpoint_id TEXT NOT NULL,
    seq         BIGINT NOT NULL,
    state       TEXT NOT NULL, -- pending, held, delivered, dropped, given_up
    attempts    BIGINT NOT NULL,
    copies      BIGINT NOT NULL, -- 2 when a fault asks for a duplicate
    next_at     BIGINT, -- milliseconds of the sandbox clock; only while pending
    last_status BIGINT NOT NULL, -- HTTP status of the last attempt; 0: no answer
    PRIMARY KEY (event_id, endpoint_id)
);
CREATE INDEX deliveries_due ON deliveries (state, next_at);

CREATE TABLE idempotency (
    key         TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    status      BIGINT NOT NULL,
    body        TEXT NOT NULL,
    request_id  TEXT NOT NULL,
    created_at  BIGINT NOT NULL -- milliseconds of the sandbox clock
);

CREATE INDEX idempotency_by_age ON idempotency (created_at);

CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- +goose Down
DROP TABLE settings;
DROP TABLE idempotency;
DROP TABLE deliveries;
DROP TABLE objects;
