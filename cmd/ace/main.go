// Command ace runs and operates an ACE server. "ace --help" lists what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"ace/internal/config"
	"ace/internal/foundation/edit"
	"ace/internal/foundation/plainjson"
)

// cli is every command. Each is in a file of its own.
type cli struct {
	ShowVersion kong.VersionFlag `name:"version" help:"Print the version and exit."`

	Config string `env:"ACE_CONFIG" placeholder:"FILE" help:"Settings file with KEY=value lines; it fills variables that are not set."`

	Serve   serveCmd       `cmd:"" help:"Run the store and the platform (and the sandbox, unless there is a real processor)."`
	Order   orderCmd       `cmd:"" help:"Show and refund orders."`
	Service serviceCmd     `cmd:"" help:"Show orders of paid services."`
	Account accountCmd     `cmd:"" help:"Create accounts of the platform and sign-in links for their owners."`
	Key     keyCmd         `cmd:"" help:"Create, list and revoke API keys of the platform."`
	Trigger triggerCmd     `cmd:"" help:"Show what triggers have posted, and deliver it again."`
	OAuth   oauthClientCmd `cmd:"" name:"oauth-client" help:"Set the OAuth clients that apps are connected with."`
	Vault   vaultCmd       `cmd:"" help:"Show and rotate the keys that secrets are sealed with."`
	Catalog catalogCmd     `cmd:"" help:"Check definitions of apps, count what the catalogue holds."`
	Backup  backupCmd      `cmd:"" help:"Write a backup of the database, and verify one."`
	Restore restoreCmd     `cmd:"" help:"Write a backup into a new database."`
	Resume  resumeCmd      `cmd:"" help:"Let the server deliver, refund, renew and poll again after a restore."`
	DB      dbCmd          `cmd:"" name:"db" help:"Move the database to another engine."`
	Migrate migrateCmd     `cmd:"" help:"Bring the database up to date without serving."`
	OpenAPI openapiCmd     `cmd:"" name:"openapi" help:"Print the OpenAPI document of the store or the platform."`
	Sandbox sandboxCmd     `cmd:"" help:"Run the sandbox alone, for a store in another process."`
	Tour    tourCmd        `cmd:"" help:"Walk through a purchase, and an app that is connected, used and watched, against a running server."`
	Wallet  walletCmd      `cmd:"" help:"Create and show the development wallet."`
	Pay     payCmd         `cmd:"" help:"Buy a website service over x402 with the development wallet."`
	Version versionCmd     `cmd:"" help:"Print the version."`

	Help       helpCmd       `cmd:"" help:"Print how a command is used."`
	Completion completionCmd `cmd:"" help:"Print the script that completes commands in a shell."`
}

func main() {
	privateFiles()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// world is what a command may use of the outside.
type world struct {
	ctx            context.Context
	stdout, stderr *terminal
}

// run parses args and runs the command. It returns the exit code: 0, 1 for a
// failure, 2 for a call that makes no sense.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	w := newWorld(ctx, stdout, stderr)
	err := w.command(args)
	if err == nil {
		return 0
	}
	wrong, usage := errors.AsType[*usageError](err)
	if slices.Contains(args, "--json") {
		w.failJSON(err, usage)
	} else {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			_, _ = fmt.Fprintf(w.stderr, "%s %s\n", w.stderr.red("ace:"), line)
		}
		if usage && wrong.command != "" {
			_, _ = fmt.Fprintf(w.stderr, "Run \"%s --help\" to see what there is.\n", wrong.command)
		}
	}
	if usage {
		return 2
	}
	return 1
}

// usageError is a call that makes no sense.
type usageError struct {
	error

	command string // whose help tells more; "" where none does
}

// Unwrap returns the cause.
func (e *usageError) Unwrap() error { return e.error }

// failJSON prints a failure for a program that reads JSON.
func (w *world) failJSON(err error, usage bool) {
	failure := struct {
		Code       string `json:"code"`
		Message    string `json:"message"`
		NextAction string `json:"next_action,omitempty"`
	}{Code: "failed", Message: err.Error()}
	if refused, ok := errors.AsType[*refusal](err); ok {
		failure.Code, failure.Message, failure.NextAction = refused.Code, refused.Detail, refused.NextAction
	} else if usage {
		failure.Code = "usage"
	}
	_ = plainjson.NewEncoder(w.stdout).Encode(map[string]any{"error": failure})
}

// parser returns the parser of all commands into c.
func parser(c *cli, w *world) (*kong.Kong, error) {
	return kong.New(c, kong.Name("ace"), kong.Writers(w.stdout, w.stderr), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Description("ACE sells to agents, and lets them use the apps of their users."),
		kong.Exit(func(int) { panic(exit{}) }), kong.Vars{"version": versionText()},
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(decodeDuration)),
		kong.PostBuild(brief))
}

// decodeDuration reads a time as settings write it.
func decodeDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("time", &text); err != nil {
		return err
	}
	d, err := config.ParseDuration(text)
	if err != nil {
		return err
	}
	target.SetInt(int64(d))
	return nil
}

// command parses args and runs the command.
func (w *world) command(args []string) error {
	var c cli
	parser, err := parser(&c, w)
	if err != nil {
		return &usageError{err, ""}
	}
	known := &config.Names{
		Settings: append(variables(parser.Model.Node), config.SecretFiles()...),
		Nearest:  edit.Nearest,
	}
	if err := loadConfigFile(args, known); err != nil {
		return &usageError{err, ""}
	}
	if err := config.LoadSecrets(); err != nil {
		return &usageError{err, ""}
	}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(exit); !ok {
				panic(r)
			}
		}
	}()
	parsed, err := parser.Parse(args)
	if err != nil {
		name := "ace"
		if wrong, ok := errors.AsType[*kong.ParseError](err); ok {
			name = command(wrong.Context)
		}
		return &usageError{err, name}
	}
	name, _, _ := strings.Cut(parsed.Command(), " ")
	switch name {
	case "help", "completion", "version": // they tell of the program alone
		return parsed.Run(w)
	}
	if err := known.CheckEnvironment(os.Environ(), os.Getenv("ACE_KEK_URL"), os.Getenv("ACE_KEK_OLD_URL")); err != nil {
		return &usageError{err, ""}
	}
	// Those two print log lines; a program that reads JSON needs no progress.
	if name != "serve" && name != "sandbox" && (!slices.Contains(args, "--json") || onScreen(w.stderr.out)) {
		defer w.watch()()
	}
	return parsed.Run(w)
}

// variables returns the environment variables of a command and of those below it.
func variables(n *kong.Node) []string {
	var names []string
	for _, flag := range n.Flags {
		names = append(names, flag.Envs...)
	}
	for _, child := range n.Children {
		names = append(names, variables(child)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// brief hides the settings of a server in the help of commands that call one:
// only what they need is shown.
func brief(k *kong.Kong) error {
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		n, ok := node.(*kong.Node)
		if !ok || n.Name == "serve" {
			return next(nil)
		}
		for _, flag := range n.Flags {
			flag.Hidden = flag.Hidden || flag.Group != nil && !needed(n, flag.Name)
		}
		return next(nil)
	})
}

// needed reports whether a setting matters to a command.
func needed(n *kong.Node, setting string) bool {
	switch n.Name {
	case "tour":
		return setting == "data-dir" || setting == "platform-url"
	case "pay", "new":
		return setting == "data-dir"
	case "show":
		if n.Parent.Name == "wallet" {
			return setting == "data-dir" || setting == "sandbox-url"
		}
	}
	switch n.Parent.Name {
	case "catalog":
		return setting == "catalog-dir" || setting == "egress-allow"
	case "vault":
		return setting == "data-dir" || setting == "database-url" || setting == "master-key-file" ||
			strings.HasPrefix(setting, "kek-")
	}
	return setting == "data-dir" || setting == "database-url"
}

// command is as much of a command as was understood: ace key create.
func command(c *kong.Context) string {
	names := []string{"ace"}
	for _, part := range c.Path {
		if part.Command != nil {
			names = append(names, part.Command.Name)
		}
	}
	return strings.Join(names, " ")
}

// exit leaves the parser after --help.
type exit struct{}

// loadConfigFile reads the settings file before the parser looks at the
// environment.
func loadConfigFile(args []string, known *config.Names) error {
	path := os.Getenv("ACE_CONFIG")
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--config="); ok {
			path = value
		} else if arg == "--config" && i+1 < len(args) {
			path = args[i+1]
		}
	}
	if path == "" {
		return nil
	}
	return config.LoadFile(path, known)
}
