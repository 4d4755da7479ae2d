package server

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/protocol/x402/evm"
	"ace/internal/storage"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/storehttp/servicehttp"
	"ace/internal/storefront/x402facilitator"
)

// Modes of payments, as lists show them.
const (
	modeFacilitator = "facilitator"
	modeLedger      = "dev-ledger" // the sandbox's: nothing real moves
)

// longestCall is what a call needs beside its budgets.
const longestCall = 15 * time.Second

// buildServices wires the paid services: what they cost, who does the work and
// who settles. Without a facilitator they are listed, and none is available.
func (s *Server) buildServices(ctx context.Context, store *storage.Store) error {
	deps := paidservice.Deps{Vault: s.sealer, Log: s.log}
	paid := storage.Paid{Store: store}
	deps.Store, deps.Results, deps.Prices = paid, paid, paid
	mode := modeFacilitator
	var err error
	switch {
	case len(s.cfg.X402Facilitators) > 0:
		err = s.realPayments(&deps)
	case s.sandbox != nil:
		mode, err = modeLedger, s.sandboxPayments(&deps)
	}
	if err != nil {
		return err
	}
	if deps.Definitions, err = s.definitions(); err != nil {
		return err
	}
	name := s.cfg.SiteName
	if mode == modeLedger {
		name += " (dev payments)"
	}
	s.services = paidservice.New(deps, paidservice.Options{
		BaseURL: s.cfg.BaseURL(), Name: name, Mode: mode, RunWait: s.cfg.ServiceRunWait,
		RunLimit: s.cfg.ServiceRunLimit, SettleBudget: s.cfg.X402SettleBudget,
		Margin: s.cfg.X402Margin, MaxTimeout: s.cfg.X402MaxTimeout, Step: s.paidStep,
	})
	return s.services.Open(ctx)
}

// paidStep names the steps of paid services apart from those of checkouts.
func (s *Server) paidStep(name string) {
	if s.step != nil {
		s.step("paid_" + name)
	}
}

// servicesHandler returns the handler of the paid services.
func (s *Server) servicesHandler() *servicehttp.Handler {
	return &servicehttp.Handler{
		BaseURL: s.cfg.BaseURL(), Service: s.services,
		MaxTime: s.cfg.ServiceRunWait + s.cfg.X402SettleBudget + longestCall,
	}
}

// definitions are the services at the operator's prices, each with the runner that does
// the work.
func (s *Server) definitions() ([]paidservice.Definition, error) {
	prices, err := s.cfg.Prices()
	if err != nil {
		return nil, err
	}
	runners, err := s.runners()
	if err != nil {
		return nil, err
	}
	definitions := paidservice.Definitions()
	for i := range definitions {
		d := &definitions[i]
		if price, ok := prices[d.ID]; ok {
			d.Price = price
		}
		s.warnOfPrice(d.ID, d.Price)
		if r, ok := runners[d.ID]; ok {
			d.Runner, d.OutputSchema = r.runner, r.schema
		}
	}
	return definitions, nil
}

// warnOfPrice logs prices that known clients do not pay by themselves.
func (s *Server) warnOfPrice(service, price string) {
	amount, ok := new(big.Rat).SetString(price)
	if !ok {
		return
	}
	for _, limit := range []string{"1.00", "0.10"} {
		if most, _ := new(big.Rat).SetString(limit); amount.Cmp(most) > 0 {
			s.log.Warn("agents may refuse the price of a service unless their owner allows it", "service", service,
				"price", price, "usual_limit", limit)
			return
		}
	}
}

// realPayments wires the operator's facilitators and chains.
func (s *Server) realPayments(deps *paidservice.Deps) error {
	configured, err := s.cfg.Networks()
	if err != nil {
		return err
	}
	payTo, err := evm.ParseAddress(s.cfg.X402PayTo)
	if err != nil {
		return fmt.Errorf("ACE_X402_PAY_TO: %w", err)
	}
	for _, n := range configured {
		token := evm.Token{
			Network: n.ID, Asset: n.Asset, Name: n.Name, Version: n.Version, Symbol: n.Symbol,
			Decimals: n.Decimals,
		}
		if n.Asset == "" {
			known, ok := evm.TokenOf(n.ID)
			if !ok || n.ID == evm.DevNetwork {
				return fmt.Errorf(
					"ACE_X402_NETWORKS names %s, whose token is not known: write %s=ASSET:NAME:VERSION:SYMBOL:DECIMALS",
					n.ID, n.ID)
			}
			token = known
		}
		asset, err := evm.ParseAddress(token.Asset)
		if err != nil {
			return fmt.Errorf("ACE_X402_NETWORKS, token of %s: %w", n.ID, err)
		}
		if asset == payTo {
			return errors.New("ACE_X402_PAY_TO is the address of the token itself: money that goes there is lost")
		}
		token.Asset = asset.String()
		deps.Networks = append(deps.Networks, network(token, payTo))
	}
	if deps.Facilitator, err = s.facilitators(); err != nil {
		return err
	}
	return s.chains(deps)
}

func network(t evm.Token, payTo evm.Address) paidservice.Network {
	return paidservice.Network{
		ID: t.Network, Asset: t.Asset, Name: t.Name, Version: t.Version, Symbol: t.Symbol,
		Decimals: t.Decimals, PayTo: payTo.String(),
	}
}

// sandboxPayments wires the sandbox's ledger, reached over HTTP like any other
// facilitator. It never uses the number of a chain that exists: a signature for
// one could be spent there.
func (s *Server) sandboxPayments(deps *paidservice.Deps) error {
	client := s.guard.Client(facilitator(s.cfg.SandboxBaseURL()))
	remote, err := x402facilitator.New(s.cfg.SandboxBaseURL()+"/x402", nil, client)
	if err != nil {
		return fmt.Errorf("wiring the sandbox's facilitator: %w", err)
	}
	var payTo evm.Address
	sum := evm.Keccak([]byte(s.sealer.MAC("dev pay-to")))
	copy(payTo[:], sum[:])
	deps.Facilitator, deps.Networks = remote, []paidservice.Network{network(evm.DevToken(), payTo)}
	return nil
}

// facilitators are the operator's, the first with its credentials.
func (s *Server) facilitators() (*x402facilitator.Pool, error) {
	auth, err := s.facilitatorAuth()
	if err != nil {
		return nil, err
	}
	client := s.guard.Client(facilitator(s.cfg.X402Facilitators...))
	var all []*x402facilitator.Remote
	for _, address := range s.cfg.X402Facilitators {
		remote, err := x402facilitator.New(address, auth, client)
		if err != nil {
			return nil, fmt.Errorf("ACE_X402_FACILITATOR_URL: %w", err)
		}
		all, auth = append(all, remote), nil
	}
	return x402facilitator.NewPool(s.log, all[0], all[1:]...), nil
}

func (s *Server) facilitatorAuth() (x402facilitator.Auth, error) {
	read := func(setting, file string) (string, error) {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("reading %s: %w", setting, err)
		}
		return strings.TrimSpace(string(text)), nil
	}
	switch {
	case s.cfg.X402CDPKeyID != "":
		secret, err := read("ACE_X402_CDP_SECRET_FILE", s.cfg.X402CDPSecretFile)
		if err != nil {
			return nil, err
		}
		return x402facilitator.CDP(s.cfg.X402CDPKeyID, secret)
	case s.cfg.X402TokenFile != "":
		token, err := read("ACE_X402_TOKEN_FILE", s.cfg.X402TokenFile)
		if err != nil {
			return nil, err
		}
		return x402facilitator.Bearer(token), nil
	}
	return nil, nil //nolint:nilnil // none are needed
}

// chains wires the proofs. They are all or nothing: a network without a node
// would leave its payments without the proof that the others have.
func (s *Server) chains(deps *paidservice.Deps) error {
	addresses, err := s.cfg.RPC()
	if err != nil {
		return err
	}
	if len(addresses) == 0 {
		s.log.Warn(
			"payments are accepted without chain proofs: set ACE_X402_RPC_URL, " +
				"so that one whose facilitator loses the " +
				"response is not left to the operator",
		)
		return nil
	}
	var chains []x402facilitator.Chain
	var nodes []string
	for _, n := range deps.Networks {
		address, ok := addresses[n.ID]
		if !ok {
			return fmt.Errorf("ACE_X402_RPC_URL has no node of %s: name one for each network, or none", n.ID)
		}
		chains = append(chains,
			x402facilitator.Chain{Network: n.ID, RPC: address, Confirmations: s.cfg.X402Confirmations})
		nodes = append(nodes, address)
	}
	prover, err := x402facilitator.NewChains(s.guard.Client(facilitator(nodes...)), chains...)
	if err != nil {
		return fmt.Errorf("ACE_X402_RPC_URL: %w", err)
	}
	deps.Prover = prover
	return nil
}

// hostsOf are the host names of addresses that Check has accepted.
func hostsOf(addresses ...string) []string {
	var hosts []string
	for _, address := range addresses {
		if u, err := url.Parse(address); err == nil && !slices.Contains(hosts, u.Hostname()) {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts
}

// facilitator is the purpose of calls to the operator's facilitators or nodes,
// in any network.
func facilitator(addresses ...string) egress.Purpose {
	return trusting(egress.Facilitator(hostsOf(addresses...)...), addresses...)
}
