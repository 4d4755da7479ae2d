// Command ace runs and operates an ACE server. "ace --help" lists what it does.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"ace/internal/config"
)

// cli is every command. Each is in a file of its own.
type cli struct {
	ShowVersion kong.VersionFlag `name:"version" help:"Print the version and exit."`

	Config string `env:"ACE_CONFIG" placeholder:"FILE" help:"Settings file with KEY=value lines; it fills variables that are not set."`

	Serve   serveCmd   `cmd:"" help:"Run the store and the platform (and the sandbox, unless there is a real processor)."`
	Order   orderCmd   `cmd:"" help:"Show and refund orders."`
	Service serviceCmd `cmd:"" help:"Show orders of paid services."`
	Account accountCmd `cmd:"" help:"Create accounts of the platform and sign-in links for their owners."`
	Key     keyCmd     `cmd:"" help:"Create, list and revoke API keys of the platform."`
	Vault   vaultCmd   `cmd:"" help:"Show and rotate the keys that secrets are sealed with."`
	Catalog catalogCmd `cmd:"" help:"Check definitions of apps, count what the catalogue holds."`
	Migrate migrateCmd `cmd:"" help:"Bring the database up to date without serving."`
	OpenAPI openapiCmd `cmd:"" name:"openapi" help:"Print the OpenAPI document of the store or the platform."`
	Sandbox sandboxCmd `cmd:"" help:"Run the sandbox alone, for a store in another process."`
	Tour    tourCmd    `cmd:"" help:"Walk through a purchase, and an app that is connected and used, against a running server."`
	Wallet  walletCmd  `cmd:"" help:"Create and show the development wallet."`
	Pay     payCmd     `cmd:"" help:"Buy a website service over x402 with the development wallet."`
	Version versionCmd `cmd:"" help:"Print the version."`
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
	stdout, stderr io.Writer
}

// run parses args and runs the command. It returns the exit code: 0, 1 for a
// failure, 2 for a call that makes no sense.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if err := loadConfigFile(args); err != nil {
		_, _ = fmt.Fprintf(stderr, "ace: %v\n", err)
		return 2
	}
	var c cli
	parser, err := kong.New(&c, kong.Name("ace"), kong.Writers(stdout, stderr), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Description("ACE sells to agents, and lets them use the apps of their users."),
		kong.Exit(func(int) { panic(exit{}) }), kong.Vars{"version": versionText()},
		kong.PostBuild(brief))
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "ace: %v\n", err)
		return 2
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
		if wrong, ok := errors.AsType[*kong.ParseError](err); ok {
			_, _ = fmt.Fprintf(stderr, "ace: %v\nRun \"%s --help\" to see what there is.\n", err,
				command(wrong.Context))
		}
		return 2
	}
	if err := parsed.Run(&world{ctx, stdout, stderr}); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			_, _ = fmt.Fprintf(stderr, "ace: %s\n", line)
		}
		return 1
	}
	return 0
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
			flag.Hidden = flag.Hidden || flag.Group != nil && !needed(n.Parent.Name, flag.Name)
		}
		return next(nil)
	})
}

// needed reports whether a setting matters to the commands of a group.
func needed(group, setting string) bool {
	switch group {
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
func loadConfigFile(args []string) error {
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
	return config.LoadFile(path)
}
