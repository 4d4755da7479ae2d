package checkouttest

import (
	"errors"
	"testing"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

// World is a processor with people who use it. Its lists have two pages in a
// part.
type World struct {
	checkout.Processor
	Orders order.Processor
	// Quote is for one unit of something without a trial that needs no address.
	Quote offer.Quote
	// Pay and PayLater are a person on a page; Arrive ends
	// the delayed payments.
	Pay      func(t *testing.T, f checkout.PageFacts)
	PayLater func(t *testing.T, f checkout.PageFacts, succeeds bool)
	Arrive   func(t *testing.T)
	// LoseAnswer makes the next OpenPage end without a response, although done;
	// BurnKey makes it fail for its key for ever, done or not.
	LoseAnswer func(t *testing.T)
	BurnKey    func(t *testing.T, done bool)
	// Cursor points at nothing in the list of changed pages, once LoseCursor was
	// called.
	Cursor     string
	LoseCursor func(t *testing.T)
}

// RunProcessor checks the promises of checkout.Processor and order.Processor.
func RunProcessor(t *testing.T, newWorld func(t *testing.T) *World) {
	t.Helper()
	tests := map[string]func(t *testing.T, w *World){
		"one page per key": onePagePerKey, "paid": paidPage, "close": closing, "close of a paid page": closingPaid,
		"delayed": delayed, "lost answer": lostAnswer, "burnt key": burntKey, "burnt key that was done": burntButDone,
		"changed pages": changedPages, "changed long ago": changedLongAgo, "lost cursor": lostCursor,
		"refund once per key": refundOnce, "more than was paid": refundTooMuch,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newWorld(t))
		})
	}
}

func (w *World) request() checkout.PageRequest {
	id := typeid.New("chk")
	return checkout.PageRequest{
		Key: id + ":create:1", CheckoutID: id, N: 1, Quote: w.Quote, Email: "ada@example.com",
		SuccessURL: "https://store.example/done?session_id={CHECKOUT_SESSION_ID}",
		CancelURL:  "https://store.example/back", ExpiresAt: time.Now().Add(2 * time.Hour).Truncate(time.Second),
		Since: time.Now(), Protocol: checkout.UCP,
	}
}

func (w *World) open(t *testing.T, req checkout.PageRequest) checkout.PageFacts {
	t.Helper()
	f, err := w.OpenPage(t.Context(), req)
	if err != nil {
		t.Fatalf("OpenPage = %v", err)
	}
	if f.Ref == "" || f.URL == "" || f.Status != checkout.StatusOpen || f.CheckoutID != req.CheckoutID ||
		f.N != req.N || !f.ExpiresAt.Equal(req.ExpiresAt) {
		t.Fatalf("OpenPage = %+v, want an open page of %s until %v", f, req.CheckoutID, req.ExpiresAt)
	}
	return f
}

func (w *World) read(t *testing.T, ref string) checkout.PageFacts {
	t.Helper()
	f, err := w.ReadPage(t.Context(), ref)
	if err != nil {
		t.Fatalf("ReadPage = %v", err)
	}
	return f
}

func onePagePerKey(t *testing.T, w *World) {
	req := w.request()
	first, again := w.open(t, req), w.open(t, req)
	if first.Ref != again.Ref {
		t.Errorf("two pages %s, %s for one key", first.Ref, again.Ref)
	}
	if other := w.open(t, w.request()); other.Ref == first.Ref {
		t.Error("one page for two keys")
	}
}

func paidPage(t *testing.T, w *World) {
	f := w.open(t, w.request())
	w.Pay(t, f)
	got := w.read(t, f.Ref)
	due := w.Quote.DueToday()
	if got.Status != checkout.StatusComplete || got.Payment != checkout.PaymentPaid || got.Paid.Total != due.Minor ||
		got.Paid.Currency != due.Currency {
		t.Errorf("ReadPage = %+v, want paid %v", got, due)
	}
	if got.Paid.PaymentRef == "" || got.Paid.PageRef != f.Ref {
		t.Errorf("Paid = %+v, want references for a refund", got.Paid)
	}
	buyer, err := w.Orders.Buyer(t.Context(), f.Ref)
	if err != nil || buyer.Email != "ada@example.com" {
		t.Errorf("Buyer = %+v, %v", buyer, err)
	}
}

func closing(t *testing.T, w *World) {
	f := w.open(t, w.request())
	for range 2 {
		if got, err := w.ClosePage(t.Context(), f.Ref); err != nil || got.Status != checkout.StatusExpired {
			t.Errorf("ClosePage = %+v, %v, want expired", got, err)
		}
	}
	if got := w.read(t, f.Ref); got.Status != checkout.StatusExpired {
		t.Errorf("ReadPage = %s, want expired", got.Status)
	}
}

func closingPaid(t *testing.T, w *World) {
	f := w.open(t, w.request())
	w.Pay(t, f)
	if got, err := w.ClosePage(t.Context(), f.Ref); err != nil || got.Status != checkout.StatusComplete ||
		got.Payment != checkout.PaymentPaid {
		t.Errorf("ClosePage = %+v, %v, want the payment to have won", got, err)
	}
}

func delayed(t *testing.T, w *World) {
	pages := map[bool]checkout.PageFacts{}
	for _, succeeds := range []bool{true, false} {
		f := w.open(t, w.request())
		w.PayLater(t, f, succeeds)
		if got := w.read(t, f.Ref); got.Status != checkout.StatusComplete || got.Payment != checkout.PaymentPending {
			t.Errorf("ReadPage while on its way = %s, %s, want complete, pending", got.Status, got.Payment)
		}
		pages[succeeds] = f
	}
	w.Arrive(t)
	for succeeds, want := range map[bool]checkout.PaymentStatus{
		true:  checkout.PaymentPaid,
		false: checkout.PaymentFailed,
	} {
		if got := w.read(t, pages[succeeds].Ref); got.Payment != want {
			t.Errorf("ReadPage after it has ended = %s, want %s", got.Payment, want)
		}
	}
}

func lostAnswer(t *testing.T, w *World) {
	req := w.request()
	w.LoseAnswer(t)
	if _, err := w.OpenPage(t.Context(), req); err != nil && !problem.Is(err, "processor_unavailable") {
		t.Errorf("OpenPage = %v, want processor_unavailable or, after a retry, the page", err)
	}
	first, again := w.open(t, req), w.open(t, req)
	if first.Ref != again.Ref {
		t.Error("the same key opened another page after a lost answer")
	}
}

func burntKey(t *testing.T, w *World) {
	req := w.request()
	w.BurnKey(t, false)
	if _, err := w.OpenPage(t.Context(), req); !errors.Is(err, checkout.ErrPageLost) {
		t.Fatalf("OpenPage = %v, want ErrPageLost", err)
	}
	req.Key, req.N = req.CheckoutID+":create:2", 2
	w.open(t, req)
}

func burntButDone(t *testing.T, w *World) {
	req := w.request()
	w.BurnKey(t, true)
	if f, err := w.OpenPage(t.Context(), req); err == nil && f.CheckoutID == req.CheckoutID {
		return // found: nothing is lost
	} else if !errors.Is(err, checkout.ErrPageLost) && !problem.Is(err, "processor_unavailable") {
		t.Errorf("OpenPage = %+v, %v", f, err)
	}
}

// changed reads the whole list of changed pages in its parts.
func (w *World) changed(t *testing.T, since time.Time) (all []checkout.PageFacts, parts int) {
	t.Helper()
	cursor := ""
	for {
		list, err := w.ChangedPages(t.Context(), since, cursor)
		if err != nil {
			t.Fatalf("ChangedPages = %v", err)
		}
		all, parts = append(all, list.Pages...), parts+1
		if list.Next == "" {
			return all, parts
		}
		if list.Next == cursor || parts > 1000 {
			t.Fatalf("part %d: the list does not end: cursor %q", parts, list.Next)
		}
		cursor = list.Next
	}
}

func changedPages(t *testing.T, w *World) {
	since := time.Now().Add(-time.Minute)
	want := map[string]checkout.PageStatus{}
	for i := range 5 {
		f := w.open(t, w.request())
		want[f.Ref] = checkout.StatusOpen
		switch i {
		case 1, 2, 3:
			w.Pay(t, f)
			want[f.Ref] = checkout.StatusComplete
		case 4:
			if _, err := w.ClosePage(t.Context(), f.Ref); err != nil {
				t.Fatal(err)
			}
			want[f.Ref] = checkout.StatusExpired
		}
	}
	all, parts := w.changed(t, since)
	seen := map[string]checkout.PageStatus{}
	for _, f := range all {
		seen[f.Ref] = f.Status
	}
	for ref, status := range want {
		if seen[ref] != status {
			t.Errorf("page %s is listed as %q, want %s", ref, seen[ref], status)
		}
	}
	if parts < 3 {
		t.Errorf("%d parts of two pages at most for five pages", parts)
	}
}

// changedLongAgo reads a list that begins before all that the processor
// remembers in detail.
func changedLongAgo(t *testing.T, w *World) {
	f := w.open(t, w.request())
	w.Pay(t, f)
	all, _ := w.changed(t, time.Now().AddDate(0, -3, 0))
	for _, one := range all {
		if one.Ref == f.Ref && one.Payment == checkout.PaymentPaid {
			return
		}
	}
	t.Errorf("ChangedPages of three months = %+v, want the payment on %s", all, f.Ref)
}

func lostCursor(t *testing.T, w *World) {
	w.open(t, w.request())
	w.LoseCursor(t)
	if _, err := w.ChangedPages(t.Context(), time.Now().Add(-time.Minute), w.Cursor); !errors.Is(err,
		checkout.ErrCursorLost) {
		t.Errorf("ChangedPages at a cursor of nothing = %v, want ErrCursorLost", err)
	}
}

func refundOnce(t *testing.T, w *World) {
	f := w.open(t, w.request())
	w.Pay(t, f)
	paid := w.read(t, f.Ref).Paid
	amount := paid.Amount()
	amount.Minor = 1000
	req := order.RefundRequest{Key: typeid.New("rfd"), OrderID: "ord_1", PaymentRef: paid.PaymentRef, Amount: amount}
	var refs [2]string
	for i := range refs {
		ref, err := w.Orders.Refund(t.Context(), req)
		if err != nil {
			t.Fatalf("Refund = %v", err)
		}
		refs[i] = ref
	}
	if sum, err := w.Orders.Refunded(t.Context(), paid.PaymentRef); err != nil || sum != 1000 || refs[0] != refs[1] {
		t.Errorf("%d went back as %v, %v, want 1000 once", sum, refs, err)
	}
}

func refundTooMuch(t *testing.T, w *World) {
	f := w.open(t, w.request())
	w.Pay(t, f)
	paid := w.read(t, f.Ref).Paid
	amount := paid.Amount()
	amount.Minor++
	if _, err := w.Orders.Refund(t.Context(), order.RefundRequest{
		Key: typeid.New("rfd"), PaymentRef: paid.PaymentRef,
		Amount: amount,
	}); !problem.Is(err, "refund_refused") {
		t.Errorf("Refund = %v, want refund_refused", err)
	}
}
