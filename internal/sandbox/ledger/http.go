package ledger

import (
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"ace/internal/foundation/httpserver"
	"ace/internal/foundation/problem"
	"ace/internal/protocol/x402"
	"ace/internal/protocol/x402/evm"
	"ace/internal/sandbox/control"
)

// maxBody bounds a request: 64 KB.
const maxBody = 64 << 10

type handler struct {
	l      *Ledger
	prefix string
	pages  *pages
}

// Handler returns the HTTP handler, whose paths begin at "/"; prefix is where it
// is mounted, for links between pages. styles is the address of the sheet that
// has the sandbox's colors.
func (l *Ledger) Handler(prefix, styles string) (http.Handler, error) {
	pages, err := newPages(prefix, styles)
	if err != nil {
		return nil, err
	}
	f := &handler{l: l, prefix: prefix, pages: pages}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /verify", f.faulty("/verify", f.verify))
	mux.HandleFunc("POST /settle", f.faulty("/settle", f.settle))
	mux.HandleFunc("GET /supported", f.faulty("/supported", f.supported))
	mux.HandleFunc("POST /faucet", f.faucet)
	mux.HandleFunc("GET /tx/{hash}", f.transfer)
	mux.HandleFunc("GET /accounts/{address}", f.account)
	mux.HandleFunc("GET /{$}", f.index)
	mux.Handle("GET /assets/ledger.css", http.FileServerFS(assetFiles))
	mux.HandleFunc("POST /_sandbox/faults", f.control(f.setFaults))
	mux.HandleFunc("DELETE /_sandbox/faults", f.control(f.clearFaults))
	mux.HandleFunc("GET /_sandbox/state", f.control(f.state))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Ace-Sandbox", "true")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		mux.ServeHTTP(w, r)
	}), nil
}

// answer is the result of a call: a status and a value that becomes JSON.
type answer struct {
	status int
	body   any
}

// faulty runs a call between the faults that a test asked for.
func (f *handler) faulty(path string, call func(r *http.Request, fault *Fault) (answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fault, err := f.l.takeFault(r.Context(), path)
		if err != nil {
			f.fail(w, r, err)
			return
		}
		if fault != nil && !fault.afterCommit() && play(w, r, fault) {
			return
		}
		out, err := call(r, fault)
		if err != nil {
			f.fail(w, r, err)
			return
		}
		if fault.afterCommit() && play(w, r, fault) {
			return
		}
		writeJSON(w, out.status, out.body)
	}
}

// play lets a call go wrong. It reports whether that was the response.
func play(w http.ResponseWriter, r *http.Request, f *Fault) bool {
	wait := time.Duration(f.LatencyMS) * time.Millisecond
	switch f.Mode {
	case FaultLatency:
		control.Pause(r.Context(), wait)
		return false
	case Fault500, Fault500AfterCommit:
		writeJSON(w, http.StatusInternalServerError, map[string]string{"error": "a test asked for this"})
	case Fault429:
		w.Header().Set("Retry-After", "1")
		writeJSON(w, http.StatusTooManyRequests, map[string]string{"error": "a test asked for this"})
	case FaultTimeout, FaultTimeoutAfterCommit:
		control.Hang(w, r, wait)
	default: // pending: the call itself responds
		return false
	}
	return true
}

// refusal is a fault of the caller.
type refusal struct {
	status int
	text   string
}

// Error returns what the caller reads.
func (r *refusal) Error() string { return r.text }

// asRefusal returns the caller's fault inside err; nil: there is none.
func asRefusal(err error) *refusal {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r
	}
	if p, ok := problem.From(err); ok {
		return &refusal{p.Kind.Status(), p.Detail}
	}
	return nil
}

// read reads what a facilitator is asked. Without a request it says why, and
// the status to say it with.
func read(r *http.Request) (req *x402.FacilitatorRequest, status int, why string) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, http.StatusRequestEntityTooLarge, "The request cannot be read, or is larger than 64 KB."
	}
	if req, err = x402.ReadFacilitatorRequest(data); err != nil {
		if bad := asRefusal(err); bad != nil {
			return nil, bad.status, bad.text
		}
		return nil, http.StatusBadRequest, "The request cannot be read."
	}
	return req, 0, ""
}

func (f *handler) verify(r *http.Request, _ *Fault) (answer, error) {
	req, status, why := read(r)
	if req == nil {
		return answer{status, x402.VerifyResponse{InvalidReason: x402.ReasonInvalidPayload, InvalidMessage: why}}, nil
	}
	out, err := f.l.Verify(r.Context(), req)
	return answer{http.StatusOK, out}, err
}

func (f *handler) settle(r *http.Request, fault *Fault) (answer, error) {
	req, status, why := read(r)
	if req == nil {
		return answer{status, x402.SettleResponse{ErrorReason: x402.ReasonInvalidPayload, ErrorMessage: why}}, nil
	}
	pending := refused(req, x402.ReasonSettlementPending)
	pending.Transaction = txHash(req.Payload.Key()).String()
	if fault != nil && fault.Mode == FaultPending {
		return answer{http.StatusOK, pending}, nil
	}
	out, err := f.l.Settle(r.Context(), req)
	if err == nil && fault != nil && fault.Mode == FaultPendingAfterCommit {
		return answer{http.StatusOK, pending}, nil
	}
	return answer{http.StatusOK, out}, err
}

func (f *handler) supported(*http.Request, *Fault) (answer, error) {
	out := x402.SupportedResponse{Extensions: []string{}, Signers: map[string][]string{"eip155:*": {}}}
	for _, t := range f.l.tokens {
		if !out.Supports(x402.SchemeExact, t.Network) {
			out.Kinds = append(out.Kinds,
				x402.SupportedKind{X402Version: x402.Version, Scheme: x402.SchemeExact, Network: t.Network})
		}
	}
	return answer{http.StatusOK, out}, nil
}

// faucet gives an address money: {"address":"0x…"}, or a form from the page.
func (f *handler) faucet(w http.ResponseWriter, r *http.Request) {
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		f.refuse(w, r, http.StatusForbidden, "The faucet does not answer to pages of other sites.")
		return
	}
	var in struct {
		Address string `json:"address"`
	}
	form := strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded")
	if form {
		in.Address = strings.TrimSpace(r.PostFormValue("address"))
	} else if err := httpserver.DecodeStrictJSON(r, &in, maxBody); err != nil {
		bad := asRefusal(err)
		if bad == nil {
			f.fail(w, r, err)
			return
		}
		f.refuse(w, r, bad.status, bad.text)
		return
	}
	address, err := evm.ParseAddress(in.Address)
	if err != nil {
		f.refuse(w, r, http.StatusBadRequest,
			"Send the address of an account: 0x and 40 hex digits, with the right checksum if there is one.")
		return
	}
	account, err := f.l.Faucet(r.Context(), address)
	switch {
	case errors.Is(err, errFull):
		f.refuse(w, r, http.StatusConflict, "This address has 1,000.00 already.")
	case err != nil:
		f.fail(w, r, err)
	case form:
		http.Redirect(w, r, f.prefix+"/accounts/"+account.Address, http.StatusSeeOther)
	default:
		writeJSON(w, http.StatusOK, wireAccount(account))
	}
}

func (f *handler) account(w http.ResponseWriter, r *http.Request) {
	address, err := evm.ParseAddress(r.PathValue("address"))
	if err != nil {
		f.refuse(w, r, http.StatusNotFound,
			"This is no address of an account: 0x and 40 hex digits, with the right checksum if there is one.")
		return
	}
	account, err := f.l.Account(r.Context(), address)
	switch {
	case err != nil:
		f.fail(w, r, err)
	case forPeople(r):
		f.pages.account(w, account)
	default:
		writeJSON(w, http.StatusOK, wireAccount(account))
	}
}

func (f *handler) transfer(w http.ResponseWriter, r *http.Request) {
	t, err := byHash(r.Context(), f.l.db.Reader(), strings.ToLower(r.PathValue("hash")))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		f.refuse(w, r, http.StatusNotFound, "There is no such transaction.")
	case err != nil:
		f.fail(w, r, err)
	case forPeople(r):
		f.pages.transfer(w, f.l.tokens[0], t)
	default:
		writeJSON(w, http.StatusOK, wireTransfer(f.l.tokens[0], t))
	}
}

func (f *handler) index(w http.ResponseWriter, r *http.Request) {
	token := f.l.tokens[0]
	all, err := accounts(r.Context(), f.l.db.Reader(), strings.ToLower(token.Asset), 50)
	if err != nil {
		f.fail(w, r, err)
		return
	}
	transfers, err := list(r.Context(), f.l.db.Reader(), "", 20)
	if err != nil {
		f.fail(w, r, err)
		return
	}
	f.pages.index(w, r, token, all, transfers)
}

// forPeople reports whether a browser asks.
func forPeople(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// control runs what tests move the ledger with.
func (f *handler) control(h func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if why := control.Refusal(r); why != "" {
			f.refuse(w, r, http.StatusForbidden, why)
			return
		}
		out, err := h(r)
		if bad := asRefusal(err); bad != nil {
			f.refuse(w, r, bad.status, bad.text)
		} else if err != nil {
			f.fail(w, r, err)
		} else {
			writeJSON(w, http.StatusOK, out)
		}
	}
}

func (f *handler) setFaults(r *http.Request) (any, error) {
	var in struct {
		API []Fault `json:"api"`
	}
	if err := httpserver.DecodeStrictJSON(r, &in, maxBody); err != nil {
		return nil, err
	}
	for i := range in.API {
		if why := in.API[i].check(); why != "" {
			return nil, &refusal{http.StatusBadRequest, why}
		}
	}
	all, err := f.l.SetFaults(r.Context(), in.API)
	return map[string]any{"api": all}, err
}

func (f *handler) clearFaults(r *http.Request) (any, error) {
	return map[string]any{"api": []Fault{}}, f.l.ClearFaults(r.Context())
}

func (f *handler) state(r *http.Request) (any, error) { return f.l.State(r.Context()) }

// fail returns an internal fault, whose text stays here.
func (f *handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() == nil {
		f.l.log.ErrorContext(r.Context(), "sandbox request failed", slog.String("path", r.URL.Path),
			slog.Any("error", err))
	}
	f.refuse(w, r, http.StatusInternalServerError, "An error occurred inside the sandbox. It has been logged.")
}

func (f *handler) refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	if forPeople(r) {
		f.pages.message(w, status, message)
		return
	}
	writeJSON(w, status, map[string]string{"error": message})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		text = []byte(`{}`) // unreachable: structs of texts and numbers
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that went away is no fault of this process.
	_, _ = w.Write(text)
}
