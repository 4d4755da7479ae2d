package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Names are the variables that ACE reads, to refuse others that look like one.
type Names struct {
	// Settings are the variables of all commands.
	Settings []string
	// Nearest returns the name that somebody meant by a wrong one, or "".
	Nearest func(name string, known []string) string
}

// client are variables that begin like settings and belong to others who share
// the environment: the clients in sdk/ and the examples.
var client = []string{"ACE_API_KEY", "ACE_KEY", "ACE_WEBHOOK_SECRET"}

// development are the variables of the tests of this repository and of the tools
// beside them, which scripts/install-test-needs writes into test.env.
var development = []string{
	"ACE_AGENTS_PYTHON",
	"ACE_AXE",
	"ACE_CHROMIUM",
	"ACE_EXAMPLES_PYTHON",
	"ACE_FAULT_STEP",
	"ACE_GITEA",
	"ACE_GOALS",
	"ACE_LANGUAGE",
	"ACE_LLMSTXT_PYTHON",
	"ACE_MCP_CONFORMANCE",
	"ACE_MCP_PYTHON",
	"ACE_NODE",
	"ACE_NODE_MODULES",
	"ACE_POCKETBASE",
	"ACE_SDK_FIXTURES",
	"ACE_SDK_MODULES",
	"ACE_SDK_PATH",
	"ACE_SDK_PYTHON",
	"ACE_SHARED_DIR",
	"ACE_SHOTS",
	"ACE_SITES_DIR",
	"ACE_STRIPE_MOCK",
	"ACE_UCP_CLI",
	"ACE_WEBHOOKS_PYTHON",
}

var (
	// injected matches what Kubernetes adds for a service whose name begins with
	// "ace": ACE_STORE_SERVICE_HOST, ACE_STORE_PORT_8080_TCP_ADDR.
	injected = regexp.MustCompile(
		`^ACE(_[A-Z0-9]+)*_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)
	// port matches its ACE_STORE_PORT=tcp://10.0.0.1:8080, which a person would
	// write as a number.
	port      = regexp.MustCompile(`^ACE(_[A-Z0-9]+)*_PORT$`)
	portValue = regexp.MustCompile(`^(tcp|udp|sctp)://`)
)

// Check returns an error for a variable that looks like a setting and is none,
// with the nearest one that there is. Variables that do not begin with ACE_ are
// nobody's business here.
func (n *Names) Check(name, value string) error {
	switch {
	case !strings.HasPrefix(name, "ACE_"), slices.Contains(n.Settings, name), slices.Contains(client, name),
		slices.Contains(development, name), strings.HasPrefix(name, "ACE_TEST_"), injected.MatchString(name),
		port.MatchString(name) && portValue.MatchString(value):
		return nil
	}
	if near := n.Nearest(name, n.Settings); near != "" {
		return fmt.Errorf("there is no setting %s: did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no setting %s: remove it, or see docs/configuration.md", name)
}

// CheckEnvironment checks NAME=value lines such as those of os.Environ, and
// returns all faults. A variable that holds a key, named by ACE_KEK_URL or
// ACE_KEK_OLD_URL as env://NAME, is no fault.
func (n *Names) CheckEnvironment(environ []string, keys ...string) error {
	var faults []error
	for _, line := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(line, "=")
		if !slices.Contains(keys, "env://"+name) {
			faults = append(faults, n.Check(name, value))
		}
	}
	return errors.Join(faults...)
}
