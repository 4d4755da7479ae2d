-- Which events of a trigger are posted.

-- +goose Up
ALTER TABLE app_trigger ADD COLUMN filter TEXT NOT NULL DEFAULT ''; -- in the Common Expression Language; empty: all

-- +goose Down
ALTER TABLE app_trigger DROP COLUMN filter;
