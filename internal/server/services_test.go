package server

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ace/internal/config"
	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/protocol/x402/evm"
	"ace/internal/storefront/paidservice"
)

// seller is a server of which only the wiring of payments is there.
func seller(t *testing.T, change func(*config.Settings)) (*Server, *bytes.Buffer) {
	t.Helper()
	box, err := seal.New(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	cfg := &config.Settings{
		StoreAddr: "127.0.0.1:8080", SandboxAddr: "127.0.0.1:8082",
		X402Networks: []string{"eip155:8453"}, X402Confirmations: 12,
	}
	if change != nil {
		change(cfg)
	}
	log := &bytes.Buffer{}
	return &Server{cfg: cfg, sealer: box, guard: egress.New(nil), log: slog.New(slog.NewTextHandler(log, nil))}, log
}

const payTo = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"

func TestRealPayments(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("no key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(*config.Settings)
		want   string // part of the error; empty: none
		proves bool
	}{
		{"a facilitator", func(*config.Settings) {}, "", false},
		{"and a node", func(s *config.Settings) { s.X402RPC = []string{"eip155:8453=https://node.example"} }, "", true},
		{"a token of its own", func(s *config.Settings) {
			s.X402Networks = []string{"eip155:31337=0x5FbDB2315678afecb367f032d93F642f64180aa3:Dev USD:1:DUSD:6"}
		}, "", false},
		{"a bearer token", func(s *config.Settings) { s.X402TokenFile = secret }, "", false},
		{
			"a key that is none",
			func(s *config.Settings) { s.X402CDPKeyID, s.X402CDPSecretFile = "id", secret },
			"key",
			false,
		},
		{
			"a file that is gone", func(s *config.Settings) { s.X402TokenFile = secret + "2" }, "ACE_X402_TOKEN_FILE",
			false,
		},
		{
			"a network without a known token", func(s *config.Settings) { s.X402Networks = []string{"eip155:7"} },
			"ACE_X402_NETWORKS names eip155:7", false,
		},
		{
			"the number of the sandbox", func(s *config.Settings) { s.X402Networks = []string{evm.DevNetwork} },
			"ACE_X402_NETWORKS names " + evm.DevNetwork, false,
		},
		{
			"a wrong checksum", func(s *config.Settings) { s.X402PayTo = strings.Replace(payTo, "F7", "f7", 1) },
			"ACE_X402_PAY_TO", false,
		},
		{
			"the token itself", func(s *config.Settings) { s.X402PayTo = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
			"ACE_X402_PAY_TO is the address of the token", false,
		},
		{"a node for one of two", func(s *config.Settings) {
			s.X402Networks, s.X402RPC = []string{
				"eip155:8453",
				"eip155:137",
			}, []string{"eip155:8453=https://node.example"}
		}, "ACE_X402_RPC_URL has no node of eip155:137", false},
	}
	for _, tt := range tests {
		s, log := seller(t, func(c *config.Settings) {
			c.X402Facilitators, c.X402PayTo = []string{"https://a.example/x402", "https://b.example"}, payTo
			tt.change(c)
		})
		var deps paidservice.Deps
		err := s.realPayments(&deps)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if err != nil {
			continue
		}
		if deps.Facilitator == nil || len(deps.Networks) != 1 || deps.Networks[0].PayTo != payTo ||
			(deps.Prover != nil) != tt.proves {
			t.Errorf("%s: deps = %+v", tt.name, deps)
		}
		if warned := strings.Contains(log.String(), "without chain proofs"); warned == tt.proves {
			t.Errorf("%s: log = %s", tt.name, log)
		}
	}
}

// Test money has a network of its own, and its receiver stays the same.
func TestPretendedPayments(t *testing.T) {
	t.Parallel()
	var deps [2]paidservice.Deps
	for i := range deps {
		s, _ := seller(t, nil)
		if err := s.sandboxPayments(&deps[i]); err != nil {
			t.Fatal(err)
		}
	}
	n := deps[0].Networks[0]
	if n != deps[1].Networks[0] || n.ID != evm.DevNetwork || deps[0].Facilitator == nil || deps[0].Prover != nil {
		t.Errorf("deps = %+v, %+v", deps[0], deps[1])
	}
	if address, err := evm.ParseAddress(n.PayTo); err != nil || address.IsZero() || address.String() != n.PayTo {
		t.Errorf("PayTo = %s, %v", n.PayTo, err)
	}
}

func TestPricesOfServices(t *testing.T) {
	t.Parallel()
	s, log := seller(t, func(c *config.Settings) {
		c.ServicePrices = []string{"ai-search-audit=0.25", "llms-txt-draft=1.50"}
	})
	definitions, err := s.definitions()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"ai-search-audit": "0.25", "structured-data-pack": "0.08", "llms-txt-draft": "1.50"}
	for _, d := range definitions {
		if d.Price != want[d.ID] || d.Runner == nil || !json.Valid(d.OutputSchema) {
			t.Errorf("%s costs %s, runner %v, schema %s", d.ID, d.Price, d.Runner != nil, d.OutputSchema)
		}
	}
	if !strings.Contains(log.String(), "usual_limit=0.10") || !strings.Contains(log.String(), "usual_limit=1.00") ||
		strings.Contains(log.String(), "structured-data-pack") {
		t.Errorf("log = %s, want a warning for each price over a limit", log)
	}
}

// Arguments are judged before a payment is looked at.
func TestArgumentsOfServices(t *testing.T) {
	t.Parallel()
	s, _ := seller(t, nil)
	runners, err := s.runners()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ service, arguments, want string }{
		{paidservice.AISearchAudit, `{"url":"https://site.example"}`, ""},
		{paidservice.AISearchAudit, `{"url":"https://site.example","max_pages":25}`, ""},
		{paidservice.AISearchAudit, `{"url":"https://site.example","max_pages":26}`, "invalid_max_pages"},
		{paidservice.AISearchAudit, `{"url":"ftp://site.example"}`, "invalid_url"},
		{paidservice.AISearchAudit, `{}`, "invalid_url"},
		{paidservice.StructuredDataPack, `{"url":"site.example","max_pages":1}`, ""},
		{paidservice.StructuredDataPack, `{"url":"https://site.example","max_pages":-1}`, "invalid_max_pages"},
		{paidservice.LLMsTxtDraft, `{"url":"https://site.example"}`, ""},
		{paidservice.LLMsTxtDraft, `{"url":"https://site.example","pages":3}`, "invalid_arguments"},
		{paidservice.LLMsTxtDraft, `{"url":7}`, "invalid_arguments"},
		{paidservice.LLMsTxtDraft, `[]`, "invalid_arguments"},
	}
	for _, tt := range tests {
		err := runners[tt.service].runner.Check([]byte(tt.arguments))
		if tt.want == "" && err != nil || tt.want != "" && !problem.Is(err, tt.want) {
			t.Errorf("%s %s: Check = %v, want %q", tt.service, tt.arguments, err, tt.want)
		}
	}
}

// What the operator has set for payments may be called in any network, by the
// purpose of payments.
func TestFacilitatorsAreTrusted(t *testing.T) {
	t.Parallel()
	p := facilitator("http://127.0.0.1:4022/x402", "http://127.0.0.1:8545/key")
	if want := []string{"http://127.0.0.1:4022", "http://127.0.0.1:8545"}; !slices.Equal(p.Trusted, want) {
		t.Errorf("Trusted = %v, want %v", p.Trusted, want)
	}
	if err := egress.New(nil).Check(p, "http://127.0.0.1:4022/x402/settle"); err != nil {
		t.Errorf("Check of the operator's facilitator = %v", err)
	}
	if err := egress.New(nil).Check(egress.Connector(), "http://127.0.0.1:4022/x402"); err == nil {
		t.Error("Check of the facilitator for a connector = nil, want a refusal")
	}
}
