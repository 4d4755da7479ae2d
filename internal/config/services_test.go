package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ace/internal/config"
)

const payTo = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"

// flags returns the flags for variables.
func flags(set map[string]string) []string {
	var args []string
	for name, value := range set {
		name = strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "ACE_"), "_", "-"))
		args = append(args, "--"+name+"="+value)
	}
	return args
}

func TestServiceSettings(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	both := map[string]string{"ACE_X402_FACILITATOR_URL": "https://facilitator.example/x402/", "ACE_X402_PAY_TO": payTo}
	tests := []struct {
		name string
		set  map[string]string
		want string // part of the error; empty: no error
	}{
		{"nothing", nil, ""},
		{"a facilitator", both, ""},
		{"two, one here", map[string]string{
			"ACE_X402_FACILITATOR_URL": "https://a.example,http://127.0.0.1:4022",
			"ACE_X402_PAY_TO":          payTo,
		}, ""},
		{
			"a facilitator over plain http",
			map[string]string{"ACE_X402_FACILITATOR_URL": "http://facilitator.example"},
			"ACE_X402_FACILITATOR_URL cannot be used",
		},
		{"no facilitator", map[string]string{"ACE_X402_PAY_TO": payTo}, "go together"},
		{"nobody who receives", map[string]string{"ACE_X402_FACILITATOR_URL": "https://a.example"}, "go together"},
		{
			"the address of nobody",
			map[string]string{"ACE_X402_PAY_TO": "0x0000000000000000000000000000000000000000"},
			"ACE_X402_PAY_TO is not an address",
		},
		{
			"an address that is too short",
			map[string]string{"ACE_X402_PAY_TO": "0x90F7"},
			"ACE_X402_PAY_TO is not an address",
		},
		{"credentials", map[string]string{"ACE_X402_CDP_KEY_ID": "id", "ACE_X402_CDP_SECRET_FILE": secret}, ""},
		{
			"half of the credentials",
			map[string]string{"ACE_X402_CDP_KEY_ID": "id"},
			"ACE_X402_CDP_KEY_ID and ACE_X402_CDP_SECRET_FILE go together",
		},
		{"two kinds of credentials", map[string]string{
			"ACE_X402_CDP_KEY_ID": "id", "ACE_X402_CDP_SECRET_FILE": secret,
			"ACE_X402_TOKEN_FILE": secret,
		}, "exclude each other"},
		{"a file that is not there", map[string]string{"ACE_X402_TOKEN_FILE": secret + "2"}, "cannot be read"},
		{
			"networks",
			map[string]string{
				"ACE_X402_NETWORKS": "eip155:8453,eip155:31337=0x5FbDB2315678afecb367f032d93F642f64180aa3:Dev " +
					"USD:1:DUSD:6",
			},
			"",
		},
		{"a network twice", map[string]string{"ACE_X402_NETWORKS": "eip155:8453,eip155:8453"}, "twice"},
		{
			"a network of another kind",
			map[string]string{"ACE_X402_NETWORKS": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"},
			"ACE_X402_NETWORKS holds",
		},
		{
			"half a token",
			map[string]string{"ACE_X402_NETWORKS": "eip155:1=0x5FbDB2315678afecb367f032d93F642f64180aa3"},
			"ACE_X402_NETWORKS holds",
		},
		{
			"a token with too many decimals",
			map[string]string{"ACE_X402_NETWORKS": "eip155:1=0x5FbDB2315678afecb367f032d93F642f64180aa3:A:1:A:99"},
			"decimals",
		},
		{
			"nodes",
			map[string]string{
				"ACE_X402_RPC_URL": "eip155:8453=https://node.example/key?a=b,eip155:1=http://127.0.0.1:8545",
			},
			"",
		},
		{
			"a node without a network",
			map[string]string{"ACE_X402_RPC_URL": "https://node.example/secret"},
			"ACE_X402_RPC_URL cannot be used",
		},
		{
			"a node twice",
			map[string]string{"ACE_X402_RPC_URL": "eip155:1=https://a.example,eip155:1=https://b.example"},
			"twice",
		},
		{"prices", map[string]string{"ACE_SERVICE_PRICES": "ai-search-audit=0.25, llms-txt-draft=1"}, ""},
		{
			"a price of nothing",
			map[string]string{"ACE_SERVICE_PRICES": "ai-search-audit=0"},
			"ACE_SERVICE_PRICES holds",
		},
		{
			"a price of a fortune",
			map[string]string{"ACE_SERVICE_PRICES": "ai-search-audit=10001"},
			"ACE_SERVICE_PRICES holds",
		},
		{
			"a price that is none",
			map[string]string{"ACE_SERVICE_PRICES": "ai-search-audit=1e-1"},
			"ACE_SERVICE_PRICES holds",
		},
		{"a price of something else", map[string]string{"ACE_SERVICE_PRICES": "weather=1"}, "ACE_SERVICE_PRICES holds"},
		{
			"a payment that is not good for long enough",
			map[string]string{"ACE_X402_MAX_TIMEOUT": "60s"},
			"ACE_X402_MAX_TIMEOUT is 1m0s",
		},
		{"short budgets", map[string]string{"ACE_X402_MAX_TIMEOUT": "60s", "ACE_SERVICE_RUN_WAIT": "20s"}, ""},
		{"no budget", map[string]string{"ACE_X402_SETTLE_BUDGET": "0s"}, "ACE_X402_SETTLE_BUDGET must be a time"},
		{"no confirmations", map[string]string{"ACE_X402_CONFIRMATIONS": "0"}, "ACE_X402_CONFIRMATIONS"},
	}
	for _, tt := range tests {
		s := parse(t, flags(tt.set)...)
		err := s.Check()
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: Check = %v, want %q", tt.name, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret?") {
			t.Errorf("%s: the error shows an address: %v", tt.name, err)
		}
	}
}

func TestWhatServicesAreSetTo(t *testing.T) {
	t.Parallel()
	s := parse(t, flags(map[string]string{
		"ACE_X402_NETWORKS":  "eip155:8453,eip155:31337=0x5FbDB2315678afecb367f032d93F642f64180aa3:Dev USD:1:DUSD:6",
		"ACE_X402_RPC_URL":   "eip155:8453=https://node.example/k=v",
		"ACE_SERVICE_PRICES": "ai-search-audit=0.25, llms-txt-draft=1",
	})...)
	networks, errNetworks := s.Networks()
	rpc, errRPC := s.RPC()
	prices, errPrices := s.Prices()
	if errNetworks != nil || errRPC != nil || errPrices != nil {
		t.Fatal(errNetworks, errRPC, errPrices)
	}
	if diff := cmp.Diff([]config.X402Network{
		{ID: "eip155:8453"},
		{"eip155:31337", "0x5FbDB2315678afecb367f032d93F642f64180aa3", "Dev USD", "1", "DUSD", 6},
	},
		networks); diff != "" {
		t.Errorf("Networks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"eip155:8453": "https://node.example/k=v"}, rpc); diff != "" {
		t.Errorf("RPC (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"ai-search-audit": "0.25", "llms-txt-draft": "1"}, prices); diff != "" {
		t.Errorf("Prices (-want +got):\n%s", diff)
	}
}
