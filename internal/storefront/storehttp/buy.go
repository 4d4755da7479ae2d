package storehttp

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/storefront/checkout"
)

// maxBuyForm bounds the form of the Buy button, in bytes.
const maxBuyForm = 4 << 10

// buyPath is where the Buy button of a product page sends its form.
const buyPath = "/checkout/new"

// buy serves the Buy button of a product page. It opens a session as an agent
// does, for the visitor, and redirects to the page that leads to the payment:
// policies of pages forbid a form that leads to another site at once.
func (s *server) buy(w http.ResponseWriter, r *http.Request) {
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		s.refuseBuy(w, r, problem.New(problem.Forbidden, "cross_origin",
			"This form belongs to the product pages of this store."), "")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBuyForm)
	if err := r.ParseForm(); err != nil {
		s.refuseBuy(w, r, problem.New(problem.Malformed, "invalid_form", "The form cannot be read."), "")
		return
	}
	offerID := r.PostForm.Get("offer")
	quantity, err := strconv.ParseInt(cmp.Or(r.PostForm.Get("quantity"), "1"), 10, 32)
	if err != nil || quantity < 1 {
		quantity = -1 // which the checkout refuses, with the numbers that it accepts
	}
	agent := s.sessions.Agent(r.Context(), r.Header)
	agent.UserAgent = "" // a person's browser, which is nobody's business
	session, err := s.Checkout.Create(r.Context(), checkout.Request{
		Protocol: checkout.Web, OfferID: offerID, Quantity: quantity, Agent: agent,
	})
	if err != nil {
		s.refuseBuy(w, r, err, offerID)
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, "/checkout/"+session.Token+"/pay", http.StatusSeeOther)
}

// leadToPayment sends a visitor on to the payment page, with a link for
// browsers that do not follow by themselves.
func (s *server) leadToPayment(w http.ResponseWriter, r *http.Request) {
	session, err := s.Checkout.Visit(r.Context(), r.PathValue("token"))
	if err != nil {
		s.writeMissing(w, r, err)
		return
	}
	if session.State != checkout.Open {
		s.writeSession(w, r, session)
		return
	}
	quote := session.Quote()
	s.writePage(w, r, http.StatusOK, sessionView{
		Site: s.Site, Title: "One moment", Tone: "wait", Offer: &quote.Offer, Quantity: quote.Quantity,
		Lead:  "The payment page opens. Nothing is charged before you pay there.",
		Trial: quote.Offer.TrialSummary(), Sandbox: !quote.Offer.Live, Onward: session.Page().URL,
	})
}

// refuseBuy says why nothing can be bought, and leads back.
func (s *server) refuseBuy(w http.ResponseWriter, r *http.Request, err error, offerID string) {
	p := httpserver.ProblemOf(r.Context(), err)
	view := sessionView{
		Site: s.Site, Title: "This cannot be bought right now", Tone: "stop", Lead: p.Detail, Back: "/products",
	}
	switch {
	case p.Code == "sold_out":
		view.Title, view.Lead = canceledWords(checkout.EndingSoldOut, checkout.Web)
	case p.Code == "hold_limit":
		view.Lead = "The last ones are held for other buyers at the moment. Please try again in half an hour."
	case p.Code == "invalid_quantity":
		view.Title, view.Back = "Please choose another quantity", productPath(offerID)
	case p.Kind == problem.NotFound, p.Code == "offer_required":
		view.Title = "This is not for sale"
		view.Lead = "It may have been taken out of the store since the page was opened."
	case p.Kind.Temporary():
		view.Title, view.Back, view.Tone = "One moment, please", productPath(offerID), "wait"
		view.Lead = "The payment page cannot be reached right now. Nothing was charged. Please try again in a moment."
	}
	s.writePage(w, r, p.Kind.Status(), view)
}

// productPath is where the page of an offer is.
func productPath(offerID string) string {
	if offerID == "" {
		return "/products"
	}
	return "/products/" + url.PathEscape(offerID)
}
