package console

import (
	"net/http"
	"strings"

	"ace/internal/platform/platformhttp/gate"
)

// redirectsView is the account's list of addresses that connect links may send
// browsers to, and the form that changes it.
type redirectsView struct {
	List  []string // empty: anywhere
	Typed string
	Fault string
}

// changeRedirects adds one address to the list, or takes one off.
func (c *Console) changeRedirects(w http.ResponseWriter, r *http.Request) {
	typed, removed := strings.TrimSpace(r.PostFormValue("url")), r.PostFormValue("remove")
	add, remove, done := []string{typed}, []string(nil), "redirect_added"
	if removed != "" {
		add, remove, done, typed = nil, []string{removed}, "redirect_removed", ""
	}
	list, err := c.Operations.EditRedirectURLs(r.Context(), gate.From(r.Context()), add, remove)
	if err == nil {
		if len(list.URLs) == 0 {
			done = "redirects_open"
		}
		back(w, r, accountPath+"?done="+done)
		return
	}
	c.refuseAccount(w, r,
		err, func(view *accountView, fault string) { view.Redirects.Typed, view.Redirects.Fault = typed, fault })
}
