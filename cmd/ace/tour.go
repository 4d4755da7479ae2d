package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"ace/internal/config"
)

// tourCmd walks a newcomer through a running store and platform.
type tourCmd struct {
	config.Settings `embed:"" hidden:""`

	URL     string        `name:"url" placeholder:"URL" help:"Address of the store. Default: the one that the settings name."`
	Offer   string        `placeholder:"ID" help:"Offer to buy. Default: the first that can be bought."`
	Account string        `placeholder:"NAME" help:"Account of the platform that connects the demo app. Default: the first."`
	Pay     bool          `help:"Let the tour play the person, in the sandbox: pay with a test card, connect the demo app."`
	Timeout time.Duration `default:"15m" help:"How long to wait for the person."`
	JSON    bool          `name:"json" help:"Print one JSON object per step."`
}

// Run takes the tour: the catalog, a checkout that a person pays, one that is
// canceled, a website service that the agent pays itself; then an app that the
// person connects, a tool of it that the agent runs, and an event that is posted.
func (c *tourCmd) Run(w *world) error {
	client, err := clientFor(c.DataDir)
	if err != nil {
		return err
	}
	t := &tour{
		ctx: w.ctx, out: w.stdout, base: strings.TrimRight(cmp.Or(c.URL, c.BaseURL()), "/"), json: c.JSON,
		client: client, transport: client.Transport,
	}
	t.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	offer, err := t.catalog(c.Offer)
	if err != nil {
		return err
	}
	session, err := t.open(offer)
	if err != nil {
		return err
	}
	if c.Pay {
		err = t.payInSandbox(session.ContinueURL)
	} else {
		t.say(
			"Now a person pays. Open this address in a browser; in the sandbox, use the card 4242 4242 4242 "+
				"4242:\n\n    %s\n", session.ContinueURL)
	}
	if err != nil {
		return err
	}
	if err := t.wait(session.ID, c.Timeout); err != nil {
		return err
	}
	if err := t.cancelOne(offer); err != nil {
		return err
	}
	if err := t.service(c.DataDir, c.Pay); err != nil {
		return err
	}
	t.say(
		"That was all that a store sells. Read on in docs/commerce.md and docs/paid-services.md; \"ace order list\" " +
			"and \"ace service orders\" show what was bought.")
	return t.platform(c)
}

// tour prints each request and response with a sentence of explanation.
type tour struct {
	ctx    context.Context
	out    *terminal
	base   string
	json   bool
	client *http.Client
	// transport trusts the server's development certificate; nil is the usual one.
	transport http.RoundTripper
	step      int
	// sandbox is the origin of the payment page that the tour filled in.
	sandbox string
	key     string // of the platform; shown by its beginning alone
}

// tourOffer and tourSession are what the tour reads of the responses.
type tourOffer struct {
	ID           string `json:"id"`
	Availability struct {
		Available bool `json:"available"`
	} `json:"availability"`
}

type tourSession struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	ContinueURL string `json:"continue_url"`
}

func (t *tour) catalog(wanted string) (string, error) {
	var catalog struct {
		Offers []tourOffer `json:"offers"`
	}
	if err := t.do("An agent that knows nothing but the store's address reads what is for sale.", http.MethodGet,
		"/agent/commerce/products?available=true", nil, nil, &catalog); err != nil {
		return "", err
	}
	for _, o := range catalog.Offers {
		if (wanted == "" || wanted == o.ID) && o.Availability.Available {
			return o.ID, nil
		}
	}
	return "", errors.New("the store sells nothing of that name right now; leave --offer out")
}

func (t *tour) open(offer string) (*tourSession, error) {
	session := &tourSession{}
	body := fmt.Sprintf(`{"line_items":[{"item":{"id":%q},"quantity":1}]}`, offer)
	err := t.do("It opens a checkout for one offer over UCP. Nothing is charged; the answer says where a person pays.",
		http.MethodPost, "/agent/commerce/ucp/checkout-sessions", []byte(body), nil, session)
	if err == nil && session.ContinueURL == "" {
		err = fmt.Errorf("the checkout answered %s without continue_url", session.Status)
	}
	return session, err
}

// wait asks until the session is paid. Each request may take 25 seconds: the
// store responds as soon as something happens.
func (t *tour) wait(id string, patience time.Duration) error {
	explanation := "Meanwhile the agent waits: the store holds the request until something happens, 25 seconds at most."
	for deadline := time.Now().Add(patience); ; {
		session := &tourSession{}
		err := t.do(explanation, http.MethodGet, "/agent/commerce/ucp/checkout-sessions/"+id, nil,
			map[string]string{"Prefer": "wait=25"}, session)
		switch {
		case err != nil:
			return err
		case session.Status == "completed":
			t.say("Paid: the session is completed and names the order.")
			return nil
		case session.Status == "canceled":
			return errors.New("the session ended without a payment; start the tour again")
		case time.Now().After(deadline):
			return fmt.Errorf("nobody paid within %s; start the tour again, or add --pay", patience)
		}
		explanation = "Not paid yet; it asks again."
	}
}

func (t *tour) cancelOne(offer string) error {
	session := &tourSession{}
	body := fmt.Sprintf(`{"line_items":[{"id":%q}]}`, offer)
	if err := t.do("The same works over ACP. This checkout is only looked at.", http.MethodPost,
		"/agent/commerce/acp/checkout_sessions", []byte(body), nil, session); err != nil {
		return err
	}
	return t.do("An agent that does not want it any more cancels. The payment page is closed, too.",
		http.MethodPost, "/agent/commerce/acp/checkout_sessions/"+session.ID+"/cancel", []byte("{}"), nil, session)
}

// do makes one request to the store, prints it and the response, and decodes the response.
func (t *tour) do(explanation, method, path string, body []byte, header map[string]string, out any) error {
	//nolint:bodyclose // ask has read and closed it
	res, answer, err := t.ask(explanation, method, t.base+path, body, header)
	if err != nil {
		return err
	}
	if res.StatusCode >= 400 && res.StatusCode != http.StatusPaymentRequired {
		return fmt.Errorf("the store answered %s to %s %s", res.Status, method, path)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the answer to %s %s is no JSON: %w", method, path, err)
	}
	return nil
}

// ask makes one request and prints it and the response, which is read.
func (t *tour) ask(explanation, method, address string, body []byte, header map[string]string) (*http.Response, []byte,
	error,
) {
	req, err := http.NewRequestWithContext(t.ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, fmt.Errorf("preparing the request: %w", err)
	}
	req.Header.Set("User-Agent", "ace-tour/"+version)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	t.announce(explanation, req, body)
	res, answer, err := t.send(req)
	if err != nil {
		return nil, nil, fmt.Errorf("no answer from %s://%s: is the server running? Start it with \"make run\" (%w)",
			req.URL.Scheme, req.URL.Host, err)
	}
	t.show(explanation, req, res, answer)
	return res, answer, nil
}

// send waits as long as the store asks for when it is busy.
func (t *tour) send(req *http.Request) (*http.Response, []byte, error) {
	for {
		res, err := t.client.Do(req)
		if err != nil {
			return nil, nil, err
		}
		answer, err := io.ReadAll(io.LimitReader(res.Body, 4<<20))
		err = errors.Join(err, res.Body.Close())
		if err != nil || res.StatusCode != http.StatusTooManyRequests {
			return res, answer, err
		}
		select {
		case <-t.ctx.Done():
			return nil, nil, t.ctx.Err()
		case <-time.After(time.Second):
		}
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, nil, err
			}
		}
	}
}
