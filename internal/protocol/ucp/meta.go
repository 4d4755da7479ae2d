package ucp

// Status is the status of a response.
type Status string

// The statuses of responses.
const (
	StatusSuccess Status = "success"
	StatusError   Status = "error"
)

// Meta is the field ucp of every response.
type Meta struct {
	Version      Version      `json:"version"`
	Status       Status       `json:"status,omitempty"`
	Capabilities Capabilities `json:"capabilities,omitempty"`
	// PaymentHandlers is an empty object in checkouts, since none is supported, and absent (nil)
	// elsewhere.
	PaymentHandlers map[string][]Capability `json:"payment_handlers,omitzero"`
}

// CheckoutMeta returns the field ucp of a checkout.
func CheckoutMeta(v Version) Meta {
	return Meta{
		Version: v, Status: StatusSuccess, Capabilities: Response(v, CapabilityCheckout),
		PaymentHandlers: map[string][]Capability{},
	}
}

// CatalogMeta returns the field ucp of a catalog response; capability is CapabilityCatalogSearch or
// CapabilityCatalogLookup.
func CatalogMeta(v Version, capability string) Meta {
	return Meta{Version: v, Status: StatusSuccess, Capabilities: Response(v, capability)}
}

// Link is a URL that a platform shows, or a seller's URL.
type Link struct {
	Type  string `json:"type"`
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// The types of links that the protocol defines. Others are allowed.
const (
	LinkTermsOfService = "terms_of_service"
	LinkPrivacyPolicy  = "privacy_policy"
	LinkRefundPolicy   = "refund_policy"
	LinkShippingPolicy = "shipping_policy"
	LinkFAQ            = "faq"
)
