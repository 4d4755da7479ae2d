-- States are spelled "canceled" everywhere.

-- +goose Up
UPDATE connect_session SET status = 'canceled' WHERE status = 'cancelled';
UPDATE tool_run SET status = 'canceled' WHERE status = 'cancelled';

-- +goose Down
UPDATE connect_session SET status = 'cancelled' WHERE status = 'canceled';
UPDATE tool_run SET status = 'cancelled' WHERE status = 'canceled';
