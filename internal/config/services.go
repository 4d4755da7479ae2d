package config

import (
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// X402Network is one network of ACE_X402_NETWORKS.
type X402Network struct {
	ID                           string // eip155:8453
	Asset, Name, Version, Symbol string // of the token; empty: the default token of the network
	Decimals                     int
}

var (
	addressShape = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
	networkShape = regexp.MustCompile(`^eip155:[1-9][0-9]{0,17}$`)
)

// services are the valid ids in ACE_SERVICE_PRICES.
var services = []string{"ai-search-audit", "structured-data-pack", "llms-txt-draft"}

// checkServices checks the settings of paid services.
func (s *Settings) checkServices() error {
	errs := []error{s.checkFacilitators(), s.checkBudgets()}
	if _, err := s.Networks(); err != nil {
		errs = append(errs, err)
	}
	if _, err := s.RPC(); err != nil {
		errs = append(errs, err)
	}
	if _, err := s.Prices(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (s *Settings) checkFacilitators() error {
	var errs []error
	for i, text := range s.X402Facilitators {
		s.X402Facilitators[i] = strings.TrimRight(text, "/")
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !Local(text)) {
			errs = append(errs,
				errors.New(
					"ACE_X402_FACILITATOR_URL cannot be used: write https:// and a host, or http:// on this machine, "+
						"without user and password"))
		}
	}
	if (len(s.X402Facilitators) == 0) != (s.X402PayTo == "") {
		errs = append(errs,
			errors.New("ACE_X402_FACILITATOR_URL and ACE_X402_PAY_TO go together: set both or none"))
	}
	if s.X402PayTo != "" && (!addressShape.MatchString(s.X402PayTo) || strings.Trim(s.X402PayTo[2:], "0") == "") {
		errs = append(errs, errors.New("ACE_X402_PAY_TO is not an address: write 0x and 40 hex digits"))
	}
	if (s.X402CDPKeyID == "") != (s.X402CDPSecretFile == "") {
		errs = append(errs,
			errors.New("ACE_X402_CDP_KEY_ID and ACE_X402_CDP_SECRET_FILE go together: set both or none"))
	}
	if s.X402TokenFile != "" && s.X402CDPKeyID != "" {
		errs = append(errs,
			errors.New(
				"ACE_X402_TOKEN_FILE and ACE_X402_CDP_KEY_ID exclude each other: the first facilitator takes one "+
					"kind of credentials"))
	}
	for name, file := range map[string]string{
		"ACE_X402_TOKEN_FILE":      s.X402TokenFile,
		"ACE_X402_CDP_SECRET_FILE": s.X402CDPSecretFile,
	} {
		if file == "" {
			continue
		}
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			errs = append(errs, fmt.Errorf("%s names %q, which cannot be read", name, file))
		}
	}
	return errors.Join(errs...)
}

func (s *Settings) checkBudgets() error {
	var errs []error
	for name, d := range map[string]time.Duration{
		"ACE_SERVICE_RUN_WAIT": s.ServiceRunWait, "ACE_SERVICE_RUN_LIMIT": s.ServiceRunLimit,
		"ACE_X402_SETTLE_BUDGET": s.X402SettleBudget,
		"ACE_X402_MARGIN":        s.X402Margin, "ACE_X402_MAX_TIMEOUT": s.X402MaxTimeout,
	} {
		if d < time.Second || d > time.Hour {
			errs = append(errs, fmt.Errorf("%s must be a time from 1s to 1h", name))
		}
	}
	if need := s.ServiceRunWait + s.X402SettleBudget + s.X402Margin; len(errs) == 0 && s.X402MaxTimeout <= need {
		errs = append(errs,
			fmt.Errorf(
				"ACE_X402_MAX_TIMEOUT is %v and must be longer than ACE_SERVICE_RUN_WAIT, ACE_X402_SETTLE_BUDGET "+
					"and ACE_X402_MARGIN together (%v): no payment would be valid for long enough", s.X402MaxTimeout,
				need))
	}
	if s.X402Confirmations < 1 || s.X402Confirmations > 10_000 {
		errs = append(errs, errors.New("ACE_X402_CONFIRMATIONS must be a number from 1 to 10000"))
	}
	return errors.Join(errs...)
}

// Networks returns the networks of ACE_X402_NETWORKS with their tokens.
func (s *Settings) Networks() ([]X402Network, error) {
	var networks []X402Network
	for _, text := range s.X402Networks {
		n, err := readNetwork(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(networks, func(other X402Network) bool { return other.ID == n.ID }) {
			return nil, fmt.Errorf("ACE_X402_NETWORKS names %s twice: a network has one token", n.ID)
		}
		networks = append(networks, n)
	}
	return networks, nil
}

func readNetwork(text string) (X402Network, error) {
	id, token, own := strings.Cut(text, "=")
	if !own && networkShape.MatchString(id) {
		return X402Network{ID: id}, nil
	}
	parts := strings.Split(token, ":")
	if !networkShape.MatchString(id) || len(parts) != 5 || !addressShape.MatchString(parts[0]) || parts[1] == "" ||
		parts[2] == "" || parts[3] == "" {
		return X402Network{},
			fmt.Errorf(
				"ACE_X402_NETWORKS holds %q: write NETWORK=ASSET:NAME:VERSION:SYMBOL:DECIMALS, for example "+
					"eip155:31337=0x5FbDB2315678afecb367f032d93F642f64180aa3:Dev USD:1:DUSD:6", text)
	}
	decimals, err := strconv.Atoi(parts[4])
	if err != nil || decimals < 0 || decimals > 36 {
		return X402Network{}, fmt.Errorf("ACE_X402_NETWORKS holds %q: a token has 0 to 36 decimals", text)
	}
	return X402Network{
		ID: id, Asset: parts[0], Name: parts[1], Version: parts[2], Symbol: parts[3],
		Decimals: decimals,
	}, nil
}

// RPC returns the JSON-RPC URLs of ACE_X402_RPC_URL by network. They may contain keys.
func (s *Settings) RPC() (map[string]string, error) {
	addresses := map[string]string{}
	for _, text := range s.X402RPC {
		id, address, _ := strings.Cut(strings.TrimSpace(text), "=")
		u, err := url.Parse(address)
		if !networkShape.MatchString(id) || err != nil || u.Host == "" || u.Scheme != "https" &&
			(u.Scheme != "http" || !Local(address)) {
			return nil,
				errors.New(
					"ACE_X402_RPC_URL cannot be used: write NETWORK=URL, for example eip155:8453=https://…, or " +
						"http:// on this machine")
		}
		if addresses[id] != "" {
			return nil, fmt.Errorf("ACE_X402_RPC_URL names %s twice", id)
		}
		addresses[id] = address
	}
	return addresses, nil
}

// Prices returns the prices of ACE_SERVICE_PRICES by service.
func (s *Settings) Prices() (map[string]string, error) {
	prices := map[string]string{}
	for _, text := range s.ServicePrices {
		id, dollars, _ := strings.Cut(strings.TrimSpace(text), "=")
		amount, ok := new(big.Rat).SetString(dollars)
		if !slices.Contains(services, id) || !ok || amount.Sign() <= 0 || amount.Cmp(big.NewRat(10_000, 1)) > 0 ||
			strings.ContainsAny(dollars, "eE/_+") {
			return nil,
				fmt.Errorf(
					"ACE_SERVICE_PRICES holds %q: write SERVICE=DOLLARS, for example llms-txt-draft=0.05; services "+
						"are %s", text, strings.Join(services, ", "))
		}
		prices[id] = dollars
	}
	return prices, nil
}
