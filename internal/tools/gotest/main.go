// Command gotest runs go test with the arguments it is given, shows a line per
// package and whatever fails, and reports at the end which tests were left out
// and why, so that nothing is skipped in silence:
//
//	go run ./internal/tools/gotest -race ./...
//
//	go test -json ── events ──> the line of each package, as it ends
//	                       ├──> output of tests that failed
//	                       └──> reasons of skips, gathered and counted
//
// The exit code is that of go test.
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
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "gotest:", err)
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (int, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	// The go command does not pass a signal on: its whole group gets it, the
	// tests and what they started.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Stderr = stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return 1, fmt.Errorf("preparing go test: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("starting go test: %w", err)
	}
	r := newReport(stdout)
	readErr := r.read(events)
	err = cmd.Wait()
	r.finish()
	var exit *exec.ExitError
	switch {
	case err == nil && readErr == nil:
		return 0, nil
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode(), readErr
	default:
		return 1, errors.Join(err, readErr)
	}
}
