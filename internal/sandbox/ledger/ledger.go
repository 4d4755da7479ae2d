package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/sqldb"
	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/sandbox/schema"
)

// Gift is what a payer has who is seen for the first time, in atomic units of
// six decimals: 5.00. The faucet gives as much again.
const Gift = 5_000_000

// maxBalance is where the faucet stops: 1,000.00.
const maxBalance = 1_000_000_000

// margin is how long an authorization has to be valid still, as the client
// libraries' facilitator has it: three blocks of two seconds.
const margin = 6 * time.Second

// Options tunes a Ledger; the zero value is one for development.
type Options struct {
	// Logger takes reports of internal faults. Nil: nothing is logged.
	Logger *slog.Logger
	// Tokens are what is paid with. Empty: the development token alone. Give no
	// token of a chain that exists, except to replay recorded payments.
	Tokens []evm.Token
}

// Ledger keeps balances of tokens that are worth nothing. It is safe for
// concurrent use.
type Ledger struct {
	db     *sqldb.DB
	log    *slog.Logger
	tokens []evm.Token
}

// Open brings the sandbox's schema up to date and returns the ledger in it.
func Open(ctx context.Context, db *sqldb.DB, opts *Options) (*Ledger, error) {
	if opts == nil {
		opts = &Options{}
	}
	l := &Ledger{db: db, log: opts.Logger, tokens: slices.Clone(opts.Tokens)}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if len(l.tokens) == 0 {
		l.tokens = []evm.Token{evm.DevToken()}
	}
	if err := schema.Apply(ctx, db); err != nil {
		return nil, err
	}
	return l, nil
}

// Transfer is one payment that was settled.
type Transfer struct {
	Tx, Network, Asset, Payer, PayTo, Nonce string // lower case
	Amount                                  int64  // atomic units
	At                                      time.Time
}

// token returns the token that terms are paid with.
func (l *Ledger) token(terms x402.PaymentRequirements) (evm.Token, bool) {
	i := slices.IndexFunc(l.tokens, func(t evm.Token) bool {
		return t.Network == terms.Network && strings.EqualFold(t.Asset, terms.Asset)
	})
	if i < 0 {
		return evm.Token{}, false
	}
	return l.tokens[i], true
}

// check checks what needs no balance. It returns the first error, in the order
// of the client libraries' facilitator.
func (l *Ledger) check(r *x402.FacilitatorRequest) x402.Reason {
	terms := r.Requirements
	if terms.Scheme != x402.SchemeExact {
		return x402.ReasonUnsupportedScheme
	}
	if !slices.ContainsFunc(l.tokens, func(t evm.Token) bool { return t.Network == terms.Network }) {
		return "invalid_network"
	}
	token, ok := l.token(terms)
	if !ok {
		return "asset_not_deployed_contract"
	}
	name, version := terms.Domain()
	switch {
	case name == "" || version == "":
		return x402.ReasonMissingDomain
	case name != token.Name:
		return "invalid_exact_evm_token_name_mismatch"
	case version != token.Version:
		return "invalid_exact_evm_token_version_mismatch"
	case !evm.Signed(r.Payload, terms):
		return x402.ReasonSignature // the ledger has no contracts, so no contract wallets
	}
	return evm.Check(r.Payload, terms, time.Now(), margin)
}

// amount reads the value of a payment; ok is false for one that nobody can
// have.
func amount(p *x402.PaymentPayload) (n int64, ok bool) {
	value, err := x402.ParseAmount(p.Authorization.Value)
	if err != nil || value.Cmp(big.NewInt(maxBalance*1000)) > 0 {
		return 0, false
	}
	return value.Int64(), true
}

// Verify says whether a payment could be settled now. It changes nothing.
func (l *Ledger) Verify(ctx context.Context, r *x402.FacilitatorRequest) (x402.VerifyResponse, error) {
	payer := r.Payload.Authorization.From
	reason := l.check(r)
	if reason == "" {
		var err error
		if reason, err = l.cover(ctx, r.Payload); err != nil {
			return x402.VerifyResponse{}, err
		}
	}
	return x402.VerifyResponse{IsValid: reason == "", InvalidReason: reason, Payer: payer}, nil
}

// cover says whether the nonce is fresh and the payer has the money.
func (l *Ledger) cover(ctx context.Context, p *x402.PaymentPayload) (x402.Reason, error) {
	key := p.Key()
	_, err := find(ctx, l.db.Reader(), key)
	switch {
	case err == nil:
		return x402.ReasonNonceUsed, nil
	case !errors.Is(err, sql.ErrNoRows):
		return "", err
	}
	has, err := balance(ctx, l.db.Reader(), key.Asset, key.Payer)
	if err != nil {
		return "", err
	}
	if needs, ok := amount(p); !ok || needs > has {
		return x402.ReasonInsufficientBalance, nil
	}
	return "", nil
}

// Settle moves the money, in one transaction that no fault and no second
// process can split. The same authorization again gets the response of the first
// time; another one with its nonce is refused.
func (l *Ledger) Settle(ctx context.Context, r *x402.FacilitatorRequest) (x402.SettleResponse, error) {
	p, key := r.Payload, r.Payload.Key()
	done, err := find(ctx, l.db.Reader(), key)
	if errors.Is(err, sql.ErrNoRows) {
		if reason := l.check(r); reason != "" {
			return refused(r, reason), nil
		}
		var reason x402.Reason
		if done, reason, err = l.move(ctx, p); reason != "" {
			return refused(r, reason), nil
		}
	}
	if err != nil {
		return x402.SettleResponse{}, err
	}
	if !done.is(r) || !evm.Signed(p, r.Requirements) {
		return refused(r, x402.ReasonNonceUsed), nil
	}
	return x402.SettleResponse{
		Success: true, Transaction: done.Tx, Network: done.Network,
		Payer: p.Authorization.From,
	}, nil
}

// is reports whether a transfer did what the request asks for.
func (t Transfer) is(r *x402.FacilitatorRequest) bool {
	n, ok := amount(r.Payload)
	return ok && t.Amount == n && t.Network == r.Requirements.Network && strings.EqualFold(t.PayTo,
		r.Payload.Authorization.To) &&
		strings.EqualFold(t.PayTo, r.Requirements.PayTo) && r.Requirements.Amount == r.Payload.Authorization.Value
}

func refused(r *x402.FacilitatorRequest, reason x402.Reason) x402.SettleResponse {
	return x402.SettleResponse{
		ErrorReason: reason, Network: r.Requirements.Network,
		Payer: r.Payload.Authorization.From,
	}
}

// move spends the nonce and moves the money, or finds that it was done.
func (l *Ledger) move(ctx context.Context, p *x402.PaymentPayload) (done Transfer, reason x402.Reason, err error) {
	key := p.Key()
	n, ok := amount(p)
	if !ok {
		return Transfer{}, x402.ReasonInsufficientBalance, nil
	}
	err = l.db.Tx(ctx, func(tx *sql.Tx) error {
		reason = ""
		var err error
		if done, err = find(ctx, tx, key); !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		done = Transfer{
			Tx: txHash(key).String(), Network: key.Network, Asset: key.Asset, Payer: key.Payer,
			PayTo: strings.ToLower(p.Authorization.To),
			Nonce: key.Nonce, Amount: n, At: time.Now(),
		}
		has, err := balance(ctx, tx, key.Asset, key.Payer)
		if err != nil {
			return err
		}
		if n > has {
			reason = x402.ReasonInsufficientBalance
			return nil
		}
		return done.write(ctx, tx)
	})
	if err != nil {
		return Transfer{}, "", fmt.Errorf("settling %s: %w", p, err)
	}
	return done, reason, nil
}

// txHash stands for the transaction that a chain would have.
func txHash(k x402.Key) evm.Hash {
	return evm.Keccak([]byte("devtx"), []byte(k.Network), []byte(k.Asset), []byte(k.Payer), []byte(k.Nonce))
}

// Account is what an address holds and did.
type Account struct {
	Token     evm.Token
	Address   string // with its checksum
	Balance   int64  // atomic units
	Transfers []Transfer
}

// Account returns an address and its latest transfers of the first token. One
// that was never seen has the gift.
func (l *Ledger) Account(ctx context.Context, a evm.Address) (Account, error) {
	token, address := l.tokens[0], strings.ToLower(a.String())
	has, err := balance(ctx, l.db.Reader(), strings.ToLower(token.Asset), address)
	if err != nil {
		return Account{}, err
	}
	transfers, err := list(ctx, l.db.Reader(), address, 50)
	if err != nil {
		return Account{}, err
	}
	return Account{token, a.String(), has, transfers}, nil
}

// errFull says that the faucet gives nothing to an address that has enough.
var errFull = errors.New("this address has 1,000.00 already")

// Faucet gives an address 5.00 of the first token more.
func (l *Ledger) Faucet(ctx context.Context, a evm.Address) (Account, error) {
	asset, address := strings.ToLower(l.tokens[0].Asset), strings.ToLower(a.String())
	err := l.db.Tx(ctx, func(tx *sql.Tx) error {
		has, err := balance(ctx, tx, asset, address)
		if err != nil {
			return err
		}
		if has+Gift > maxBalance {
			return errFull
		}
		return credit(ctx, tx, asset, address, Gift, time.Now())
	})
	if errors.Is(err, errFull) {
		return Account{}, errFull
	}
	if err != nil {
		return Account{}, fmt.Errorf("giving money to %s: %w", a, err)
	}
	return l.Account(ctx, a)
}
