package x402

import "strings"

// Reason is a machine-readable cause of a refusal. Reasons are an open set.
type Reason string

// The reasons that we return. Their names are those of the client libraries.
const (
	ReasonPaymentRequired      Reason = "payment_required" // nothing was refused: there was no payment
	ReasonNoMatch              Reason = "no_matching_payment_requirements"
	ReasonResourceMismatch     Reason = "resource_mismatch"
	ReasonInvalidPayload       Reason = "invalid_payload"
	ReasonUnsupportedPayload   Reason = "unsupported_payload_type"
	ReasonUnsupportedScheme    Reason = "unsupported_scheme"
	ReasonNetworkMismatch      Reason = "invalid_exact_evm_network_mismatch"
	ReasonMissingDomain        Reason = "invalid_exact_evm_missing_eip712_domain"
	ReasonSignature            Reason = "invalid_exact_evm_signature"
	ReasonRecipient            Reason = "invalid_exact_evm_recipient_mismatch"
	ReasonValue                Reason = "invalid_exact_evm_payload_authorization_value_mismatch"
	ReasonValidBefore          Reason = "invalid_exact_evm_payload_authorization_valid_before"
	ReasonValidAfter           Reason = "invalid_exact_evm_payload_authorization_valid_after"
	ReasonInsufficientBalance  Reason = "invalid_exact_evm_insufficient_balance"
	ReasonNonceUsed            Reason = "invalid_exact_evm_nonce_already_used"
	ReasonSettlementPending    Reason = "settlement_pending"
	ReasonTransactionFailed    Reason = "invalid_exact_evm_transaction_failed"
	ReasonUnexpectedSettle     Reason = "unexpected_settle_error"
	ReasonUnexpectedVerify     Reason = "unexpected_verify_error"
	ReasonFacilitatorAnswer    Reason = "facilitator_answer_not_credible" // success that cannot be one
	ReasonFacilitatorThrottled Reason = "facilitator_rate_limited"
)

// Class is the effect of a reason on the payment, and so the next step.
type Class string

// The classes.
const (
	// Accepted is not a failure.
	Accepted Class = "accepted"
	// PayerFinal: this payload will never be settled. Request another payment.
	PayerFinal Class = "payer_final"
	// PayerCanFix: the same payload may be settled after an action of the payer. Retain the result.
	PayerCanFix Class = "payer_can_fix"
	// Transient: nothing was sent to the chain. Settle the same payload again.
	Transient Class = "transient"
	// Ambiguous: the transfer may have happened. Verify it before acting, and never request another
	// payment.
	Ambiguous Class = "ambiguous"
)

// classes classifies the reasons that facilitators are known to return, those of the client
// libraries 2.27 and of CDP, by their meaning at settlement. All others are ambiguous.
var classes = map[Reason]Class{
	ReasonInvalidPayload:                            PayerFinal,
	ReasonNoMatch:                                   PayerFinal,
	ReasonResourceMismatch:                          PayerFinal,
	ReasonUnsupportedPayload:                        PayerFinal,
	ReasonUnsupportedScheme:                         PayerFinal,
	ReasonNetworkMismatch:                           PayerFinal,
	ReasonMissingDomain:                             PayerFinal,
	ReasonSignature:                                 PayerFinal,
	ReasonRecipient:                                 PayerFinal,
	ReasonValue:                                     PayerFinal,
	ReasonValidBefore:                               PayerFinal,
	ReasonValidAfter:                                PayerFinal,
	"invalid_scheme":                                PayerFinal,
	"invalid_network":                               PayerFinal,
	"invalid_x402_version":                          PayerFinal,
	"invalid_payment_requirements":                  PayerFinal,
	"extension_echo_mismatch":                       PayerFinal,
	"asset_not_deployed_contract":                   PayerFinal,
	"eip6492_factory_not_allowed":                   PayerFinal,
	"kyt_risk_detected":                             PayerFinal,
	"request_blocked_by_location":                   PayerFinal,
	"self_send_not_allowed":                         PayerFinal,
	"amount_too_low":                                PayerFinal,
	"invalid_exact_evm_scheme":                      PayerFinal,
	"invalid_exact_evm_payload_value":               PayerFinal,
	"invalid_exact_evm_payload_authorization_value": PayerFinal,
	"invalid_exact_evm_payload_authorization_value_too_low":      PayerFinal,
	"invalid_exact_evm_payload_authorization_typed_data_message": PayerFinal,
	"invalid_exact_evm_payload_authorization_from_address_kyt":   PayerFinal,
	"invalid_exact_evm_payload_authorization_to_address_kyt":     PayerFinal,
	"invalid_exact_evm_payload_signature":                        PayerFinal,
	"invalid_exact_evm_payload_signature_address":                PayerFinal,
	"invalid_exact_evm_payload_recipient_mismatch":               PayerFinal,
	"invalid_exact_evm_authorization_value":                      PayerFinal,
	"invalid_exact_evm_authorization_valid_before":               PayerFinal,
	"invalid_exact_evm_authorization_valid_after":                PayerFinal,
	"invalid_exact_evm_failed_to_parse_signature":                PayerFinal,
	"invalid_exact_evm_token_name_mismatch":                      PayerFinal,
	"invalid_exact_evm_token_version_mismatch":                   PayerFinal,
	"invalid_exact_evm_eip3009_not_supported":                    PayerFinal,
	ReasonInsufficientBalance:                                    PayerCanFix,
	"insufficient_funds":                                         PayerCanFix,
	"permit2_allowance_required":                                 PayerCanFix,
	"settle_exact_node_failure":                                  Transient,
	ReasonFacilitatorThrottled:                                   Transient,
	ReasonSettlementPending:                                      Ambiguous,
	// by our own earlier attempt, or by another sender
	ReasonNonceUsed: Ambiguous,
	"settle_exact_evm_transaction_confirmation_timed_out":                Ambiguous,
	"invalid_exact_evm_failed_to_get_receipt":                            Ambiguous,
	"invalid_exact_evm_failed_to_execute_transfer":                       Ambiguous,
	"invalid_exact_evm_payload_authorization_failed_to_execute_transfer": Ambiguous,
	"invalid_exact_evm_transaction_simulation_failed":                    Ambiguous, // may be a used nonce
	"invalid_exact_evm_transfer_event_mismatch":                          Ambiguous,
	"invalid_transaction_state":                                          Ambiguous,
	"duplicate_settlement":                                               Ambiguous,
	"unknown_error":                                                      Ambiguous,
	ReasonUnexpectedSettle:                                               Ambiguous,
	ReasonUnexpectedVerify:                                               Ambiguous,
	ReasonFacilitatorAnswer:                                              Ambiguous,
}

// Class classifies a reason of a settlement that names no transaction. "" and unknown reasons are
// ambiguous.
func (r Reason) Class() Class {
	switch c, known := classes[r]; {
	case known:
		return c
	case r == ReasonTransactionFailed: // the node took no transaction: often a nonce of the facilitator's own wallet
		return Transient
	}
	return Ambiguous
}

// Known reports whether the reason is in the table.
func (r Reason) Known() bool {
	_, known := classes[r]
	return known || r == ReasonTransactionFailed
}

// Class classifies the response. A refusal for an unknown reason is ambiguous: nothing was sent by
// this call, but an earlier or another call may have sent the same authorization.
func (v VerifyResponse) Class() Class {
	if v.IsValid {
		return Accepted
	}
	return v.InvalidReason.Class()
}

// Class classifies the response by its effect on the transfer that r requests. Success is trusted
// only with a transaction hash and the requested network. A refusal that names a transaction is
// ambiguous whatever its reason; a final reason without a transaction is final.
//
// After a call whose outcome is unknown, a later refusal of the same payload does not prove
// anything about the first call: treat every class but Accepted as Ambiguous until there is a
// proof.
func (s SettleResponse) Class(r PaymentRequirements) Class {
	hash := wordShape.MatchString(s.Transaction)
	switch {
	case s.Success && hash && s.Network == r.Network && s.matchesAmount(r):
		return Accepted
	case s.Success, s.Transaction != "":
		return Ambiguous
	}
	return s.ErrorReason.Class()
}

// matchesAmount reports whether the amount of the response, if any, is the one that r requests.
func (s SettleResponse) matchesAmount(r PaymentRequirements) bool {
	return s.Amount == "" || strings.TrimSpace(s.Amount) == r.Amount
}
