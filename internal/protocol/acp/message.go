package acp

// MessageType is the type of a message.
type MessageType string

// The types of messages, a closed list.
const (
	MessageInfo    MessageType = "info"    // no code
	MessageWarning MessageType = "warning" // code: low_stock, high_demand, price_change, …
	MessageError   MessageType = "error"   // code: missing, invalid, out_of_stock, …
)

// MessageCode is the code of a warning or an error, from two closed lists.
type MessageCode string

// The codes of warnings in use.
const (
	WarnLowStock            MessageCode = "low_stock"
	WarnPriceChange         MessageCode = "price_change"
	WarnLimitedAvailability MessageCode = "limited_availability"
)

// The codes of errors in use.
const (
	ErrMissing          MessageCode = "missing"
	ErrInvalid          MessageCode = "invalid"
	ErrOutOfStock       MessageCode = "out_of_stock"
	ErrPaymentDeclined  MessageCode = "payment_declined"
	ErrQuantityExceeded MessageCode = "quantity_exceeded"
	ErrRegionRestricted MessageCode = "region_restricted"
	ErrUnsupported      MessageCode = "unsupported"
	ErrNotFound         MessageCode = "not_found"
	ErrConflict         MessageCode = "conflict"
	ErrExpired          MessageCode = "expired"
)

var warningCodes = []MessageCode{
	"low_stock", "high_demand", "shipping_delay", "price_change", "expiring_promotion", "limited_availability",
	"discount_code_expired", "discount_code_invalid", "discount_code_already_applied",
	"discount_code_combination_disallowed", "discount_code_minimum_not_met", "discount_code_user_not_logged_in",
	"discount_code_user_ineligible", "discount_code_usage_limit_reached",
}

var errorCodes = []MessageCode{
	"missing", "invalid", "out_of_stock", "payment_declined", "requires_sign_in", "requires_3ds", "low_stock",
	"quantity_exceeded", "coupon_invalid", "coupon_expired", "minimum_not_met", "maximum_exceeded", "region_restricted",
	"age_verification_required", "approval_required", "unsupported", "not_found", "conflict", "rate_limited", "expired",
	"intervention_required",
}

// Resolution says who can resolve the subject of a message. 2026-04-17 only.
type Resolution string

// The resolutions, a closed list.
const (
	Recoverable         Resolution = "recoverable"
	RequiresBuyerInput  Resolution = "requires_buyer_input"
	RequiresBuyerReview Resolution = "requires_buyer_review"
)

// Severity is the severity of a message.
type Severity string

// The severities, a closed list.
const (
	SeverityInfo     Severity = "info"
	SeverityLow      Severity = "low"
	SeverityMedium   Severity = "medium"
	SeverityHigh     Severity = "high"
	SeverityCritical Severity = "critical"
)

// Message is an info, a warning or an error of a session.
type Message struct {
	Type        MessageType `json:"type"`
	Code        MessageCode `json:"code,omitempty"` // never in an info
	Severity    Severity    `json:"severity,omitempty"`
	Resolution  Resolution  `json:"resolution,omitempty"` // 2026-04-17 only
	Param       string      `json:"param,omitempty"`      // JSONPath, RFC 9535
	ContentType string      `json:"content_type"`         // plain or markdown
	Content     string      `json:"content"`
}

// Info returns a message with information.
func Info(resolution Resolution, content string) Message {
	return Message{
		Type: MessageInfo, Severity: SeverityInfo, Resolution: resolution, ContentType: "plain",
		Content: content,
	}
}

// Warning returns a message that the agent should consider.
func Warning(code MessageCode, param, content string) Message {
	return Message{
		Type: MessageWarning, Code: code, Severity: SeverityLow, Param: param, ContentType: "plain",
		Content: content,
	}
}

// Problem returns a message about an error that blocks the checkout.
func Problem(code MessageCode, resolution Resolution, param, content string) Message {
	return Message{
		Type: MessageError, Code: code, Severity: SeverityMedium, Resolution: resolution, Param: param,
		ContentType: "plain", Content: content,
	}
}
