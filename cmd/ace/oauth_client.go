package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"ace/internal/platform/accounthttp"
)

// oauthClientCmd is what operators do with OAuth clients of apps.
type oauthClientCmd struct {
	Set    oauthClientSetCmd    `cmd:"" help:"Set the OAuth client of an app, for all accounts, and print the URL to register with its vendor."`
	List   oauthClientListCmd   `cmd:"" help:"List the OAuth clients, without their secrets."`
	Delete oauthClientDeleteCmd `cmd:"" help:"Delete the OAuth client of an app. Connections stay until their tokens end."`
}

type oauthClientSetCmd struct {
	operating  `embed:""`
	App        string            `arg:"" help:"Id of the app, such as github."`
	ClientID   string            `name:"client-id" required:"" placeholder:"ID" help:"Client id that the vendor of the app gave you."`
	SecretFile string            `name:"client-secret-file" placeholder:"FILE" help:"File with the client secret; - reads the standard input. A flag with the secret itself would be seen by other users of the machine."`
	Extra      map[string]string `placeholder:"NAME=VALUE" help:"Further values that the app requires."`
}

// Run sets a client.
func (c *oauthClientSetCmd) Run(w *world) error {
	in := accounthttp.OAuthClientRequest{ClientID: c.ClientID, Extra: c.Extra}
	var err error
	if in.Secret, err = readSecret(c.SecretFile); err != nil {
		return err
	}
	var set accounthttp.OAuthClient
	if err := c.call(w.ctx, http.MethodPut, "/oauth-clients/"+url.PathEscape(c.App), in, &set); err != nil {
		return err
	}
	return c.print(w, set, func(out io.Writer) {
		_, _ = fmt.Fprintf(
			out,
			"%s is connected with the client %s. Register this redirect URL with its vendor:\n  %s\n",
			set.App,
			set.ClientID,
			set.RedirectURI,
		)
	})
}

// maxSecret is more than a client secret that the server takes.
const maxSecret = 64 << 10

// readSecret reads a file, or the standard input for "-"; nothing for "".
func readSecret(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	in := os.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("opening the file with the secret: %w", err)
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxSecret))
	if err != nil {
		return "", fmt.Errorf("reading the secret: %w", err)
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return "", errors.New("the file with the secret is empty")
	}
	return string(text), nil
}

type oauthClientListCmd struct {
	operating `embed:""`
}

// Run lists clients.
func (c *oauthClientListCmd) Run(w *world) error {
	var all accounthttp.OAuthClients
	if err := c.call(w.ctx, http.MethodGet, "/oauth-clients", nil, &all); err != nil {
		return err
	}
	return c.print(w, all, func(out io.Writer) {
		if len(all.Clients) == 0 {
			_, _ = fmt.Fprintln(out, "No OAuth clients yet. Set one: ace oauth-client set APP --client-id ID")
			return
		}
		_, _ = fmt.Fprintln(out, "APP\tCLIENT\tREDIRECT URL\tSTATE")
		for _, one := range all.Clients {
			state := "works"
			if one.Broken {
				state = "refused by the vendor"
			}
			_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\n", one.App, one.ClientID, one.RedirectURI, state)
		}
	})
}

type oauthClientDeleteCmd struct {
	operating `embed:""`
	App       string `arg:"" help:"Id of the app."`
}

// Run deletes a client.
func (c *oauthClientDeleteCmd) Run(w *world) error {
	if err := c.call(w.ctx, http.MethodDelete, "/oauth-clients/"+url.PathEscape(c.App), nil, nil); err != nil {
		return err
	}
	return c.print(w, map[string]string{"app": c.App, "state": "deleted"},
		func(out io.Writer) { _, _ = fmt.Fprintf(out, "The OAuth client of %s is deleted.\n", c.App) })
}
