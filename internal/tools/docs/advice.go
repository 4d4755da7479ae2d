package main

// advice contains the next step for each error code.
var advice = map[string]string{
	// Requests.
	"bad_request":           "Send a well-formed path that begins with a slash.",
	"body_required":         "Send a JSON body.",
	"body_too_large":        "Send less in one request.",
	"body_unreadable":       "Send the request again; look at the connection if it happens often.",
	"client_closed_request": "Only in logs: the client disconnected before the response.",
	"duplicate":             "Send each entry once.",
	"internal_error":        "Try again. If it lasts, send the request id to the operator.",
	"invalid_arguments":     "Read `errors` and compare the arguments with the tool's `inputSchema`.",
	"invalid_choice":        "Use one of the values that the message lists.",
	"invalid_cursor":        "Start at the first page, and use a cursor only with the list that it came from.",
	"invalid_format":        "Write the value in the form that the message names.",
	"invalid_json":          "Send plain JSON: no duplicate fields, valid UTF-8, ordinary numbers.",
	"invalid_length":        "Use the length that the message names.",
	"invalid_limit":         "Use a number within the range.",
	"invalid_part":          "Give each part of a message exactly one of text, raw, url and data.",
	"invalid_request": "Read the message and `errors`, and fix the request. Repeating it unchanged " +
		"does not help.",
	"invalid_type":           "Send the type of value that the description names.",
	"invalid_value":          "Compare the value with the description in /openapi.json.",
	"method_not_allowed":     "Use one of the methods in the header `Allow`.",
	"missing_field":          "Add the field that is named.",
	"not_acceptable":         "Ask for one of the media types that the message lists, or send no `Accept`.",
	"not_found":              "Check the path or the id.",
	"out_of_range":           "Use the range that the message names.",
	"request_timeout":        "Try again, with less data per request.",
	"required":               "Add the field that is named.",
	"too_long":               "Shorten the text.",
	"too_many":               "Send fewer entries.",
	"unknown_field":          "Remove the field, or correct its spelling.",
	"unknown_parameter":      "Remove the parameter, or correct its spelling.",
	"unsupported_media_type": "Send `Content-Type: application/json`.",

	// Limits.
	"cost_too_high": "Send the request in parts; waiting does not help.",
	"rate_limited": "Wait for the time in `Retry-After`. The store allows one request per second and client, with a " +
		"small burst.",
	"task_busy": "Read the task and send the request again in a moment.",

	// Apps and tools of the platform.
	"app_not_found":  "Search the apps by name; ids are lower case.",
	"tool_not_found": "Describe the task to find a tool, or list those of the app.",

	"invalid_max_pages": "Ask for 1 to 25 pages.",

	"app_needs_no_connection": "Run the app's tools as they are.",
	"app_not_connectable": "`connectable_reason` says why. Operators: register with the vendor, with the " +
		"redirect URI in the error.",
	"approval_not_found":        "Compare the id with the response that requested the approval.",
	"approval_over":             "Read the run to see how it ended.",
	"client_misconfigured":      "Operators: set a new OAuth client for the app. Existing connections then continue.",
	"connect_cookie_missing":    "Allow cookies for the page and load it again.",
	"connect_link_unknown":      "Create a new link.",
	"connect_other_account":     "Sign in to the account that the link was made for, or create a link for this one.",
	"connect_other_browser":     "Continue in the browser that opened the link first, or create a new link.",
	"too_many_tools":            "Name the tools that you need in `?tools=`.",
	"state_invalid":             "Call the tool again without `requestState`.",
	"connect_session_busy":      "Load the page again in a moment.",
	"connect_session_expired":   "Create a new link.",
	"connect_session_not_found": "Compare the id with the response of connect.",
	"connect_session_used": "Check the connections: the app may be connected already. Create a new link for " +
		"another connection.",
	"connect_undo_over":          "Delete the connection on the account page.",
	"connect_unverified":         "Create a new link for the right user.",
	"connection_ambiguous":       "Name one of `connections` as connection_id, or make one the default.",
	"connection_disabled":        "Switch the connection on again, or name another.",
	"connection_mismatch":        "Reconnect with the same account at the vendor, or create a new connection.",
	"connection_not_found":       "Compare the id with `GET /connections`.",
	"custom_connector_not_found": "Compare the id with `GET /custom-connectors`.",
	"too_many_connectors":        "Delete a connector that is not used.",
	"connector_changed":          "Look at the changes with `POST /custom-connectors/{id}/refresh` and approve them.",
	"credentials_refused":        "Check what was typed against the vendor's page; it was not stored.",
	"file_not_found":             "Upload the file again: files are deleted after a while.",
	"file_quota_reached":         "Wait until older files expire, or send less.",
	"file_too_large":             "Send a smaller file.",
	"idempotency_in_progress":    "Repeat the same request in a moment, with the same key.",
	"idempotency_key_reused":     "Use a new key for another request.",
	"identity_refused": "Start the sign-in again in one browser; " +
		"if it fails again, ask the owner of the account.",
	"identity_unavailable":   "Try again later, or sign in by a link.",
	"import_failed":          "Read `errors`, fix the document or the URL, and import again.",
	"insufficient_scope":     "Reconnect with the scopes that `missing_scopes` names.",
	"invalid":                "Compare the value with the description.",
	"invalid_fields":         "Fill in the fields that `errors` names.",
	"invalid_oauth_client":   "Set both id and secret as the vendor shows them.",
	"not_connected":          "Connect the app: the link in `connect`, or `POST /apps/{app}/connect`.",
	"oauth_client_not_found": "Set the app's OAuth client first.",
	"output_expired":         "Run the tool again: outputs are stored for a day.",
	"reconnect_required":     "Open the link in `connect`, or `POST /connections/{id}/reconnect`.",
	"run_in_progress":        "Read the run under its id.",
	"backlog_full":           "For apps: send it again after `Retry-After`. Owners: see the history of the trigger.",
	"hook_gone":              "For apps: the trigger was deleted; send nothing more there.",
	"hook_not_found":         "Only the app that a trigger was registered at knows its URL.",
	"request_too_large":      "For apps: send less at once.",
	"trigger_not_found":      "Compare the id with `GET /triggers`.",
	"trigger_setup_failed":   "`detail` is what the app said: correct `config`, or grant the connection what it lacks.",
	"trigger_type_not_found": "`events` has those of the app; see `GET /apps/{app}/triggers`.",
	"run_not_found":          "Compare the id with `GET /runs`.",
	"run_not_over":           "Wait: read the run until it has ended.",
	"run_timeout": "Read the run under `run_id`: it may still finish. `safe_to_retry` says whether to " +
		"run again.",
	"sign_in_required":        "Sign in first.",
	"sign_in_unknown":         "Open the link again.",
	"slug_taken":              "Choose another slug.",
	"unknown":                 "Remove the field, or correct its spelling.",
	"webhook_url_not_allowed": "Use an https URL that is reachable from the internet.",
	"unknown_app_params":      "Use the params that the app's page names.",

	// Accounts and keys of the platform.
	"vault_key_not_found": "Compare the id with the keys of ace vault status.",
	"vault_unavailable": "Follow the message about the key management service or the key; ace vault continues " +
		"where it stopped.",
	"api_key_not_found":      "Compare the id with the list of keys.",
	"account_disabled":       "Ask the operator of this platform.",
	"account_exists":         "Choose another name or another e-mail address.",
	"account_not_found":      "Compare the name with `ace account list`.",
	"csrf_token_invalid":     "Load the page again and send the form again.",
	"invalid_account_name":   "Use 1 to 40 lower-case letters, digits, - and _.",
	"invalid_approval":       "Use none, destructive or writes.",
	"invalid_email":          "Write a plain address such as ann@example.com.",
	"invalid_expiry":         "Choose a time in the future, or omit it.",
	"invalid_grace":          "Use 0 to 2,592,000 seconds.",
	"invalid_key":            "Copy the key again, whole. A lost key cannot be shown again: create a new one.",
	"invalid_name":           "Use 1 to 100 characters.",
	"invalid_network":        "Write networks like 192.0.2.0/24.",
	"invalid_password":       "Use at least 12 characters.",
	"invalid_permissions":    "Use any of read, connect and run.",
	"ip_not_allowed":         "Call from a network that the key is restricted to, or ask for another key.",
	"key_expired":            "Ask the owner of the account for another key.",
	"key_restricted":         "Use what the key is for, or ask the owner for another.",
	"key_revoked":            "Ask the owner of the account for another key.",
	"link_invalid":           "Create a new link: `ace account link NAME`.",
	"missing_key":            "Send `Authorization: Bearer ace_…`.",
	"permission_required":    "Ask the owner of the account for a key with the permission that `required` names.",
	"role_required":          "Ask the owner of the account to do it, or to change your role.",
	"session_required":       "Sign in on the account page.",
	"sign_in_blocked":        "Wait for the time in `Retry-After`, or sign in by a link.",
	"fresh_sign_in_required": "Sign in by a new link (`ace account link NAME`), then try again within 15 minutes.",
	"password_wrong":         "Enter the password that you use now, or sign in by a new link.",
	"session_not_found":      "Nothing: the sign-in has ended.",
	"sign_in_refused":        "Check e-mail address and password, or sign in by a link.",
	"user_unknown":           "Ask the owner of the account to add your e-mail address.",

	// Signing in to apps.
	"app_bad_request":  "Read the message of the app and fix the arguments.",
	"app_forbidden":    "Ask the owner of the account at the app for the permission, or connect another account.",
	"app_unauthorized": "Connect the app again.",
	"app_unavailable":  "Try again in a few minutes.",
	"oauth_client_missing": "Ask the operator of this platform to register an OAuth client with the app, " +
		"or connect it " +
		"in another way.",
	"provider_unavailable": "Try again in a few minutes; nothing was connected.",
	"sign_in_denied":       "Open a new link if the refusal was a mistake.",
	"sign_in_failed":       "Open a new link and sign in again. If it fails again, send the `reason` to the operator.",

	// Offers.
	"invalid_available": "Write `available=true`, `available=false`, or omit it.",
	"invalid_category":  "Use one of the categories that the message lists.",
	"offer_not_found":   "Read the catalog again; the offer may have been removed.",
	"product_not_found": "Search the catalog.",
	"query_too_long":    "Search for fewer words.",

	// Paid services.
	"facilitator_unavailable": "Repeat the request with the same payment in a few seconds; nothing was charged.",
	"payer_busy":              "Wait for the current run, then repeat the request with the same payment.",
	"payment_bound_to_other_request": "Repeat the request that the payment was first sent with; sign a new payment " +
		"for another one.",
	"payment_identifier_in_use": "Use a new payment identifier or idempotency key for a new request.",
	"payments_not_configured": "Paid services are not available here. Operators: set ACE_X402_PAY_TO and " +
		"ACE_X402_FACILITATOR_URL.",
	"service_failed":          "Nothing was charged. Repeat the request with the same payment.",
	"service_file_not_found":  "Read the order for the names of its files.",
	"service_not_found":       "Use an id from `GET /v1/services`.",
	"service_not_installed":   "Choose another service.",
	"service_not_paid":        "Repeat the paid request with the same payment; the files come with the result.",
	"invalid_transaction":     "Write the whole hash of the transaction.",
	"service_order_decided":   "Read the order; decide once its payment can no longer arrive by itself.",
	"service_order_not_found": "Use the id from the response to the paid request.",
	"service_result_expired":  "Buy the service again: results are stored for 30 days.",
	"services_busy":           "Repeat the request with the same payment in a few seconds; nothing was charged.",
	"unsettled_work": "Repeat one of the earlier requests with a payment that can be settled, or " +
		"retry in a day.",

	// Checkout.
	"checkout_changed":   "Read the session and decide again.",
	"checkout_in_flight": "Repeat the same request in a moment, with the same idempotency key.",
	"checkout_not_found": "Use the id from the create response. Ids of other stores and guessed ids get " +
		"the same error.",
	"checkout_not_modifiable":    "The session has ended. Read it to see how; open a new one to buy.",
	"hold_limit":                 "Cancel a session that you do not need, or send the buyer to the one that is open.",
	"invalid_quantity":           "Ask for a quantity within the range.",
	"multiple_items_unsupported": "Create one checkout per offer.",
	"offer_required":             "Send the id of one offer.",
	"page_not_open":              "Open a new checkout.",
	"processor_refused":          "Choose another offer. Operators: the log names the offer and Stripe's reason.",
	"processor_unavailable":      "Try again in a few seconds; nothing was charged.",
	"sold_out":                   "Choose another offer, or check the availability later.",
	"unsupported_currency":       "Use the currency of the offer.",

	// Idempotency.
	"idempotency_conflict":     "Use a new key for a new request; repeat a request unchanged with its key.",
	"idempotency_in_flight":    "Wait a moment and repeat the request with the same key.",
	"idempotency_key_required": "Send `Idempotency-Key`, a new one for each request and the same one for a retry.",
	"idempotency_unavailable":  "Repeat the request with the same key.",
	"invalid_idempotency_key":  "Use a short key of printable characters, such as a UUID.",

	// Website services.
	"site_excludes_crawler": "Nothing was charged. Allow the crawler in the site's robots.txt, or ask its owner to.",
	"site_not_readable": "Nothing was charged. Check that the URL returns 200 with an HTML page to a program " +
		"without scripts.",
	"services_not_offered": "Do not pay and do not repeat the call. `list_services` shows when services are " +
		"available.",

	// UCP.
	"algorithm_unsupported": "Sign with one of the algorithms that the message lists, or do not sign.",
	"capabilities_incompatible": "Declare `dev.ucp.shopping.checkout` in a version of this store, or omit " +
		"`UCP-Agent`.",
	"digest_mismatch":                  "Compute `Content-Digest` over the bytes that are sent.",
	"eligibility_not_accepted":         "Nothing: the claim is not used here and blocks nothing.",
	"expired":                          "Open a new checkout.",
	"invalid_profile_url":              "Use an https URL of your profile, or omit `UCP-Agent`.",
	"item_unavailable":                 "Choose another offer.",
	"key_not_found":                    "Publish the key in your profile, or sign with one that is there.",
	"out_of_stock":                     "Choose another offer, or check the availability later.",
	"payment_failed":                   "The delayed payment failed. Open a new checkout.",
	"payment_instruments_not_accepted": "Send the buyer to `continue_url`; nothing of it was stored.",
	"payment_required":                 "Send the buyer to `continue_url`.",
	"price_changed":                    "Show the new price to the buyer before you continue.",
	"profile_busy":                     "Repeat the request in a few seconds.",
	"profile_malformed":                "Fix your profile, or omit `UCP-Agent`.",
	"profile_not_trusted":              "Use a profile that this store accepts, or omit `UCP-Agent`.",
	"profile_unreachable": "Make your profile readable over https without redirects, or omit " +
		"`UCP-Agent`.",
	"quantity_unit_mismatch": "Omit the unit: quantities are whole items.",
	"recurring_charge":       "Show the message to the buyer: the charge is recurring.",
	"service_unavailable":    "Wait for the time in `Retry-After` and retry.",
	"signature_invalid": "Sign again, or send the request without a signature. Operators, for Stripe's " +
		"messages: check the signing secret and the clock.",
	"signature_missing":   "Sign the request.",
	"tax_at_payment":      "Nothing: tax is computed on the payment page.",
	"version_unsupported": "Declare one of the versions that the message lists, or none.",

	// ACP.
	"checkout_session_not_cancelable": "The session has ended already. Read it to see how.",
	"checkout_session_not_found":      "Use the id from the create response.",
	"invalid_item_id":                 "Read the catalog again; the offer may have been removed.",
	"missing_api_version":             "Send `API-Version`, or none of ACP's headers.",
	"missing_required_field":          "Add the field that `param` names.",
	"unsupported_api_version":         "Use one of `supported_versions`.",

	// x402.
	"invalid_payload": "Send the whole x402 version 2 payment, base64 of its JSON, once: as `payment_signature`, in " +
		"`_meta` or in the header `PAYMENT-SIGNATURE`.",

	// Operators.
	"event_not_found":     "Use an id of the history of the trigger, or one that `ace order show` lists.",
	"event_unreadable":    "Check that Stripe alone posts to this address.",
	"invalid_amount":      "Refund at most the remaining amount of the order.",
	"nothing_to_refund":   "Nothing: the order is fully refunded.",
	"order_changed":       "Read the order and try again.",
	"order_not_found":     "Find the id with `ace order list`.",
	"order_not_in_review": "Nothing: the order needs no decision.",
	"refund_not_found":    "Use an id of the history of the trigger, or one that `ace order show` lists.",
	"refund_refused":      "Check the payment in the processor's dashboard.",

	// Outbound calls.
	"response_too_large": "Use a URL with a smaller response.",
	"target_bad_answer":  "Check the server at the called URL.",
	"target_not_allowed": "Use a public URL, or see `ACE_EGRESS_ALLOW` in [configuration.md](configuration.md).",
	"target_timeout":     "Try again; check that the host is up.",
	"target_unreachable": "Check the host's name and port, and that it is up.",

	// Pages of the site.
	"invalid_offset": "Use an offset that the answer before named, or 0.",
	"page_private":   "Nothing: this page is not for agents.",
	"path_or_url":    "Send one of the two.",
	"path_required":  "Name the page.",
	"query_required": "Say what to search for.",
	"invalid_path":   "Give the path of a page on this site, such as /docs.",
	"invalid_url": "Give a whole address, such as https://example.com; of a page of this store, its path is " +
		"enough.",
	"other_host":        "Read pages of other hosts from those hosts.",
	"page_not_found":    "Find pages with the search, or in /sitemap.xml.",
	"loop_detected":     "Operators: serve the website's pages from the website, not through the store.",
	"page_not_text":     "Download the address itself.",
	"page_too_large":    "Fetch the page from the website itself.",
	"site_unreachable":  "Try again in a minute.",
	"sitemap_not_found": "Read /sitemap.xml for the parts that there are.",
	"path_outside_site": "Use a path as the search answers it.",
}
