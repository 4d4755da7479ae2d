-- +goose Up

-- What each address of the x402 ledger holds, in atomic units of a token.
-- Addresses are lower case.
CREATE TABLE x402_accounts (
    asset      TEXT NOT NULL,
    address    TEXT NOT NULL,
    balance    BIGINT NOT NULL,
    created_at BIGINT NOT NULL, -- milliseconds
    PRIMARY KEY (asset, address)
);

-- An authorization is taken once: the primary key is the rule of the token.
CREATE TABLE x402_transfers (
    asset      TEXT NOT NULL,
    payer      TEXT NOT NULL,
    nonce      TEXT NOT NULL,
    network    TEXT NOT NULL,
    pay_to     TEXT NOT NULL,
    amount     BIGINT NOT NULL,
    tx         TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL, -- milliseconds
    PRIMARY KEY (asset, payer, nonce)
);
CREATE INDEX x402_transfers_by_payer ON x402_transfers (payer, created_at);
CREATE INDEX x402_transfers_by_receiver ON x402_transfers (pay_to, created_at);

-- +goose Down
DROP TABLE x402_transfers;
DROP TABLE x402_accounts;
