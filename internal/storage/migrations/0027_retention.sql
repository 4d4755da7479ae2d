-- Old rows are deleted in slices, oldest first: one index per rule.

-- +goose Up
CREATE INDEX checkout_session_unpaid ON checkout_session (updated_at, id)
	WHERE state IN ('creating', 'open', 'canceled', 'expired');
CREATE INDEX paid_order_payload ON paid_order (valid_before, id) WHERE payload <> '';
CREATE INDEX paid_order_idle ON paid_order (valid_before, id)
	WHERE state = 'released' AND run_attempts = 0 AND result_id = '';
CREATE INDEX paid_order_result ON paid_order (result_id) WHERE result_id <> '';
CREATE INDEX paid_order_superseded ON paid_order (superseded_by) WHERE superseded_by <> '';
CREATE INDEX paid_alias_order ON paid_alias (order_id);
CREATE INDEX sign_in_link_expires ON sign_in_link (expires_at);
CREATE INDEX console_session_expires ON console_session (expires_at);

-- +goose Down
DROP INDEX console_session_expires;
DROP INDEX sign_in_link_expires;
DROP INDEX paid_alias_order;
DROP INDEX paid_order_superseded;
DROP INDEX paid_order_result;
DROP INDEX paid_order_idle;
DROP INDEX paid_order_payload;
DROP INDEX checkout_session_unpaid;
