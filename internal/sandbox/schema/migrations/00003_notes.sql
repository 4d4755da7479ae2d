-- +goose Up

-- The demo app "Notes": people, what they allowed, and their notes. Secrets
-- stand here as digests.
CREATE TABLE notes_client (
    id         TEXT PRIMARY KEY,
    digest     TEXT NOT NULL,     -- of the secret; empty: a public client
    name       TEXT NOT NULL,
    redirects  TEXT NOT NULL,     -- JSON; empty list: any address
    created_at BIGINT NOT NULL
);

CREATE TABLE notes_code (
    digest     TEXT PRIMARY KEY,
    client_id  TEXT NOT NULL,
    person     TEXT NOT NULL,
    redirect   TEXT NOT NULL,
    challenge  TEXT NOT NULL,
    scope      TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE TABLE notes_grant (
    id             TEXT PRIMARY KEY,
    client_id      TEXT NOT NULL,
    person         TEXT NOT NULL,
    scope          TEXT NOT NULL,
    access         TEXT NOT NULL UNIQUE,
    refresh        TEXT NOT NULL UNIQUE,
    spent          TEXT NOT NULL,   -- the refresh token before; using it again ends the grant
    access_until   BIGINT NOT NULL,
    refreshes      BIGINT NOT NULL,
    created_at     BIGINT NOT NULL
);
CREATE INDEX notes_grant_spent ON notes_grant (spent);

CREATE TABLE notes_key (
    digest     TEXT PRIMARY KEY,
    person     TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE notes_note (
    id         TEXT PRIMARY KEY,
    seq        BIGINT NOT NULL UNIQUE,
    person     TEXT NOT NULL,
    title      TEXT NOT NULL,
    body       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX notes_note_person ON notes_note (person, seq);

CREATE TABLE notes_hook (
    id         TEXT PRIMARY KEY,
    person     TEXT NOT NULL,
    url        TEXT NOT NULL,
    secret     TEXT NOT NULL,
    events     TEXT NOT NULL,       -- JSON
    created_at BIGINT NOT NULL
);

CREATE TABLE notes_delivery (
    id         TEXT PRIMARY KEY,
    hook_id    TEXT NOT NULL REFERENCES notes_hook (id) ON DELETE CASCADE,
    event      TEXT NOT NULL,
    body       TEXT NOT NULL,
    attempts   BIGINT NOT NULL,
    due_at     BIGINT NOT NULL
);

-- +goose Down
DROP TABLE notes_delivery;
DROP TABLE notes_hook;
DROP TABLE notes_note;
DROP TABLE notes_key;
DROP TABLE notes_grant;
DROP TABLE notes_code;
DROP TABLE notes_client;
