// Package checkouttest holds the suites of checkout's ports and a processor in
// memory that passes them.
package checkouttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/order"
)

// Processor is a checkout.Processor and order.Processor in memory. Its faults
// are the ones that real processors have.
type Processor struct {
	// ListLimit bounds one part of the list of changed pages.
	ListLimit int

	mu      sync.Mutex
	pages   map[string]*page // by ref
	keys    map[string]string
	refunds map[string]int64 // by idempotency key
	failing map[string][]Fault
	calls   map[string]int
}

type page struct {
	checkout.PageFacts
	req     checkout.PageRequest
	changed time.Time
	broken  bool // cannot be read
}

// Fault is how a call goes wrong.
type Fault int

// The faults.
const (
	Away       Fault = iota + 1 // no response, nothing done
	LostAnswer                  // no response, but done
	Burnt                       // OpenPage: ErrPageLost, nothing done
	Refusal                     // processor_refused or refund_refused
	LostCursor                  // ChangedPages: ErrCursorLost
)

// NewProcessor returns a processor without pages.
func NewProcessor() *Processor {
	return &Processor{
		ListLimit: 100,
		pages:     map[string]*page{}, keys: map[string]string{}, refunds: map[string]int64{},
		failing: map[string][]Fault{}, calls: map[string]int{},
	}
}

// Fail makes the next calls of an operation ("open", "read", "close", "list",
// "refund") go wrong, in order.
func (p *Processor) Fail(operation string, faults ...Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing[operation] = append(p.failing[operation], faults...)
}

func (p *Processor) fault(operation string) Fault {
	p.calls[operation]++
	next := p.failing[operation]
	if len(next) == 0 {
		return 0
	}
	p.failing[operation] = next[1:]
	return next[0]
}

// Calls returns how often an operation was called.
func (p *Processor) Calls(operation string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[operation]
}

func errAway() error {
	return fmt.Errorf("calling the processor: %w",
		problem.New(problem.Unavailable, "processor_unavailable", "The payment processor does not answer."))
}

// OpenPage implements checkout.Processor.
func (p *Processor) OpenPage(_ context.Context, req checkout.PageRequest) (checkout.PageFacts, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fault := p.fault("open")
	switch fault {
	case Away:
		return checkout.PageFacts{}, errAway()
	case Burnt:
		return checkout.PageFacts{}, checkout.ErrPageLost
	case Refusal:
		return checkout.PageFacts{}, problem.New(problem.Unprocessable, "processor_refused",
			"The processor does not open such a page.")
	}
	ref, known := p.keys[req.Key]
	if !known {
		ref = fmt.Sprintf("cs_%d", len(p.pages)+1)
		p.keys[req.Key] = ref
		p.pages[ref] = &page{req: req, changed: time.Now(), PageFacts: checkout.PageFacts{
			Ref: ref, URL: "https://pay.example/" + ref, CheckoutID: req.CheckoutID, N: req.N,
			Status: checkout.StatusOpen, ExpiresAt: req.ExpiresAt,
		}}
	}
	if fault == LostAnswer {
		return checkout.PageFacts{}, errAway()
	}
	return p.facts(ref), nil
}

// ReadPage implements checkout.Processor.
func (p *Processor) ReadPage(_ context.Context, ref string) (checkout.PageFacts, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault("read") != 0 || p.pages[ref] == nil || p.pages[ref].broken {
		return checkout.PageFacts{}, errAway()
	}
	return p.facts(ref), nil
}

// ClosePage implements checkout.Processor.
func (p *Processor) ClosePage(_ context.Context, ref string) (checkout.PageFacts, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fault := p.fault("close")
	if fault == Away || p.pages[ref] == nil {
		return checkout.PageFacts{}, errAway()
	}
	if p.facts(ref).Status == checkout.StatusOpen {
		p.set(ref, checkout.StatusExpired, "")
	}
	if fault == LostAnswer {
		return checkout.PageFacts{}, errAway()
	}
	return p.facts(ref), nil
}

// ChangedPages implements checkout.Processor, newest first.
func (p *Processor) ChangedPages(_ context.Context, since time.Time, cursor string) (checkout.PageList, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.fault("list") {
	case 0:
	case LostCursor:
		return checkout.PageList{}, fmt.Errorf("listing pages: %w", checkout.ErrCursorLost)
	default:
		return checkout.PageList{}, errAway()
	}
	var found []*page
	for ref, one := range p.pages {
		f := p.facts(ref)
		ended := f.Status != checkout.StatusOpen && !f.ExpiresAt.Before(since)
		if (ended || !one.changed.Before(since)) && (cursor == "" || one.position() < cursor) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b *page) int { return strings.Compare(b.position(), a.position()) })
	var list checkout.PageList
	for _, one := range found[:min(len(found), p.ListLimit)] {
		list.Pages = append(list.Pages, one.PageFacts)
	}
	if len(found) > p.ListLimit {
		list.Next = found[p.ListLimit-1].position()
	}
	return list, nil
}

// position sorts pages by when they changed.
func (p *page) position() string {
	return fmt.Sprintf("%020d %s", p.changed.UnixNano(), p.Ref)
}

// Age moves all that happened so far into the past.
func (p *Processor) Age(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.pages {
		one.changed, one.ExpiresAt = one.changed.Add(-d), one.ExpiresAt.Add(-d)
	}
}

// Break makes each read of a page fail from now on.
func (p *Processor) Break(ref string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages[ref].broken = true
}

// Repair undoes Break.
func (p *Processor) Repair(ref string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pages[ref].broken = false
}

// facts reads a page; one that is open past its time has expired.
func (p *Processor) facts(ref string) checkout.PageFacts {
	page := p.pages[ref]
	if page.Status == checkout.StatusOpen && !page.ExpiresAt.After(time.Now()) {
		page.Status, page.URL = checkout.StatusExpired, ""
	}
	return page.PageFacts
}

func (p *Processor) set(ref string, status checkout.PageStatus, payment checkout.PaymentStatus) {
	page := p.pages[ref]
	page.Status, page.Payment, page.URL, page.changed = status, payment, "", time.Now()
	if payment == checkout.PaymentPaid {
		due := page.req.Quote.DueToday()
		page.Paid = order.Paid{Total: due.Minor, Currency: due.Currency, PageRef: ref}
		if due.Minor > 0 {
			page.Paid.PaymentRef = "pi_" + ref
		}
	}
}

// Pay is a person who pays on a page. It reports whether the page took it.
func (p *Processor) Pay(ref string) bool { return p.complete(ref, checkout.PaymentPaid) }

// PayLater is a person who chooses a delayed method.
func (p *Processor) PayLater(ref string) bool { return p.complete(ref, checkout.PaymentPending) }

func (p *Processor) complete(ref string, payment checkout.PaymentStatus) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.facts(ref).Status != checkout.StatusOpen {
		return false
	}
	p.set(ref, checkout.StatusComplete, payment)
	return true
}

// Arrive ends a delayed payment: paid or failed.
func (p *Processor) Arrive(ref string, payment checkout.PaymentStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(ref, checkout.StatusComplete, payment)
}

// ForcePay completes a page whatever its state, as a fault of the processor or
// somebody at its dashboard would.
func (p *Processor) ForcePay(ref string) { p.Arrive(ref, checkout.PaymentPaid) }

// Expire closes a page before its time.
func (p *Processor) Expire(ref string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(ref, checkout.StatusExpired, "")
}

// Stray opens a page that is unknown to the store, as a lost response does.
func (p *Processor) Stray(req checkout.PageRequest) string {
	req.Key += ":stray"
	f, _ := p.OpenPage(context.Background(), req)
	return f.Ref
}

// Request returns what a page was asked for with.
func (p *Processor) Request(ref string) checkout.PageRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pages[ref].req
}

// Status returns the state of a page.
func (p *Processor) Status(ref string) checkout.PageStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.facts(ref).Status
}

// Pages returns how many pages there are, and how many of them are paid.
func (p *Processor) Pages() (all, paid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, page := range p.pages {
		if page.Payment == checkout.PaymentPaid {
			paid++
		}
	}
	return len(p.pages), paid
}

// Refund implements order.Processor.
func (p *Processor) Refund(_ context.Context, req order.RefundRequest) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fault := p.fault("refund")
	switch fault {
	case Away:
		return "", errAway()
	case Refusal:
		return "", problem.New(problem.Unprocessable, "refund_refused", "The processor does not give this amount back.")
	}
	if _, again := p.refunds[req.Key]; !again && p.over(req) {
		return "", problem.New(problem.Unprocessable, "refund_refused", "The amount is more than is left.")
	}
	p.refunds[req.Key] = req.Amount.Minor
	if fault == LostAnswer {
		return "", errAway()
	}
	return "re_" + req.Key, nil
}

// over reports whether a refund is for more than its page was paid. Payments
// that no page made are not bounded.
func (p *Processor) over(req order.RefundRequest) bool {
	for _, page := range p.pages {
		if page.Paid.PaymentRef == req.PaymentRef && req.PaymentRef != "" {
			return req.Amount.Minor > page.Paid.Total
		}
	}
	return false
}

// GivenBack returns the sum of all refunds.
func (p *Processor) GivenBack() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sum int64
	for _, minor := range p.refunds {
		sum += minor
	}
	return sum
}

// Refunded implements order.Processor.
func (p *Processor) Refunded(context.Context, string) (int64, error) { return p.GivenBack(), nil }

// Buyer implements order.Processor.
func (p *Processor) Buyer(context.Context, string) (order.Buyer, error) {
	return order.Buyer{Name: "Ada", Email: "ada@example.com"}, nil
}
