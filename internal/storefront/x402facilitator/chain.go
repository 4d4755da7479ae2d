package x402facilitator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
)

// Chain is how one network is asked.
type Chain struct {
	Network string // eip155:8453
	RPC     string // JSON-RPC address; may hold a key
	// Confirmations is how many blocks have to follow a payment until it counts
	// as final. Zero: 12.
	Confirmations int64
	// Lookback is how many blocks back a payment is looked for whose moment is
	// not known, at most. Zero: 5000.
	Lookback int64
}

const (
	defaultConfirmations = 12
	defaultLookback      = 5000
)

// Chains reads from chains what became of payments. It is safe for concurrent
// use and keeps nothing.
type Chains struct {
	chains map[string]Chain
	client *http.Client
}

// NewChains returns the chains, asked with client. It refuses a network that is
// none of Ethereum's kind, and an address that is none.
func NewChains(client *http.Client, chains ...Chain) (*Chains, error) {
	c := &Chains{chains: map[string]Chain{}, client: client}
	for _, chain := range chains {
		if _, err := evm.ChainID(chain.Network); err != nil {
			return nil, err
		}
		u, err := url.Parse(chain.RPC)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return nil, fmt.Errorf("the address of a node of %s is none; it looks like https://node.example/",
				chain.Network)
		}
		if chain.Confirmations <= 0 {
			chain.Confirmations = defaultConfirmations
		}
		if chain.Lookback <= 0 {
			chain.Lookback = defaultLookback
		}
		c.chains[chain.Network] = chain
	}
	return c, nil
}

// errNoNode reports that no node of a network is set.
var errNoNode = errors.New("no JSON-RPC address is set for this network")

func (c *Chains) node(network string) (*node, Chain, error) {
	chain, ok := c.chains[network]
	if !ok {
		return nil, Chain{}, fmt.Errorf("%s: %w", network, errNoNode)
	}
	return &node{network: network, url: chain.RPC, client: c.client}, chain, nil
}

// Head implements paidservice.Prover.
func (c *Chains) Head(ctx context.Context, network string) (int64, error) {
	n, _, err := c.node(network)
	if err != nil {
		return 0, err
	}
	var head quantity
	err = n.call(ctx, &head, "eth_blockNumber")
	return int64(head), err
}

// IsContract reports whether code lies at an address: then a signature that is
// not of the address's own key may still be good (EIP-1271, EIP-7702).
func (c *Chains) IsContract(ctx context.Context, network, address string) (bool, error) {
	n, _, err := c.node(network)
	if err != nil {
		return false, err
	}
	var code octets
	err = n.call(ctx, &code, "eth_getCode", address, "latest")
	return len(code) > 0, err
}

// CheckAsset implements paidservice.Prover. It also compares the number of the
// chain, and the hash of the domain that wallets sign.
func (c *Chains) CheckAsset(ctx context.Context, terms x402.PaymentRequirements, decimals int) error {
	n, _, err := c.node(terms.Network)
	if err != nil {
		return err
	}
	domain, err := evm.DomainOf(terms)
	if err != nil {
		return err
	}
	var id quantity
	if err := n.call(ctx, &id, "eth_chainId"); err != nil {
		return err
	}
	if uint64(id) != domain.ChainID {
		return fmt.Errorf("the node of %s is one of chain %d", terms.Network, id)
	}
	there, err := c.IsContract(ctx, terms.Network, terms.Asset)
	if err != nil {
		return err
	}
	if !there {
		return fmt.Errorf("there is no contract at %s on %s", terms.Asset, terms.Network)
	}
	return n.checkToken(ctx, terms.Asset, domain, decimals)
}

func (n *node) checkToken(ctx context.Context, asset string, domain evm.Domain, decimals int) error {
	data, err := n.read(ctx, asset, callDecimals, "latest")
	if err != nil {
		return err
	}
	if d, err := asNumber(data); err != nil || !d.IsInt64() || d.Int64() != int64(decimals) {
		return fmt.Errorf("the token %s has other decimals than %d", asset, decimals)
	}
	for _, fact := range []struct{ call, name, want string }{
		{callName, "name", domain.Name},
		{callVersion, "version", domain.Version},
	} {
		data, err := n.read(ctx, asset, fact.call, "latest")
		if refused := new(nodeError); errors.As(err, &refused) {
			continue // not every token reports it; the domain decides
		} else if err != nil {
			return err
		}
		if got, err := asText(data); err == nil && got != fact.want {
			return fmt.Errorf(
				"the token %s has the %s %q, and the settings say %q: wallets would sign for the wrong token", asset,
				fact.name, got, fact.want)
		}
	}
	data, err = n.read(ctx, asset, callSeparator, "latest")
	if err != nil {
		return err
	}
	if want := domain.Separator(); !strings.EqualFold(fmt.Sprintf("%x", []byte(data)), want.String()[2:]) {
		return fmt.Errorf("the token %s signs another EIP-712 domain than name %q, version %q on chain %d", asset,
			domain.Name, domain.Version, domain.ChainID)
	}
	return nil
}
