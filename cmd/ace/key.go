package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ace/internal/platform/accounthttp"
)

// keyCmd is what operators do with API keys.
type keyCmd struct {
	Create keyCreateCmd `cmd:"" help:"Create a key; it is printed only once."`
	List   keyListCmd   `cmd:"" help:"List the keys of an account."`
	Revoke keyRevokeCmd `cmd:"" help:"Revoke a key, at once and everywhere."`
}

type keyCreateCmd struct {
	operating   `embed:""`
	Account     string        `required:"" placeholder:"NAME" help:"Account that the key acts for."`
	Name        string        `placeholder:"TEXT" help:"What the key is for."`
	Permissions []string      `default:"read,connect,run" help:"Any of read, connect and run."`
	Apps        []string      `placeholder:"APP,…" help:"Only these apps. Default: all."`
	ReadOnly    bool          `help:"Only tools that change nothing."`
	RawRequests bool          `help:"Also raw requests to an app."`
	Networks    []string      `placeholder:"CIDR,…" help:"Only from these networks."`
	Approval    string        `enum:"none,destructive,writes" default:"destructive" help:"Which runs wait until a user of the account approves them (${enum})."`
	ExpiresIn   time.Duration `placeholder:"TIME" help:"How long the key works, for example 30d. Default: until it is revoked."`
}

// Run creates a key.
func (c *keyCreateCmd) Run(w *world) error {
	in := accounthttp.KeyRequest{
		Name: c.Name, Permissions: c.Permissions, Approval: c.Approval,
		Restrict: accounthttp.Restrict{
			Apps: c.Apps, ReadOnly: c.ReadOnly, RawRequests: c.RawRequests,
			Networks: c.Networks,
		},
	}
	if c.ExpiresIn > 0 {
		end := time.Now().Add(c.ExpiresIn).UTC()
		in.ExpiresAt = &end
	}
	var made accounthttp.Key
	if err := c.call(w.ctx, http.MethodPost, "/accounts/"+url.PathEscape(c.Account)+"/keys", in, &made); err != nil {
		return err
	}
	return c.print(w, made, func(out io.Writer) {
		_, _ = fmt.Fprintf(
			out,
			"%s\n\nKey %s with %s. Store it: it is not shown again.\nRevoke it: ace key revoke %s\n",
			made.Secret,
			made.ID,
			strings.Join(made.Permissions, ", "),
			made.ID,
		)
	})
}

type keyListCmd struct {
	operating `embed:""`
	Account   string `required:"" placeholder:"NAME" help:"Account whose keys to list."`
}

// Run lists keys.
func (c *keyListCmd) Run(w *world) error {
	var all accounthttp.Keys
	if err := c.call(w.ctx, http.MethodGet, "/accounts/"+url.PathEscape(c.Account)+"/keys", nil, &all); err != nil {
		return err
	}
	return c.print(w, all, func(out io.Writer) {
		if len(all.Keys) == 0 {
			_, _ = fmt.Fprintf(out, "No keys yet. Create one: ace key create --account %s\n", c.Account)
			return
		}
		_, _ = fmt.Fprintln(out, "KEY\tBEGINS\tNAME\tPERMISSIONS\tLAST USED\tSTATE\tMCP CLIENT")
		for _, k := range all.Keys {
			_, _ = fmt.Fprintf(out, "%s\t%s…\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Prefix, k.Name,
				strings.Join(k.Permissions, ","), when(k.LastUsedAt, "never"), keyState(k), k.Client)
		}
	})
}

func keyState(k accounthttp.Key) string {
	switch {
	case k.RevokedAt != nil:
		return "revoked"
	case k.ExpiresAt != nil && time.Now().After(*k.ExpiresAt):
		return "expired"
	}
	return "works"
}

func when(t *time.Time, never string) string {
	if t == nil {
		return never
	}
	return t.Local().Format(time.DateTime)
}

type keyRevokeCmd struct {
	operating `embed:""`
	ID        string `arg:"" help:"Id of the key: key_…"`
}

// Run revokes a key.
func (c *keyRevokeCmd) Run(w *world) error {
	if err := c.call(w.ctx, http.MethodDelete, "/keys/"+url.PathEscape(c.ID), nil, nil); err != nil {
		return err
	}
	return c.print(w, map[string]string{"id": c.ID, "state": "revoked"},
		func(out io.Writer) { _, _ = fmt.Fprintf(out, "Key %s no longer opens anything.\n", c.ID) })
}
