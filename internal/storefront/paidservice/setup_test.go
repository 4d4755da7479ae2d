package paidservice_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/storage"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/paidservice/paidservicetest"
)

// world is everything around the services: one database, one chain, one
// facilitator, and any number of replicas.
type world struct {
	t       *testing.T
	store   storage.Paid
	ledger  *paidservicetest.Ledger
	runner  *paidservicetest.Runner
	sealer  *seal.Sealer
	log     *safeBuffer
	chain   bool // replicas can ask the chain
	options paidservice.Options
	prices  map[string]string
	all     []*replica
}

type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// replica is one process that sells.
type replica struct {
	*paidservice.Service
	w    *world
	dead atomic.Bool
	mu   sync.Mutex
	step func(name string)
}

var errDead = errors.New("the process is dead")

// Each call of a dead process fails: nothing of it reaches the database or the
// facilitator any more.
type (
	mortalStore struct {
		paidservicetest.Store
		r *replica
	}
	mortalFacilitator struct {
		paidservice.Facilitator
		r *replica
	}
)

func (m mortalStore) Insert(ctx context.Context, c paidservice.Change, check func(paidservice.Holds) error) error {
	if m.r.dead.Load() {
		return errDead
	}
	return m.Store.Insert(ctx, c, check)
}

func (m mortalStore) Save(ctx context.Context, c paidservice.Change, check func(paidservice.Holds) error) error {
	if m.r.dead.Load() {
		return errDead
	}
	return m.Store.Save(ctx, c, check)
}

func (m mortalStore) Order(ctx context.Context, id string) (*paidservice.Order, error) {
	if m.r.dead.Load() {
		return nil, errDead
	}
	return m.Store.Order(ctx, id)
}

func (m mortalStore) Beat(ctx context.Context, id string, lease paidservice.Lease,
	p paidservice.Progress,
) (bool, error) {
	if m.r.dead.Load() {
		return false, errDead
	}
	return m.Store.Beat(ctx, id, lease, p)
}

func (m mortalFacilitator) Settle(ctx context.Context, p *x402.PaymentPayload,
	terms x402.PaymentRequirements,
) (x402.SettleResponse, error) {
	if m.r.dead.Load() {
		return x402.SettleResponse{}, errDead
	}
	m.r.mustBeOnRecord(ctx, p)
	return m.Facilitator.Settle(ctx, p, terms)
}

// mustBeOnRecord checks that settling was on record before the first byte goes
// to the facilitator.
func (r *replica) mustBeOnRecord(ctx context.Context, p *x402.PaymentPayload) {
	k := p.Key()
	o, err := r.w.store.Find(context.WithoutCancel(ctx),
		paidservice.Authorization{Network: k.Network, Asset: k.Asset, Payer: k.Payer, Nonce: k.Nonce})
	if err != nil || o.State != paidservice.Settling {
		r.w.t.Errorf("the facilitator is asked to settle an order that is %+v, %v on record", o, err)
	}
}

func newWorld(t *testing.T, dsn string) *world {
	t.Helper()
	db, err := sqldb.Open(t.Context(), dsn, &sqldb.Options{MaxConns: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	box, err := seal.New(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	n := paidservicetest.Network()
	return &world{
		t: t, store: storage.Paid{Store: storage.New(db, nil)}, ledger: paidservicetest.NewLedger(n.ID, n.Asset),
		runner: &paidservicetest.Runner{}, sealer: box, log: &safeBuffer{},
		options: paidservice.Options{
			BaseURL: "https://store.example", Name: "Test Store", Mode: "facilitator",
			Poll: 5 * time.Millisecond, SettleBudget: 4 * time.Second, RunWait: 10 * time.Second,
			Slack: 200 * time.Millisecond,
		},
	}
}

// onBoth runs a test on each engine.
func onBoth(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t, address(t)))
		})
	}
}

// open starts a replica.
func (w *world) open() *replica {
	w.t.Helper()
	r := &replica{w: w}
	definitions := paidservice.Definitions()
	for i := range definitions {
		definitions[i].Runner, definitions[i].InputSchema = w.runner, json.RawMessage(`{"type":"object"}`)
		if price, ok := w.prices[definitions[i].ID]; ok {
			definitions[i].Price = price
		}
	}
	store := mortalStore{w.store, r}
	options := w.options
	options.Step = r.at
	deps := paidservice.Deps{
		Definitions: definitions, Networks: []paidservice.Network{paidservicetest.Network()},
		Facilitator: mortalFacilitator{w.ledger, r},
		Store:       store, Results: store, Prices: store, Vault: w.sealer,
		Log: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if w.chain {
		deps.Prover = paidservicetest.Chain{Ledger: w.ledger}
	}
	r.Service = paidservice.New(deps, options)
	if err := r.Open(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(r.Close)
	w.all = append(w.all, r)
	return r
}

func (r *replica) at(name string) {
	r.mu.Lock()
	step := r.step
	r.mu.Unlock()
	if step != nil {
		step(name)
	}
	if r.dead.Load() {
		runtime.Goexit()
	}
}

// dieAt kills the replica at a step: a goroutine that gets there goes no further, and
// nothing of the process reaches the outside any more.
func (r *replica) dieAt(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.step = func(at string) {
		if at == name {
			r.dead.Store(true)
		}
	}
}

// payer is an account with money.
type payer struct {
	w   *world
	key evm.Key
}

func (w *world) payer(balance int64) *payer {
	w.t.Helper()
	key, err := evm.NewKey()
	if err != nil {
		w.t.Fatal(err)
	}
	w.ledger.Fund(key.Address().String(), balance)
	return &payer{w, key}
}

func (p *payer) address() string { return strings.ToLower(p.key.Address().String()) }

// sign pays a quote.
func (p *payer) sign(q *x402.PaymentRequired) *x402.PaymentPayload {
	p.w.t.Helper()
	payment, err := p.key.Pay(q.Accepts[0], &q.Resource, time.Now())
	if err != nil {
		p.w.t.Fatal(err)
	}
	return payment
}

const site = `{"url":"https://site.example"}`

func audit(payment *x402.PaymentPayload) paidservice.Call {
	return paidservice.Call{
		Service: paidservice.AISearchAudit, Arguments: []byte(site), Payment: payment,
		Transport: paidservice.HTTP,
	}
}

// buy signs a payment for an audit.
func (r *replica) buy(p *payer) *x402.PaymentPayload {
	r.w.t.Helper()
	out := r.run(audit(nil))
	if out.Status != paidservice.StatusDue {
		r.w.t.Fatalf("a call without a payment = %s, want a quote", out.Status)
	}
	return p.sign(out.Quote)
}

// run calls the service and expects an outcome.
func (r *replica) run(call paidservice.Call) *paidservice.Outcome {
	r.w.t.Helper()
	out, err := r.Run(r.w.t.Context(), call)
	if err != nil {
		r.w.t.Fatalf("Run = %v", err)
	}
	r.w.honest(call, out)
	return out
}

// try is run in a goroutine of its own: nil if the process died.
func (r *replica) try(call paidservice.Call) (out *paidservice.Outcome, err error) {
	done := make(chan struct{})
	err = errDead
	go func() {
		defer close(done)
		o, e := r.Run(r.w.t.Context(), call)
		out, err = o, e
	}()
	<-done
	if err == nil {
		r.w.honest(call, out)
	}
	return out, err
}

// honest checks what holds for every response: work leaves only for money that
// really arrived, and nobody is asked to sign while the money may have moved.
func (w *world) honest(call paidservice.Call, out *paidservice.Outcome) {
	w.t.Helper()
	if out.Work != nil && !slices.ContainsFunc(w.ledger.Received(),
		func(t paidservicetest.Transfer) bool { return t.Nonce == out.Order.Auth.Nonce }) {
		w.t.Errorf("work was handed out in the state %s, and no money arrived", out.Order.State)
	}
	if out.Work != nil && !out.Order.State.Paid() {
		w.t.Errorf("work was handed out in the state %s", out.Order.State)
	}
	if out.Status == paidservice.StatusDue && out.Order != nil && out.Order.State.MayBePaid() {
		w.t.Errorf("a payment was asked for in the state %s", out.Order.State)
	}
	if out.Status == paidservice.StatusDue && call.Payment != nil && slices.ContainsFunc(w.ledger.Received(),
		func(t paidservicetest.Transfer) bool { return t.Nonce == call.Payment.Key().Nonce }) {
		w.t.Errorf("a payment was asked for (%s) although the first one has arrived", out.Quote.Error)
	}
}

// order reads the order of a payment as it is kept.
func (w *world) order(p *x402.PaymentPayload) *paidservice.Order {
	w.t.Helper()
	k := p.Key()
	o, err := w.store.Find(w.t.Context(),
		paidservice.Authorization{Network: k.Network, Asset: k.Asset, Payer: k.Payer, Nonce: k.Nonce})
	if err != nil {
		w.t.Fatal(err)
	}
	return o
}

// wantState checks the kept order, and that its trail holds allowed moves only.
func (w *world) wantState(p *x402.PaymentPayload, want paidservice.State) *paidservice.Order {
	w.t.Helper()
	o := w.order(p)
	if o.State != want {
		w.t.Errorf("the order is %s (%s), want %s; trail:\n%s", o.State, o.Reason, want, w.trail(o.ID))
	}
	w.checkTrail(o.ID)
	return o
}

func (w *world) moves(id string) []paidservice.Move {
	w.t.Helper()
	moves, err := w.store.Moves(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return moves
}

func (w *world) trail(id string) string {
	var b strings.Builder
	for _, m := range w.moves(id) {
		b.WriteString("  " + string(m.Before) + " -> " + string(m.After) + ": " + m.Evidence + "\n")
	}
	return b.String()
}

func (w *world) checkTrail(id string) {
	w.t.Helper()
	state, runs := paidservice.State(""), 0
	for i, m := range w.moves(id) {
		allowed := i == 0 && m.After == paidservice.Reserved || m.Before == m.After || slices.Contains(m.Before.Moves(),
			m.After)
		if m.Before != state || !allowed || m.Version != int64(i+1) {
			w.t.Errorf("line %d of the trail of %s is %+v after %q", i+1, id, m, state)
		}
		state = m.After
		if m.After == paidservice.Ran {
			runs++
		}
	}
	if runs > 1 {
		w.t.Errorf("the work of %s was sealed %d times:\n%s", id, runs, w.trail(id))
	}
}

// received checks how often a payer has paid.
func (w *world) received(p *payer, want int) {
	w.t.Helper()
	n := 0
	for _, transfer := range w.ledger.Received() {
		if transfer.Payer == p.address() {
			n++
		}
	}
	if n != want {
		w.t.Errorf("%d payments of %s arrived, want %d", n, p.address(), want)
	}
}

// tend runs the jobs of an order as if their time had come.
func (r *replica) tend(p *x402.PaymentPayload) {
	r.w.t.Helper()
	id := r.w.order(p).ID
	err := r.Handlers()[paidservice.JobTend].Run(r.w.t.Context(), jobs.Job{Kind: paidservice.JobTend, Ref: id})
	if err != nil && !strings.HasPrefix(err.Error(), "again at ") {
		r.w.t.Fatalf("tending %s: %v", id, err)
	}
}

// quiet fails if a signature is in the log.
func (w *world) quiet(payments ...*x402.PaymentPayload) {
	w.t.Helper()
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	for _, p := range payments {
		if strings.Contains(w.log.String(), strings.TrimPrefix(p.Signature, "0x")) {
			w.t.Error("a signature is in the log")
		}
	}
}
