package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"ace/internal/config"
	"ace/internal/server/payer"
)

// walletCmd is the development wallet, which ace pay pays with.
type walletCmd struct {
	New  walletNewCmd  `cmd:"" help:"Make the wallet: one key in the data folder."`
	Show walletShowCmd `cmd:"" default:"withargs" help:"Show its address, and what it holds in the sandbox."`
}

// wallet is what every wallet command shares.
type wallet struct {
	config.Settings `embed:"" hidden:""`
	JSON            bool `name:"json" help:"Print JSON."`
}

type walletNewCmd struct {
	wallet `embed:""`
}

// Run creates a key. It never replaces one.
func (c *walletNewCmd) Run(w *world) error {
	key, err := payer.NewWallet(c.DataDir)
	if err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(w.stdout).Encode(map[string]string{"address": key.Address().String()})
	}
	_, _ = fmt.Fprintf(w.stdout,
		"%s\n\nThe key is in %s/%s. In the sandbox the address has 5.00 Dev USD from the start; send it no real "+
			"money.\n",
		key.Address(), strings.TrimRight(c.DataDir, "/"), payer.WalletFile)
	return nil
}

type walletShowCmd struct {
	wallet `embed:""`
}

// Run shows the address, and the balance where the sandbox runs.
func (c *walletShowCmd) Run(w *world) error {
	key, err := payer.OpenWallet(c.DataDir)
	if err != nil {
		return err
	}
	client, err := clientFor(c.DataDir)
	if err != nil {
		return err
	}
	balance, err := payer.New(key, &payer.Options{Client: client}).Balance(w.ctx, c.SandboxBaseURL())
	if c.JSON {
		out := struct {
			Address string         `json:"address"`
			Sandbox *payer.Balance `json:"sandbox"`         // null: no response
			Error   string         `json:"error,omitempty"` // why not
		}{Address: key.Address().String(), Sandbox: balance}
		if err != nil {
			out.Error = err.Error()
		}
		return json.NewEncoder(w.stdout).Encode(out)
	}
	_, _ = fmt.Fprintln(w.stdout, key.Address())
	if err != nil {
		_, _ = fmt.Fprintf(w.stdout, "\nThe balance is not known: %v\n", err)
		return nil
	}
	_, _ = fmt.Fprintf(w.stdout, "\n%s %s on %s, in the sandbox\n", balance.Balance, balance.Symbol, balance.Network)
	return nil
}
