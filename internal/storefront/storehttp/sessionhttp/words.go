package sessionhttp

import "ace/internal/storefront/offer"

// TotalWords say what the total of an unpaid session leaves open.
func TotalWords(o *offer.Offer) string {
	taxed, shipped := o.Tax != offer.TaxIncluded, o.Delivery.Type == offer.Shipping
	switch {
	case o.TrialDays > 0:
		return "Due today"
	case taxed && shipped:
		return "Total before shipping and tax"
	case taxed:
		return "Total before tax"
	case shipped:
		return "Total before shipping"
	}
	return "Total"
}

// RecurringTerms say what a subscription costs and until when.
func RecurringTerms(o *offer.Offer) string {
	if o.TrialDays > 0 {
		return o.TrialSummary() + " until canceled."
	}
	return o.BillingSummary() + "."
}
