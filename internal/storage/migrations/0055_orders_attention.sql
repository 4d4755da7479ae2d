-- The orders that wait for a person are counted every few seconds.

-- +goose Up
CREATE INDEX store_order_attention ON store_order (status) WHERE status IN ('review', 'refund_due');

-- +goose Down
DROP INDEX store_order_attention;
