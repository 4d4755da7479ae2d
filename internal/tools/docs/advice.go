package main

// advice says, for each code, what its reader does next.
var advice = map[string]string{
	// Requests.
	"bad_request":            "Send a well-formed path that begins with a slash.",
	"body_required":          "Send a JSON body.",
	"body_too_large":         "Send less in one request.",
	"body_unreadable":        "Send the request again; look at the connection if it happens often.",
	"client_closed_request":  "Nobody reads this answer: it stands in the log of a request whose client went away.",
	"duplicate":              "Send each entry once.",
	"internal_error":         "Try again. If it lasts, tell the operator the request's id.",
	"invalid_arguments":      "Read `errors` and compare the arguments with the tool's `inputSchema`.",
	"invalid_choice":         "Use one of the values that the sentence lists.",
	"invalid_cursor":         "Start at the first page, and use a cursor only with the list that it came from.",
	"invalid_format":         "Write the value in the form that the sentence names.",
	"invalid_json":           "Send plain JSON: no repeated members, whole characters, ordinary numbers.",
	"invalid_length":         "Keep to the length that the sentence names.",
	"invalid_limit":          "Use a number within the range.",
	"invalid_request":        "Read the sentence and the single faults, and mend the request. Repeating it unchanged does not help.",
	"invalid_type":           "Send the type of value that the description names.",
	"invalid_value":          "Compare the value with the description in /openapi.json.",
	"method_not_allowed":     "Use one of the methods in the header `Allow`.",
	"missing_field":          "Add the member that is named.",
	"not_acceptable":         "Ask for one of the media types that the sentence lists, or send no `Accept`.",
	"not_found":              "Check the path or the id.",
	"out_of_range":           "Keep to the range that the sentence names.",
	"request_timeout":        "Try again, with less at once if you can.",
	"required":               "Add the member that is named.",
	"too_long":               "Shorten the text.",
	"too_many":               "Send fewer entries.",
	"unknown_field":          "Take the member out, or correct its spelling.",
	"unknown_parameter":      "Take the parameter out, or correct its spelling.",
	"unsupported_media_type": "Send `Content-Type: application/json`.",

	// Limits.
	"cost_too_high": "Send the request in parts; waiting does not help.",
	"rate_limited":  "Wait as long as `Retry-After` says. The store allows one request a second per client, with a small burst.",

	// Offers.
	"invalid_available": "Write `available=true`, `available=false`, or leave it out.",
	"invalid_category":  "Use one of the categories that the sentence lists.",
	"offer_not_found":   "Read the catalog again; the offer may have been taken back.",
	"product_not_found": "Search the catalog for what is there.",
	"query_too_long":    "Search for fewer words.",

	// Checkout.
	"checkout_changed":           "Read the session and decide again.",
	"checkout_in_flight":         "Repeat the same request in a moment, with the same idempotency key.",
	"checkout_not_found":         "Use the id that the create answer gave. Ids of other stores and guessed ones read the same.",
	"checkout_not_modifiable":    "The session has ended. Read it to see how; open a new one to buy.",
	"hold_limit":                 "Cancel a session that you do not need, or send the buyer to the one that is open.",
	"invalid_quantity":           "Ask for a quantity within the range.",
	"multiple_items_unsupported": "Open one checkout per offer.",
	"offer_required":             "Name one offer by its id.",
	"page_not_open":              "Open a new checkout.",
	"processor_refused":          "Choose another offer. Operators: the log names the offer and Stripe's reason.",
	"processor_unavailable":      "Try again in a few seconds; nothing was charged.",
	"sold_out":                   "Choose another offer, or look at the availability later.",
	"unsupported_currency":       "Use the currency of the offer.",

	// Idempotency.
	"idempotency_conflict":     "Use a new key for a new request; repeat a request unchanged with its key.",
	"idempotency_in_flight":    "Wait a moment and repeat the request with the same key.",
	"idempotency_key_required": "Send `Idempotency-Key`, new for each new request and the same for a repetition.",
	"idempotency_unavailable":  "Repeat the request with the same key.",
	"invalid_idempotency_key":  "Use a short key of printable characters, such as a UUID.",

	// Website services.
	"services_not_offered": "Do not pay and do not repeat the call. `list_services` tells when services are available.",

	// UCP.
	"algorithm_unsupported":            "Sign with one of the algorithms that the sentence lists, or do not sign.",
	"capabilities_incompatible":        "Declare `dev.ucp.shopping.checkout` in a version of this store, or leave `UCP-Agent` out.",
	"digest_mismatch":                  "Compute `Content-Digest` over the bytes that are sent.",
	"eligibility_not_accepted":         "Nothing: the claim is not used here and blocks nothing.",
	"expired":                          "Open a new checkout.",
	"invalid_profile_url":              "Name an https address of your profile, or leave `UCP-Agent` out.",
	"item_unavailable":                 "Choose another offer.",
	"key_not_found":                    "Publish the key in your profile, or sign with one that is there.",
	"out_of_stock":                     "Choose another offer, or look at the availability later.",
	"payment_failed":                   "The delayed payment failed. Open a new checkout.",
	"payment_instruments_not_accepted": "Send the buyer to `continue_url`; nothing that was sent has been kept.",
	"payment_required":                 "Send the buyer to `continue_url`.",
	"price_changed":                    "Show the new price to the buyer before going on.",
	"profile_busy":                     "Repeat the request in a few seconds.",
	"profile_malformed":                "Mend your profile, or leave `UCP-Agent` out.",
	"profile_not_trusted":              "Use a profile that this store accepts, or leave `UCP-Agent` out.",
	"profile_unreachable":              "Make your profile readable over https without redirects, or leave `UCP-Agent` out.",
	"quantity_unit_mismatch":           "Leave the unit out: quantities are counted in pieces.",
	"recurring_charge":                 "Show the sentence to the buyer: the charge comes back.",
	"service_unavailable":              "Wait as long as `Retry-After` says and try again.",
	"signature_invalid":                "Sign anew, or send the request without a signature. Operators, for Stripe's messages: check the signing secret and the clock.",
	"signature_missing":                "Sign the request.",
	"tax_at_payment":                   "Nothing: tax is computed on the payment page.",
	"version_unsupported":              "Declare one of the versions that the sentence lists, or none.",

	// ACP.
	"checkout_session_not_cancelable": "The session has ended already. Read it to see how.",
	"checkout_session_not_found":      "Use the id that the create answer gave.",
	"invalid_item_id":                 "Read the catalog again; the offer may have been taken back.",
	"missing_api_version":             "Send `API-Version`, or none of ACP's headers.",
	"missing_required_field":          "Add the member that `param` names.",
	"unsupported_api_version":         "Use one of `supported_versions`.",

	// x402.
	"invalid_payload": "Send the whole x402 version 2 payment, base64 of its JSON, once: as `payment_signature`, in `_meta` or in the header `PAYMENT-SIGNATURE`.",

	// Operators.
	"event_not_found":     "Use an id that `ace order show` lists.",
	"event_unreadable":    "Check that Stripe alone posts to this address.",
	"invalid_amount":      "Give back at most what is left of the order.",
	"nothing_to_refund":   "Nothing: all of it went back already.",
	"order_changed":       "Read the order and try again.",
	"order_not_found":     "Find the id with `ace order list`.",
	"order_not_in_review": "Nothing: the order needs no decision.",
	"refund_not_found":    "Use an id that `ace order show` lists.",
	"refund_refused":      "Look at the payment in the processor's dashboard.",

	// Outbound calls.
	"response_too_large": "Use an address whose answer is smaller.",
	"target_bad_answer":  "Check the server at the address that is called.",
	"target_not_allowed": "Use a public address, or see `ACE_EGRESS_ALLOW` in [configuration.md](configuration.md).",
	"target_timeout":     "Try again; check that the host is up.",
	"target_unreachable": "Check the host's name and port, and that it is up.",

	// Pages of the site.
	"invalid_offset":    "Use an offset that the answer before named, or 0.",
	"page_private":      "Nothing: this page is not for agents.",
	"path_or_url":       "Send one of the two.",
	"path_required":     "Name the page.",
	"query_required":    "Say what to search for.",
	"invalid_path":      "Give the path of a page on this site, such as /docs.",
	"invalid_url":       "Give a whole address on this site, or its path.",
	"other_host":        "Read pages of other hosts from those hosts.",
	"page_not_found":    "Find pages with the search, or in /sitemap.xml.",
	"loop_detected":     "Operators: serve the website's pages from the website, not through the store.",
	"page_not_text":     "Download the address itself.",
	"page_too_large":    "Fetch the page from the website itself.",
	"site_unreachable":  "Try again in a minute.",
	"sitemap_not_found": "Read /sitemap.xml for the parts that there are.",
	"path_outside_site": "Use a path as the search answers it.",
}
