package ucp

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"ace/internal/foundation/money"
)

// Validate returns all violations of rules that the schemas cannot express: sums, and the relation
// between status, messages and URLs. It is meant for tests and for checks before a response is
// sent.
func (c *Checkout) Validate() error {
	v := &validator{}
	v.check(c.UCP.Version.Supported(), "ucp.version %q is not supported", c.UCP.Version)
	v.check(c.UCP.Status == StatusSuccess, "ucp.status is %q", c.UCP.Status)
	v.check(c.UCP.PaymentHandlers != nil, "ucp.payment_handlers is missing")
	v.check(c.ID != "", "id is missing")
	v.check(c.Status.known(), "status %q is unknown", c.Status)
	v.check(money.ValidCurrency(c.Currency), "currency %q is not an ISO 4217 code in upper case", c.Currency)
	v.check(c.Links != nil, "links is missing")
	v.lineItems(c.LineItems)
	v.sum("totals", c.Totals, true)
	v.messages(c)
	v.status(c)
	return errors.Join(v.violations...)
}

type validator struct{ violations []error }

func (v *validator) check(ok bool, format string, args ...any) {
	if !ok {
		v.violations = append(v.violations, fmt.Errorf(format, args...))
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

// sum checks totals: exactly one subtotal and one total if whole is set, the signs of known types,
// a text for unknown ones, and that the others add up.
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
	v.check(m.Path == "" || m.Path == "$" || strings.HasPrefix(m.Path, "$.") || strings.HasPrefix(m.Path, "$["),
		"path %q is not a JSONPath", m.Path)
	v.check(m.ContentType == "" || m.ContentType == "plain" || m.ContentType == "markdown",
		"content_type %q is unknown", m.ContentType)
	switch m.Type {
	case MessageError:
		switch m.Severity {
		case Recoverable, RequiresBuyerInput, RequiresBuyerReview, Unrecoverable:
		default:
			v.check(false, "severity %q is unknown", m.Severity)
		}
		v.check(m.Code != "", "an error needs a code")
		v.check(m.Presentation == "" && m.ImageURL == "" && m.URL == "", "an error has fields of a warning")
	case MessageWarning:
		v.check(m.Code != "", "a warning needs a code")
		v.check(m.Severity == "", "a warning has a severity")
	case MessageInfo:
		v.check(m.Severity == "" && m.Presentation == "" && m.ImageURL == "" && m.URL == "",
			"an info has fields of other types")
	default:
		v.check(false, "type %q is unknown", m.Type)
	}
	return errors.Join(v.violations...)
}

// status checks URLs, order and expiry against the status.
func (v *validator) status(c *Checkout) {
	if c.ContinueURL != "" {
		v.check(usableURL(c.ContinueURL), "continue_url %q is not an absolute https URL", c.ContinueURL)
		v.check(!c.Status.Terminal(), "a %s checkout has a continue_url", c.Status)
	}
	v.check(c.Status != RequiresEscalation || c.ContinueURL != "", "requires_escalation without continue_url")
	v.check(c.Status.Terminal() || !c.ExpiresAt.IsZero(), "an open checkout has no expires_at")
	v.check((c.Order != nil) == (c.Status == Completed), "an order is inconsistent with the status %s", c.Status)
	if c.Order != nil {
		v.check(c.Order.ID != "" && usableURL(c.Order.PermalinkURL), "order has no id or no permalink_url")
	}
	for i, link := range c.Links {
		v.check(link.Type != "" && usableURL(link.URL), "links[%d] has no type or no absolute URL", i)
	}
}

// usableURL reports whether a buyer can open a URL: https, or http on this machine.
func usableURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && IsLoopback(u.Hostname())
}
