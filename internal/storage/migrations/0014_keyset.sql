-- The keys that secrets are sealed with, themselves sealed by the
-- key-encryption key; and which replicas have read them.

-- +goose Up
CREATE TABLE keyset (
	id         TEXT PRIMARY KEY,
	revision   BIGINT NOT NULL,
	wrapped    TEXT NOT NULL,     -- by the key-encryption key
	kek        TEXT NOT NULL,     -- its name, no secret
	primary_id TEXT NOT NULL,     -- a hint: what is wrapped decides
	canary     TEXT NOT NULL,     -- sealed
	idle_since BIGINT NOT NULL,   -- when nothing was left under older keys; 0: something is
	updated_at BIGINT NOT NULL
);

CREATE TABLE keyset_replica (
	id       TEXT PRIMARY KEY,
	revision BIGINT NOT NULL,     -- of the keyset that it uses
	seen_at  BIGINT NOT NULL
);

-- +goose Down
DROP TABLE keyset_replica;
DROP TABLE keyset;
