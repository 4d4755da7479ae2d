package paidservice

import (
	"context"
	"errors"
	"regexp"
	"time"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/typeid"
	"ace/internal/protocol/x402"
)

var transaction = regexp.MustCompile(`^0x[0-9a-fA-F]{64}$`)

// Decide settles by hand what no program can decide: whether the money of an
// order that is unknown arrived. tx is the transaction that brought it, or
// empty for money that did not and cannot come. The problems are
// service_order_not_found, invalid_transaction and service_order_decided
// (Conflict).
func (s *Service) Decide(ctx context.Context, id, tx string) (*Order, error) {
	if !typeid.Valid("svo", id) {
		return nil, problem.New(problem.NotFound, codeOrderNotFound, "No such order of a paid service.")
	}
	if tx != "" && !transaction.MatchString(tx) {
		return nil, problem.New(problem.Invalid, "invalid_transaction",
			"A transaction is 0x and 64 hex digits.").At("/transaction")
	}
	for {
		o, err := s.store.Order(ctx, id)
		if err != nil {
			return nil, err
		}
		switch {
		case o.State != Unknown:
			return nil, problem.New(problem.Conflict, "service_order_decided",
				"Only an order whose payment nobody can tell of is decided by hand; this one is "+string(o.State)+".")
		case tx == "" && !o.Auth.Expired(time.Now()):
			return nil, problem.New(problem.Conflict, "service_order_decided",
				"The payment can still arrive until "+time.Unix(o.Auth.ValidBefore, 0).UTC().Format(time.RFC3339)+
					". Decide after that.")
		case tx == "":
			err = s.unpaid(ctx, o, nil, "decided_by_operator", "operator: did not arrive")
		default:
			err = s.settledBy(ctx, o, x402.SettleResponse{
				Transaction: tx, Network: o.Auth.Network,
				Payer: o.Auth.Payer,
			}, "operator: arrived")
		}
		if errors.Is(err, ErrVersion) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return s.store.Order(ctx, id)
	}
}
