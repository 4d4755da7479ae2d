package ordersink_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/money"
	"ace/internal/protocol/stdwebhook"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/order"
	"ace/internal/storefront/ordersink"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwRk1zBq0X"

func sale(kind order.EventType) (order.Event, *order.Order) {
	o := &order.Order{
		ID: "ord_1", CreatedAt: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), Refunded: 1000,
		Paid: order.Paid{Total: 2900, Currency: "USD"},
		Quote: offer.Quote{
			Quantity: 2,
			Offer:    offer.Offer{ID: "handbook", Name: "Handbüch", Price: money.Amount{Minor: 1450, Currency: "USD"}},
		},
	}
	event, err := order.NewEvent(kind, o, time.Now())
	if err != nil {
		panic(err)
	}
	return event, o
}

func buyer(email string) func(context.Context) (order.Buyer, error) {
	return func(context.Context) (order.Buyer, error) { return order.Buyer{Name: "Ada", Email: email}, nil }
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	parsed, err := stdwebhook.ParseSecret(secret)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request)
		want   string
	}{
		{"accepted", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }, ""},
		{"refused", func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no",
				http.StatusInternalServerError)
		}, "500"},
		{
			"moved",
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
			"302",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			event, o := sale(order.EventCreated)
			posts := 0
			receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				posts++
				body, _ := io.ReadAll(r.Body)
				d, err := stdwebhook.Verify(r.Header, []stdwebhook.Secret{parsed}, body, time.Now())
				if err != nil || d.ID != event.ID || string(body) != string(event.Body) {
					t.Errorf("Verify = %+v, %v", d, err)
				}
				tt.answer(w, r)
			}))
			defer receiver.Close()
			client := &http.Client{CheckRedirect: func(*http.Request,
				[]*http.Request,
			) error {
				return http.ErrUseLastResponse
			}}
			sink, err := ordersink.NewWebhook(receiver.URL+"/hook?token=sesame", []string{secret}, client)
			if err != nil {
				t.Fatal(err)
			}
			err = sink.Deliver(t.Context(), event, o, buyer("ada@example.com"))
			if tt.want == "" && err != nil || tt.want != "" &&
				(err == nil || !strings.Contains(err.Error(), tt.want)) || posts != 1 {
				t.Errorf("Deliver = %v after %d posts, want %q after one", err, posts, tt.want)
			}
		})
	}
}

func TestWebhookAway(t *testing.T) {
	t.Parallel()
	sink, err := ordersink.NewWebhook("http://127.0.0.1:1/hook?token=sesame", []string{secret}, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	event, o := sale(order.EventCreated)
	if err := sink.Deliver(t.Context(), event, o, nil); err == nil || strings.Contains(err.Error(), "sesame") {
		t.Errorf("Deliver = %v, want a failure without the URL", err)
	}
	if _, err := ordersink.NewWebhook("http://127.0.0.1:1", []string{"hunter2"}, http.DefaultClient); err == nil ||
		strings.Contains(err.Error(), "hunter2") {
		t.Errorf("NewWebhook = %v, want a refusal without the secret", err)
	}
}

// mailServer is an SMTP server that takes one mail. refuse is the command that
// it responds with an error.
func mailServer(t *testing.T, refuse string) (address string, got <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	mails := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		converse(conn, refuse, mails)
	}()
	return l.Addr().String(), mails
}

func converse(conn net.Conn, refuse string, mails chan<- string) {
	say := func(line string) { _, _ = fmt.Fprintf(conn, "%s\r\n", line) }
	say("220 test")
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		command, _, _ := strings.Cut(lines.Text(), " ")
		switch {
		case refuse != "" && strings.HasPrefix(lines.Text(), refuse):
			say("550 refused")
		case command == "EHLO":
			say("250-test")
			say("250 AUTH PLAIN")
		case command == "AUTH":
			say("235 welcome")
		case command == "DATA":
			say("354 go on")
			var text strings.Builder
			for lines.Scan() && lines.Text() != "." {
				text.WriteString(lines.Text() + "\r\n")
			}
			mails <- text.String()
			say("250 queued")
		case command == "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func TestReceipt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind    order.EventType
		subject string
		text    []string
	}{
		{
			order.EventCreated, "[test] Your purchase at Ada's Shop",
			[]string{"Handbüch × 2", "Charged:  USD 29.00", "no real money moved", "help@shop.example"},
		},
		{order.EventRefunded, "[test] Your refund from Ada's Shop", []string{"USD 10.00 of your payment"}},
	}
	for _, tt := range tests {
		t.Run(string(tt.kind), func(t *testing.T) {
			t.Parallel()
			address, got := mailServer(t, "")
			mailer, err := ordersink.NewMailer("smtp://ada:sesame@"+address, "shop@shop.example", "Ada's Shop",
				"help@shop.example", nil)
			if err != nil {
				t.Fatal(err)
			}
			event, o := sale(tt.kind)
			if err := mailer.Deliver(t.Context(), event, o, buyer("ada@example.com")); err != nil {
				t.Fatal(err)
			}
			message, err := mail.ReadMessage(strings.NewReader(<-got))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(quotedprintable.NewReader(message.Body))
			if err != nil {
				t.Fatal(err)
			}
			if s := message.Header.Get("Subject"); s != tt.subject || message.Header.Get("To") != "<ada@example.com>" ||
				!strings.Contains(message.Header.Get("Message-Id"), event.ID) {
				t.Errorf("header = %v", message.Header)
			}
			for _, want := range tt.text {
				if !strings.Contains(string(body), want) {
					t.Errorf("receipt lacks %q:\n%s", want, body)
				}
			}
		})
	}
}

func TestReceiptIsNotSent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, refuse, email string
		kind                order.EventType
		wantErr             string
	}{
		{"review concerns the operator", "", "ada@example.com", order.EventReview, ""},
		{"no address", "", "", order.EventCreated, "no mail address"},
		{
			"two lines in an address", "", "ada@example.com\r\nBcc: all@example.com", order.EventCreated,
			"no mail address",
		},
		{"wrong password", "AUTH", "ada@example.com", order.EventCreated, "refused user and password"},
		{"refused recipient", "RCPT", "ada@example.com", order.EventCreated, "addressing"},
		{"refused text", "DATA", "ada@example.com", order.EventCreated, "sending"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			address, got := mailServer(t, tt.refuse)
			mailer, err := ordersink.NewMailer("smtp://ada:sesame@"+address, "shop@shop.example", "Shop", "", nil)
			if err != nil {
				t.Fatal(err)
			}
			event, o := sale(tt.kind)
			err = mailer.Deliver(t.Context(), event, o, buyer(tt.email))
			if tt.wantErr == "" && err != nil || tt.wantErr != "" &&
				(err == nil || !strings.Contains(err.Error(), tt.wantErr)) {
				t.Errorf("Deliver = %v, want %q", err, tt.wantErr)
			}
			if err != nil && strings.Contains(err.Error(), "sesame") {
				t.Errorf("the error holds the password: %v", err)
			}
			if len(got) != 0 {
				t.Errorf("a mail was sent: %s", <-got)
			}
		})
	}
}

func TestSenderMustBeAnAddress(t *testing.T) {
	t.Parallel()
	if _, err := ordersink.NewMailer("smtp://mail.example", "not an address", "Shop", "", nil); err == nil {
		t.Error("NewMailer took a sender that is no address")
	}
}
