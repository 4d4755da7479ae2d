package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"ace/internal/server/payer"
)

// tourPages is how many pages the tour has audited: enough for a report, few
// enough for a polite crawl of some seconds.
const tourPages = 3

// service buys an audit of the sandbox's practice website. Without leave to pay
// it only asks for the price.
func (t *tour) service(dataDir string, pay bool) error {
	var list struct {
		Services []struct {
			ID        string `json:"id"`
			Available bool   `json:"available"`
		} `json:"services"`
	}
	if err := t.do("Website services are paid by the agent itself, over x402. It reads what there is.", http.MethodGet,
		"/v1/services", nil, nil, &list); err != nil {
		return err
	}
	if len(list.Services) == 0 || !list.Services[0].Available {
		t.say("This store offers no services right now; its answer says why.")
		return nil
	}
	site := "https://example.com/"
	if t.sandbox != "" {
		site = t.sandbox + "/site/"
	}
	arguments := map[string]any{"url": site, "max_pages": tourPages}
	body, err := json.Marshal(arguments)
	if err != nil {
		return fmt.Errorf("writing the arguments: %w", err)
	}
	var quote json.RawMessage
	if err := t.do("A call without a payment answers 402 and what is to be paid. Nothing is charged.", http.MethodPost,
		"/v1/services/ai-search-audit/run", body, nil, &quote); err != nil {
		return err
	}
	if !pay {
		t.say("\"ace pay run_ai_search_audit --url %s\" signs and pays that with a development wallet.", site)
		return nil
	}
	return t.buy(dataDir, arguments)
}

// buy signs the quote and waits for the report.
func (t *tour) buy(dataDir string, arguments map[string]any) error {
	key, _, err := payer.WalletOf(dataDir)
	if err != nil {
		return err
	}
	client, err := clientFor(dataDir)
	if err != nil {
		return err
	}
	t.say(
		"It signs a payment and calls again. The store verifies it, does the work, and charges only when the report " +
			"is there.")
	said := ""
	buyer := payer.New(key, &payer.Options{Client: client, Notice: func(n payer.Notice) error {
		if line := stepLine(n); line != "" && line != said {
			said = line
			t.say("  %s", line)
		}
		return nil
	}})
	receipt, err := buyer.Buy(t.ctx,
		payer.Purchase{Store: t.base, Service: "run_ai_search_audit", Arguments: arguments})
	if err != nil {
		return errors.Join(errors.New("the store did not deliver the report"), err)
	}
	if t.json {
		t.step++
		return json.NewEncoder(t.out).Encode(map[string]any{
			"step":        t.step,
			"explanation": "The report, paid and delivered.", "transaction": receipt.Transaction,
			"order": receipt.OrderURL,
		})
	}
	t.say("Paid %s %s in transaction %s.\nThe report: %s", receipt.Quote.Price, receipt.Quote.Symbol,
		receipt.Transaction, receipt.OrderURL)
	return nil
}
