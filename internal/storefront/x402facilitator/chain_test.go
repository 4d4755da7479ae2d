package x402facilitator_test

import (
	"net/http"
	"strings"
	"testing"

	"ace/internal/protocol/x402"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/x402facilitator"
)

const (
	payer    = "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc"
	receiver = "0x90f79bf6eb2c4f870365e785982e1f101e93b906"
	stranger = "0x1111111111111111111111111111111111111111"
	nonce    = "0xa774440f0fba2e48afedf0e4b7ab5dffa7386b352a4b4bbec9dd448adf854f7f"
	nonce2   = "0xb774440f0fba2e48afedf0e4b7ab5dffa7386b352a4b4bbec9dd448adf854f7f"
)

func auth() paidservice.Authorization {
	return paidservice.Authorization{
		Network: "eip155:84532", Asset: strings.ToLower(terms().Asset), Payer: payer, Nonce: nonce,
		PayTo: receiver, Amount: "90000", ValidBefore: 1_800_000_300,
	}
}

// TestFind shows what each history of a chain proves.
func TestFind(t *testing.T) {
	t.Parallel()
	use, use2 := mark(used, payer, nonce, 0), mark(used, payer, nonce2, 0)
	pay, self := mark(transfer, payer, receiver, 90000), mark(transfer, payer, payer, 0)
	approve := mark("Approval(address,address,uint256)", payer, receiver, 0)
	tests := []struct {
		name  string
		build func(n *node)
		want  string // verdict, "final" where it is, or "error"
	}{
		{"nothing yet", func(*node) {}, "open"},
		{"paid", func(n *node) { n.mine("0xAA", 995, use, pay) }, "paid"},
		{"paid and final", func(n *node) { n.mine("0xAA", 988, use, pay) }, "paid final"},
		{"paid one block before it counts", func(n *node) { n.mine("0xAA", 989, use, pay) }, "paid"},
		{"a token that writes the transfer first", func(n *node) { n.mine("0xAA", 995, pay, use) }, "paid"},
		{"a token that writes more in between", func(n *node) { n.mine("0xAA", 995, use, approve, pay) }, "paid"},
		{"canceled", func(n *node) { n.mine("0xAA", 995, mark(canceled, payer, nonce, 0)) }, "void"},
		{
			"used for somebody else",
			func(n *node) { n.mine("0xAA", 995, use, mark(transfer, payer, stranger, 90000)) },
			"void",
		},
		{"used for less", func(n *node) { n.mine("0xAA", 995, use, mark(transfer, payer, receiver, 89999)) }, "void"},
		{"used for more", func(n *node) { n.mine("0xAA", 995, use, mark(transfer, payer, receiver, 90001)) }, "void"},
		{
			"used, and a stranger paid",
			func(n *node) { n.mine("0xAA", 995, use, mark(transfer, stranger, receiver, 90000)) }, "void",
		},
		{"used without a transfer", func(n *node) { n.mine("0xAA", 995, use) }, "void"},
		{"two payments at once", func(n *node) { n.mine("0xAA", 995, use2, pay, use, pay) }, "paid"},
		{"one transfer for two uses", func(n *node) { n.mine("0xAA", 995, use2, pay, use, self) }, "void"},
		{"one transfer for two uses, ours first", func(n *node) { n.mine("0xAA", 995, use, self, use2, pay) }, "void"},
		{
			"one transfer for two uses, transfers first", func(n *node) { n.mine("0xAA", 995, pay, use2, self, use) },
			"void",
		},
		{"two uses in no order", func(n *node) { n.mine("0xAA", 995, use, use2, pay, approve, self) }, "error"},
		{"a transfer of another token", func(n *node) {
			other := pay
			other.Address = stranger
			n.mine("0xAA", 995, use, other)
		}, "void"},
		{"the node ignores the filter", func(n *node) {
			n.foreign = true
			n.mine("0xBB", 994, use2, pay)
			elsewhere := use
			elsewhere.Address = stranger
			n.mine("0xCC", 994, elsewhere, pay)
			n.used = map[string]bool{}
		}, "open"},
		{"reverted", func(n *node) {
			n.mine("0xAA", 995, use, pay)
			n.events, n.used, n.receipts = nil, map[string]bool{}, map[string]receipt{}
		}, "open"},
		{"marked as removed", func(n *node) {
			n.mine("0xAA", 995, use, pay)
			n.events[0].Removed, n.used = true, map[string]bool{}
		}, "open"},
		{"in another block now", func(n *node) {
			n.mine("0xAA", 995, use, pay)
			r := n.receipts["0xAA"]
			r.BlockHash = hash
			n.receipts["0xAA"] = r
		}, "error"},
		{"the receipt is gone", func(n *node) {
			n.mine("0xAA", 995, use, pay)
			delete(n.receipts, "0xAA")
		}, "error"},
		{"failed", func(n *node) {
			n.mine("0xAA", 995, use, pay)
			r := n.receipts["0xAA"]
			r.Status = "0x0"
			n.receipts["0xAA"] = r
		}, "error"},
		{"used, and the event is not to be found", func(n *node) { n.used[nonce] = true }, "error"},
		{"used before it was shown", func(n *node) { n.mine("0xAA", 500, use, pay) }, "paid final"},
		{"its time is over", func(n *node) { n.now = 1_800_000_300 }, "open"},
		{"over for long enough", func(n *node) { n.now = 1_800_000_310 }, "void final"},
		{"a second before that", func(n *node) { n.now = 1_800_000_309 }, "open"},
		{"over, on a node without tags", func(n *node) { n.now, n.safe = 1_800_000_312, -1 }, "void final"},
		{"nearly over, on a node without tags", func(n *node) { n.now, n.safe = 1_800_000_311, -1 }, "open"},
		{"over, on a young chain without tags", func(n *node) { n.now, n.safe, n.head = 1_800_000_400, -1, 5 }, "open"},
		{"a node that answers few blocks at once", func(n *node) {
			n.maxBlocks = 500
			n.mine("0xAA", 400, use, pay)
		}, "paid final"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			tt.build(n)
			proof, err := n.chains(t).Find(t.Context(), auth(), 993)
			got := string(proof.Verdict)
			if proof.Final {
				got += " final"
			}
			if err != nil {
				got = "error"
			}
			if got != tt.want {
				t.Errorf("Find = %s, want %s (%v)", got, tt.want, err)
			}
			if proof.Verdict == paidservice.ProofPaid && proof.Tx != "0xaa" {
				t.Errorf("transaction = %s, want 0xaa", proof.Tx)
			}
			if err != nil && strings.Contains(err.Error(), "secret-key") {
				t.Errorf("the error shows the node's address: %v", err)
			}
		})
	}
}

func TestFindFrom(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]int64{"unknown": 0, "ahead of the node": 2000, "long ago": 1} {
		n := newNode(t)
		n.mine("0xAA", 998, mark(used, payer, nonce, 0), mark(transfer, payer, receiver, 90000))
		if proof, err := n.chains(t).Find(t.Context(), auth(), from); err != nil ||
			proof.Verdict != paidservice.ProofPaid || proof.Block != 998 {
			t.Errorf("Find from a block that is %s = %+v, %v, want paid", name, proof, err)
		}
	}
}

func TestNodeFailures(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"html": "<html>", "nothing": "", "no result": `{"jsonrpc":"2.0","id":1}`, "another type": `{"result":7}`,
		"no number": `{"result":"head"}`,
		"error":     `{"error":{"code":-32005,"message":"limit of key secret-key"}}`, "endless": strings.Repeat(" ",
			2<<20),
		"huge": `{"result":"0xffffffffffffffffffff"}`,
	} {
		c, err := x402facilitator.NewChains(http.DefaultClient,
			x402facilitator.Chain{Network: "eip155:84532", RPC: serve(t, 200, body).URL + "/secret-key"})
		if err != nil {
			t.Fatal(err)
		}
		_, errHead := c.Head(t.Context(), "eip155:84532")
		_, errFind := c.Find(t.Context(), auth(), 1)
		errCheck := c.CheckAsset(t.Context(), terms(), 6)
		for _, err := range []error{errHead, errFind, errCheck} {
			if err == nil || strings.Contains(err.Error(), "secret-key") {
				t.Errorf("a node that answers %s: %v, want an error without its address", name, err)
			}
		}
	}
	n := newNode(t)
	c := n.chains(t)
	if head, err := c.Head(t.Context(), "eip155:84532"); head != 1000 || err != nil {
		t.Errorf("Head = %d, %v", head, err)
	}
	if _, err := c.Head(t.Context(), "eip155:1"); err == nil {
		t.Error("Head of a network without a node worked")
	}
	if is, err := c.IsContract(t.Context(), "eip155:84532", payer); !is || err != nil {
		t.Errorf("IsContract = %v, %v", is, err)
	}
	for _, chain := range []x402facilitator.Chain{
		{Network: "base", RPC: n.url},
		{Network: "eip155:1", RPC: "node"},
		{Network: "eip155:1"},
		{Network: "eip155:1", RPC: "wss://node.example/secret-key"},
	} {
		if _, err := x402facilitator.NewChains(nil, chain); err == nil || strings.Contains(err.Error(), "secret-key") {
			t.Errorf("NewChains(%s) = %v, want an error without the address", chain.Network, err)
		}
	}
}

func TestCheckAsset(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(n *node, terms *x402.PaymentRequirements)
		want   string // part of the error; "": none
	}{
		{"the token", func(*node, *x402.PaymentRequirements) {}, ""},
		{
			"a token that tells no version",
			func(n *node, _ *x402.PaymentRequirements) { delete(n.facts, "0x54fd4d50") },
			"",
		},
		{
			"an old token, whose name is no string",
			func(n *node, _ *x402.PaymentRequirements) { n.facts["0x06fdde03"] = pad("7") }, "",
		},
		{"a name that lies about its place", func(n *node, _ *x402.PaymentRequirements) {
			n.facts["0x06fdde03"] = "0x" + strings.Repeat("f", 128)
		}, ""},
		{"a name that lies about its length", func(n *node, _ *x402.PaymentRequirements) {
			n.facts["0x06fdde03"] = pad("20") + strings.Repeat("f", 64)
		}, ""},
		{"another chain", func(n *node, _ *x402.PaymentRequirements) { n.chainID = 8453 }, "chain 8453"},
		{"no contract", func(n *node, _ *x402.PaymentRequirements) { n.code = "0x" }, "no contract"},
		{
			"other decimals", func(n *node, _ *x402.PaymentRequirements) { n.facts["0x313ce567"] = pad("12") },
			"decimals",
		},
		{"the name of another chain's token", func(_ *node, r *x402.PaymentRequirements) {
			r.Extra = map[string]any{"name": "USD Coin", "version": "2"}
		}, `"USDC"`},
		{"another version", func(_ *node, r *x402.PaymentRequirements) {
			r.Extra = map[string]any{"name": "USDC", "version": "1"}
		}, "version"},
		{"another domain", func(n *node, _ *x402.PaymentRequirements) { n.facts["0x3644e515"] = hash }, "domain"},
		{"no domain", func(n *node, _ *x402.PaymentRequirements) { delete(n.facts, "0x3644e515") }, "node"},
		{"no name in the settings", func(_ *node, r *x402.PaymentRequirements) { r.Extra = nil }, "extra.name"},
		{"no node", func(_ *node, r *x402.PaymentRequirements) { r.Network = "eip155:1" }, "no JSON-RPC"},
	}
	for _, tt := range tests {
		n, quote := newNode(t), terms()
		tt.change(n, &quote)
		err := n.chains(t).CheckAsset(t.Context(), quote, 6)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("CheckAsset(%s) = %v, want %q", tt.name, err, tt.want)
		}
	}
}
