package paidservice_test

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"ace/internal/foundation/seal"
	"ace/internal/foundation/sqldb"
	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/storage"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/paidservice/paidservicetest"
)

// BenchmarkPurchase is what a paid call costs beside the work and the
// facilitator: signature, ledger of orders, sealing and delivery.
func BenchmarkPurchase(b *testing.B) {
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   sqldbtest.SQLite,
		"postgres": sqldbtest.Postgres,
	} {
		b.Run(name, func(b *testing.B) {
			s, ledger := benchService(b, address(b))
			out, err := s.Run(b.Context(), audit(nil))
			if err != nil {
				b.Fatal(err)
			}
			payments := make([]*x402.PaymentPayload, 0, 1<<14)
			for b.Loop() {
				b.StopTimer()
				payments = append(payments, benchPayment(b, ledger, out.Quote))
				b.StartTimer()
				paid, err := s.Run(b.Context(), audit(payments[len(payments)-1]))
				if err != nil || paid.Status != paidservice.StatusPaid {
					b.Fatal(paid, err)
				}
			}
		})
	}
}

// BenchmarkRedelivery is the same payment again.
func BenchmarkRedelivery(b *testing.B) {
	s, ledger := benchService(b, sqldbtest.SQLite(b))
	out, err := s.Run(b.Context(), audit(nil))
	if err != nil {
		b.Fatal(err)
	}
	payment := benchPayment(b, ledger, out.Quote)
	for b.Loop() {
		if paid, err := s.Run(b.Context(), audit(payment)); err != nil || paid.Status != paidservice.StatusPaid {
			b.Fatal(paid, err)
		}
	}
}

func benchService(b *testing.B, dsn string) (*paidservice.Service, *paidservicetest.Ledger) {
	b.Helper()
	db, err := sqldb.Open(b.Context(), dsn, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(b.Context(), storage.Migrations()); err != nil {
		b.Fatal(err)
	}
	box, err := seal.New(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		b.Fatal(err)
	}
	n := paidservicetest.Network()
	ledger, store := paidservicetest.NewLedger(n.ID, n.Asset), storage.Paid{Store: storage.New(db, nil)}
	definitions := paidservice.Definitions()
	for i := range definitions {
		definitions[i].Runner = &paidservicetest.Runner{}
	}
	s := paidservice.New(paidservice.Deps{
		Definitions: definitions, Networks: []paidservice.Network{n}, Facilitator: ledger, Store: store, Results: store,
		Prices: store, Vault: box,
		Log: slog.New(slog.DiscardHandler),
	}, paidservice.Options{BaseURL: "https://store.example"})
	if err := s.Open(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s, ledger
}

func benchPayment(b *testing.B, ledger *paidservicetest.Ledger, quote *x402.PaymentRequired) *x402.PaymentPayload {
	b.Helper()
	key, err := evm.NewKey()
	if err != nil {
		b.Fatal(err)
	}
	ledger.Fund(key.Address().String(), 1_000_000)
	payment, err := key.Pay(quote.Accepts[0], &quote.Resource, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	return payment
}
