// Package ordersink delivers events of orders: to the operator's webhook,
// signed by the rules of Standard Webhooks (webhook.go), and as receipts to the
// buyer by the operator's mail server (mail.go).
package ordersink

import (
	"bytes"
	"context"
	"crypto/tls"
	"embed"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/url"
	"text/template"
	"time"

	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
)

//go:embed receipt.txt
var receiptFile embed.FS

// Mailer sends receipts to buyers.
type Mailer struct {
	server   *url.URL
	from     mail.Address
	site     string
	contact  string
	template *template.Template
	roots    *tls.Config
}

// MailOptions tunes a Mailer.
type MailOptions struct {
	// TLS verifies the server; nil: the system's roots.
	TLS *tls.Config
}

// NewMailer returns a mailer for a URL like smtp://user:password@host:587
// (STARTTLS, which is demanded unless the host is this machine) or smtps://….
func NewMailer(address, from, site, contact string, opts *MailOptions) (*Mailer, error) {
	server, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("ACE_SMTP_URL cannot be read")
	}
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return nil, fmt.Errorf("ACE_MAIL_FROM is not a mail address: %w", err)
	}
	receipt, err := template.ParseFS(receiptFile, "receipt.txt")
	if err != nil {
		return nil, fmt.Errorf("reading the receipt's template: %w", err)
	}
	if sender.Name == "" {
		sender.Name = site
	}
	m := &Mailer{server: server, from: *sender, site: site, contact: contact, template: receipt}
	if opts != nil {
		m.roots = opts.TLS
	}
	return m, nil
}

// receiptView fills receipt.txt.
type receiptView struct {
	Site, Contact, Name string
	Order               *order.Order
	Offer               *offer.Offer
	Refund              bool
	Refunded            string
	Test                bool
}

// Deliver implements order.Sink. Only what concerns the buyer is mailed: a
// confirmed purchase and a refund.
func (m *Mailer) Deliver(ctx context.Context, e order.Event, o *order.Order,
	buyer func(context.Context) (order.Buyer, error),
) error {
	if e.Type != order.EventCreated && e.Type != order.EventAccepted && e.Type != order.EventRefunded {
		return nil
	}
	to, err := buyer(ctx)
	if err != nil {
		return err
	}
	address, err := mail.ParseAddress(to.Email)
	if err != nil {
		return errors.New("the processor knows no mail address of the buyer")
	}
	back := o.Paid.Amount()
	back.Minor = o.Refunded
	message, err := m.compose(e, address, receiptView{
		Site: m.site, Contact: m.contact, Name: to.Name, Order: o, Offer: &o.Quote.Offer,
		Refund: e.Type == order.EventRefunded, Refunded: back.String(), Test: !o.Paid.Live,
	})
	if err != nil {
		return err
	}
	return m.send(ctx, address.Address, message)
}

func (m *Mailer) compose(e order.Event, to *mail.Address, view receiptView) ([]byte, error) {
	subject := "Your purchase at " + m.site
	if view.Refund {
		subject = "Your refund from " + m.site
	}
	if view.Test {
		subject = "[test] " + subject
	}
	var body, message bytes.Buffer
	if err := m.template.Execute(&body, view); err != nil {
		return nil, fmt.Errorf("writing a receipt: %w", err)
	}
	// Each event has one Message-ID: a mail that is sent twice shows once.
	header := [][2]string{
		{"From", m.from.String()},
		{"To", to.String()},
		{"Subject", mime.QEncoding.Encode("utf-8", subject)},
		{"Date", e.At.Format(time.RFC1123Z)},
		{"Message-ID", "<" + e.ID + "@" + domainOf(m.from.Address) + ">"},
		{"Auto-Submitted", "auto-generated"},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	}
	for _, field := range header {
		fmt.Fprintf(&message, "%s: %s\r\n", field[0], field[1])
	}
	message.WriteString("\r\n")
	text := quotedprintable.NewWriter(&message)
	_, err := text.Write(body.Bytes())
	if err := errors.Join(err, text.Close()); err != nil {
		return nil, fmt.Errorf("encoding a receipt: %w", err)
	}
	return message.Bytes(), nil
}

func domainOf(address string) string {
	for i := len(address) - 1; i >= 0; i-- {
		if address[i] == '@' {
			return address[i+1:]
		}
	}
	return "localhost"
}

// mailDeadline bounds one conversation with the mail server.
const mailDeadline = 30 * time.Second

func (m *Mailer) send(ctx context.Context, to string, message []byte) (err error) {
	ctx, cancel := context.WithTimeout(ctx, mailDeadline)
	defer cancel()
	client, err := m.connect(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the mail server: %w", err)
	}
	defer func() { _ = client.Close() }()
	if user := m.server.User; user != nil {
		password, _ := user.Password()
		if err := client.Auth(smtp.PlainAuth("", user.Username(), password, m.server.Hostname())); err != nil {
			return errors.New("the mail server refused user and password of ACE_SMTP_URL")
		}
	}
	if err := errors.Join(client.Mail(m.from.Address), client.Rcpt(to)); err != nil {
		return fmt.Errorf("addressing a mail: %w", err)
	}
	body, err := client.Data()
	if err != nil {
		return fmt.Errorf("sending a mail: %w", err)
	}
	_, err = body.Write(message)
	if err := errors.Join(err, body.Close()); err != nil {
		return fmt.Errorf("sending a mail: %w", err)
	}
	return client.Quit()
}

func (m *Mailer) connect(ctx context.Context) (*smtp.Client, error) {
	host, port := m.server.Hostname(), m.server.Port()
	if port == "" {
		port = map[string]string{"smtp": "587", "smtps": "465"}[m.server.Scheme]
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	secure := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if m.roots != nil {
		secure.RootCAs = m.roots.RootCAs
	}
	if m.server.Scheme == "smtps" {
		conn = tls.Client(conn, secure)
	}
	client, err := smtp.NewClient(conn, host)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if m.server.Scheme == "smtps" {
		return client, nil
	}
	if err := upgrade(client, secure, host); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

// upgrade starts TLS. Only a server on this machine needs no encryption.
func upgrade(client *smtp.Client, secure *tls.Config, host string) error {
	if ok, _ := client.Extension("STARTTLS"); ok {
		return client.StartTLS(secure)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return errors.New("the mail server offers no encryption")
}
