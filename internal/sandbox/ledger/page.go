package ledger

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed assets/ledger.css
var assetFiles embed.FS

// AccountBody is an account as JSON.
type AccountBody struct {
	Address   string         `json:"address"`
	Network   string         `json:"network"`
	Asset     string         `json:"asset"`
	Symbol    string         `json:"symbol"`
	Balance   string         `json:"balance"`        // for people: 4.91
	Atomic    string         `json:"balance_atomic"` // 4910000
	Transfers []TransferBody `json:"transfers"`      // the latest 50
}

// TransferBody is a transfer as JSON.
type TransferBody struct {
	Transaction string `json:"transaction"`
	Network     string `json:"network"`
	Asset       string `json:"asset"`
	Payer       string `json:"payer"`
	PayTo       string `json:"pay_to"`
	Nonce       string `json:"nonce"`
	Amount      string `json:"amount"`        // for people
	Atomic      string `json:"amount_atomic"` // atomic units
	At          string `json:"at"`            // RFC 3339
}

// units writes atomic units of a token for people.
func units(token evm.Token, n int64) string {
	return x402.FormatUnits(strconv.FormatInt(n, 10), token.Decimals)
}

func checksummed(address string) string {
	a, err := evm.ParseAddress(address)
	if err != nil {
		return address
	}
	return a.String()
}

func wireTransfer(token evm.Token, t Transfer) TransferBody {
	return TransferBody{
		Transaction: t.Tx, Network: t.Network, Asset: checksummed(t.Asset), Payer: checksummed(t.Payer),
		PayTo: checksummed(t.PayTo), Nonce: t.Nonce,
		Amount: units(token, t.Amount), Atomic: strconv.FormatInt(t.Amount, 10), At: t.At.Format(time.RFC3339),
	}
}

func wireAccount(a Account) AccountBody {
	body := AccountBody{
		Address: a.Address, Network: a.Token.Network, Asset: a.Token.Asset, Symbol: a.Token.Symbol,
		Balance: units(a.Token, a.Balance), Atomic: strconv.FormatInt(a.Balance, 10), Transfers: []TransferBody{},
	}
	for _, t := range a.Transfers {
		body.Transfers = append(body.Transfers, wireTransfer(a.Token, t))
	}
	return body
}

// pages writes what people see.
type pages struct {
	prefix, styles string
	all            *template.Template
}

func newPages(prefix, styles string) (*pages, error) {
	all, err := template.ParseFS(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("reading the ledger's pages: %w", err)
	}
	return &pages{prefix, styles, all}, nil
}

// frame is around every page.
type frame struct{ Title, Prefix, Styles string }

type indexView struct {
	frame
	Origin    string
	Token     evm.Token
	Gift      string
	Accounts  []accountRow
	Transfers []TransferBody
}

type accountRow struct{ Address, Balance string }

type accountView struct {
	frame
	Account AccountBody
}

type transferView struct {
	frame
	Transfer TransferBody
	Symbol   string
}

type messageView struct{ frame }

func (p *pages) index(w http.ResponseWriter, r *http.Request, token evm.Token, all []account, transfers []Transfer) {
	origin := "http://" + r.Host
	if r.TLS != nil {
		origin = "https://" + r.Host
	}
	v := indexView{
		frame: frame{"x402 ledger", p.prefix, p.styles}, Origin: origin + p.prefix, Token: token,
		Gift: units(token, Gift),
	}
	for _, a := range all {
		v.Accounts = append(v.Accounts, accountRow{checksummed(a.Address), units(token, a.Balance)})
	}
	for _, t := range transfers {
		v.Transfers = append(v.Transfers, wireTransfer(token, t))
	}
	p.write(w, http.StatusOK, "index.html", v)
}

func (p *pages) account(w http.ResponseWriter, a Account) {
	p.write(w, http.StatusOK, "account.html", accountView{frame{"Account", p.prefix, p.styles}, wireAccount(a)})
}

func (p *pages) transfer(w http.ResponseWriter, token evm.Token, t Transfer) {
	p.write(w, http.StatusOK, "transfer.html",
		transferView{frame{"Transaction", p.prefix, p.styles}, wireTransfer(token, t), token.Symbol})
}

func (p *pages) message(w http.ResponseWriter, status int, text string) {
	p.write(w, status, "message.html", messageView{frame{text, p.prefix, p.styles}})
}

func (p *pages) write(w http.ResponseWriter, status int, name string, view any) {
	var out bytes.Buffer
	if err := p.all.ExecuteTemplate(&out, name, view); err != nil {
		http.Error(w, "The page cannot be shown.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors "+
			"'none'")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	// A browser that went away is no fault of this process.
	_, _ = w.Write(out.Bytes())
}
