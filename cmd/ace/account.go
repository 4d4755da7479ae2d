package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"ace/internal/platform/accounthttp"
)

// accountCmd is what operators do with accounts of the platform.
type accountCmd struct {
	Create    accountCreateCmd    `cmd:"" help:"Create an account; prints a link that signs its owner in."`
	List      accountListCmd      `cmd:"" help:"List all accounts."`
	Link      accountLinkCmd      `cmd:"" help:"Print a new link that signs the owner in, once, within 15 minutes."`
	Disable   accountDisableCmd   `cmd:"" help:"Refuse the keys and sign-ins of an account from now on; nothing is deleted."`
	Enable    accountEnableCmd    `cmd:"" help:"Let a disabled account work again."`
	Redirects accountRedirectsCmd `cmd:"" help:"Show or change where sign-ins to apps may send browsers afterwards."`
}

type accountCreateCmd struct {
	operating `embed:""`
	Name      string `arg:"" help:"Name of the account: lower-case letters, digits, - and _."`
	Email     string `placeholder:"EMAIL" help:"Address of the owner, to sign in with a password or by the OpenID provider."`
}

// Run creates an account.
func (c *accountCreateCmd) Run(w *world) error {
	var created accounthttp.NewAccount
	if err := c.call(w.ctx, http.MethodPost, "/accounts", accounthttp.AccountRequest{Name: c.Name, Email: c.Email},
		&created); err != nil {
		return err
	}
	return c.print(w, created, func(out io.Writer) {
		_, _ = fmt.Fprintf(out,
			"Account %s (%s)\n\nSign its owner in, once, until %s:\n  %s\n\nCreate a key:\n  ace key create --account "+
				"%s\n",
			created.Name, created.ID, created.SignIn.ExpiresAt.Local().Format(time.TimeOnly), created.SignIn.URL,
			created.Name)
	})
}

type accountListCmd struct {
	operating `embed:""`
}

// Run lists accounts.
func (c *accountListCmd) Run(w *world) error {
	var all accounthttp.Accounts
	if err := c.call(w.ctx, http.MethodGet, "/accounts", nil, &all); err != nil {
		return err
	}
	return c.print(w, all, func(out io.Writer) {
		if len(all.Accounts) == 0 {
			_, _ = fmt.Fprintln(out, "No accounts yet. Create one: ace account create NAME")
			return
		}
		_, _ = fmt.Fprintln(out, "ACCOUNT\tID\tSINCE\tSTATE")
		for _, a := range all.Accounts {
			state := "enabled"
			if a.DisabledAt != nil {
				state = "disabled since " + a.DisabledAt.Local().Format(time.DateTime)
			}
			_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", a.Name, a.ID, a.CreatedAt.Local().Format(time.DateTime), state)
		}
	})
}

type accountLinkCmd struct {
	operating `embed:""`
	Name      string `arg:"" help:"Name of the account."`
}

// Run creates a sign-in link.
func (c *accountLinkCmd) Run(w *world) error {
	var link accounthttp.Link
	if err := c.call(w.ctx, http.MethodPost, "/accounts/"+url.PathEscape(c.Name)+"/link", nil, &link); err != nil {
		return err
	}
	return c.print(w, link, func(out io.Writer) { _, _ = fmt.Fprintln(out, link.URL) })
}

type accountDisableCmd struct {
	operating `embed:""`
	Name      string `arg:"" help:"Name of the account."`
}

// Run disables an account.
func (c *accountDisableCmd) Run(w *world) error {
	var a accounthttp.Account
	if err := c.call(w.ctx, http.MethodPost, "/accounts/"+url.PathEscape(c.Name)+"/disable", nil, &a); err != nil {
		return err
	}
	return c.print(w, a, func(out io.Writer) {
		_, _ = fmt.Fprintf(out, "The account %s is disabled: its keys and sign-ins are refused. To take it back:\n"+
			"  ace account enable %s\n", a.Name, a.Name)
	})
}

type accountEnableCmd struct {
	operating `embed:""`
	Name      string `arg:"" help:"Name of the account."`
}

// Run enables an account.
func (c *accountEnableCmd) Run(w *world) error {
	var a accounthttp.Account
	if err := c.call(w.ctx, http.MethodPost, "/accounts/"+url.PathEscape(c.Name)+"/enable", nil, &a); err != nil {
		return err
	}
	return c.print(w, a, func(out io.Writer) { _, _ = fmt.Fprintf(out, "The account %s is enabled.\n", a.Name) })
}

type accountRedirectsCmd struct {
	operating `embed:""`
	Name      string   `arg:"" help:"Name of the account."`
	Add       []string `placeholder:"URL" sep:"none" help:"Allow this URL, and what is below its path. Repeat for more."`
	Remove    []string `placeholder:"URL" sep:"none" help:"Remove this URL from the list. Repeat for more."`
}

// Run shows the list of an account, after it was changed where that was asked
// for.
func (c *accountRedirectsCmd) Run(w *world) error {
	path := "/accounts/" + url.PathEscape(c.Name) + "/redirect-urls"
	var list accounthttp.RedirectURLs
	var err error
	if len(c.Add)+len(c.Remove) > 0 {
		err = c.call(w.ctx, http.MethodPatch, path, accounthttp.RedirectURLsChange{Add: c.Add, Remove: c.Remove}, &list)
	} else {
		err = c.call(w.ctx, http.MethodGet, path, nil, &list)
	}
	if err != nil {
		return err
	}
	return c.print(w, list, func(out io.Writer) {
		if len(list.URLs) == 0 {
			_, _ = fmt.Fprintf(out,
				"Sign-ins may send browsers to any https address. To allow some alone:\n  ace account redirects %s "+
					"--add https://agent.example/done\n", c.Name)
			return
		}
		for _, one := range list.URLs {
			_, _ = fmt.Fprintln(out, one)
		}
	})
}
