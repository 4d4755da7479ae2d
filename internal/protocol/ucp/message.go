package ucp

// Severity says who can resolve an error.
type Severity string

// The severities of errors, a closed list.
const (
	Recoverable         Severity = "recoverable"           // the platform, by another request
	RequiresBuyerInput  Severity = "requires_buyer_input"  // the buyer, at continue_url
	RequiresBuyerReview Severity = "requires_buyer_review" // the person, by agreeing at continue_url
	Unrecoverable       Severity = "unrecoverable"         // nobody; start again
)

// RequiresBuyer reports whether the buyer has to act.
func (s Severity) RequiresBuyer() bool { return s == RequiresBuyerInput || s == RequiresBuyerReview }

// MessageType is the type of a message.
type MessageType string

// The types of messages, a closed list.
const (
	MessageError   MessageType = "error"
	MessageWarning MessageType = "warning"
	MessageInfo    MessageType = "info"
)

// PresentationDisclosure marks a warning that must be shown to the buyer.
const PresentationDisclosure = "disclosure"

// Message is an error (type, code, content, severity), a warning (type, code, content, and
// optionally presentation, image_url, url) or an info (type, content, perhaps code). Use the
// constructors.
type Message struct {
	Type         MessageType `json:"type"`
	Code         Code        `json:"code,omitempty"`
	Severity     Severity    `json:"severity,omitempty"`     // errors only
	Path         string      `json:"path,omitempty"`         // JSONPath, RFC 9535
	Presentation string      `json:"presentation,omitempty"` // warnings only
	ContentType  string      `json:"content_type,omitempty"` // plain (default) or markdown
	Content      string      `json:"content"`
	ImageURL     string      `json:"image_url,omitempty"` // warnings only
	URL          string      `json:"url,omitempty"`       // warnings only
}

// Error returns a message about an error that blocks the checkout. path may be "".
func Error(code Code, severity Severity, path, content string) Message {
	return Message{Type: MessageError, Code: code, Severity: severity, Path: path, Content: content}
}

// Warning returns a message that the platform should consider.
func Warning(code Code, path, content string) Message {
	return Message{Type: MessageWarning, Code: code, Path: path, Content: content}
}

// Disclosure returns a warning that the platform must show to the buyer.
func Disclosure(code Code, path, content string) Message {
	return Message{Type: MessageWarning, Code: code, Path: path, Presentation: PresentationDisclosure, Content: content}
}

// Info returns a message that needs no action.
func Info(code Code, content string) Message {
	return Message{Type: MessageInfo, Code: code, Content: content}
}

// EligibilityWarning returns the warning that claims of the buyer were not recognized. They never
// block a checkout.
func EligibilityWarning() Message {
	return Warning(EligibilityNotAccepted, "$.context.eligibility",
		"This store recognizes none of the claims in context.eligibility; prices and offers are the same for everyone.")
}
