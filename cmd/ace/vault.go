package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ace/internal/server"
)

// vaultCmd is what operators do with the keys that secrets are sealed with.
type vaultCmd struct {
	Status vaultStatusCmd `cmd:"" help:"Show the keys, and what each has sealed."`
	Rotate vaultRotateCmd `cmd:"" help:"Re-encrypt every secret with a new key, while the server runs."`
	Rewrap vaultRewrapCmd `cmd:"" help:"Wrap the keys with the key that ACE_KEK_URL names now; ACE_KEK_OLD_URL names the one before."`
	Enable vaultEnableCmd `cmd:"" help:"Let a disabled key open again, if something sealed with it turned up."`
}

type vaultStatusCmd struct {
	operating `embed:""`
}

// Run shows the vault.
func (c *vaultStatusCmd) Run(w *world) error {
	var p server.VaultProgress
	if err := c.call(w.ctx, http.MethodGet, "/vault", nil, &p); err != nil {
		return err
	}
	return c.print(w, p.Status, func(out io.Writer) { describeVault(out, &p.Status) })
}

type vaultRotateCmd struct {
	operating `embed:""`
	Force     bool `help:"Add a further key although secrets are still being re-encrypted for the last one."`
	NoWait    bool `help:"Leave the re-encryption to the running server, and end at once."`
}

// Run starts a rotation, or continues one, and returns when no old text is left.
func (c *vaultRotateCmd) Run(w *world) error {
	path := "/vault/rotate"
	if c.Force {
		path += "?force=true"
	}
	var p server.VaultProgress
	if err := c.call(w.ctx, http.MethodPost, path, nil, &p); err != nil {
		return err
	}
	if !c.NoWait {
		if err := c.work(w, &p); err != nil {
			return err
		}
	}
	return c.print(w, p.Status, func(out io.Writer) { describeVault(out, &p.Status) })
}

// betweenSteps keeps a rotation that waits for replicas from asking all the
// time.
const betweenSteps = time.Second

// work continues until nothing is left, and reports its progress.
func (c *vaultRotateCmd) work(w *world, p *server.VaultProgress) error {
	for {
		*p = server.VaultProgress{}
		if err := c.call(w.ctx, http.MethodPost, "/vault/work", nil, p); err != nil {
			return fmt.Errorf("%w\nNothing is lost: ace vault rotate goes on where it ended", err)
		}
		switch {
		case p.Status.Phase == "announcing":
			_, _ = fmt.Fprintf(w.stderr, "waiting for %d replicas to read the new key\n", len(p.Status.WaitingFor))
		default:
			_, _ = fmt.Fprintf(w.stderr, "re-encrypted: %d of %d\n", p.Status.Values-p.Status.Left, p.Status.Values)
		}
		if p.Done {
			return nil
		}
		if p.Resealed == 0 {
			if err := pause(w.ctx, betweenSteps); err != nil {
				return err
			}
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stopped; a running server goes on, and ace vault rotate does, too: %w", ctx.Err())
	}
}

type vaultRewrapCmd struct {
	operating `embed:""`
}

// Run wraps the keyset again.
func (c *vaultRewrapCmd) Run(w *world) error {
	var p server.VaultProgress
	if err := c.call(w.ctx, http.MethodPost, "/vault/rewrap", nil, &p); err != nil {
		return err
	}
	return c.print(w, p.Status, func(out io.Writer) {
		_, _ = fmt.Fprintf(out,
			"The keys are wrapped by %s now.\nSet ACE_KEK_URL on every replica, restart each, and remove "+
				"ACE_KEK_OLD_URL.\nIf the key before may be known to others: ace vault rotate\n", p.Status.KEK)
	})
}

type vaultEnableCmd struct {
	operating `embed:""`
	ID        string `arg:"" help:"Id of the key, as ace vault status shows it."`
}

// Run enables a key.
func (c *vaultEnableCmd) Run(w *world) error {
	var p server.VaultProgress
	if err := c.call(w.ctx, http.MethodPost, "/vault/keys/"+url.PathEscape(c.ID), nil, &p); err != nil {
		return err
	}
	return c.print(w, p.Status, func(out io.Writer) { describeVault(out, &p.Status) })
}

func describeVault(out io.Writer, s *server.VaultStatus) {
	row := func(name string, value any) { _, _ = fmt.Fprintf(out, "%s\t%v\n", name, value) }
	row("wrapped by", s.KEK)
	if !s.Settled {
		row("", "another key than ACE_KEK_URL names: run ace vault rewrap")
	}
	row("phase", vaultPhase(s))
	row("secrets", fmt.Sprintf("%d, of which %d are under older keys", s.Values, s.Left))
	if s.Stuck > 0 {
		row("",
			fmt.Sprintf(
				"%d are under keys that are disabled or not known: ace vault enable, or a backup of the table keyset",
				s.Stuck))
	}
	if s.Trouble != "" {
		row("trouble", s.Trouble)
	}
	_, _ = fmt.Fprintln(out, "\nKEY\tSTATE\tCREATED\tSECRETS")
	for _, k := range s.Keys {
		created := "before the keyset"
		if !k.CreatedAt.IsZero() {
			created = k.CreatedAt.Local().Format(time.DateTime)
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%d\n", k.ID, k.State, created, k.Values)
	}
	_, _ = fmt.Fprintln(out, "\nCOLUMN\tSECRETS\tNOT UNDER THE PRIMARY KEY")
	for _, c := range s.Columns {
		_, _ = fmt.Fprintf(out, "%s.%s\t%d\t%d\n", c.Table, c.Column, c.Values, c.Left)
	}
}

func vaultPhase(s *server.VaultStatus) string {
	text := string(s.Phase)
	if len(s.WaitingFor) > 0 {
		text += ", waiting for " + strings.Join(s.WaitingFor, ", ")
	}
	if !s.DisableAfter.IsZero() {
		text += ", older keys are disabled after " + s.DisableAfter.Local().Format(time.DateTime)
	}
	return text
}
