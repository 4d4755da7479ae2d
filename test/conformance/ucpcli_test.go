// Package conformance runs clients and suites of others against a whole store.
package conformance

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ace/internal/sandbox/sandboxtest"
	"ace/test/harness"
)

// shop is a person's command line of UCP in front of a store that knows
// nothing of it.
type shop struct {
	t       *testing.T
	command []string
	home    string
	URL     string
}

// newShop starts a store. ACE_UCP_CLI is the command that starts the command
// line, for example "node …/@shopify/ucp-cli/dist/bin.js".
func newShop(t *testing.T) *shop {
	t.Helper()
	command := strings.Fields(os.Getenv("ACE_UCP_CLI"))
	if len(command) == 0 {
		t.Skip("left out: ACE_UCP_CLI is not set")
	}
	store, sandbox := harness.FreeAddr(t), harness.FreeAddr(t)
	p := harness.Start(t, harness.Build(t, ""), []string{
		"ACE_STORE_ADDR=" + store, "ACE_SANDBOX_ADDR=" + sandbox, "ACE_ADMIN_ADDR=",
		"ACE_DATA_DIR=" + harness.DataDir(t), "ACE_RATE_LIMIT=off",
	}, "serve")
	s := &shop{t, command, t.TempDir(), "http://" + store}
	if !p.Ready(s.URL + "/healthz") {
		t.Fatal("the store did not start")
	}
	return s
}

// run runs a command and decodes what it prints into answer. Its exit status
// is not looked at: some refusals are answers.
func (s *shop) run(answer any, args ...string) {
	s.t.Helper()
	all := append(s.command[1:len(s.command):len(s.command)], append(args, "--business", s.URL, "--format", "json")...)
	cmd := exec.CommandContext(s.t.Context(), s.command[0], all...)
	cmd.Env = append(os.Environ(), "HOME="+s.home, "UCP_TEST_ALLOW_INSECURE_LOCALHOST=true")
	var out, faults bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &faults
	err := cmd.Run()
	if bad := json.Unmarshal(out.Bytes(), answer); bad != nil {
		s.t.Fatalf("%s: %v, %v\n%s\n%s", strings.Join(args, " "), err, bad, out.String(), faults.String())
	}
}

type checkoutAnswer struct {
	Transport string
	UCP       struct{ Version, Status string }
	Code      string
	Result    struct {
		ID, Status  string
		ContinueURL string `json:"continue_url"`
		Messages    []struct{ Code string }
		Order       struct{ ID string }
	}
}

// TestUCPCLI discovers the store, searches its catalog, opens a checkout, lets
// a person pay at the address of the escalation, and learns that it is paid.
func TestUCPCLI(t *testing.T) {
	t.Parallel()
	s := newShop(t)

	var found struct {
		Result struct {
			Profile struct {
				UCP struct {
					Version      string
					Capabilities map[string]any
				}
			}
		}
	}
	s.run(&found, "discover")
	if got := found.Result.Profile.UCP; got.Version != "2026-08-25" || len(got.Capabilities) != 3 {
		t.Errorf("discover = %+v, want version 2026-08-25 and three capabilities", got)
	}

	var catalog struct {
		Result struct {
			Products []struct{ Variants []struct{ ID string } }
		}
	}
	s.run(&catalog, "catalog", "search", "--input", `{"query":"handbook download"}`)
	if len(catalog.Result.Products) == 0 || len(catalog.Result.Products[0].Variants) == 0 {
		t.Fatalf("catalog search = %+v, want the handbook", catalog)
	}
	item := catalog.Result.Products[0].Variants[0].ID

	hook := filepath.Join(s.home, "escalation.json")
	var opened checkoutAnswer
	s.run(&opened, "checkout", "create", "--input", `{"line_items":[{"item":{"id":"`+item+`"},"quantity":1}]}`,
		"--on-escalation", "cat > "+hook)
	if opened.Transport != "mcp" || opened.UCP.Status != "success" || opened.Result.Status != "requires_escalation" {
		t.Fatalf("checkout create = %+v", opened)
	}
	var escalation struct{ Status, URL, Reason, Operation string }
	data, err := os.ReadFile(hook)
	if err != nil || json.Unmarshal(data, &escalation) != nil {
		t.Fatalf("the hook of the escalation got %s, %v", data, err)
	}
	if escalation.URL != opened.Result.ContinueURL || escalation.Operation != "create_checkout" ||
		!strings.Contains(escalation.Reason, "Send the buyer") {
		t.Errorf("escalation = %+v, want continue_url and what to do", escalation)
	}

	if seen := sandboxtest.NewPerson(t, nil).Pay(escalation.URL, sandboxtest.CardOK); seen.Status != 303 {
		t.Fatalf("paying answered %d:\n%s", seen.Status, seen.Body)
	}
	var paid checkoutAnswer
	for range 20 {
		s.run(&paid, "checkout", "get", opened.Result.ID)
		if paid.Result.Status == "completed" {
			break
		}
	}
	if paid.Result.Status != "completed" || paid.Result.Order.ID == "" {
		t.Errorf("checkout get = %+v, want it completed", paid)
	}
}

// TestUCPCLIRefusals are requests that the store refuses.
func TestUCPCLIRefusals(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	create := func(item string) checkoutAnswer {
		var a checkoutAnswer
		s.run(&a, "checkout", "create", "--input", `{"line_items":[{"item":{"id":"`+item+`"},"quantity":1}]}`)
		return a
	}
	if a := create("founders_mug"); a.UCP.Status != "error" || len(a.Result.Messages) == 0 ||
		a.Result.Messages[0].Code != "out_of_stock" {
		t.Errorf("create of what is sold out = %+v", a)
	}
	opened := create("setup_call")
	var canceled, again checkoutAnswer
	s.run(&canceled, "checkout", "cancel", opened.Result.ID)
	if canceled.Result.Status != "canceled" {
		t.Errorf("cancel = %+v", canceled)
	}
	s.run(&again, "checkout", "complete", opened.Result.ID)
	if again.UCP.Status != "error" || len(again.Result.Messages) == 0 ||
		again.Result.Messages[0].Code != "checkout_not_modifiable" {
		t.Errorf("complete of a canceled checkout = %+v", again)
	}
}
