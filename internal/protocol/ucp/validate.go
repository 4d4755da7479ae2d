package ucp

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"ace/internal/foundation/money"
)

// Validate answers everything that is wrong with a checkout by rules that the
// schemas cannot state: sums, the coupling of status, messages and addresses.
// It is meant for tests and for checks before an answer leaves.
func (c *Checkout) Validate() error {
	v := &validator{}
	v.check(c.UCP.Version.Supported(), "ucp.version %q is not served", c.UCP.Version)
	v.check(c.UCP.Status == StatusSuccess, "ucp.status is %q", c.UCP.Status)
	v.check(c.UCP.PaymentHandlers != nil, "ucp.payment_handlers is missing")
	v.check(c.ID != "", "id is missing")
	v.check(c.Status.known(), "status %q is unknown", c.Status)
	v.check(money.ValidCurrency(c.Currency), "currency %q is not an ISO 4217 code in upper case", c.Currency)
	v.check(c.Links != nil, "links is missing")
	v.lineItems(c.LineItems)
	v.sum("totals", c.Totals, true)
	v.messages(c)
	v.course(c)
	return errors.Join(v.faults...)
}

type validator struct{ faults []error }

func (v *validator) check(ok bool, format string, args ...any) {
	if !ok {
		v.faults = append(v.faults, fmt.Errorf(format, args...))
	}
}

func (v *validator) lineItems(lines []LineItem) {
	v.check(len(lines) > 0, "line_items is empty")
	seen := map[string]bool{}
	for i, line := range lines {
		at := fmt.Sprintf("line_items[%d]", i)
		v.check(line.ID != "" && !seen[line.ID], "%s.id %q is empty or used twice", at, line.ID)
		seen[line.ID] = true
		v.check(line.Item.ID != "" && line.Item.Title != "", "%s.item has no id or no title", at)
		v.check(line.Item.Price >= 0, "%s.item.price is negative", at)
		v.check(line.Quantity >= 1, "%s.quantity is %d", at, line.Quantity)
		v.sum(at+".totals", line.Totals, false)
	}
}

// sum checks totals: exactly one subtotal and one total where whole is set, the
// signs of known types, a text for unknown ones, and that the rest adds up.
func (v *validator) sum(at string, totals []Total, whole bool) {
	count := map[string]int{}
	var sum, total int64
	for i, t := range totals {
		here := fmt.Sprintf("%s[%d]", at, i)
		count[t.Type]++
		if t.Type == TotalTotal {
			total = t.Amount
		} else {
			sum += t.Amount
		}
		v.total(here, t)
	}
	if whole || len(totals) > 0 {
		v.check(count[TotalTotal] == 1, "%s has %d entries of type total, want 1", at, count[TotalTotal])
		v.check(sum == total, "%s adds up to %d, but total says %d", at, sum, total)
	}
	v.check(!whole || count[TotalSubtotal] == 1, "%s has %d entries of type subtotal, want 1", at, count[TotalSubtotal])
	v.check(totals != nil, "%s is missing", at)
}

func (v *validator) total(at string, t Total) {
	switch t.Type {
	case TotalDiscount, TotalItemsDiscount:
		v.check(t.Amount < 0, "%s: %s must be negative", at, t.Type)
	case TotalSubtotal, TotalFulfillment, TotalTax, TotalFee:
		v.check(t.Amount >= 0, "%s: %s must not be negative", at, t.Type)
	case TotalTotal:
	default:
		v.check(t.Type != "" && t.DisplayText != "", "%s: type %q needs display_text", at, t.Type)
	}
	var parts int64
	for _, line := range t.Lines {
		parts += line.Amount
		v.check(line.DisplayText != "", "%s: a line has no display_text", at)
	}
	v.check(len(t.Lines) == 0 || parts == t.Amount, "%s: its lines add up to %d, not %d", at, parts, t.Amount)
}

func (v *validator) messages(c *Checkout) {
	buyer := false
	for i, m := range c.Messages {
		buyer = buyer || m.Severity.RequiresBuyer()
		if err := m.validate(); err != nil {
			v.check(false, "messages[%d]: %w", i, err)
		}
	}
	v.check(c.Status != RequiresEscalation || buyer, "requires_escalation without a message that asks for the buyer")
	v.check(c.Status == RequiresEscalation || !buyer, "a message asks for the buyer, but the status is %s", c.Status)
}

func (m Message) validate() error {
	v := &validator{}
	v.check(m.Content != "", "content is missing")
	v.check(m.Path == "" || m.Path == "$" || strings.HasPrefix(m.Path, "$.") || strings.HasPrefix(m.Path, "$["), "path %q is not a JSONPath", m.Path)
	v.check(m.ContentType == "" || m.ContentType == "plain" || m.ContentType == "markdown", "content_type %q is unknown", m.ContentType)
	switch m.Type {
	case MessageError:
		switch m.Severity {
		case Recoverable, RequiresBuyerInput, RequiresBuyerReview, Unrecoverable:
		default:
			v.check(false, "severity %q is unknown", m.Severity)
		}
		v.check(m.Code != "", "an error needs a code")
		v.check(m.Presentation == "" && m.ImageURL == "" && m.URL == "", "an error carries members of a warning")
	case MessageWarning:
		v.check(m.Code != "", "a warning needs a code")
		v.check(m.Severity == "", "a warning carries a severity")
	case MessageInfo:
		v.check(m.Severity == "" && m.Presentation == "" && m.ImageURL == "" && m.URL == "", "an info carries members of others")
	default:
		v.check(false, "type %q is unknown", m.Type)
	}
	return errors.Join(v.faults...)
}

// course checks what the status says about addresses, order and expiry.
func (v *validator) course(c *Checkout) {
	if c.ContinueURL != "" {
		v.check(usableURL(c.ContinueURL), "continue_url %q is not an absolute https address", c.ContinueURL)
		v.check(!c.Status.Terminal(), "a %s checkout has a continue_url", c.Status)
	}
	v.check(c.Status != RequiresEscalation || c.ContinueURL != "", "requires_escalation without continue_url")
	v.check(c.Status.Terminal() || !c.ExpiresAt.IsZero(), "an open checkout has no expires_at")
	v.check((c.Order != nil) == (c.Status == Completed), "order and the status %s do not go together", c.Status)
	if c.Order != nil {
		v.check(c.Order.ID != "" && usableURL(c.Order.PermalinkURL), "order has no id or no permalink_url")
	}
	for i, link := range c.Links {
		v.check(link.Type != "" && usableURL(link.URL), "links[%d] has no type or no absolute address", i)
	}
}

// usableURL reports whether a person can follow an address: https, or http on
// this machine.
func usableURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())
}
