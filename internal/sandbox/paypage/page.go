// Package paypage is the hosted pay page of the sandbox: what a person sees
// who follows the address of a checkout session. It needs no script.
//
//	GET  /c/pay/{id}   open: the form; complete, expired, unknown: a page that says so
//	POST /c/pay/{id}   token, fields -> payments.Pay
//	       completed  -> 303 to the shop's success_url
//	       declined   -> the form again, with the reason, without the card
//	       challenged -> 303 /c/pay/{id}/authenticate/{attempt}: the bank's question
//
// A card number lives in one request and is neither stored, logged nor shown.
package paypage

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"ace/internal/sandbox/object"
	"ace/internal/sandbox/payform"
	"ace/internal/sandbox/payments"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// Options tunes the page; the zero value serves it at the root.
type Options struct {
	// Prefix is the path that the handler is mounted under, without a slash at
	// its end.
	Prefix string
	// Logger takes reports of internal faults. Nil: nothing is logged.
	Logger *slog.Logger
	// Secure marks cookies for https only.
	Secure bool
}

type handler struct {
	p         *payments.Processor
	opts      Options
	log       *slog.Logger
	templates map[string]*template.Template
}

// Names of the templates.
const (
	payTemplate          = "pay.html"
	messageTemplate      = "message.html"
	authenticateTemplate = "authenticate.html"
)

// New returns the page. It serves /c/….
func New(p *payments.Processor, opts *Options) (http.Handler, error) {
	if opts == nil {
		opts = &Options{}
	}
	h := &handler{p: p, opts: *opts, log: opts.Logger}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	var err error
	if h.templates, err = parse(); err != nil {
		return nil, err
	}
	assets, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		return nil, fmt.Errorf("reading the assets of the pay page: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /c/pay/{id}", h.guard(h.form))
	mux.HandleFunc("POST /c/pay/{id}", h.guard(h.pay))
	mux.HandleFunc("GET /c/pay/{id}/authenticate/{attempt}", h.guard(h.question))
	mux.HandleFunc("POST /c/pay/{id}/authenticate/{attempt}", h.guard(h.resolve))
	mux.Handle("GET /c/assets/", http.StripPrefix("/c/assets/", cached(http.FileServerFS(assets))))
	mux.HandleFunc("/", h.guard(func(http.ResponseWriter, *http.Request) error { return errUnknownPage }))
	return mux, nil
}

func parse() (map[string]*template.Template, error) {
	all := map[string]*template.Template{}
	for _, name := range []string{payTemplate, messageTemplate, authenticateTemplate} {
		t, err := template.New(name).ParseFS(templateFiles, "templates/layout.html", "templates/"+name)
		if err != nil {
			return nil, fmt.Errorf("reading the template %s: %w", name, err)
		}
		all[name] = t
	}
	return all, nil
}

func cached(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=300")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// maxForm bounds what the page takes: 64 kilobytes.
const maxForm = 64 << 10

// guard sets what every page needs and shows the error of h as a page.
func (h *handler) guard(serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", csp(""))
		header.Set("Cache-Control", "no-store")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Ace-Sandbox", "true")
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := serve(w, r); err != nil {
			h.fail(w, r, err)
		}
	}
}

// csp allows no script at all. A browser checks the way of a form through its
// redirects, so the shop's origin is named too.
func csp(shop string) string {
	action := "'self'"
	if u, err := url.Parse(shop); err == nil && u.Host != "" && !strings.ContainsAny(u.Host, " ;,'\"") {
		action += " " + u.Scheme + "://" + u.Host
	}
	return "default-src 'none'; style-src 'self'; img-src 'self'; form-action " + action +
		"; base-uri 'none'; frame-ancestors 'none'"
}

func (h *handler) render(w http.ResponseWriter, status int, name string, view any) error {
	var b bytes.Buffer
	if err := h.templates[name].Execute(&b, view); err != nil {
		return fmt.Errorf("making the page %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	// A browser that went away is no fault of this process.
	_, _ = w.Write(b.Bytes())
	return nil
}

func (h *handler) page(title string) page {
	return page{Title: title + " – ACE sandbox", Assets: h.opts.Prefix + "/c/assets"}
}

// session reads the session of the path by the sandbox's clock.
func (h *handler) session(r *http.Request) (*object.Session, error) {
	if err := h.p.Sweep(r.Context()); err != nil {
		return nil, err
	}
	return h.p.View().Session(r.Context(), r.PathValue("id"))
}

func (h *handler) form(w http.ResponseWriter, r *http.Request) error {
	o, err := h.session(r)
	if err != nil {
		return err
	}
	if o.Status != object.SessionOpen {
		return h.over(w, r, o)
	}
	v, err := h.show(r.Context(), o, blank(o), nil)
	if err != nil {
		return err
	}
	return h.ask(w, r, o, v, http.StatusOK)
}

// ask shows the form.
func (h *handler) ask(w http.ResponseWriter, r *http.Request, o *object.Session, v *payView, status int) error {
	title := v.Heading
	if len(v.Problems) > 0 {
		title = "Error: " + title
	}
	v.Page = h.page(title)
	v.Action = h.payPath(o.ID)
	v.Token = h.token(h.visit(w, r), o.ID)
	w.Header().Set("Content-Security-Policy", csp(o.SuccessURL))
	return h.render(w, status, payTemplate, v)
}

func (h *handler) payPath(id string) string { return h.opts.Prefix + "/c/pay/" + url.PathEscape(id) }

func (h *handler) pay(w http.ResponseWriter, r *http.Request) error {
	visit, err := h.posted(r)
	if err != nil {
		return err
	}
	o, err := h.session(r)
	if err != nil {
		return err
	}
	if o.Status != object.SessionOpen {
		return h.finished(w, r, o, visit)
	}
	f := typed(r.PostForm, o)
	if faults := f.Check(o, h.p.Now()); len(faults) > 0 {
		v, err := h.show(r.Context(), o, f, faults)
		if err != nil {
			return err
		}
		return h.ask(w, r, o, v, http.StatusUnprocessableEntity)
	}
	var out *payments.PayOutcome
	err = h.p.Write(r.Context(), payments.Origin{}, func(ctx context.Context, tx *payments.Tx) error {
		var err error
		out, err = tx.Pay(ctx, o.ID, f, h.payer(visit, o.ID))
		return err
	})
	if err != nil {
		return err
	}
	return h.follow(w, r, out, f, visit)
}

// follow returns an attempt to pay.
func (h *handler) follow(w http.ResponseWriter, r *http.Request, out *payments.PayOutcome, f *payform.Form,
	visit string,
) error {
	switch out.Result {
	case payments.Challenged:
		http.Redirect(w, r, h.payPath(out.Session.ID)+"/authenticate/"+url.PathEscape(out.Attempt), http.StatusSeeOther)
		return nil
	case payments.Declined:
		v, err := h.show(r.Context(), out.Session,
			f, []payform.FieldError{{Field: blame(out.Reason.Code), Message: out.Reason.Message}})
		if err != nil {
			return err
		}
		v.ProblemsHeading = "The payment did not go through"
		return h.ask(w, r, out.Session, v, http.StatusPaymentRequired)
	default:
		return h.finished(w, r, out.Session, visit)
	}
}

// blame is the input that a declined card is about.
func blame(code string) string {
	switch code {
	case "incorrect_cvc":
		return payform.FieldCardCVC
	case "expired_card":
		return payform.FieldCardExpiry
	default:
		return payform.FieldCardNumber
	}
}

// finished sends the browser that paid on to the shop, however often its form
// arrives; everyone else reads that the session is over.
func (h *handler) finished(w http.ResponseWriter, r *http.Request, o *object.Session, visit string) error {
	if o.Status != object.SessionComplete || o.PaidBy() == "" || o.PaidBy() != h.payer(visit, o.ID) {
		return h.over(w, r, o)
	}
	w.Header().Set("Content-Security-Policy", csp(o.SuccessURL))
	http.Redirect(w, r, successURL(o), http.StatusSeeOther)
	return nil
}

// successURL is where the shop wants a buyer who has paid.
func successURL(o *object.Session) string {
	return strings.NewReplacer("{CHECKOUT_SESSION_ID}", o.ID, "%7BCHECKOUT_SESSION_ID%7D", o.ID).Replace(o.SuccessURL)
}

func (h *handler) question(w http.ResponseWriter, r *http.Request) error {
	o, err := h.session(r)
	if err != nil {
		return err
	}
	attempt := r.PathValue("attempt")
	if o.Status != object.SessionOpen || !h.p.View().AttemptPending(r.Context(), o.ID, attempt) {
		http.Redirect(w, r, h.payPath(o.ID), http.StatusSeeOther)
		return nil
	}
	w.Header().Set("Content-Security-Policy", csp(o.SuccessURL))
	return h.render(w, http.StatusOK, authenticateTemplate, &authenticateView{
		Page: h.page("Confirm the payment"), Shop: shopOf(o), Amount: object.Display(o.AmountTotal,
			o.Currency),
		Action: h.payPath(o.ID) + "/authenticate/" + url.PathEscape(attempt), Token: h.token(h.visit(w, r), o.ID),
	})
}

func (h *handler) resolve(w http.ResponseWriter, r *http.Request) error {
	visit, err := h.posted(r)
	if err != nil {
		return err
	}
	var out *payments.PayOutcome
	err = h.p.Write(r.Context(), payments.Origin{}, func(ctx context.Context, tx *payments.Tx) error {
		var err error
		out, err = tx.Resolve(ctx, r.PathValue("id"), r.PathValue("attempt"), r.PostForm.Get("decision") == "approve")
		return err
	})
	if err != nil {
		return err
	}
	return h.follow(w, r, out, out.Form, visit)
}
