package agenttool

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"ace/internal/foundation/idempotency"
	"ace/internal/foundation/jcs"
	"ace/internal/protocol/mcp"
	"ace/internal/protocol/ucp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/offer"
	"ace/internal/storefront/storehttp/admission"
	"ace/internal/storefront/storehttp/answer"
	"ace/internal/storefront/storehttp/cataloghttp"
	"ace/internal/storefront/storehttp/sessionhttp"
)

type productsInput struct {
	Query     string   `json:"query,omitempty" maxLength:"200" doc:"Words that must occur in name, description, category or id."`
	IDs       []string `json:"ids,omitempty" maxItems:"50" doc:"Only these offers or products, by id."`
	Category  string   `json:"category,omitempty" enum:"software,service,hardware" doc:"Only this kind."`
	Available bool     `json:"available,omitempty" doc:"true: only what can be bought now."`
	Currency  string   `json:"currency,omitempty" pattern:"^[A-Za-z]{3}$" doc:"Only prices in this currency (ISO 4217), for example USD."`
	Limit     int      `json:"limit,omitempty" default:"50" minimum:"1" maximum:"200" doc:"Offers per call."`
	Cursor    string   `json:"cursor,omitempty" maxLength:"500" doc:"next_cursor of the answer before, with the same other arguments; leave it out for the first offers."`
}

func (s *Set) listProducts(ctx context.Context, _ *mcp.Call, in *productsInput) (*cataloghttp.OfferCatalog, error) {
	return s.deps.Catalog.List(ctx, offer.Query{
		Words: in.Query, IDs: in.IDs, Category: offer.Category(in.Category), Available: in.Available,
		Currency: in.Currency, Limit: in.Limit, Cursor: in.Cursor,
	})
}

type createInput struct {
	OfferID        string `json:"offer_id" minLength:"1" maxLength:"255" doc:"id of the offer, as list_products answers it."`
	Quantity       int64  `json:"quantity,omitempty" default:"1" minimum:"1" maximum:"1000000" doc:"How many."`
	BuyerEmail     string `json:"buyer_email,omitempty" format:"email" maxLength:"320" doc:"Fills in the payment page. Only with the person's consent."`
	IdempotencyKey string `json:"idempotency_key,omitempty" minLength:"1" maxLength:"255" doc:"Makes a repetition safe: the same key with the same arguments answers the same checkout. Use a fresh UUID for each new purchase."`
}

// createCheckout opens a checkout. A repetition with the same key returns what
// the first call did; one after a failure continues where that stopped.
func (s *Set) createCheckout(ctx context.Context, call *mcp.Call, in *createInput) (*ucp.Checkout, error) {
	form, err := canonical(in)
	if err != nil {
		return nil, err
	}
	var failure error
	stored, _, err := s.deps.Sessions.Once(ctx, "tool "+CreateCheckout, in.IdempotencyKey, form,
		func(id string) sessionhttp.Outcome {
			var body []byte
			if body, failure = s.open(ctx, call, id, in); failure != nil {
				return sessionhttp.Outcome{
					Answer:  idempotency.Answer{Status: http.StatusInternalServerError},
					Passing: true,
				}
			}
			return sessionhttp.Outcome{Answer: idempotency.Answer{Status: http.StatusCreated, Body: body}}
		})
	if err == nil {
		err = failure
	}
	if err != nil {
		return nil, &missing{err, in.OfferID}
	}
	c := new(ucp.Checkout)
	if err := json.Unmarshal(stored.Body, c); err != nil {
		return nil, fmt.Errorf("reading the kept answer of a checkout: %w", err)
	}
	return c, nil
}

// canonical is what repetitions are compared by.
func canonical(in *createInput) ([]byte, error) {
	asked := *in
	asked.IdempotencyKey = ""
	text, err := answer.JSON(asked)
	if err != nil {
		return nil, err
	}
	return jcs.Canonical(text)
}

func (s *Set) open(ctx context.Context, call *mcp.Call, id string, in *createInput) ([]byte, error) {
	agent := s.deps.Sessions.Agent(ctx, call.Header)
	agent.Profile = admission.Agent(ctx)
	agent.Signed = agent.Profile != ""
	session, err := s.deps.Sessions.Checkout.Create(ctx, checkout.Request{
		ID: id, Protocol: s.deps.Protocol, OfferID: in.OfferID, Quantity: in.Quantity,
		Buyer: checkout.Buyer{Email: in.BuyerEmail}, Agent: agent,
	})
	if err != nil {
		return nil, err
	}
	c, err := s.deps.UCP.Checkout(ctx, session)
	if err != nil {
		return nil, err
	}
	return answer.JSON(c)
}

type getInput struct {
	ID          string `json:"id" minLength:"1" maxLength:"255" doc:"id of the checkout (chk_…), as create_checkout answered it."`
	WaitSeconds int    `json:"wait_seconds,omitempty" default:"0" minimum:"0" maximum:"25" doc:"Wait up to so many seconds for the person to pay; 0 answers at once."`
}

func (s *Set) getCheckout(ctx context.Context, _ *mcp.Call, in *getInput) (*ucp.Checkout, error) {
	session, err := s.deps.Sessions.Wait(ctx, in.ID, time.Duration(in.WaitSeconds)*time.Second)
	if err != nil {
		return nil, err
	}
	return s.deps.UCP.Checkout(ctx, session)
}
