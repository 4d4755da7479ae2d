-- Where sign-ins of an account may send browsers afterwards.

-- +goose Up
ALTER TABLE account ADD COLUMN redirect_urls TEXT NOT NULL DEFAULT '[]'; -- JSON; empty: anywhere

-- +goose Down
ALTER TABLE account DROP COLUMN redirect_urls;
