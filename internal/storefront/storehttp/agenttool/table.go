package agenttool

import (
	"bytes"
	"encoding/json"
	"fmt"

	"ace/internal/protocol/mcp"
)

// The names of the tools.
const (
	SiteInfo          = "site_info"
	SearchPages       = "search_pages"
	ReadPage          = "read_page"
	ListProducts      = "list_products"
	CreateCheckout    = "create_checkout"
	GetCheckout       = "get_checkout"
	ListServices      = "list_services"
	AISearchAudit     = "run_ai_search_audit"
	StructuredData    = "run_structured_data_pack"
	LLMsTextDraft     = "run_llms_txt_draft"
	paymentParameter  = "payment_signature"
	paymentHTTPHeader = "PAYMENT-SIGNATURE"
)

// Table returns what is to be known of the ten tools, in the order in which
// tools/list shows them. Their schemas depend on nothing; Meta is left out.
func Table() []Tool {
	var tools []Tool
	for _, d := range definitions() {
		tools = append(tools, d.Tool)
	}
	return tools
}

// definitions is the table of the tools.
func definitions() []definition {
	reads := mcp.Annotations{ReadOnly: true, Idempotent: true}
	return []definition{
		typed(Read, mcp.Tool{
			Name: SiteInfo, Title: "About this store", Annotations: reads,
			Description: "Describes this store: who runs it, its policies, and the address of everything that a " +
				"program can read here (sitemap, docs, contact, " +
				"API description, catalog, discovery documents). Takes no arguments. Call it first if you do not " +
				"know the store.",
		}, (*Set).siteInfo),
		typed(Read, mcp.Tool{
			Name: SearchPages, Title: "Find pages", Annotations: reads,
			Description: "Finds pages of this store by the words of their URL path, best match first. It looks at " +
				"paths, not at the text of pages: give topics such as " +
				"refunds, shipping or the name of a product, not whole questions. Plurals, beginnings of the last " +
				"word and one wrong letter are forgiven. " +
				"Read what is found with read_page.",
		}, (*Set).searchPages),
		typed(Read, mcp.Tool{
			Name: ReadPage, Title: "Read a page", Annotations: reads,
			Description: "Reads one page of this store as Markdown or as text without markup, up to 40,000 " +
				"characters per call. Give path as search_pages answers it, " +
				"for example /refunds. If the answer has truncated: true, call again with offset set to its " +
				"next_offset. Pages of other hosts are not read here.",
		}, (*Set).readPage),
		typed(Buy, mcp.Tool{
			Name: ListProducts, Title: "List what can be bought", Annotations: reads,
			Description: "Lists everything that can be bought here, with prices read from the payment processor, " +
				"billing interval, free trial, delivery and live " +
				"availability. Without arguments it lists all; query, category and available narrow it. " +
				"price.display is for people, price.amount is in the minor unit " +
				"of the currency (1900 USD is 19.00). Pass the id of an offer to create_checkout as offer_id.",
		}, (*Set).listProducts),
		typed(Buy, mcp.Tool{
			Name: CreateCheckout, Title: "Start a purchase", Annotations: mcp.Annotations{OpenWorld: true},
			Description: "Starts the purchase of one offer. Answers status requires_escalation and continue_url, the " +
				"address of a payment page: give it to the person who " +
				"buys. They pay there, and enter an e-mail address and, for hardware, where to ship to. This tool " +
				"charges nothing and takes no payment details. Tell the " +
				"person the price and terms that the answer states. Then call get_checkout with the answered id to " +
				"learn whether it is paid.",
		}, (*Set).createCheckout),
		typed(Buy, mcp.Tool{
			Name: GetCheckout, Title: "Read a purchase", Annotations: reads,
			Description: "Reads a purchase that create_checkout started. status requires_escalation: not paid yet, " +
				"the person goes to continue_url; complete_in_progress: " +
				"paid by a slow method, wait; completed: paid, order names the order; canceled: over without a " +
				"charge, start another. With wait_seconds it answers as " +
				"soon as the status changes, or after that time: prefer that to calling again and again.",
		}, (*Set).getCheckout),
		typed(Paid, mcp.Tool{
			Name: ListServices, Title: "List website services", Annotations: reads,
			Description: "Lists the paid website services (the run_ tools): current prices, availability and x402 " +
				"payment requirements. Free; it asks for no payment and runs nothing.",
		}, (*Set).listServices),
		paid[crawlInput](AISearchAudit, "Audit a website for AI search",
			"Audits how well AI search engines and agents can reach, read and understand a website: crawls some of "+
				"its pages and answers a score, the result of each check "+
				"with its evidence, and what to fix first."),
		paid[crawlInput](StructuredData, "Make a structured data pack",
			"Reads and validates the structured data (JSON-LD, microdata, RDFa, Open Graph) of a website and answers "+
				"faults and ready-to-paste JSON-LD made of what its pages say."),
		paid[draftInput](LLMsTextDraft, "Draft an llms.txt",
			"Drafts the file llms.txt of a website from its pages: title, summary, and sections of links with notes, "+
				"checked against the format."),
	}
}

// plain leaves out the formats of numbers, which say nothing to a model and
// which strict validators do not know.
func plain(schema json.RawMessage) json.RawMessage {
	if schema == nil {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		panic(fmt.Sprintf("agenttool: a schema is not JSON: %v", err))
	}
	strip(tree)
	text, err := json.Marshal(tree)
	if err != nil {
		panic(fmt.Sprintf("agenttool: a schema does not encode: %v", err))
	}
	return text
}

func strip(node any) {
	switch n := node.(type) {
	case map[string]any:
		if n["format"] == "int64" || n["format"] == "double" {
			delete(n, "format")
		}
		for _, value := range n {
			strip(value)
		}
	case []any:
		for _, value := range n {
			strip(value)
		}
	}
}
