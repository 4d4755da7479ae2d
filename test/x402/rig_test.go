// Package x402 holds the payments of the store against what others have made:
// the client, the facilitator and the shop of the x402 libraries, and a real
// chain with a token on it. All of it runs on this machine, without a network.
//
//	rig.mjs ── anvil, token, facilitator, shop, client
//	   ^  over HTTP and JSON-RPC
//	   |
//	x402facilitator, evm, sandbox, the whole store
package x402_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/storefront/x402facilitator"
)

// rig is a chain with everything around it. Each test has its own.
type rig struct {
	t                         *testing.T
	RPC, Facilitator, Control string
	Network, Settler          string
	token                     evm.Token
	receiver                  string
	facilitator               *x402facilitator.Remote
	chains                    *x402facilitator.Chains
}

// settings of a rig.
type settings struct {
	Parallel              bool  `json:"parallel,omitempty"` // settlements race for the facilitator's wallet
	ConfirmationTimeoutMS int64 `json:"confirmationTimeoutMs,omitempty"`
}

// start starts a rig on the chain of Base's test network, with our token where
// the real one is there.
func start(t *testing.T, s settings) *rig {
	t.Helper()
	if os.Getenv("ACE_NODE") == "" || os.Getenv("ACE_NODE_MODULES") == "" {
		t.Skip("left out: ACE_NODE and ACE_NODE_MODULES are not set")
	}
	token, _ := evm.TokenOf("eip155:84532")
	config, err := json.Marshal(struct {
		ChainID int    `json:"chainId"`
		Asset   string `json:"asset"`
		Name    string `json:"name"`
		Version string `json:"version"`
		settings
	}{84532, token.Asset, token.Name, token.Version, s})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Getenv("ACE_NODE"), "rig.mjs", string(config))
	cmd.Env = os.Environ()
	var faults bytes.Buffer
	cmd.Stderr = &faults
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close() // it ends with its input
		_ = cmd.Wait()
	})
	r := &rig{t: t, token: token, receiver: "0x90F79bf6EB2c4f870365E785982E1f101E93b906"}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, r) != nil {
		t.Fatalf("the rig did not start: %v\n%s\n%s", err, line, faults.String())
	}
	if r.facilitator, err = x402facilitator.New(r.Facilitator, nil, http.DefaultClient); err != nil {
		t.Fatal(err)
	}
	if r.chains, err = x402facilitator.NewChains(http.DefaultClient,
		x402facilitator.Chain{Network: r.Network, RPC: r.RPC, Confirmations: 3}); err != nil {
		t.Fatal(err)
	}
	return r
}

// do asks the rig for something.
func (r *rig) do(command string, in, out any) {
	r.t.Helper()
	if err := r.try(command, in, out); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) try(command string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	res, err := http.Post(r.Control+"/"+command, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return err
	case res.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s %s", command, res.Status, answer)
	case out == nil:
		return nil
	}
	return json.Unmarshal(answer, out)
}

// node asks the chain itself.
func (r *rig) node(method string, params ...any) (result json.RawMessage) {
	r.t.Helper()
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		r.t.Fatal(err)
	}
	res, err := http.Post(r.RPC, "application/json", bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var answer struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || answer.Error != nil {
		r.t.Fatalf("%s: %s, %v", method, answer.Error, err)
	}
	return answer.Result
}

// mine adds blocks to the chain.
func (r *rig) mine(blocks int) { r.node("anvil_mine", blocks) }

// balance is what an address has, in atomic units.
func (r *rig) balance(address string) string {
	r.t.Helper()
	var out struct{ Balance string }
	r.do("balance", map[string]string{"address": address}, &out)
	return out.Balance
}

// payer returns an account with that much money.
func (r *rig) payer(value string) evm.Key {
	r.t.Helper()
	key, err := evm.NewKey()
	if err != nil {
		r.t.Fatal(err)
	}
	if value != "0" {
		r.do("mint", map[string]string{"to": key.Address().String(), "value": value}, nil)
	}
	return key
}

// terms are those of a sale for an amount.
func (r *rig) terms(amount string) x402.PaymentRequirements {
	return r.token.Terms(amount, r.receiver, 300)
}

// pay signs a payment.
func (r *rig) pay(key evm.Key, terms x402.PaymentRequirements) *x402.PaymentPayload {
	r.t.Helper()
	p, err := key.Pay(terms, nil, time.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}
