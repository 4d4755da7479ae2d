package x402_test

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ace/test/harness"
)

// TestPayWithoutConfiguration starts a store with nothing but ports and a
// folder, and buys the way the README says.
func TestPayWithoutConfiguration(t *testing.T) {
	t.Parallel()
	storeAddr, sandboxAddr, dir := harness.FreeAddr(t), harness.FreeAddr(t), harness.DataDir(t)
	env := []string{
		"ACE_STORE_ADDR=" + storeAddr, "ACE_SANDBOX_ADDR=" + sandboxAddr, "ACE_ADMIN_ADDR=",
		"ACE_DATA_DIR=" + dir,
	}
	binary := harness.Build(t, "")
	p := harness.Start(t, binary, env, "serve")
	if !p.Ready("http://" + storeAddr + "/healthz") {
		t.Fatal("the store did not start")
	}
	ace := func(args ...string) (stdout, stderr string, err error) {
		cmd := exec.CommandContext(t.Context(), binary, args...)
		cmd.Env = append(os.Environ(), env...)
		var out, faults strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &faults
		err = cmd.Run()
		return out.String(), faults.String(), err
	}

	if _, faults, err := ace("wallet"); err == nil || !strings.Contains(faults, "ace wallet new") {
		t.Errorf("a wallet that is not there = %v %q, want a hint how to create one", err, faults)
	}
	made, faults, err := ace("wallet", "new", "--json")
	var wallet struct {
		Address string
		Sandbox struct{ Balance, Network string }
	}
	if err != nil || json.Unmarshal([]byte(made), &wallet) != nil || len(wallet.Address) != 42 {
		t.Fatalf("wallet new = %q %q, %v", made, faults, err)
	}
	address := wallet.Address
	if info, err := os.Stat(filepath.Join(dir, "wallet.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the wallet's file = %v, %v, want it readable by its owner alone", info, err)
	}
	if _, _, err := ace("wallet", "new"); err == nil {
		t.Error("a second wallet took the place of the first")
	}

	site := "http://" + sandboxAddr + "/site/"
	if _, faults, err := ace("pay", "run_llms_txt_draft", "--url", site, "--max", "0.01"); err == nil ||
		!strings.Contains(faults, "--max") {
		t.Errorf("a price over the bound = %v %q, want a refusal", err, faults)
	}
	paid, faults, err := ace("pay", "run_llms_txt_draft", "--url", site, "--json")
	var order struct {
		State   string
		Payment struct{ Transaction, Payer string }
		Result  struct {
			Text string `json:"llms_txt"`
		}
	}
	if err != nil || json.Unmarshal([]byte(paid), &order) != nil || order.State != "completed" ||
		!strings.HasPrefix(order.Result.Text, "# ") {
		t.Fatalf("pay = %.2000s\n%s, %v", paid, faults, err)
	}
	if !strings.EqualFold(order.Payment.Payer, address) || !strings.Contains(faults, "Price: 0.05 Dev USD") ||
		!strings.Contains(faults, "Working: ") {
		t.Errorf("payment = %+v after %q", order.Payment, faults)
	}
	shown, _, err := ace("wallet", "--json")
	if err != nil || json.Unmarshal([]byte(shown), &wallet) != nil || wallet.Address != address ||
		wallet.Sandbox.Balance != "4.95" {
		t.Errorf("wallet = %s, %v, want 4.95 left", shown, err)
	}
	status, body, err := harness.Call(t, http.MethodGet, "http://"+sandboxAddr+"/x402/tx/"+order.Payment.Transaction,
		"")
	if err != nil || status != http.StatusOK || !strings.Contains(body, `"amount":"0.05"`) {
		t.Errorf("transaction = %d %s, %v", status, body, err)
	}
}
