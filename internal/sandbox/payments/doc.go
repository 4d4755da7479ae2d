// Package payments is the payment processor of the sandbox: the rules of a
// world that speaks the used subset of Stripe's API (https://docs.stripe.com/api,
// version 2026-03-25.dahlia). No real money moves, and no card number is kept.
//
//	catalog: Product <- Price (its amount never changes)
//	              |
//	Session  open --Pay--> complete, paid | unpaid (bank debit) | no_payment_required (trial)
//	           |                  |
//	           |                  +-- PaymentIntent 1:1 Charge <- Refund
//	           |                  +-- Customer <- Subscription <- Invoice
//	           +--expire, or its time is over--> expired
//
//	every change writes an Event and one delivery per Endpoint in the same
//	transaction; Run posts them, signed, and tries again until one succeeds.
//
// All time is the sandbox's clock, which Advance moves. What goes wrong on
// request is in faults.go. The objects are those of package object, kept by
// rowstore; the HTTP transports are stripeapi and paypage.
package payments
