package payer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/server/payer"
)

const receiver = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"

// step is one response of a store.
type step func(w http.ResponseWriter, r *http.Request)

// script is a store that answers step by step, and notes what it was asked.
type script struct {
	t        *testing.T
	steps    []step
	asked    []string // method, path, and p where there was a payment
	payments map[string]bool
	prefer   []string
}

// RoundTrip hands requests to the next step, without a network.
func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	line := r.Method + " " + r.URL.Path
	if value := r.Header.Get(x402.HeaderSignature); value != "" {
		line += " p"
		s.payments[value] = true
	}
	s.asked, s.prefer = append(s.asked, line), append(s.prefer, r.Header.Get("Prefer"))
	if len(s.steps) == 0 {
		s.t.Errorf("the store was asked again: %s", line)
		return nil, errors.New("no more answers")
	}
	next := s.steps[0]
	s.steps = s.steps[1:]
	if next == nil {
		return nil, errors.New("connection reset by peer")
	}
	out := httptest.NewRecorder()
	next(out, r)
	return out.Result(), nil
}

func terms(network, amount string) x402.PaymentRequirements {
	token, ok := evm.TokenOf(network)
	if !ok {
		token = evm.Token{Network: network, Asset: receiver, Name: "Coin", Version: "1"}
	}
	return token.Terms(amount, receiver, 300)
}

// due asks for a payment.
func due(reason string, ways ...x402.PaymentRequirements) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		q := x402.PaymentRequired{
			X402Version: 2, Error: reason,
			Resource: x402.ResourceInfo{URL: "https://store.example/v1/services/ai-search-audit/run"}, Accepts: ways,
		}
		value, _ := q.Header()
		w.Header().Set(x402.HeaderRequired, value)
		w.WriteHeader(http.StatusPaymentRequired)
		_ = json.NewEncoder(w).Encode(q)
	}
}

// says returns a status and a body.
func says(status int, body string, headers ...string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

const (
	orderURL  = "https://public.example/v1/orders/svo_1"
	completed = `{"object":"service_order","id":"svo_1","url":"` + orderURL +
		`","state":"completed","payment":{"transaction":"0xab"},"result":{"score":71},` +
		`"files":[{"name":"report.html","url":"https://public.example/f"}]}`
	running = `{"object":"service_order","id":"svo_1","url":"` + orderURL +
		`","state":"running","next_action":"wait","progress":{"stage":"crawling","pages_done":%d,"pages_total":10},` +
		`"payment":{}}`
	pending = `{"object":"service_order","id":"svo_1","url":"` + orderURL +
		`","state":"settlement_pending","next_action":"retry_with_same_payment","payment":{}}`
	awaiting = `{"object":"service_order","id":"svo_1","url":"` + orderURL +
		`","state":"awaiting_settlement","next_action":"retry_with_same_payment","payment":{}}`
)

func newKey(t testing.TB) evm.Key {
	t.Helper()
	k, err := evm.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestBuy plays stores of every mood.
func TestBuy(t *testing.T) {
	t.Parallel()
	const run, look = "POST /v1/services/ai-search-audit/run", "GET /v1/orders/svo_1"
	dev := due("payment_required", terms(evm.DevNetwork, "90000"))
	tests := []struct {
		name  string
		steps []step
		asked []string
		told  string // steps, in order
		fails string // part of the error; "": bought
	}{
		{"at once", []step{dev, says(200, completed)}, []string{run, run + " p"}, "quoted paying", ""},
		{
			"slowly",
			[]step{
				dev, says(202, fmt.Sprintf(running, 1), "Retry-After", "2"), says(200, fmt.Sprintf(running, 5)),
				says(200, awaiting), says(200, completed),
			},
			[]string{run, run + " p", look, look, run + " p"},
			"quoted paying running running running", "",
		},
		{
			"pending, then paid",
			[]step{dev, says(202, pending, "Retry-After", "5"), says(202, pending), says(200, completed)},
			[]string{
				run,
				run + " p", run + " p", run + " p",
			},
			"quoted paying pending pending", "",
		},
		{
			"the answer is lost",
			[]step{dev, nil, says(200, completed)},
			[]string{run, run + " p", run + " p"},
			"quoted paying retrying", "",
		},
		{"busy", []step{
			says(429, "", "Retry-After", "1"), dev, says(429, "", "Retry-After", "1"),
			says(200, completed),
		}, []string{run, run, run + " p", run + " p"}, "quoted paying", ""},
		{
			"a gateway fails",
			[]step{
				dev, says(502, "<html>"), says(504, ""),
				says(503, `{"code":"facilitator_away","detail":"Later."}`, "Retry-After", "3"), says(200, completed),
			},
			[]string{run, run + " p", run + " p", run + " p", run + " p"},
			"quoted paying retrying retrying retrying",
			"",
		},
		{"the order cannot be read", []step{
			dev, says(202, fmt.Sprintf(running, 1)), says(404, "{}"),
			says(200, completed),
		}, []string{run, run + " p", look, run + " p"}, "quoted paying running", ""},
		{
			"refused",
			[]step{dev, due("insufficient_funds", terms(evm.DevNetwork, "90000"))},
			[]string{run, run + " p"},
			"quoted paying", "did not take the payment: insufficient_funds",
		},
		{
			"the work fails",
			[]step{dev, says(502, `{"code":"service_failed","detail":"The site is down.","charged":false}`)},
			[]string{run, run + " p"},
			"quoted paying", "The site is down. (service_failed)",
		},
		{
			"another request was paid",
			[]step{dev, says(409, `{"code":"payment_bound_to_other_request","detail":"No."}`)},
			[]string{run, run + " p"},
			"quoted paying", "payment_bound_to_other_request",
		},
		{
			"not for sale",
			[]step{says(503, `{"code":"payments_not_configured","detail":"Not now."}`)},
			[]string{run},
			"", "payments_not_configured",
		},
		{"no store", []step{says(404, "<html>")}, []string{run}, "", "status 404"},
		{"nobody there", []step{nil}, []string{run}, "", "is it running?"},
		{"too dear", []step{due("", terms(evm.DevNetwork, "100001"))}, []string{run}, "", "more than 0.10"},
		{"real money", []step{due("", terms("eip155:8453", "90000"))}, []string{run}, "", "--live"},
		{"a strange token", []step{due("", terms("eip155:5", "90000"))}, []string{run}, "", "not known here"},
		{"the second way", []step{
			due("", terms("eip155:8453", "90000"), terms("eip155:84532", "90000")),
			says(200, completed),
		}, []string{run, run + " p"}, "quoted paying", ""},
		{
			"a quote in the body alone",
			[]step{says(402, quoteBody), says(200, completed)},
			[]string{run, run + " p"},
			"quoted paying", "",
		},
		{"a quote that is none", []step{says(402, `{"x402Version":1,"accepts":[]}`)}, []string{run}, "", "version 1"},
		{
			"an answer that is none",
			[]step{dev, says(200, "OK")},
			[]string{run, run + " p"},
			"quoted paying",
			"cannot be read",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &script{t: t, steps: tt.steps, payments: map[string]bool{}}
				var told []string
				buyer := payer.New(newKey(t),
					&payer.Options{Client: &http.Client{Transport: store}, Notice: func(n payer.Notice) error {
						told = append(told, string(n.Step))
						return nil
					}})
				receipt, err := buyer.Buy(t.Context(),
					payer.Purchase{
						Store: "http://127.0.0.1:8080/", Service: "run_ai_search_audit",
						Arguments: map[string]string{"url": "https://example.com"},
					})
				if (err == nil) != (tt.fails == "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
					t.Fatalf("Buy = %+v, %v, want %q", receipt, err, tt.fails)
				}
				if diff := cmp.Diff(tt.asked, store.asked); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if got := strings.Join(told, " "); got != tt.told {
					t.Errorf("told %q, want %q", got, tt.told)
				}
				if len(store.payments) > 1 {
					t.Errorf("%d payments were signed, want one at most", len(store.payments))
				}
				if err == nil && (string(receipt.Result) != `{"score":71}` || receipt.Transaction != "0xab" ||
					receipt.OrderURL != orderURL || len(receipt.Files) != 1) {
					t.Errorf("receipt = %+v", receipt)
				}
			})
		})
	}
}

const quoteBody = `{"x402Version":2,"resource":{"url":"u"},"accepts":[{"scheme":"exact","network":"eip155:31337",` +
	`"amount":"90000",` +
	`"asset":"0xDE00000000000000000000000000000000000402","payTo":"` + receiver +
	`","maxTimeoutSeconds":300,"extra":{"name":"Dev USD","version":"1"}}]}`

func TestStopBeforeSigning(t *testing.T) {
	t.Parallel()
	store := &script{t: t, steps: []step{due("", terms(evm.DevNetwork, "90000"))}, payments: map[string]bool{}}
	no := errors.New("too dear for me")
	var quote *payer.Quote
	buyer := payer.New(newKey(t),
		&payer.Options{Client: &http.Client{Transport: store}, Notice: func(n payer.Notice) error {
			quote = n.Quote
			return no
		}})
	if _, err := buyer.Buy(t.Context(),
		payer.Purchase{Store: "http://s.example", Service: "ai-search-audit"}); !errors.Is(err, no) ||
		len(store.asked) != 1 {
		t.Errorf("Buy = %v after %v, want it to stop", err, store.asked)
	}
	if quote.Price != "0.09" || quote.Symbol != "Dev USD" || quote.Service != "ai-search-audit" {
		t.Errorf("quote = %+v", quote)
	}
}

func TestLiveAndMax(t *testing.T) {
	t.Parallel()
	store := &script{
		t: t, steps: []step{due("", terms("eip155:8453", "2000000")), says(200, completed)},
		payments: map[string]bool{},
	}
	buyer := payer.New(newKey(t), &payer.Options{Client: &http.Client{Transport: store}, Live: true})
	if _, err := buyer.Buy(t.Context(), payer.Purchase{Store: "http://s.example", Service: "x", Max: "2"}); err != nil {
		t.Errorf("Buy with the right bound = %v", err)
	}
	for _, most := range []string{"1.99", "many", "-1"} {
		store.steps = []step{due("", terms("eip155:8453", "2000000"))}
		if _, err := buyer.Buy(t.Context(),
			payer.Purchase{Store: "http://s.example", Service: "x", Max: most}); err == nil {
			t.Errorf("Buy with the bound %q worked", most)
		}
	}
}

// TestGivesUp ends a purchase whose store is gone for good: the payment is
// void then.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gone := says(503, `{"code":"service_unavailable","detail":"Later."}`, "Retry-After", "60")
		store := &script{t: t, steps: []step{
			due("", terms(evm.DevNetwork, "90000")), gone, gone, gone, gone, gone,
			gone, gone,
		}, payments: map[string]bool{}}
		buyer := payer.New(newKey(t), &payer.Options{Client: &http.Client{Transport: store}})
		if _, err := buyer.Buy(t.Context(), payer.Purchase{Store: "http://s.example", Service: "x"}); err == nil ||
			!strings.Contains(err.Error(), "Later.") {
			t.Errorf("Buy = %v, want the store's words", err)
		}
		store.steps = []step{due("", terms(evm.DevNetwork, "90000")), says(202, pending, "Retry-After", "100")}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := buyer.Buy(ctx, payer.Purchase{Store: "http://s.example", Service: "x"}); !errors.Is(err,
			context.DeadlineExceeded) || !strings.Contains(err.Error(), "http://s.example/v1/orders/svo_1") {
			t.Errorf("Buy = %v, want the order's address as it is reached from here", err)
		}
	})
}

func TestServiceID(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"run_ai_search_audit": "ai-search-audit",
		"ai-search-audit":     "ai-search-audit", "run_llms_txt_draft": "llms-txt-draft",
	} {
		if got := payer.ServiceID(in); got != want {
			t.Errorf("ServiceID(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestWallet(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	if _, err := payer.OpenWallet(folder); !errors.Is(err, payer.ErrNoWallet) {
		t.Errorf("OpenWallet of nothing = %v, want ErrNoWallet", err)
	}
	key, made, err := payer.WalletOf(folder)
	if err != nil || !made {
		t.Fatalf("WalletOf = %v, %v", made, err)
	}
	again, made, err := payer.WalletOf(folder)
	if err != nil || made || again.Address() != key.Address() {
		t.Errorf("WalletOf again = %v, %v, %v", again, made, err)
	}
	if _, err := payer.NewWallet(folder); err == nil {
		t.Error("NewWallet replaced a wallet")
	}
	path := filepath.Join(folder, payer.WalletFile)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the wallet's file = %v, %v, want 0600", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o644); err != nil { //nolint:gosec // the test is about it
		t.Fatal(err)
	}
	if _, err := payer.OpenWallet(folder); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a wallet that others may read = %v, want a refusal that says what to do", err)
	}
	if err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, []byte("damaged"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := payer.WalletOf(folder); err == nil {
		t.Error("a damaged wallet was opened, or replaced")
	}
	if text, _ := os.ReadFile(path); !bytes.Equal(text, []byte("damaged")) {
		t.Errorf("a damaged wallet was replaced by %q", text)
	}
}
