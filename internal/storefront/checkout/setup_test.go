package checkout_test

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"ace/internal/foundation/jobs"
	"ace/internal/foundation/money"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/storage"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/checkout/checkouttest"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

// shop is everything around a checkout service; only the processor is not
// real.
type shop struct {
	*checkout.Service
	t         *testing.T
	processor *checkouttest.Processor
	store     *storage.Store
	orders    *order.Service
	events    *sink
	goods     *goods
	log       *safeBuffer
	handlers  map[string]jobs.Handler
	step      func(string)
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

// goods is an offer.Source that tests change.
type goods struct {
	mu     sync.Mutex
	offers []offer.Offer
}

func (g *goods) Offers(context.Context) (offer.Listing, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return offer.Listing{Offers: append([]offer.Offer(nil), g.offers...), Mode: "test", VerifiedAt: time.Now()}, nil
}

func (g *goods) change(id string, change func(*offer.Offer)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.offers {
		if g.offers[i].ID == id {
			change(&g.offers[i])
		}
	}
}

// sink keeps the events that were delivered.
type sink struct {
	mu    sync.Mutex
	types []order.EventType
	fail  int
}

func (s *sink) Deliver(_ context.Context, e order.Event, _ *order.Order,
	_ func(context.Context) (order.Buyer, error),
) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail > 0 {
		s.fail--
		return errReceiver
	}
	s.types = append(s.types, e.Type)
	return nil
}

func (s *sink) got() []order.EventType {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]order.EventType(nil), s.types...)
}

// newShop opens a shop on a fresh SQLite file.
func newShop(t *testing.T) *shop {
	t.Helper()
	return newShopOn(t, sqldbtest.SQLite(t))
}

// onBoth runs a test on each engine: the ones in which transactions collide.
func onBoth(t *testing.T, test func(t *testing.T, newShop func(*testing.T) *shop)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(t *testing.T) *shop { return newShopOn(t, address(t)) })
		})
	}
}

func newShopOn(t *testing.T, dsn string) *shop {
	t.Helper()
	db, err := sqldb.Open(t.Context(), dsn, &sqldb.Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(t.Context(), storage.Migrations()); err != nil {
		t.Fatal(err)
	}
	s := &shop{
		t: t, processor: checkouttest.NewProcessor(), store: storage.New(db, nil), events: &sink{},
		log: &safeBuffer{}, goods: &goods{offers: stock()},
	}
	s.restart()
	return s
}

// restart gives the shop a new process: what is not stored is gone.
func (s *shop) restart() {
	log := slog.New(slog.NewTextHandler(s.log, nil))
	step := func(name string) {
		if s.step != nil {
			s.step(name)
		}
	}
	s.orders = order.New(s.store, s.processor, log,
		order.Options{Sinks: map[string]order.Sink{"test": s.events}, Step: step})
	s.Service = s.newService(log, step)
	s.handlers = s.Handlers()
	maps.Copy(s.handlers, s.orders.Handlers())
}

// replica returns a further service on the same database.
func (s *shop) replica() *checkout.Service {
	return s.newService(slog.New(slog.NewTextHandler(s.log, nil)), nil)
}

func (s *shop) newService(log *slog.Logger, step func(string)) *checkout.Service {
	catalog := offer.NewCatalog(s.goods, s.store, log)
	return checkout.New(catalog, s.processor, s.store, log, checkout.Options{
		BaseURL: "https://store.example", Sinks: s.orders.SinkNames(), Step: step,
	})
}

// dies runs do and reports whether the process ended within it, at a step.
func (s *shop) dies(do func()) (died bool) {
	s.t.Helper()
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
			died = true
		}
	}()
	do()
	return false
}

// killed ends a process at a step.
type killed struct{}

// sweep calls Sweep until a walk is complete.
func (s *shop) sweep() {
	s.t.Helper()
	for more := true; more; {
		var err error
		if more, err = s.Sweep(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
}

func stock() []offer.Offer {
	usd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
	return []offer.Offer{
		{
			ID: "box", ProductID: "prod_box", Name: "Home Box", Price: usd(14900), PriceRef: "price_box",
			Stock: offer.Stock{Status: offer.InStock, Counted: true, Units: 10, MaxPerOrder: 5},
		},
		{
			ID: "handbook", ProductID: "prod_book", Name: "Handbook", Price: usd(2900), PriceRef: "price_book",
			Stock: offer.Stock{Status: offer.InStock, MaxPerOrder: 10},
		},
		{
			ID: "mug", ProductID: "prod_mug", Name: "Mug", Price: usd(1800), PriceRef: "price_mug",
			Stock: offer.Stock{Status: offer.OutOfStock, MaxPerOrder: 1},
		},
		{
			ID: "pro", ProductID: "prod_pro", Name: "Pro", Price: usd(1900), PriceRef: "price_pro", TrialDays: 14,
			Billing: offer.Billing{Interval: "month", Count: 1},
			Stock:   offer.Stock{Status: offer.InStock, MaxPerOrder: 10},
		},
	}
}

func (s *shop) open(offerID string) *checkout.Session {
	s.t.Helper()
	session, err := s.Create(s.t.Context(), checkout.Request{Protocol: checkout.UCP, OfferID: offerID})
	if err != nil {
		s.t.Fatalf("Create(%s) = %v", offerID, err)
	}
	if session.State != checkout.Open || session.Page().URL == "" {
		s.t.Fatalf("Create(%s) = %s, want open with a page", offerID, session.State)
	}
	return session
}

// kept reads the session as it is in the database.
func (s *shop) kept(id string) *checkout.Session {
	s.t.Helper()
	session, err := s.store.Session(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return session
}

func (s *shop) wantState(id string, want checkout.State) *checkout.Session {
	s.t.Helper()
	session := s.kept(id)
	if session.State != want {
		s.t.Errorf("state = %s, want %s", session.State, want)
	}
	return session
}

// orderOf returns the order of a session, of which there must be one exactly.
func (s *shop) orderOf(id string) *order.Order {
	s.t.Helper()
	o, err := s.store.OrderOf(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	if all := s.allOrders(); len(all) != 1 {
		s.t.Errorf("%d orders, want 1", len(all))
	}
	return o
}

func (s *shop) allOrders() []*order.Order {
	s.t.Helper()
	all, err := s.store.Orders(s.t.Context(), order.Filter{}, "", 100)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// work runs the jobs that are due, and the ones that these schedule, as the
// worker would.
func (s *shop) work() {
	s.t.Helper()
	for range 20 {
		claimed, err := s.store.Lane(jobs.LaneHouse).Claim(s.t.Context(), 50, time.Minute)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(claimed) == 0 {
			return
		}
		for _, job := range claimed {
			s.do(job)
		}
	}
}

func (s *shop) do(job jobs.Job) {
	s.t.Helper()
	ctx := s.t.Context()
	handler, ok := s.handlers[job.Kind]
	if !ok {
		s.t.Fatalf("no handler for %s", job.Kind)
	}
	end := jobs.End{Job: job, Done: true}
	if failure := handler.Run(ctx, job); failure != nil {
		s.t.Logf("job %s %s: %v", job.Kind, job.Ref, failure)
		end.Done, end.Reason = false, failure.Error()
		end.RunAt, end.Tries = time.Now().Add(time.Hour), job.Tries+1
	}
	if _, err := s.store.Lane(jobs.LaneHouse).End(ctx, []jobs.End{end}); err != nil {
		s.t.Fatal(err)
	}
}

// hurry makes all waiting jobs of a kind due now.
func (s *shop) hurry(kind, ref string) {
	s.t.Helper()
	if err := s.store.Schedule(s.t.Context(),
		jobs.Job{Kind: kind, Ref: ref, RunAt: time.Now().Add(-time.Second)}); err != nil {
		s.t.Fatal(err)
	}
	s.work()
}

// event is what the processor's webhook brings, and the work that follows.
func (s *shop) event(id, checkoutID, ref string) {
	s.t.Helper()
	s.message(id, checkoutID, ref)
	s.work()
}

// message is what the processor's webhook brings.
func (s *shop) message(id, checkoutID, ref string) {
	s.t.Helper()
	if err := s.Receive(s.t.Context(),
		checkout.Event{ID: id, Type: "checkout.session.completed", CheckoutID: checkoutID, PageRef: ref}); err != nil {
		s.t.Fatal(err)
	}
}
