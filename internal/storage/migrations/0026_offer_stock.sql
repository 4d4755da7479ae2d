-- How many units of a counted offer are held by sessions that may still be paid,
-- and how many are sold. Each transaction that changes a session changes the row
-- of its offer, so that nothing has to be summed up.

-- +goose Up
CREATE TABLE offer_stock (
	offer_id  TEXT PRIMARY KEY,
	held      BIGINT NOT NULL, -- sessions that are creating, open or processing
	sold      BIGINT NOT NULL  -- sessions that are completed
);
INSERT INTO offer_stock (offer_id, held, sold)
	SELECT offer_id, SUM(CASE WHEN state = 'completed' THEN 0 ELSE quantity END),
		SUM(CASE WHEN state = 'completed' THEN quantity ELSE 0 END)
	FROM checkout_session WHERE counted AND state NOT IN ('canceled', 'expired') GROUP BY offer_id;

-- +goose Down
DROP TABLE offer_stock;
