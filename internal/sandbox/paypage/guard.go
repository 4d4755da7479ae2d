package paypage

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"regexp"

	"ace/internal/sandbox/object"
)

var (
	errUnknownPage = errors.New("no such page")
	errForged      = errors.New("the form does not come from this browser's page")
	errUnreadable  = errors.New("the form cannot be read")
)

// cookieName is the name of the cookie that identifies a browser.
const cookieName = "ace_sandbox_visit"

var visitShape = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// visit returns the browser's token and issues one if there is none.
func (h *handler) visit(w http.ResponseWriter, r *http.Request) string {
	if c, err := r.Cookie(cookieName); err == nil && visitShape.MatchString(c.Value) {
		return c.Value
	}
	v := rand.Text()
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: v, Path: h.opts.Prefix + "/c/", HttpOnly: true, Secure: h.opts.Secure,
		SameSite: http.SameSiteLaxMode, MaxAge: 24 * 60 * 60,
	})
	return v
}

func (h *handler) mac(purpose, visit, session string) string {
	m := hmac.New(sha256.New, h.p.PageSecret())
	m.Write([]byte(purpose + "|" + visit + "|" + session))
	return hex.EncodeToString(m.Sum(nil))
}

// token proves that a form was made for this browser and session.
func (h *handler) token(visit, session string) string { return h.mac("csrf", visit, session) }

// payer identifies the browser that paid a session.
func (h *handler) payer(visit, session string) string { return h.mac("payer", visit, session) }

// posted reads a form and returns the visit that it belongs to.
func (h *handler) posted(r *http.Request) (visit string, err error) {
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return "", errForged
	}
	if err := r.ParseForm(); err != nil {
		return "", errUnreadable
	}
	c, err := r.Cookie(cookieName)
	if err != nil || !visitShape.MatchString(c.Value) {
		return "", errForged
	}
	if !hmac.Equal([]byte(r.PostForm.Get("csrf")), []byte(h.token(c.Value, r.PathValue("id")))) {
		return "", errForged
	}
	return c.Value, nil
}

// over is the page of a session that can no longer be paid.
func (h *handler) over(w http.ResponseWriter, r *http.Request, o *object.Session) error {
	if o.Status != object.SessionComplete {
		v := &messageView{
			Page: h.page("Link expired"), Mood: "over", Heading: "This payment link has expired",
			Text: "Nothing was charged. Go back to the shop and start again; it will give you a new link.",
		}
		if o.CancelURL != nil {
			v.Link, v.LinkText = *o.CancelURL, "Back to "+shopOf(o)
		}
		return h.render(w, http.StatusGone, messageTemplate, v)
	}
	v := &messageView{
		Page: h.page("Already paid"), Mood: "done", Heading: "This order is already paid",
		Text: "It was paid once, and it cannot be paid again. You can close this page.",
	}
	switch o.PaymentStatus {
	case object.PaymentUnpaid:
		v.Page, v.Heading = h.page("Payment on its way"), "Your payment is on its way"
		v.Text = "The bank has been asked and answers later. There is nothing more to do on this page."
	case object.PaymentNotRequired:
		v.Page, v.Heading = h.page("Already confirmed"), "This order is already confirmed"
		v.Text = "Nothing was due. You can close this page."
	}
	if c, err := r.Cookie(cookieName); err == nil && o.PaidBy() != "" && o.PaidBy() == h.payer(c.Value, o.ID) {
		v.Link, v.LinkText = successURL(o), "Continue to "+shopOf(o)
	}
	return h.render(w, http.StatusOK, messageTemplate, v)
}

// fail shows an error as a page.
func (h *handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, v := http.StatusInternalServerError, &messageView{
		Page: h.page("Something went wrong"), Mood: "bad", Heading: "Something went wrong",
		Text: "The sandbox could not do this. Open the link again to see whether the order is paid; it is never " +
			"charged twice.",
	}
	var tooLarge *http.MaxBytesError
	switch {
	case object.IsMissing(err), errors.Is(err, errUnknownPage):
		status, v.Mood, v.Page, v.Heading = http.StatusNotFound, "lost", h.page(
			"Not found"), "There is no such payment link"
		v.Text = "Check that the whole address was copied, or ask the shop for a new link."
	case errors.Is(err, errForged):
		status, v.Heading = http.StatusForbidden, "Please open the payment page again"
		v.Text = "This form did not come from your own payment page, or your browser keeps no cookies. Nothing was " +
			"charged."
		v.Link, v.LinkText = h.payPath(r.PathValue("id")), "Open the payment page"
	case errors.Is(err, errUnreadable), errors.As(err, &tooLarge):
		status, v.Heading = http.StatusBadRequest, "The form could not be read"
		v.Text = "Nothing was charged. Open the payment page again and fill in the form."
		v.Link, v.LinkText = h.payPath(r.PathValue("id")), "Open the payment page"
	default:
		h.log.ErrorContext(r.Context(), "pay page failed", slog.Any("error", err))
	}
	if err := h.render(w, status, messageTemplate, v); err != nil {
		h.log.ErrorContext(r.Context(), "error page failed", slog.Any("error", err))
		http.Error(w, "Something went wrong.", http.StatusInternalServerError)
	}
}
