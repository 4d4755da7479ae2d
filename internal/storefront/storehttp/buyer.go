package storehttp

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
	"ace/internal/storefront/storehttp/answer"
)

//go:embed pages/*.html pages/store.css
var pageFiles embed.FS

// pages are the templates of what the buyer sees.
type pages struct {
	session *template.Template
	css     *answer.Document
}

func loadPages() (*pages, error) {
	session, err := template.ParseFS(pageFiles, "pages/session.html")
	if err != nil {
		return nil, fmt.Errorf("reading page templates: %w", err)
	}
	css, err := pageFiles.ReadFile("pages/store.css")
	if err != nil {
		return nil, fmt.Errorf("reading the stylesheet: %w", err)
	}
	style, err := answer.NewDocument("text/css; charset=utf-8", css, &answer.Options{MaxAge: 300})
	if err != nil {
		return nil, err
	}
	return &pages{session, style}, nil
}

// sessionView fills session.html.
type sessionView struct {
	Site     Site
	Title    string
	Lead     string
	Tone     string // "good", "wait" or "stop"
	Offer    *offer.Offer
	Quantity int64
	Trial    string // terms of the free trial
	Charged  string // what was paid, once it is
	Order    *order.Order
	Next     []string
	Continue string // link that goes on to the payment page
	Return   *url.URL
	Delivery string // URL of what was bought, once it is paid
	Back     string // path of the page to go back to, in the store
	Onward   string // URL of the payment page that this page leads to
	Refresh  int    // seconds after which the page looks again; 0: never
	Sandbox  bool
}

// continueToPayment serves the short URL that an agent passes to the buyer.
func (s *server) continueToPayment(w http.ResponseWriter, r *http.Request) {
	session, err := s.Checkout.Visit(r.Context(), r.PathValue("token"))
	if err != nil {
		s.writeMissing(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	if session.State == checkout.Open {
		http.Redirect(w, r, session.Page().URL, http.StatusSeeOther)
		return
	}
	s.writeSession(w, r, session)
}

// afterPayment is where the payment page sends the person.
func (s *server) afterPayment(w http.ResponseWriter, r *http.Request) {
	session, err := s.Checkout.Returned(r.Context(), r.PathValue("token"))
	if err != nil {
		s.writeMissing(w, r, err)
		return
	}
	s.writeSession(w, r, session)
}

// backFromPayment is where the payment page sends a person who did not pay.
func (s *server) backFromPayment(w http.ResponseWriter, r *http.Request) {
	session, err := s.Checkout.Returned(r.Context(), r.PathValue("token"))
	if err != nil {
		s.writeMissing(w, r, err)
		return
	}
	s.writeSession(w, r, session)
}

func (s *server) writeSession(w http.ResponseWriter, r *http.Request, session *checkout.Session) {
	quote := session.Quote()
	view := sessionView{
		Site: s.Site, Offer: &quote.Offer, Quantity: quote.Quantity, Trial: quote.Offer.TrialSummary(),
		Sandbox: !quote.Offer.Live, Back: productPath(quote.Offer.ID),
	}
	switch session.State {
	case checkout.Completed:
		if err := s.viewCompleted(r, session, &view); err != nil {
			httpserver.WriteProblem(w, r, err)
			return
		}
	case checkout.Processing:
		view.Title, view.Tone, view.Refresh = "Your payment is on its way", "wait", 10
		view.Lead = "Your bank confirms this kind of payment later. There is nothing more to do: you will get an " +
			"e-mail when it has arrived."
	case checkout.Open, checkout.Creating:
		view.Title, view.Tone, view.Continue = "Nothing has been charged", "wait", s.Checkout.ContinueURL(session)
		view.Lead = "You left the payment page before paying. The offer is still held for you, at the same price."
	case checkout.Expired:
		view.Title, view.Tone = "This payment link has expired", "stop"
		view.Lead = "Nothing was charged. " + startAgain(session.Protocol)
	case checkout.Canceled:
		view.Title, view.Lead = canceledWords(session.Ending, session.Protocol)
		view.Tone = "stop"
	}
	if link, err := url.Parse(session.ReturnURL); err == nil && link.Host != "" {
		view.Return = link
	}
	s.writePage(w, r, http.StatusOK, view)
}

// startAgain says how to get another payment page.
func startAgain(p checkout.Protocol) string {
	if p == checkout.Web {
		return "Go back to the product to start again."
	}
	return "Ask your assistant for a new link, or go back to the product."
}

func canceledWords(ending string, p checkout.Protocol) (title, lead string) {
	switch ending {
	case checkout.EndingSoldOut:
		return "This offer is sold out", "Somebody else was faster. Nothing was charged."
	case checkout.EndingPaymentFailed:
		return "The payment did not go through",
			"Your bank refused it, and nothing was charged. To try another way to pay: " + startAgain(p)
	default:
		return "This purchase was canceled",
			"Nothing was charged. " + startAgain(p)
	}
}

func (s *server) viewCompleted(r *http.Request, session *checkout.Session, view *sessionView) error {
	o, err := s.Orders.OfCheckout(r.Context(), session.ID)
	if err != nil {
		return err
	}
	view.Order, view.Charged = o, o.Paid.Amount().String()
	view.Title, view.Tone, view.Lead = "Thank you", "good", "Your purchase is complete."
	switch o.Status {
	case order.RefundDue:
		view.Title, view.Tone = "Your money comes back", "wait"
		view.Lead = "The payment arrived after the last one was sold. It will be refunded in full; you need not do " +
			"anything."
	case order.Review:
		view.Title, view.Tone = "Thank you, we are checking your order", "wait"
		view.Lead = "The payment has arrived, but something about it needs a look by a person. You will hear from us " +
			"by e-mail."
	case order.Refunded:
		view.Title, view.Tone, view.Lead = "Refunded", "wait", "The payment for this order went back to you."
	case order.Confirmed:
		view.Next, view.Delivery = nextSteps(&o.Quote, session.Protocol), o.Quote.Offer.Delivery.URL
	}
	return nil
}

func nextSteps(q *offer.Quote, p checkout.Protocol) []string {
	steps := []string{"A receipt comes by e-mail to the address that you gave."}
	switch q.Offer.Delivery.Type {
	case offer.Shipping:
		steps = append(steps, q.Offer.Delivery.Summary+". You get a message when it is sent.")
	case offer.OnDemand, offer.Digital:
		steps = append(steps, q.Offer.Delivery.Summary+".")
	}
	if q.Offer.TrialDays > 0 {
		steps = append(steps, q.Offer.TrialSummary()+", unless you cancel before.")
	}
	if p == checkout.Web {
		return append(steps, "This page stays here: its address is the one of your order.")
	}
	return append(steps, "Your assistant can see that it is paid; you can close this page.")
}

func (s *server) writeMissing(w http.ResponseWriter, r *http.Request, err error) {
	p := httpserver.ProblemOf(r.Context(), err)
	view := sessionView{
		Site: s.Site, Title: "This link leads nowhere", Tone: "stop",
		Lead: "Check that it was copied whole, or ask your assistant for a new one.",
	}
	if p.Kind != problem.NotFound {
		view.Title, view.Tone, view.Refresh = "One moment, please", "wait", 5
		view.Lead = "The payment page cannot be reached right now. Nothing was charged. This page looks again by " +
			"itself."
	}
	s.writePage(w, r, p.Kind.Status(), view)
}

func (s *server) writePage(w http.ResponseWriter, r *http.Request, status int, view sessionView) {
	var body bytes.Buffer
	if err := s.pages.session.Execute(&body, view); err != nil {
		httpserver.WriteProblem(w, r, fmt.Errorf("rendering a page: %w", err))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer") // the address is the buyer's own
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

func (s *server) stylesheet(w http.ResponseWriter, r *http.Request) {
	s.pages.css.Write(w, r)
}

// gated puts the gate in front of the routes. It refuses in the shape of the
// path: a person who pays reads a page.
func (s *server) gated(mux *httpserver.Mux) http.Handler {
	return s.Gate.Wrap(mux, func(w http.ResponseWriter, r *http.Request, err error) {
		mux.NoteRoute(r)
		if r.URL.Path == buyPath && r.Method == http.MethodPost {
			s.refuseBuy(w, r, err, "")
			return
		}
		if strings.HasPrefix(r.URL.Path, "/c/") || strings.HasPrefix(r.URL.Path, "/checkout/") {
			httpserver.SecurePages(httpserver.PagePolicy{})(http.HandlerFunc(func(w http.ResponseWriter,
				r *http.Request,
			) {
				s.writeMissing(w, r, err)
			})).ServeHTTP(w, r)
			return
		}
		mux.WriteError(w, r, err)
	})
}
