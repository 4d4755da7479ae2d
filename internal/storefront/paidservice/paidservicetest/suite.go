package paidservicetest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/protocol/x402"
	"ace/internal/storefront/paidservice"
)

// Store is all that keeps what paid services need.
type Store interface {
	paidservice.Store
	paidservice.Results
	paidservice.Prices
}

// RunStore checks the promises of paidservice.Store, Results and Prices.
func RunStore(t *testing.T, newStore func(t *testing.T) Store) {
	t.Helper()
	tests := map[string]func(t *testing.T, s Store){
		"round trip": roundTrip, "one order per authorization": oneOrder, "save compares": saveCompares,
		"aliases":   aliases,
		"supersede": supersede, "sealed work": sealedWork, "holds": holds, "a refusal leaves nothing": refusal,
		"beat": beats,
		"work": work, "prices": prices, "transactions": transactions,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStore(t))
		})
	}
}

// NewOrder returns an order as it is when it was just reserved.
func NewOrder(payer string) *paidservice.Order {
	at := time.Now().UTC().Truncate(time.Millisecond)
	return &paidservice.Order{
		ID: typeid.New("svo"), Service: paidservice.AISearchAudit, PriceVersion: 3, Fingerprint: "f",
		State: paidservice.Reserved, Transport: paidservice.MCP,
		Auth: paidservice.Authorization{
			Network: "eip155:31337", Asset: "0xde", Payer: payer, Nonce: typeid.New("0x"), PayTo: "0xab",
			Amount: "100000", ValidBefore: at.Unix() + 300,
		},
		Arguments: json.RawMessage(`{"url":"https://ü.example"}`), Payload: "sealed", SignatureSum: "s", Head: 7,
		CreatedAt: at, UpdatedAt: at,
		Lease: paidservice.Lease{Owner: "run_1", Until: at.Add(time.Minute)},
	}
}

func insert(t *testing.T, s Store, o *paidservice.Order, c paidservice.Change) {
	t.Helper()
	c.Order = o
	if err := s.Insert(t.Context(), c, nil); err != nil {
		t.Fatalf("Insert = %v", err)
	}
	o.Version = 1
}

// save moves an order on.
func save(t *testing.T, s Store, o *paidservice.Order, to paidservice.State,
	change func(*paidservice.Order),
) *paidservice.Order {
	t.Helper()
	next := *o
	next.State = to
	if change != nil {
		change(&next)
	}
	if err := s.Save(t.Context(), paidservice.Change{Order: &next, From: o.State, Evidence: "test"}, nil); err != nil {
		t.Fatalf("Save = %v", err)
	}
	next.Version++
	return &next
}

func want(t *testing.T, s Store, o *paidservice.Order) {
	t.Helper()
	got, err := s.Order(t.Context(), o.ID)
	if err != nil {
		t.Fatalf("Order = %v", err)
	}
	if diff := cmp.Diff(o, got); diff != "" {
		t.Errorf("Order (-want +got):\n%s", diff)
	}
}

func roundTrip(t *testing.T, s Store) {
	o := NewOrder("0xa")
	insert(t, s, o, paidservice.Change{})
	want(t, s, o)
	at := o.CreatedAt
	o = save(t, s, o, paidservice.Delivered, func(o *paidservice.Order) {
		o.Progress, o.RunAttempts, o.SettleAttempts, o.DoubtAt = paidservice.Progress{
			Phase: "crawling", Done: 1,
			Total: 2,
		}, 4, 5, at
		o.ResultID, o.ResultSum, o.Tx, o.Settlement = "res_1", "sum", "0x1", json.RawMessage(`{"success":true}`)
		o.Reason, o.Detail, o.Attention, o.SupersededBy, o.Payload = "r", "d", "a", "svo_2", ""
		o.SealedAt, o.SettledAt, o.DeliveredAt, o.FinalAt = at, at, at, at
	})
	want(t, s, o)
	got, err := s.Find(t.Context(), paidservice.Authorization{
		Network: o.Auth.Network, Asset: o.Auth.Asset,
		Payer: o.Auth.Payer, Nonce: o.Auth.Nonce,
	})
	if err != nil || got.ID != o.ID {
		t.Errorf("Find = %v, %v", got, err)
	}
	for name, read := range map[string]func() (*paidservice.Order, error){
		"Order":     func() (*paidservice.Order, error) { return s.Order(t.Context(), "svo_none") },
		"Find":      func() (*paidservice.Order, error) { return s.Find(t.Context(), paidservice.Authorization{}) },
		"Aliased":   func() (*paidservice.Order, error) { return s.Aliased(t.Context(), paidservice.Alias{}) },
		"SealedFor": func() (*paidservice.Order, error) { return s.SealedFor(t.Context(), "0xnone", "f", time.Time{}) },
	} {
		if _, err := read(); !problem.Is(err, "service_order_not_found") {
			t.Errorf("%s of nothing = %v, want service_order_not_found", name, err)
		}
	}
}

func oneOrder(t *testing.T, s Store) {
	o := NewOrder("0xa")
	insert(t, s, o, paidservice.Change{})
	again := NewOrder("0xa")
	again.Auth.Nonce = o.Auth.Nonce
	if err := s.Insert(t.Context(), paidservice.Change{Order: again}, nil); !errors.Is(err, paidservice.ErrExists) {
		t.Errorf("second Insert = %v, want ErrExists", err)
	}
}

func saveCompares(t *testing.T, s Store) {
	o := NewOrder("0xa")
	insert(t, s, o, paidservice.Change{})
	next := save(t, s, o, paidservice.Running, nil)
	job := jobs.Job{Kind: "k", Ref: o.ID, RunAt: time.Now()}
	for name, c := range map[string]paidservice.Change{
		"an old version": {Order: o, From: paidservice.Running, Schedule: []jobs.Job{job}},
		"another state":  {Order: next, From: paidservice.Reserved, Schedule: []jobs.Job{job}},
	} {
		stale := *c.Order
		stale.State = paidservice.Released
		c.Order = &stale
		if err := s.Save(t.Context(), c, nil); !errors.Is(err, paidservice.ErrVersion) {
			t.Errorf("Save of %s = %v, want ErrVersion", name, err)
		}
	}
	want(t, s, next)
}

func aliases(t *testing.T, s Store) {
	first, second := NewOrder("0xa"), NewOrder("0xa")
	name := paidservice.Alias{Service: first.Service, Payer: "0xa", Kind: paidservice.AliasPaymentID, Value: "v"}
	insert(t, s, first, paidservice.Change{Aliases: []paidservice.Alias{name}})
	if got, err := s.Aliased(t.Context(), name); err != nil || got.ID != first.ID {
		t.Errorf("Aliased = %v, %v", got, err)
	}
	if err := s.Insert(t.Context(), paidservice.Change{Order: second, Aliases: []paidservice.Alias{name}},
		nil); !errors.Is(err, paidservice.ErrExists) {
		t.Errorf("Insert with a taken alias = %v, want ErrExists", err)
	}
	other := name
	other.Payer = "0xb"
	third := NewOrder("0xb")
	insert(t, s, third, paidservice.Change{Aliases: []paidservice.Alias{other}})
	// The same order may be given its alias again.
	next := *third
	if err := s.Save(t.Context(),
		paidservice.Change{Order: &next, From: third.State, Aliases: []paidservice.Alias{other}}, nil); err != nil {
		t.Errorf("Save with its own alias = %v", err)
	}
}

func supersede(t *testing.T, s Store) {
	name := paidservice.Alias{
		Service: paidservice.AISearchAudit, Payer: "0xa", Kind: paidservice.AliasIdempotencyKey,
		Value: "v",
	}
	old := NewOrder("0xa")
	insert(t, s, old, paidservice.Change{Aliases: []paidservice.Alias{name}})
	read := *old
	alive := save(t, s, old, paidservice.Released, nil)
	next := NewOrder("0xa")
	c := paidservice.Change{Order: next, Aliases: []paidservice.Alias{name}, Supersede: &read}
	if err := s.Insert(t.Context(), c, nil); !errors.Is(err, paidservice.ErrVersion) {
		t.Errorf("superseding an order that has changed = %v, want ErrVersion", err)
	}
	c.Supersede = alive
	insert(t, s, next, c)
	if got, err := s.Aliased(t.Context(), name); err != nil || got.ID != next.ID {
		t.Errorf("Aliased = %v, %v, want the new order", got, err)
	}
	got, err := s.Order(t.Context(), old.ID)
	if err != nil || got.SupersededBy != next.ID || got.State != paidservice.Released ||
		got.Version != alive.Version+1 {
		t.Errorf("the superseded order is %+v, %v", got, err)
	}
	if err := s.Save(t.Context(), paidservice.Change{Order: alive, From: paidservice.Released}, nil); !errors.Is(err,
		paidservice.ErrVersion) {
		t.Errorf("a superseded order came alive: %v", err)
	}
}

func sealedWork(t *testing.T, s Store) {
	at := time.Now().UTC().Truncate(time.Millisecond)
	o := NewOrder("0xa")
	insert(t, s, o, paidservice.Change{})
	o = save(t, s, o, paidservice.Ran, func(o *paidservice.Order) { o.ResultID, o.SealedAt = "res_1", at })
	find := func(since time.Time) string {
		got, err := s.SealedFor(t.Context(), "0xa", "f", since)
		if err != nil {
			return ""
		}
		return got.ID
	}
	if find(at) != o.ID || find(at.Add(time.Millisecond)) != "" {
		t.Error("SealedFor does not look at the time")
	}
	for _, state := range []paidservice.State{paidservice.Released, paidservice.Unpaid} {
		o = save(t, s, o, state, nil)
		if find(at) != o.ID {
			t.Errorf("work of an order that is %s is not found", state)
		}
	}
	for _, state := range []paidservice.State{
		paidservice.Settling, paidservice.Unknown, paidservice.Settled,
		paidservice.Final,
	} {
		o = save(t, s, o, state, nil)
		if find(at) != "" {
			t.Errorf("work of an order that is %s is for sale again", state)
		}
	}
}

func holds(t *testing.T, s Store) {
	sealed := func(id string) func(*paidservice.Order) {
		return func(o *paidservice.Order) { o.ResultID, o.SealedAt = id, o.UpdatedAt }
	}
	for i, state := range []paidservice.State{
		paidservice.Reserved, paidservice.Running, paidservice.Ran,
		paidservice.Released, paidservice.Unpaid, paidservice.Settled, paidservice.Unknown,
	} {
		o := NewOrder("0xa")
		insert(t, s, o, paidservice.Change{})
		change := sealed("res_" + string(rune('a'+i)))
		if state == paidservice.Reserved || state == paidservice.Running {
			change = nil
		}
		save(t, s, o, state, change)
	}
	insert(t, s, NewOrder("0xb"), paidservice.Change{})
	twin := NewOrder("0xa")
	insert(t, s, twin, paidservice.Change{})
	save(t, s, twin, paidservice.Unpaid, sealed("res_c")) // the same work again
	var got paidservice.Holds
	probe := NewOrder("0xa")
	err := s.Insert(t.Context(), paidservice.Change{Order: probe}, func(h paidservice.Holds) error {
		got = h
		return nil
	})
	if wanted := (paidservice.Holds{Running: 2, Sealed: 3}); err != nil || got != wanted {
		t.Errorf("holds = %+v, %v, want %+v", got, err, wanted)
	}
}

func refusal(t *testing.T, s Store) {
	o, no := NewOrder("0xa"), errors.New("no")
	if err := s.Insert(t.Context(), paidservice.Change{Order: o},
		func(paidservice.Holds) error { return no }); !errors.Is(err, no) {
		t.Fatalf("Insert = %v, want the refusal", err)
	}
	if _, err := s.Order(t.Context(), o.ID); !problem.Is(err, "service_order_not_found") {
		t.Errorf("a refused order was kept: %v", err)
	}
}

func beats(t *testing.T, s Store) {
	o := NewOrder("0xa")
	insert(t, s, o, paidservice.Change{})
	lease := paidservice.Lease{Owner: "run_1", Until: o.UpdatedAt.Add(time.Hour)}
	progress := paidservice.Progress{Phase: "crawling", Done: 2, Total: 9}
	if held, err := s.Beat(t.Context(), o.ID, lease, progress); err != nil || held {
		t.Errorf("Beat of an order that does not run = %v, %v", held, err)
	}
	o = save(t, s, o, paidservice.Running, nil)
	if held, err := s.Beat(t.Context(), o.ID, lease, progress); err != nil || !held {
		t.Errorf("Beat = %v, %v", held, err)
	}
	o.Lease, o.Progress = lease, progress
	want(t, s, o) // and the version is the same
	lease.Owner = "run_2"
	if held, err := s.Beat(t.Context(), o.ID, lease, progress); err != nil || held {
		t.Errorf("Beat of another owner = %v, %v", held, err)
	}
}

func work(t *testing.T, s Store) {
	w := &paidservice.Work{Report: json.RawMessage(`{"score":71,"url":"https://ü.example"}`), Files: []paidservice.File{
		{Name: "b.html", MediaType: "text/html", Data: []byte("<p>ü")}, {
			Name: "a.bin", MediaType: "application/zip",
			Data: []byte{0, 1, 2, 255},
		}, {Name: "empty", MediaType: "text/plain", Data: []byte{}},
	}}
	o := NewOrder("0xa")
	o.ResultID, o.SealedAt = "res_1", o.CreatedAt
	insert(t, s, o, paidservice.Change{Work: w})
	got, err := s.Work(t.Context(), "res_1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, got); diff != "" {
		t.Errorf("Work (-want +got):\n%s", diff)
	}
	if f, err := s.File(t.Context(), "res_1", "a.bin"); err != nil || len(f.Data) != 4 {
		t.Errorf("File = %v, %v", f, err)
	}
	if _, err := s.File(t.Context(), "res_1", "c"); !problem.Is(err, "service_file_not_found") {
		t.Errorf("File of another name = %v", err)
	}
	_, err = s.Work(t.Context(), "res_2")
	_, errFile := s.File(t.Context(), "res_2", "a.bin")
	if !problem.Is(err, "service_result_expired") || !problem.Is(errFile, "service_result_expired") {
		t.Errorf("work that is gone = %v, %v, want service_result_expired", err, errFile)
	}
}

func prices(t *testing.T, s Store) {
	at := time.Now().UTC().Truncate(time.Millisecond)
	price := func(version int64, amount string) paidservice.Price {
		return paidservice.Price{
			Service: "a", Version: version, Since: at,
			Terms: []x402.PaymentRequirements{{
				Scheme: "exact", Network: "eip155:1", Amount: amount,
				Extra: map[string]any{"name": "USDC"},
			}},
		}
	}
	for _, p := range []paidservice.Price{price(1, "5"), price(2, "6")} {
		if err := s.AddPrice(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddPrice(t.Context(), price(2, "7")); !errors.Is(err, paidservice.ErrExists) {
		t.Errorf("AddPrice of a taken version = %v, want ErrExists", err)
	}
	got, err := s.Prices(t.Context(), "a")
	if diff := cmp.Diff([]paidservice.Price{price(2, "6"), price(1, "5")}, got); err != nil || diff != "" {
		t.Errorf("Prices = %v (-want +got):\n%s", err, diff)
	}
	if none, err := s.Prices(t.Context(), "b"); err != nil || len(none) != 0 {
		t.Errorf("Prices of nothing = %v, %v", none, err)
	}
}

func transactions(t *testing.T, s Store) {
	o := NewOrder("0xa")
	insert(t, s, o, paidservice.Change{})
	used := func(network, tx, except string) bool {
		b, err := s.TxUsed(t.Context(), network, tx, except)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	o = save(t, s, o, paidservice.Unknown, func(o *paidservice.Order) { o.Tx = "0x1" })
	if used(o.Auth.Network, "0x1", "") {
		t.Error("a transaction that nobody vouches for is used")
	}
	o = save(t, s, o, paidservice.Settled, nil)
	if !used(o.Auth.Network, "0x1", "") || used("eip155:1", "0x1", "") || used(o.Auth.Network, "0x1", o.ID) ||
		used(o.Auth.Network, "0x2", "") {
		t.Error("TxUsed does not look at network, transaction and order")
	}
}

// FacilitatorWorld is a facilitator and what a test needs around it.
type FacilitatorWorld struct {
	paidservice.Facilitator
	// Terms that it settles.
	Terms x402.PaymentRequirements
	// Pay returns a payment of a payer who has enough money for ten.
	Pay func(t *testing.T) *x402.PaymentPayload
	// Poor returns a payment of a payer who has nothing.
	Poor func(t *testing.T) *x402.PaymentPayload
}

// RunFacilitator checks the promises of paidservice.Facilitator.
func RunFacilitator(t *testing.T, newWorld func(t *testing.T) *FacilitatorWorld) {
	t.Helper()
	tests := map[string]func(ctx context.Context, t *testing.T, w *FacilitatorWorld){
		"settles once": settlesOnce, "no money": noMoney, "a wrong signature": wrongSignature,
		"supported": supportedKinds,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t.Context(), t, newWorld(t))
		})
	}
}

func settlesOnce(ctx context.Context, t *testing.T, w *FacilitatorWorld) {
	p := w.Pay(t)
	if v, err := w.Verify(ctx, p, w.Terms); err != nil || !v.IsValid {
		t.Fatalf("Verify = %+v, %v, want valid", v, err)
	}
	first, err := w.Settle(ctx, p, w.Terms)
	if err != nil || first.Class(w.Terms) != x402.Accepted {
		t.Fatalf("Settle = %+v, %v, want success", first, err)
	}
	again, err := w.Settle(ctx, p, w.Terms)
	if err != nil || again.Success && again.Transaction != first.Transaction || !again.Success &&
		again.Class(w.Terms) != x402.Ambiguous {
		t.Errorf("the same payment again = %+v, %v, want the same transaction, or no claim about it", again, err)
	}
}

func noMoney(ctx context.Context, t *testing.T, w *FacilitatorWorld) {
	p := w.Poor(t)
	if v, err := w.Verify(ctx, p, w.Terms); err != nil || v.IsValid || v.Class() != x402.PayerCanFix {
		t.Errorf("Verify = %+v, %v, want a refusal that the payer can correct", v, err)
	}
	if s, err := w.Settle(ctx, p, w.Terms); err != nil || s.Success || s.Class(w.Terms) != x402.PayerCanFix {
		t.Errorf("Settle = %+v, %v, want a refusal that the payer can correct", s, err)
	}
}

func wrongSignature(ctx context.Context, t *testing.T, w *FacilitatorWorld) {
	p, other := w.Pay(t), w.Pay(t)
	p.Signature = other.Signature
	if v, err := w.Verify(ctx, p, w.Terms); err != nil || v.IsValid {
		t.Errorf("Verify = %+v, %v, want a refusal", v, err)
	}
	if s, err := w.Settle(ctx, p, w.Terms); err != nil || s.Success {
		t.Errorf("Settle = %+v, %v, want a refusal", s, err)
	}
}

func supportedKinds(ctx context.Context, t *testing.T, w *FacilitatorWorld) {
	if got, err := w.Supported(ctx); err != nil || !got.Supports(w.Terms.Scheme, w.Terms.Network) {
		t.Errorf("Supported = %+v, %v, want %s on %s", got, err, w.Terms.Scheme, w.Terms.Network)
	}
}
