package paidservicetest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"ace/internal/foundation/problem"
	"ace/internal/protocol/x402"
	"ace/internal/storefront/paidservice"
)

// Runner is a paidservice.Runner that counts its calls and does what a test sets.
type Runner struct {
	mu    sync.Mutex
	runs  int
	fails []error
	hold  chan struct{}
	panic bool
}

// Check implements paidservice.Runner: the arguments have a url.
func (r *Runner) Check(arguments json.RawMessage) error {
	var in struct {
		URL string `json:"url"`
	}
	if err := json.Unmarshal(arguments, &in); err != nil || in.URL == "" {
		return problem.New(problem.Invalid, "required", "Name the website.").At("/url")
	}
	return nil
}

// Run implements paidservice.Runner. Every run makes another report.
func (r *Runner) Run(ctx context.Context, arguments json.RawMessage,
	progress func(paidservice.Progress),
) (*paidservice.Work, error) {
	r.mu.Lock()
	r.runs++
	n, hold, throw := r.runs, r.hold, r.panic
	var fail error
	if len(r.fails) > 0 {
		fail, r.fails = r.fails[0], r.fails[1:]
	}
	r.mu.Unlock()
	progress(paidservice.Progress{Phase: "crawling", Done: 3, Total: 10})
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if throw {
		panic("the runner broke")
	}
	if fail != nil {
		return nil, fail
	}
	return &paidservice.Work{
		Report: json.RawMessage(fmt.Sprintf(`{"run":%d,"arguments":%s}`, n, arguments)),
		Files: []paidservice.File{{
			Name: "report.html", MediaType: "text/html; charset=utf-8",
			Data: []byte("<h1>Report</h1>"),
		}, {
			Name: "ü.bin", MediaType: "application/octet-stream",
			Data: []byte{0, 1, 255},
		}},
	}, nil
}

// Runs returns how often the work was started.
func (r *Runner) Runs() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs
}

// Fail makes the next runs end with these errors.
func (r *Runner) Fail(errs ...error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fails = append(r.fails, errs...)
}

// Panic makes every run throw.
func (r *Runner) Panic(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.panic = on
}

// Hold makes runs wait until the returned function is called, once.
func (r *Runner) Hold() (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	hold := make(chan struct{})
	r.hold = hold
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.hold = nil
		close(hold)
	}
}

// Network is the token that tests pay in.
func Network() paidservice.Network {
	return paidservice.Network{
		ID: "eip155:31337", Asset: "0xDe00000000000000000000000000000000000402", Name: "Dev USD", Version: "1",
		Symbol: "DUSD", Decimals: 6,
		PayTo: "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
	}
}

// Terms are those of Network for an amount in atomic units.
func Terms(amount string) x402.PaymentRequirements {
	n := Network()
	return x402.PaymentRequirements{
		Scheme: x402.SchemeExact, Network: n.ID, Amount: amount, Asset: n.Asset, PayTo: n.PayTo, MaxTimeoutSeconds: 300,
		Extra: map[string]any{"name": n.Name, "version": n.Version},
	}
}
