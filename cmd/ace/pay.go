package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ace/internal/config"
	"ace/internal/server/payer"
)

// payCmd buys a website service as an agent does.
type payCmd struct {
	config.Settings `embed:"" hidden:""`

	Service string        `arg:"" enum:"run_ai_search_audit,run_structured_data_pack,run_llms_txt_draft" help:"What to run (${enum})."`
	URL     string        `name:"url" required:"" placeholder:"URL" help:"Website to work on."`
	Max     string        `default:"0.10" placeholder:"DOLLARS" help:"Most that it may cost."`
	Live    bool          `help:"Also pay where the money is real. The wallet is a plain file: keep little in it."`
	Store   string        `placeholder:"URL" help:"Address of the store. Default: the one that the settings name."`
	Timeout time.Duration `default:"10m" help:"How long to wait for the result."`
	JSON    bool          `name:"json" help:"Print the delivered result as JSON, and nothing else."`
}

// Run pays and prints the result, the transaction and the order. What happens
// on the way goes to the error output, so that the result can be piped.
func (c *payCmd) Run(w *world) error {
	key, made, err := payer.WalletOf(c.DataDir)
	if err != nil {
		return err
	}
	if made {
		_, _ = fmt.Fprintf(w.stderr, "Made a wallet in %s: %s\n", c.DataDir, key.Address())
	}
	client, err := clientFor(c.DataDir)
	if err != nil {
		return err
	}
	store := cmp.Or(c.Store, c.BaseURL())
	ctx, cancel := context.WithTimeout(w.ctx, c.Timeout)
	defer cancel()
	said := ""
	buyer := payer.New(key, &payer.Options{Client: client, Live: c.Live, Notice: func(n payer.Notice) error {
		if line := stepLine(n); line != "" && line != said {
			said = line
			_, _ = fmt.Fprintln(w.stderr, line)
		}
		return nil
	}})
	receipt, err := buyer.Buy(ctx,
		payer.Purchase{Store: store, Service: c.Service, Arguments: map[string]string{"url": c.URL}, Max: c.Max})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf(
			"no result within %s; run the command again with a longer --timeout, which pays again, "+
				"or read the order: %w",
			c.Timeout,
			err,
		)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		var out bytes.Buffer
		if err := json.Indent(&out, receipt.Order, "", "  "); err != nil {
			return fmt.Errorf("the store's answer cannot be read: %w", err)
		}
		_, _ = fmt.Fprintln(w.stdout, strings.TrimSpace(out.String()))
		return nil
	}
	printReceipt(w, receipt, reportOf(ctx, buyer, receipt))
	return nil
}

// stepLine words one step of a purchase.
func stepLine(n payer.Notice) string {
	switch n.Step {
	case payer.Quoted:
		return fmt.Sprintf("Price: %s %s on %s, to %s", n.Quote.Price, n.Quote.Symbol, n.Quote.Terms.Network,
			n.Quote.Terms.PayTo)
	case payer.Paying:
		return "Signed; the store charges when the result is ready"
	case payer.Running:
		return "Working: " + n.Progress
	case payer.Pending:
		return "The store is finding out whether the payment arrived; nothing is paid twice"
	case payer.Retrying:
		return "Again, with the same payment: " + n.Cause
	}
	return ""
}

// reportOf is the result as people read it: the report in Markdown where there
// is one, the JSON otherwise.
func reportOf(ctx context.Context, buyer *payer.Payer, r *payer.Receipt) string {
	for _, f := range r.Files {
		if f.Name == "report.md" {
			if text, err := buyer.Text(ctx, f); err == nil {
				return text
			}
		}
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, r.Result, "", "  ") != nil {
		return string(r.Result)
	}
	return pretty.String()
}

// shownFiles bounds how many files are named.
const shownFiles = 6

func printReceipt(w *world, r *payer.Receipt, report string) {
	lines := strings.Split(strings.TrimSpace(report), "\n")
	if len(lines) > shownLines {
		lines = append(lines[:shownLines], fmt.Sprintf("… %d more lines", len(lines)-shownLines))
	}
	_, _ = fmt.Fprintf(w.stdout, "%s\n\nPaid         %s %s\nTransaction  %s\nOrder        %s\n",
		strings.Join(lines, "\n"), r.Quote.Price, r.Quote.Symbol, r.Transaction, r.OrderURL)
	for i, f := range r.Files {
		if i == shownFiles {
			_, _ = fmt.Fprintf(w.stdout, "             and %d more files; the order names them\n", len(r.Files)-i)
			break
		}
		_, _ = fmt.Fprintf(w.stdout, "File         %s\n", f.URL)
	}
}

// clientFor trusts the certificate that a server of this data folder made for
// development, besides the system's.
func clientFor(dataDir string) (*http.Client, error) {
	client := &http.Client{Timeout: 100 * time.Second}
	certificate, err := os.ReadFile(filepath.Join(dataDir, "dev-cert.pem"))
	if errors.Is(err, fs.ErrNotExist) {
		return client, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the development certificate: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	roots.AppendCertsFromPEM(certificate)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	client.Transport = transport
	return client, nil
}
