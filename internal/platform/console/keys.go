package console

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/platform/apikey"
	"ace/internal/platform/console/page"
	"ace/internal/platform/platformhttp/gate"
)

// keyRow is a key as lists show it.
type keyRow struct {
	ID, Name    string
	Shown       string // how to recognise it
	Permissions []string
	Limits      []string // its restrictions in words
	Live        bool
	State       string // of one that opens nothing
	CreatedAt   time.Time
	UsedAt      time.Time
	ExpiresAt   time.Time
}

func rowOfKey(k *apikey.Key) keyRow {
	row := keyRow{
		ID: k.ID, Name: k.Name, Shown: k.Prefix + "…" + k.Last4, Permissions: k.Permissions.Names(), Limits: limitsOf(k),
		Live: k.Live(time.Now()), CreatedAt: k.CreatedAt, UsedAt: k.LastUsedAt, ExpiresAt: k.ExpiresAt,
	}
	switch {
	case !k.RevokedAt.IsZero():
		row.State = "revoked " + page.Ago(k.RevokedAt)
	case !row.Live:
		row.State = "expired " + page.Ago(k.ExpiresAt)
	}
	return row
}

// limitsOf says what a key is restricted to.
func limitsOf(k *apikey.Key) []string {
	var limits []string
	restrict := k.Restrict
	if len(restrict.Apps) > 0 {
		limits = append(limits, "only "+strings.Join(restrict.Apps, ", "))
	}
	if len(restrict.Tools) > 0 {
		limits = append(limits, "only "+page.Count(len(restrict.Tools), "tool"))
	}
	if restrict.ReadOnlyTools {
		limits = append(limits, "changes nothing")
	}
	if restrict.RawRequests {
		limits = append(limits, "also requests of its own making")
	}
	if len(restrict.Networks) > 0 {
		limits = append(limits, "only from "+page.Count(len(restrict.Networks), "network"))
	}
	if restrict.EndUser != "" {
		limits = append(limits, "only for "+restrict.EndUser)
	}
	switch k.Approval {
	case apikey.ApproveDestructive:
		limits = append(limits, "asks before it deletes")
	case apikey.ApproveWrites:
		limits = append(limits, "asks before it changes anything")
	case apikey.ApproveNone:
	}
	return limits
}

// keyForm is what the form of a new key holds.
type keyForm struct {
	Name               string
	Read, Connect, Run bool
	Days               string
	Approval           string
	Apps, Tools        string
	ReadOnly, Raw      bool
	Networks, EndUser  string
}

// newKeyView fills newkey.html.
type newKeyView struct {
	page.Frame
	Form   keyForm
	Fault  string
	At     string // field that the fault is in; empty: none in particular
	Unfold bool   // show the restrictions
	Spans  []choice
}

// choice is an entry of a list to choose from.
type choice struct{ Value, Text string }

// spans are how long a key may live.
func spans() []choice {
	return []choice{{"", "Until it is revoked"}, {"7", "7 days"}, {"30", "30 days"}, {"90", "90 days"}, {"365", "1 year"}}
}

func (c *Console) newKeyView(r *http.Request, form keyForm) newKeyView {
	f, _ := c.personal(r, "Make a key")
	f.Narrow = true
	return newKeyView{
		Frame: f, Form: form, Spans: spans(),
		Unfold: form.Apps+form.Tools+form.Networks+form.EndUser != "" || form.ReadOnly || form.Raw,
	}
}

func (c *Console) newKey(w http.ResponseWriter, r *http.Request) {
	form := keyForm{Read: true, Connect: true, Run: true, Approval: string(apikey.ApproveDestructive)}
	c.pages.Show(w, r, http.StatusOK, "newkey", c.newKeyView(r, form))
}

// madeKeyView fills madekey.html, the only page that ever shows a key.
type madeKeyView struct {
	page.Frame
	Key     keyRow
	Secret  string
	Replace string // what becomes of the key that this one replaces
}

func (c *Console) makeKey(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	caller := gate.From(r.Context())
	form := readKeyForm(r)
	settings, err := form.settings(time.Now())
	if err == nil {
		var k *apikey.Key
		var secret string
		if k, secret, err = c.Keys.Create(r.Context(), caller.Actor, caller.Account, settings); err == nil {
			c.showKey(w, r, k, secret, "")
			return
		}
	}
	p, ok := problem.From(err)
	if !ok {
		c.fail(w, r, err)
		return
	}
	view := c.newKeyView(r, form)
	view.Fault = p.Detail
	if len(p.Items) > 0 {
		at := strings.TrimPrefix(p.Items[0].Pointer, "/")
		if slices.Contains([]string{"name", "permissions", "expires_at", "networks"}, at) { // they show it themselves
			view.At = at
		}
	}
	c.pages.Show(w, r, http.StatusUnprocessableEntity, "newkey", view)
}

func (c *Console) showKey(w http.ResponseWriter, r *http.Request, k *apikey.Key, secret, replace string) {
	f, _ := c.personal(r, "Your new key")
	f.Narrow = true
	c.pages.Show(w, r, http.StatusOK, "madekey", madeKeyView{Frame: f, Key: rowOfKey(k), Secret: secret, Replace: replace})
}

func readKeyForm(r *http.Request) keyForm {
	on := func(name string) bool { return r.PostFormValue(name) != "" }
	permissions := func(name string) bool { return slices.Contains(r.PostForm["permission"], name) }
	form := keyForm{
		Name: r.PostFormValue("name"), Days: r.PostFormValue("days"), Approval: r.PostFormValue("approval"), Apps: r.PostFormValue("apps"),
		Tools: r.PostFormValue("tools"), ReadOnly: on("read_only"), Raw: on("raw"), Networks: r.PostFormValue("networks"), EndUser: strings.TrimSpace(r.PostFormValue("end_user")),
	}
	form.Read, form.Connect, form.Run = permissions("read"), permissions("connect"), permissions("run")
	return form
}

// settings reads the form. Its problems are those of apikey and invalid_network.
func (f *keyForm) settings(now time.Time) (apikey.Settings, error) {
	s := apikey.Settings{Name: f.Name, Approval: apikey.Approval(f.Approval)}
	for _, one := range []struct {
		on   bool
		what apikey.Permissions
	}{{f.Read, apikey.Read}, {f.Connect, apikey.Connect}, {f.Run, apikey.Run}} {
		if one.on {
			s.Permissions |= one.what
		}
	}
	if f.Days != "" {
		days, err := strconv.Atoi(f.Days)
		if err != nil || days < 1 || days > 3650 {
			return s, problem.New(problem.Invalid, "invalid_expiry", "Choose how long the key works.").At("/expires_at")
		}
		s.ExpiresAt = now.UTC().Add(time.Duration(days) * 24 * time.Hour).Truncate(time.Second)
	}
	s.Restrict = apikey.Restrictions{Apps: split(f.Apps), Tools: split(f.Tools), ReadOnlyTools: f.ReadOnly, RawRequests: f.Raw, EndUser: f.EndUser}
	networks := split(f.Networks)
	for i, text := range networks {
		if ip, err := netip.ParseAddr(text); err == nil { // people type single addresses, too
			networks[i] = netip.PrefixFrom(ip.WithZone(""), ip.BitLen()).String()
		}
	}
	var err error
	s.Restrict.Networks, err = apikey.ParseNetworks(networks, "/networks")
	return s, err
}

// split splits what people type into a field that takes several values.
func split(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ';' || c == ' ' || c == '\n' || c == '\r' || c == '\t' })
}

// keyView fills key.html.
type keyView struct {
	page.Frame
	Key      keyRow
	Approval string
	Restrict apikey.Restrictions
	Networks []string
	Maker    string
	Graces   []choice
}

// graces are how long a replaced key goes on working.
func graces() []choice {
	return []choice{{"0", "at once"}, {"3600", "in an hour"}, {"86400", "in a day"}, {"604800", "in a week"}}
}

func (c *Console) key(w http.ResponseWriter, r *http.Request) {
	f, caller := c.personal(r, "Key")
	k, err := c.Keys.Get(r.Context(), caller.Account, r.PathValue("id"))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	f.Narrow, f.Title = true, k.Name
	view := keyView{Frame: f, Key: rowOfKey(k), Restrict: k.Restrict, Networks: k.Restrict.NetworkTexts(), Graces: graces()}
	if view.Maker, err = c.maker(r.Context(), k); err != nil {
		c.fail(w, r, err)
		return
	}
	c.pages.Show(w, r, http.StatusOK, "key", view)
}

// maker names who made a key.
func (c *Console) maker(ctx context.Context, k *apikey.Key) (string, error) {
	if k.CreatedBy == "" {
		return "the operator", nil
	}
	users, err := c.Accounts.Users(ctx, k.AccountID)
	if err != nil {
		return "", err
	}
	for _, u := range users {
		if u.ID == k.CreatedBy && u.Email != "" {
			return u.Email, nil
		}
		if u.ID == k.CreatedBy {
			return u.Name, nil
		}
	}
	return "somebody who has left", nil
}

func (c *Console) rotateKey(w http.ResponseWriter, r *http.Request) {
	caller := gate.From(r.Context())
	seconds, err := strconv.Atoi(r.PostFormValue("grace"))
	if err != nil {
		seconds = -1 // refused: nothing ends because a form was read wrongly
	}
	k, secret, err := c.Keys.Rotate(r.Context(), caller.Actor, caller.Account, r.PathValue("id"), time.Duration(seconds)*time.Second)
	if err != nil {
		c.fail(w, r, err)
		return
	}
	replace := "The old key is revoked."
	for _, g := range graces()[1:] {
		if g.Value == strconv.Itoa(seconds) {
			replace = "The old key stops working " + g.Text + "."
		}
	}
	c.showKey(w, r, k, secret, replace)
}

func (c *Console) revokeKey(w http.ResponseWriter, r *http.Request) {
	caller := gate.From(r.Context())
	if err := c.Keys.Revoke(r.Context(), caller.Actor, caller.Account, r.PathValue("id")); err != nil {
		c.fail(w, r, err)
		return
	}
	back(w, r, accountPath+"?done=key_revoked")
}
