package ucp

// Status says whether an answer carries what was asked for.
type Status string

// The statuses of answers.
const (
	StatusSuccess Status = "success"
	StatusError   Status = "error"
)

// Meta is the member ucp of every answer.
type Meta struct {
	Version      Version      `json:"version"`
	Status       Status       `json:"status,omitempty"`
	Capabilities Capabilities `json:"capabilities,omitempty"`
	// PaymentHandlers is an empty object in checkouts, since none is taken,
	// and absent (nil) elsewhere.
	PaymentHandlers map[string][]Capability `json:"payment_handlers,omitzero"`
}

// CheckoutMeta is the member ucp of a checkout.
func CheckoutMeta(v Version) Meta {
	return Meta{
		Version: v, Status: StatusSuccess, Capabilities: Response(v, CapabilityCheckout),
		PaymentHandlers: map[string][]Capability{},
	}
}

// CatalogMeta is the member ucp of an answer of the catalog; capability is
// CapabilityCatalogSearch or CapabilityCatalogLookup.
func CatalogMeta(v Version, capability string) Meta {
	return Meta{Version: v, Status: StatusSuccess, Capabilities: Response(v, capability)}
}

// Link is an address that a platform shows, or a seller's.
type Link struct {
	Type  string `json:"type"`
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// The types of links that the protocol knows. Others are allowed.
const (
	LinkTermsOfService = "terms_of_service"
	LinkPrivacyPolicy  = "privacy_policy"
	LinkRefundPolicy   = "refund_policy"
	LinkShippingPolicy = "shipping_policy"
	LinkFAQ            = "faq"
)
