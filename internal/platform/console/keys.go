package console

import (
	"cmp"
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
	"ace/internal/platform/operation"
	"ace/internal/platform/platformhttp/gate"
)

// keyRow is a key as lists show it.
type keyRow struct {
	ID, Name    string
	Shown       string // how to recognise it
	Permissions []string
	Limits      []string // its restrictions in words
	Client      string   // host of the MCP client that signed in; empty: a key that somebody copied
	Live        bool
	State       string // of one that opens nothing
	CreatedAt   time.Time
	UsedAt      time.Time
	ExpiresAt   time.Time
}

func rowOfKey(k *operation.Key) keyRow {
	row := keyRow{
		ID:          k.ID,
		Name:        k.Name,
		Shown:       k.Prefix + "…" + k.Last4,
		Permissions: k.Permissions,
		Limits:      limitsOf(k),
		Live: k.Live(
			time.Now(),
		),
		CreatedAt: k.CreatedAt,
		UsedAt:    orZero(k.LastUsedAt),
		ExpiresAt: orZero(k.ExpiresAt),
	}
	if k.Client != nil {
		row.Client = k.Client.Host
	}
	switch {
	case k.RevokedAt != nil:
		row.State = "revoked " + page.Ago(*k.RevokedAt)
	case !row.Live:
		row.State = "expired " + page.Ago(*k.ExpiresAt)
	}
	return row
}

// limitsOf says what a key is restricted to.
func limitsOf(k *operation.Key) []string {
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
		limits = append(limits, "also raw requests")
	}
	if len(restrict.Networks) > 0 {
		limits = append(limits, "only from "+page.Count(len(restrict.Networks), "network"))
	}
	if restrict.EndUser != "" {
		limits = append(limits, "only for "+restrict.EndUser)
	}
	switch apikey.Approval(k.Approval) {
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
	return []choice{
		{"", "Until it is revoked"},
		{"7", "7 days"},
		{"30", "30 days"},
		{"90", "90 days"},
		{"365", "1 year"},
	}
}

func (c *Console) newKeyView(r *http.Request, form keyForm) newKeyView {
	f, _ := c.personal(r, "Create a key")
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
	Setups  []setup
}

func (c *Console) makeKey(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	caller := gate.From(r.Context())
	form := readKeyForm(r)
	request, err := form.request(time.Now())
	if err == nil {
		var k *operation.NewKey
		if k, _, err = c.Operations.CreateKey(r.Context(), caller, "", request); err == nil {
			c.showKey(w, r, k, "")
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
		if at == "restrict/ip_cidrs" {
			at = "networks"
		}
		if slices.Contains([]string{"name", "permissions", "expires_at", "networks"}, at) { // they show it themselves
			view.At = at
		}
	}
	c.pages.Show(w, r, http.StatusUnprocessableEntity, "newkey", view)
}

func (c *Console) showKey(w http.ResponseWriter, r *http.Request, k *operation.NewKey, replace string) {
	f, _ := c.personal(r, "Your new key")
	f.Narrow = true
	c.pages.Show(w, r, http.StatusOK, "madekey",
		madeKeyView{
			Frame: f, Key: rowOfKey(&k.Key), Secret: k.Secret, Replace: replace, Setups: c.setups(k.Secret),
		})
}

func readKeyForm(r *http.Request) keyForm {
	on := func(name string) bool { return r.PostFormValue(name) != "" }
	permissions := func(name string) bool { return slices.Contains(r.PostForm["permission"], name) }
	form := keyForm{
		Name: r.PostFormValue("name"), Days: r.PostFormValue("days"), Approval: r.PostFormValue("approval"),
		Apps:  r.PostFormValue("apps"),
		Tools: r.PostFormValue("tools"), ReadOnly: on("read_only"), Raw: on("raw"),
		Networks: r.PostFormValue("networks"), EndUser: strings.TrimSpace(r.PostFormValue("end_user")),
	}
	form.Read, form.Connect, form.Run = permissions("read"), permissions("connect"), permissions("run")
	return form
}

// request reads the form. Its problem is invalid_expiry; the operation has those
// of the other fields.
func (f *keyForm) request(now time.Time) (operation.KeyRequest, error) {
	request := operation.KeyRequest{Name: f.Name, Approval: f.Approval}
	for _, one := range []struct {
		on   bool
		what apikey.Permissions
	}{{f.Read, apikey.Read}, {f.Connect, apikey.Connect}, {f.Run, apikey.Run}} {
		if one.on {
			request.Permissions = append(request.Permissions, one.what.String())
		}
	}
	if f.Days != "" {
		days, err := strconv.Atoi(f.Days)
		if err != nil || days < 1 || days > 3650 {
			return request, problem.New(problem.Invalid, "invalid_expiry", "Choose how long the key works.").At(
				"/expires_at")
		}
		expires := now.UTC().Add(time.Duration(days) * 24 * time.Hour).Truncate(time.Second)
		request.ExpiresAt = &expires
	}
	networks := split(f.Networks)
	for i, text := range networks {
		if ip, err := netip.ParseAddr(text); err == nil { // people type single addresses, too
			networks[i] = netip.PrefixFrom(ip.WithZone(""), ip.BitLen()).String()
		}
	}
	request.Restrict = operation.Restrictions{
		Apps: split(f.Apps), Tools: split(f.Tools), ReadOnlyTools: f.ReadOnly, RawRequests: f.Raw,
		EndUser: f.EndUser, Networks: networks,
	}
	return request, nil
}

// orZero is a time that may be missing.
func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// split splits what people type into a field that takes several values.
func split(text string) []string {
	return strings.FieldsFunc(text,
		func(c rune) bool { return c == ',' || c == ';' || c == ' ' || c == '\n' || c == '\r' || c == '\t' })
}

// keyView fills key.html.
type keyView struct {
	page.Frame
	Key      keyRow
	Approval string
	Restrict operation.Restrictions
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
	k, err := c.Operations.Key(r.Context(), caller, r.PathValue("id"))
	if err != nil {
		c.fail(w, r, err)
		return
	}
	f.Narrow, f.Title = true, k.Name
	view := keyView{
		Frame: f, Key: rowOfKey(k), Restrict: k.Restrict, Networks: k.Restrict.Networks,
		Graces: graces(),
	}
	if view.Maker, err = c.maker(r.Context(), caller, k); err != nil {
		c.fail(w, r, err)
		return
	}
	c.pages.Show(w, r, http.StatusOK, "key", view)
}

// maker names who created a key.
func (c *Console) maker(ctx context.Context, caller *operation.Caller, k *operation.Key) (string, error) {
	if k.CreatedBy == nil {
		return "the operator", nil
	}
	u, err := c.Operations.KeyCreator(ctx, caller, k)
	switch {
	case err != nil:
		return "", err
	case u == nil:
		return "somebody who has left", nil
	}
	return cmp.Or(u.Email, u.Name), nil
}

func (c *Console) rotateKey(w http.ResponseWriter, r *http.Request) {
	caller := gate.From(r.Context())
	seconds, err := strconv.Atoi(r.PostFormValue("grace"))
	if err != nil {
		seconds = -1 // refused: nothing ends because a form was read wrongly
	}
	k, _, err := c.Operations.RotateKey(r.Context(), caller, "", r.PathValue("id"),
		operation.KeyRotation{GraceSeconds: seconds})
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
	c.showKey(w, r, k, replace)
}

func (c *Console) revokeKey(w http.ResponseWriter, r *http.Request) {
	if err := c.Operations.RevokeKey(r.Context(), gate.From(r.Context()), r.PathValue("id")); err != nil {
		c.fail(w, r, err)
		return
	}
	back(w, r, accountPath+"?done=key_revoked")
}
