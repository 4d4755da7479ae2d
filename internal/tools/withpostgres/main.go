// Command withpostgres runs a command with a PostgreSQL server of its own, so
// that all test processes of a run share one:
//
//	go run ./internal/tools/withpostgres go test ./...
//
//	ACE_TEST_POSTGRES_URL set -> the command runs as it is
//	otherwise a private server -> its address in ACE_TEST_POSTGRES_URL
//
// The server ends with this process, whether the command succeeds, fails or
// somebody ends it; the exit code is the command's.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"ace/internal/foundation/sqldb/sqldbtest"
)

const variable = "ACE_TEST_POSTGRES_URL"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		_, _ = fmt.Fprintln(stderr, "usage: withpostgres COMMAND [ARGUMENT…]")
		return 2
	}
	env := os.Environ()
	if os.Getenv(variable) == "" {
		dsn, err := sqldbtest.Cluster()
		if err != nil {
			_, _ = fmt.Fprintf(stderr,
				"withpostgres: %v\nInstall a PostgreSQL server (Debian: apt-get install postgresql), or name a "+
					"running one in %s.\n", err, variable)
			return 1
		}
		env = append(env, variable+"="+dsn)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, stdout, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second // longer than gotest waits for its tests
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	default:
		_, _ = fmt.Fprintf(stderr, "withpostgres: %s: %v\n", args[0], err)
		return 1
	}
}
