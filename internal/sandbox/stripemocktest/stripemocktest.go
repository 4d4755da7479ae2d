// Package stripemocktest runs stripe-mock, which knows Stripe's published API
// description and nothing else: it refuses calls that do not fit it and returns
// the others with examples.
package stripemocktest

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Start runs the binary that ACE_STRIPE_MOCK names, until the test ends, and
// returns its URL. Without one the test is skipped.
func Start(t *testing.T) string {
	t.Helper()
	binary := os.Getenv("ACE_STRIPE_MOCK")
	if binary == "" {
		t.Skip("left out: ACE_STRIPE_MOCK does not name a stripe-mock binary; " +
			"build one: go build -modfile=tools/stripemock.mod -o bin/stripe-mock github.com/stripe/stripe-mock")
	}
	cmd := exec.CommandContext(t.Context(), binary, "-http-addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", binary, err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // ends with the context of the test
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "Listening for HTTP at address: "); ok {
			go func() {
				for lines.Scan() { // keeps the pipe empty
				}
			}()
			return "http://" + strings.TrimSpace(address)
		}
	}
	t.Fatalf("%s printed no address", binary)
	return ""
}
