package acp

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"ace/internal/foundation/money"
)

// Validate returns all violations of rules that the schemas cannot express: sums, and the relation
// between status, messages and URLs. It is meant for tests and for checks before a response is
// sent.
func (s *CheckoutSession) Validate() error {
	v := &validator{}
	version := Newest
	if s.Protocol != nil {
		version = s.Protocol.Version
	}
	v.check(version.Supported(), "protocol.version %q is not supported", version)
	v.check(s.ID != "", "id is missing")
	v.check(money.ValidCurrency(strings.ToUpper(s.Currency)) && strings.ToLower(s.Currency) == s.Currency,
		"currency %q is not an ISO 4217 code in lower case", s.Currency)
	v.check(len(s.LineItems) > 0, "line_items is empty")
	for i, line := range s.LineItems {
		v.check(line.ID != "" && line.Item.ID != "" && line.Quantity >= 1,
			"line_items[%d] has no id, no item.id or no quantity", i)
		v.sum(fmt.Sprintf("line_items[%d].totals", i), line.Totals)
	}
	v.sum("totals", s.Totals)
	for i, m := range s.Messages {
		v.message(fmt.Sprintf("messages[%d]", i), m, version)
	}
	v.status(s, version)
	return errors.Join(v.violations...)
}

type validator struct{ violations []error }

func (v *validator) check(ok bool, format string, args ...any) {
	if !ok {
		v.violations = append(v.violations, fmt.Errorf(format, args...))
	}
}

// sum checks that there is one total, and that it is consistent if there is a subtotal. Discounts
// and credit are positive and subtracted.
func (v *validator) sum(at string, totals []Total) {
	amounts, count := map[TotalType]int64{}, map[TotalType]int{}
	for i, t := range totals {
		amounts[t.Type] += t.Amount
		count[t.Type]++
		v.check(t.DisplayText != "", "%s[%d] has no display_text", at, i)
		v.check(t.Amount >= 0, "%s[%d] is negative", at, i)
	}
	v.check(count[TotalTotal] == 1, "%s has %d entries of type total, want 1", at, count[TotalTotal])
	if count[TotalSubtotal] == 0 {
		return
	}
	if count[TotalItemsBaseAmount] > 0 {
		want := amounts[TotalItemsBaseAmount] - amounts[TotalItemsDiscount]
		v.check(amounts[TotalSubtotal] == want, "%s: subtotal is %d, want %d", at, amounts[TotalSubtotal], want)
	}
	want := amounts[TotalSubtotal] - amounts[TotalDiscount] - amounts[TotalStoreCredit]
	for _, t := range []TotalType{TotalFulfillment, TotalTax, TotalFee, TotalGiftWrap, TotalTip} {
		want += amounts[t]
	}
	v.check(amounts[TotalTotal] == want, "%s: total is %d, want %d", at, amounts[TotalTotal], want)
}

func (v *validator) message(at string, m Message, version Version) {
	v.check(m.Content != "" && (m.ContentType == "plain" || m.ContentType == "markdown"),
		"%s has no content or no content_type", at)
	v.check(m.Param == "" || strings.HasPrefix(m.Param, "$"), "%s: param %q is not a JSONPath", at, m.Param)
	v.check(version != Version20260130 || m.Resolution == "", "%s carries a resolution, which %s does not have", at,
		version)
	switch m.Type {
	case MessageInfo:
		v.check(m.Code == "", "%s: an info carries a code", at)
	case MessageWarning:
		v.check(slices.Contains(warningCodes, m.Code), "%s: %q is not a code of a warning", at, m.Code)
	case MessageError:
		v.check(slices.Contains(errorCodes, m.Code), "%s: %q is not a code of an error", at, m.Code)
	default:
		v.check(false, "%s: type %q is unknown", at, m.Type)
	}
}

// status checks URLs, order and expiry against the status.
func (v *validator) status(s *CheckoutSession, version Version) {
	asks := slices.ContainsFunc(s.Messages, func(m Message) bool {
		return m.Resolution == RequiresBuyerInput || m.Resolution == RequiresBuyerReview
	})
	open := s.Status == RequiresEscalation
	v.check(!open || s.ContinueURL != "", "requires_escalation without continue_url")
	v.check(!open || asks || version == Version20260130,
		"requires_escalation without a message that asks for the buyer")
	v.check(s.ContinueURL == "" || usableURL(s.ContinueURL), "continue_url %q is not an absolute https address",
		s.ContinueURL)
	v.check(s.ContinueURL == "" || !s.Status.Terminal(), "a session that is %s has a continue_url", s.Status)
	v.check(!open || !s.ExpiresAt.IsZero(), "an open session has no expires_at")
	v.check((s.Order != nil) == (s.Status == Completed), "an order is inconsistent with the status %s", s.Status)
	if s.Order != nil {
		v.check(s.Order.ID != "" && s.Order.CheckoutSessionID == s.ID && usableURL(s.Order.PermalinkURL),
			"order has no id, no permalink_url or another checkout_session_id")
	}
}

// usableURL reports whether a buyer can open a URL: https, or http on this machine.
func usableURL(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return false
	}
	host := u.Hostname()
	ip, err := netip.ParseAddr(host)
	loopback := host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && loopback
}
