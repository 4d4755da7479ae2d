package paidservice

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/seal"
	"ace/internal/protocol/x402"
)

// Facilitator verifies and settles payments. A refusal is a response, not an
// error. An error says nothing about the outcome, unless it is ErrNotSent.
type Facilitator interface {
	// Verify asks whether a payment could be settled now. It moves nothing.
	Verify(ctx context.Context, payment *x402.PaymentPayload, terms x402.PaymentRequirements) (x402.VerifyResponse,
		error)
	// Settle moves the money. Repeating it with the same payment never moves it
	// twice.
	Settle(ctx context.Context, payment *x402.PaymentPayload, terms x402.PaymentRequirements) (x402.SettleResponse,
		error)
	// Supported returns which schemes and networks are settled.
	Supported(ctx context.Context) (x402.SupportedResponse, error)
}

// ErrNotSent says that a call did not reach the facilitator, or was refused by
// it before it did anything: it may be repeated without doubt.
var ErrNotSent = errors.New("the facilitator was not reached")

// Prover reads from a chain what became of an authorization, no matter who
// submitted it. Errors say nothing about the outcome.
type Prover interface {
	// Head returns the number of the newest block of a network.
	Head(ctx context.Context, network string) (int64, error)
	// Find returns what the chain holds. from is the block to look from; 0: as far
	// back as the network reports.
	Find(ctx context.Context, auth Authorization, from int64) (Proof, error)
	// CheckAsset compares the token on the chain with the terms: that it is
	// there, its name, version and decimals. It returns a plain error that says
	// what differs, for the operator.
	CheckAsset(ctx context.Context, terms x402.PaymentRequirements, decimals int) error
}

// Proof is what a chain records about an authorization.
type Proof struct {
	Verdict Verdict
	Tx      string // that used or canceled it
	Block   int64
	Final   bool // no reorganization takes it back
}

// Verdict is the short form of a proof.
type Verdict string

// The verdicts.
const (
	ProofOpen Verdict = "open" // not used yet; it still can be
	ProofPaid Verdict = "paid" // used, and the amount went to the right address
	ProofVoid Verdict = "void" // canceled, used otherwise, or expired for good
)

// Runner does the work of one service.
type Runner interface {
	// Check refuses arguments that can never be run, with a problem of kind
	// Invalid. It is asked before a payment is looked at.
	Check(arguments json.RawMessage) error
	// Run does the work until ctx ends. It reports progress as often as it likes.
	// A problem is shown to the caller; nothing is charged for an error.
	Run(ctx context.Context, arguments json.RawMessage, progress func(Progress)) (*Work, error)
}

// Work is what a run makes.
type Work struct {
	Report json.RawMessage // a JSON object
	Files  []File
}

// File is one file of a work. Names are unique in a work.
type File struct {
	Name, MediaType string
	Data            []byte
}

// Vault seals what is kept. *seal.Box is one.
type Vault interface {
	// Seal encrypts plain for its place.
	Seal(plain []byte, at seal.Place) (string, error)
	// Open decrypts what Seal returned for the same place.
	Open(text string, at seal.Place) ([]byte, error)
}

// Store keeps orders. Each method is one transaction. A missing order is
// service_order_not_found (NotFound).
type Store interface {
	// Order returns an order by id.
	Order(ctx context.Context, id string) (*Order, error)
	// Find returns the order of an authorization.
	Find(ctx context.Context, auth Authorization) (*Order, error)
	// Aliased returns the order that a payer named.
	Aliased(ctx context.Context, alias Alias) (*Order, error)
	// SealedFor returns the youngest order with work that was sealed since then
	// for this payer and request, is not paid, and is not superseded.
	SealedFor(ctx context.Context, payer, fingerprint string, since time.Time) (*Order, error)
	// Insert keeps a new order with what goes with it. It returns ErrExists if
	// there is one for the authorization or an alias, and ErrVersion if the
	// superseded order has changed. check is called inside the transaction and
	// ends it with its error.
	Insert(ctx context.Context, c Change, check func(Holds) error) error
	// Save keeps a changed order with what goes with it. It returns ErrVersion
	// and changes nothing unless the kept order has the state Change.From and
	// the version Order.Version. check as for Insert; it may be nil.
	Save(ctx context.Context, c Change, check func(Holds) error) error
	// Beat extends the lease of a running order and notes how far it is. It
	// reports whether owner still holds it.
	Beat(ctx context.Context, id string, lease Lease, p Progress) (bool, error)
	// TxUsed reports whether another order was settled by this transaction.
	TxUsed(ctx context.Context, network, tx, exceptID string) (bool, error)
}

// Results keeps sealed work. Work that is gone is service_result_expired
// (Gone).
type Results interface {
	// Work returns a whole work.
	Work(ctx context.Context, id string) (*Work, error)
	// File returns one file of it. It returns service_file_not_found (NotFound).
	File(ctx context.Context, id, name string) (*File, error)
}

// Prices keeps which prices were current when.
type Prices interface {
	// Prices returns the versions of a service's price, the newest first.
	Prices(ctx context.Context, service string) ([]Price, error)
	// AddPrice keeps a version. It returns ErrExists if the version is there.
	AddPrice(ctx context.Context, p Price) error
}

// Ledger lets operators look at orders.
type Ledger interface {
	// Orders returns orders, the youngest first, beginning after the one whose id
	// is before.
	Orders(ctx context.Context, f Filter, before string, limit int) ([]*Order, error)
	// Moves returns the audit trail of an order, the oldest line first.
	Moves(ctx context.Context, orderID string) ([]Move, error)
}

// Filter chooses orders.
type Filter struct {
	Attention bool  // only those that a person has to look at
	State     State // empty: all
}

// Move is one line of an audit trail: each change of an order, also one that
// left the state as it was.
type Move struct {
	Version       int64
	At            time.Time
	Evidence      string
	Before, After State
}

// Errors of a Store that the service handles itself.
var (
	ErrExists  = errors.New("there is such an order")
	ErrVersion = errors.New("the order was changed meanwhile")
)

// Change is what one transaction writes.
type Change struct {
	Order    *Order // Version is the one that was read
	From     State  // the kept state; ignored by Insert
	Evidence string // why, for the audit trail
	Aliases  []Alias
	// Supersede is an order, as it was read, that this one takes the place of.
	Supersede  *Order
	Work       *Work // kept under Order.ResultID
	Schedule   []jobs.Job
	Unschedule []jobs.Job
}

// Alias is a name that a payer gave to a request, besides the authorization.
// It stands for one order of this payer and service.
type Alias struct {
	Service, Payer string
	Kind           AliasKind
	Value          string
}

// AliasKind says where an alias comes from.
type AliasKind string

// The kinds of aliases.
const (
	AliasPaymentID      AliasKind = "payment-identifier" // the x402 extension
	AliasIdempotencyKey AliasKind = "idempotency-key"    // the HTTP header
)

// Holds counts what a payer has going on, other than the order in question.
type Holds struct {
	Running int // orders that are reserved or running
	Sealed  int // distinct unpaid works of the last day
}
