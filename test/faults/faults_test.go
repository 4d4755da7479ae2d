// Package faults holds the fault matrix: the real binary, killed between each
// pair of durable steps, and the processor's messages lost, doubled and late,
// on both engines. Whatever happens: one order, one charge, the right state.
package faults

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"ace/internal/foundation/sqldb/sqldbtest"
	"ace/internal/foundation/typeid"
	"ace/internal/sandbox"
	"ace/internal/sandbox/sandboxtest"
	"ace/test/harness"
)

// TestMain lets many cases run at once: they mostly wait, on PostgreSQL for the
// leases of the dead to run out.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "24"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// shop is a store process that may die, and a processor that does not.
type shop struct {
	t         *testing.T
	addr      string
	dataDir   string
	database  string
	processor *sandboxtest.World
	process   *harness.Process
}

const webhookSecret = "whsec_faults"

func newShop(t *testing.T, database string) *shop {
	t.Helper()
	s := &shop{t: t, addr: harness.FreeAddr(t), dataDir: harness.DataDir(t), database: database}
	s.processor = sandboxtest.Start(t,
		sandbox.Webhook{URL: "http://" + s.addr + "/webhooks/stripe", Secret: webhookSecret})
	return s
}

// start runs the store. At the named step, if any, it dies.
func (s *shop) start(step string) {
	s.t.Helper()
	s.process = harness.Start(s.t, harness.Build(s.t, "faults"), []string{
		"ACE_FAULT_STEP=" + step, "ACE_STORE_ADDR=" + s.addr, "ACE_ADMIN_ADDR=", "ACE_DATA_DIR=" + s.dataDir,
		"ACE_DATABASE_URL=" + s.database, "ACE_RATE_LIMIT=off",
		"ACE_STRIPE_API_KEY=" + sandboxtest.Key, "ACE_STRIPE_URL=" + s.processor.URL + "/stripe",
		"ACE_STRIPE_WEBHOOK_SECRET=" + webhookSecret,
	}, "serve")
	s.process.Ready("http://" + s.addr + "/healthz")
}

// again restarts the store if it has died, without any fault.
func (s *shop) again() {
	s.t.Helper()
	select {
	case <-s.process.Ended():
		s.start("")
	default:
	}
}

type session struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	ContinueURL string `json:"continue_url"`
	Order       *struct {
		ID string `json:"id"`
	} `json:"order"`
}

const sessions = "/agent/commerce/ucp/checkout-sessions"

// call repeats a request, with its idempotency key, until there is a response
// that is not the store's own trouble. A dead store is started again.
func (s *shop) call(method, path, body string, header ...string) (int, session) {
	s.t.Helper()
	key := typeid.New("idem")
	for deadline := time.Now().Add(harness.Patience); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		status, answer, err := harness.Call(s.t, method, "http://"+s.addr+path, body,
			append(header, "Idempotency-Key", key)...)
		if err != nil || status >= 500 || status == http.StatusConflict && strings.Contains(answer, "in_flight") {
			s.again()
			continue
		}
		var got session
		if err := json.Unmarshal([]byte(answer), &got); err != nil {
			s.t.Fatalf("%s %s: %d %s", method, path, status, answer)
		}
		return status, got
	}
	s.t.Fatalf("%s %s: no answer in time", method, path)
	return 0, session{}
}

func (s *shop) open(offer string) session {
	s.t.Helper()
	status, got := s.call(http.MethodPost, sessions, `{"line_items":[{"item":{"id":"`+offer+`"},"quantity":1}]}`)
	if status != http.StatusCreated || got.ContinueURL == "" {
		s.t.Fatalf("create = %d, %+v", status, got)
	}
	return got
}

// pay is the person. The link may lead to a store that is just being started.
func (s *shop) pay(c session) {
	s.t.Helper()
	for range 50 {
		s.again()
		status, _, err := harness.Call(s.t, http.MethodHead, "http://"+s.addr+"/healthz", "")
		if err == nil && status < 500 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if seen := sandboxtest.NewPerson(s.t, nil).Pay(c.ContinueURL,
		sandboxtest.CardOK); seen.Status != http.StatusSeeOther {
		s.t.Fatalf("paying answered %d\n%s", seen.Status, seen.Body)
	}
}

// settled waits until the session has a status.
func (s *shop) settled(id, want string) session {
	s.t.Helper()
	var got session
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if _, got = s.call(http.MethodGet, sessions+"/"+id, "", "Prefer", "wait=5"); got.Status == want {
			return got
		}
	}
	s.t.Fatalf("session %s is %s, want %s", id, got.Status, want)
	return got
}

// orders returns the orders as the operator sees them.
func (s *shop) orders() []operatorOrder {
	s.t.Helper()
	var page struct {
		Orders []operatorOrder `json:"orders"`
	}
	s.operator(&page, "order", "list", "--json")
	return page.Orders
}

type operatorOrder struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	Refunded   int64  `json:"refunded"`
	Amount     int64  `json:"amount"`
	Deliveries []struct {
		State string `json:"state"`
	} `json:"deliveries"`
}

// operator runs a command of the operator's against the running store.
func (s *shop) operator(out any, args ...string) {
	s.t.Helper()
	s.again()
	p := harness.Start(s.t, harness.Build(s.t, "faults"), []string{
		"ACE_DATA_DIR=" + s.dataDir, "ACE_DATABASE_URL=" + s.database, "ACE_STRIPE_API_KEY=" + sandboxtest.Key,
		"ACE_STRIPE_URL=" + s.processor.URL + "/stripe", "ACE_STRIPE_WEBHOOK_SECRET=" + webhookSecret,
	}, args...)
	<-p.Ended()
	if err := json.Unmarshal([]byte(p.Stdout()), out); err != nil && out != nil {
		s.t.Logf("ace %s: %s", strings.Join(args, " "), p.Output())
	}
}

// oneOfEach is what must hold in the end.
func (s *shop) oneOfEach() operatorOrder {
	s.t.Helper()
	orders := s.orders()
	if len(orders) != 1 {
		s.t.Fatalf("%d orders, want 1: %+v", len(orders), orders)
	}
	if n := s.processor.Charges(); n != 1 {
		s.t.Errorf("%d charges, want 1", n)
	}
	return orders[0]
}

// onBoth runs a case on each engine. The processes of all cases share two
// cores; t.Parallel bounds them.
func onBoth(t *testing.T, test func(t *testing.T, s *shop)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, newShop(t, ""))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, newShop(t, sqldbtest.Postgres(t)))
	})
}

func TestKilledWhileSelling(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"inserted", "closed", "opened", "settled", "kept", "settled#2", "kept#2"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, s *shop) {
				s.start(step)
				c := s.open("prompt_handbook")
				s.pay(c)
				if got := s.settled(c.ID, "completed"); got.Order == nil {
					t.Error("a completed session names no order")
				}
				if o := s.oneOfEach(); o.Status != "confirmed" || o.Amount != 2900 {
					t.Errorf("order = %+v, want confirmed, 2900", o)
				}
				s.died(step)
			})
		})
	}
}

// died makes sure that a case did what it is for.
func (s *shop) died(step string) {
	s.t.Helper()
	if strings.Contains(s.process.Output(), "ACE_FAULT_STEP") {
		s.t.Errorf("the step %s was never reached", step)
	}
}

func TestKilledWhileUpdating(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"updating", "closed#2", "opened#2", "settled#2", "kept#2"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, s *shop) {
				s.start(step)
				c := s.open("prompt_handbook")
				status, _ := s.call(http.MethodPut, sessions+"/"+c.ID,
					`{"line_items":[{"item":{"id":"setup_call"},"quantity":1}]}`)
				if status != http.StatusOK && status != http.StatusConflict {
					t.Fatalf("update = %d", status)
				}
				s.payable(c)
				s.settled(c.ID, "completed")
				if o := s.oneOfEach(); o.Status != "confirmed" || o.Amount != 9000 && o.Amount != 2900 {
					t.Errorf("order = %+v", o)
				}
			})
		})
	}
}

// payable pays as soon as the link leads to a page again: a job finishes the
// update that the dead process had begun.
func (s *shop) payable(c session) {
	s.t.Helper()
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		s.again()
		seen := sandboxtest.NewPerson(s.t, nil).Pay(c.ContinueURL, sandboxtest.CardOK)
		if seen.Status == http.StatusSeeOther {
			return
		}
	}
	s.t.Fatal("the link never led to a page that took the payment")
}

func TestKilledWhileCanceling(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"canceling", "closed#2", "settled#2", "kept#2"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, s *shop) {
				s.start(step)
				c := s.open("prompt_handbook")
				s.call(http.MethodPost, sessions+"/"+c.ID+"/cancel", "{}")
				s.settled(c.ID, "canceled")
				if seen := sandboxtest.NewPerson(t, nil).Pay(c.ContinueURL,
					sandboxtest.CardOK); seen.Status == http.StatusSeeOther {
					t.Error("a canceled session took a payment")
				}
				if orders, charges := len(s.orders()), s.processor.Charges(); orders != 0 || charges != 0 {
					t.Errorf("%d orders, %d charges, want none", orders, charges)
				}
			})
		})
	}
}

func TestKilledWhileRefunding(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"refund kept", "refund answered"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, s *shop) {
				s.start(step)
				c := s.open("prompt_handbook")
				s.pay(c)
				s.settled(c.ID, "completed")
				id := s.oneOfEach().ID
				s.operator(nil, "order", "refund", id, "--json")
				for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(time.Second) {
					if o := s.oneOfEach(); o.Status == "refunded" {
						break
					}
					if time.Now().After(deadline) {
						t.Fatal("the refund was never finished")
					}
				}
				if n := s.processor.State().Objects["refund"]["succeeded"]; n != 1 {
					t.Errorf("%d refunds, want 1", n)
				}
			})
		})
	}
}

func TestMessagesOfTheProcessor(t *testing.T) {
	t.Parallel()
	for fault, n := range map[string]int{"drop": 100, "duplicate": 100, "delay_seconds": 3600, "reorder": 2} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, s *shop) {
				s.start("")
				s.processor.BendWebhooks(fault, n)
				c := s.open("prompt_handbook")
				s.pay(c)
				s.settled(c.ID, "completed")
				s.processor.Heal() // what was held back arrives after all
				time.Sleep(2 * time.Second)
				if o := s.oneOfEach(); o.Status != "confirmed" {
					t.Errorf("order = %+v, want confirmed", o)
				}
			})
		})
	}
}

// The page is paid while the response that would tell the store of it is lost.
func TestPaidBeforeTheStoreKnowsThePage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *shop) {
		s.start("")
		s.processor.FailAPI(http.MethodPost, "/v1/checkout/sessions", "timeout_after_commit", 1)
		done := make(chan session, 1)
		go func() {
			// By the time of the response the session may be paid: then it has no
			// continue_url any more.
			_, c := s.call(http.MethodPost, sessions, `{"offer_id":"prompt_handbook"}`)
			done <- c
		}()
		var pages struct {
			Data []struct{ URL string } `json:"data"`
		}
		for len(pages.Data) == 0 {
			time.Sleep(100 * time.Millisecond)
			s.processor.Call(http.MethodGet, "/v1/checkout/sessions", "", &pages)
		}
		if seen := sandboxtest.NewPerson(t, nil).Pay(pages.Data[0].URL,
			sandboxtest.CardOK); seen.Status != http.StatusSeeOther {
			t.Fatalf("paying answered %d", seen.Status)
		}
		c := <-done
		s.settled(c.ID, "completed")
		s.oneOfEach()
	})
}

func TestProcessorFailsAfterCommit(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"500_after_commit", "500", "timeout"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, s *shop) {
				s.start("")
				s.processor.FailAPI(http.MethodPost, "/v1/checkout/sessions", mode, 1)
				c := s.open("prompt_handbook")
				s.pay(c)
				s.settled(c.ID, "completed")
				s.oneOfEach()
			})
		})
	}
}

func TestCancelRacingPayment(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *shop) {
		s.start("")
		for range 5 {
			c := s.open("prompt_handbook")
			person := sandboxtest.NewPerson(t, nil)
			paid := make(chan bool)
			go func() { paid <- person.Pay(c.ContinueURL, sandboxtest.CardOK).Status == http.StatusSeeOther }()
			s.call(http.MethodPost, sessions+"/"+c.ID+"/cancel", "{}")
			if <-paid {
				s.settled(c.ID, "completed")
			} else {
				s.settled(c.ID, "canceled")
			}
		}
		if orders, charges := int64(len(s.orders())), s.processor.Charges(); orders != charges {
			t.Errorf("%d orders for %d charges", orders, charges)
		}
	})
}

// A stop lets what runs end, and a start finds nothing to repair.
func TestStopWhileSelling(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, s *shop) {
		s.start("")
		c := s.open("prompt_handbook")
		s.pay(c)
		s.process.Stop()
		s.start("")
		s.settled(c.ID, "completed")
		s.oneOfEach()
	})
}
