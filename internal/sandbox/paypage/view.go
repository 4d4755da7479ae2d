package paypage

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payform"
)

// page is what every template needs.
type page struct {
	Title, Assets string
}

// messageView is a page with one thing to say.
type messageView struct {
	Page           page
	Mood           string // done, over, lost, bad
	Heading, Text  string
	Link, LinkText string
}

// authenticateView is the bank's question.
type authenticateView struct {
	Page                        page
	Shop, Amount, Action, Token string
}

// payView is the pay page.
type payView struct {
	Page                     page
	Shop, BackLink           string
	Purpose, Heading         string
	Terms                    string
	Lines                    []lineView
	Subtotal, Tax, TaxLabel  string
	Total, Later             string
	TestCards                []payform.TestCard
	Problems                 []problemView
	ProblemsHeading          string
	Action, Token            string
	Email                    field
	Shipping                 []field
	Rates                    []rateView
	RateError                string
	NeedsMethod, OffersDebit bool
	DebitChosen              bool
	CardNumber, CardExpiry   field
	CardCVC                  field
	DebitOutcome, DebitAfter field
	Billing                  []field
	Button                   string
	ButtonTotal              bool
	Agreement                string
}

type lineView struct {
	Initial, Name, Detail, Amount, Each string
}

type rateView struct {
	ID, Name, Estimate, Amount, Total string
	Chosen                            bool
}

type problemView struct{ Target, Message string }

// field is one input with its label and fault.
type field struct {
	ID, Label, Type, Value, Autocomplete, InputMode, Placeholder, Error string
	MaxLength                                                           int
	Optional                                                            bool
	Options                                                             []option
}

type option struct {
	Value, Text string
	Chosen      bool
}

// shopOf names the shop of a session: by the name that it was opened with, or by
// its host.
func shopOf(o *object.Session) string {
	if o.Branding != nil && o.Branding.DisplayName != "" {
		return o.Branding.DisplayName
	}
	return hostOf(o.SuccessURL)
}

// hostOf names a shop by the host that the buyer returns to.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "the shop"
	}
	return u.Host
}

// every is an interval in words: "every month", "every 3 months".
func every(r *object.Recurring) string {
	if r.IntervalCount == 1 {
		return "every " + r.Interval
	}
	return fmt.Sprintf("every %d %ss", r.IntervalCount, r.Interval)
}

// terms says what a subscription costs and when.
func terms(o *object.Session) string {
	for _, l := range o.Lines() {
		if l.Price.Recurring == nil {
			continue
		}
		later := object.Display(o.DueLater(), o.Currency) + " " + every(l.Price.Recurring) + " until canceled."
		if days := o.TrialDays(); days > 0 {
			return fmt.Sprintf("Free for %s, then %s Due today: %s", plural(days, "day"),
				later, object.Display(o.AmountTotal, o.Currency))
		}
		return later
	}
	return ""
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.FormatInt(n, 10) + " " + noun + "s"
}

func lines(o *object.Session) []lineView {
	out := make([]lineView, 0, len(o.Lines()))
	for _, l := range o.Lines() {
		first, _ := utf8.DecodeRuneInString(l.Description)
		v := lineView{
			Initial: strings.ToUpper(string(first)), Name: l.Description,
			Amount: object.Display(l.Price.Amount*l.Quantity, l.Currency),
		}
		if l.Price.Nickname != nil && *l.Price.Nickname != l.Description {
			v.Detail = *l.Price.Nickname
		}
		if l.Quantity > 1 {
			v.Each = fmt.Sprintf("%d × %s", l.Quantity, object.Display(l.Price.Amount, l.Currency))
		}
		if r := l.Price.Recurring; r != nil {
			v.Each = strings.TrimPrefix(v.Each+", "+every(r), ", ")
			if days := o.TrialDays(); days > 0 {
				v.Detail = cmp.Or(v.Detail, "Subscription") + ", " + plural(days, "day") + " free"
			}
		}
		out = append(out, v)
	}
	return out
}

func taxLabel(o *object.Session) string {
	inclusive := false
	for _, l := range o.Lines() {
		inclusive = inclusive || l.Price.TaxBehavior == "inclusive"
	}
	label := fmt.Sprintf("Sandbox tax, %d%%", object.TaxPercent)
	if inclusive {
		label += " (included where the price says so)"
	}
	return label
}

// heading, purpose and button say what the one press of the button does.
func (v *payView) words(o *object.Session) {
	v.Shop = shopOf(o)
	v.Purpose, v.Heading, v.Button, v.ButtonTotal = "Pay "+v.Shop, "Pay by card", "Pay", true
	v.Agreement = "By pressing the button you confirm the order shown on this page."
	if v.OffersDebit {
		v.Heading = "Pay"
	}
	switch {
	case o.Mode == object.ModeSubscription && o.TrialDays() > 0:
		v.Purpose, v.Heading, v.Button, v.ButtonTotal = "Try "+
			v.Lines[0].Name, "Start your free trial", "Start trial", false
		v.Agreement = "By pressing the button you agree to be charged as stated: " + v.Terms
	case o.Mode == object.ModeSubscription:
		v.Purpose, v.Heading, v.Button = "Subscribe to "+v.Lines[0].Name, "Subscribe", "Subscribe for"
		v.Agreement = "By pressing the button you agree to be charged " + v.Terms
	case o.AmountTotal == 0:
		v.Heading, v.Button, v.ButtonTotal = "Confirm your order", "Confirm", false
	}
}

// estimate is how long shipping takes, in words.
func estimate(e *object.Estimate) string {
	if e == nil {
		return ""
	}
	unit := func(b *object.EstimateBound) string { return strings.ReplaceAll(b.Unit, "_", " ") }
	switch {
	case e.Minimum != nil && e.Maximum != nil && unit(e.Minimum) == unit(e.Maximum):
		return fmt.Sprintf("%d to %s", e.Minimum.Value, plural(e.Maximum.Value, unit(e.Maximum)))
	case e.Maximum != nil:
		return "at most " + plural(e.Maximum.Value, unit(e.Maximum))
	case e.Minimum != nil:
		return "at least " + plural(e.Minimum.Value, unit(e.Minimum))
	}
	return ""
}
