package a2ahttp

import (
	"encoding/json"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/a2a"
	"ace/internal/storefront/storehttp/answer"
)

// Card is the agent card, signed if there is a key. Its bytes stay the same
// while the process runs, and are the same in all replicas.
func (f *Handler) Card() []byte { return f.card }

// KeySet is the JWK Set of the keys that sign the card.
func (f *Handler) KeySet() []byte { return f.keys }

// Skills is the document of the extension.
func (f *Handler) Skills() []byte { return f.schemas }

func (f *Handler) renderKeys() ([]byte, error) {
	keys := []httpsig.JWK{}
	if f.Signer != nil {
		keys = append(keys, f.Signer.JWK())
	}
	return answer.JSON(map[string]any{"keys": keys})
}

func (f *Handler) renderCard() ([]byte, error) {
	card := a2a.Card{
		Name: f.Site.Name,
		Description: "Answers structured questions about this store (pages, products, services) and opens " +
			"checkouts that a person pays. No account, no key.",
		SupportedInterface: []a2a.Interface{{
			URL: f.Site.BaseURL + Path, ProtocolBinding: a2a.JSONRPC,
			ProtocolVersion: a2a.Version,
		}},
		Provider: &a2a.Provider{Organization: f.Site.Operator, URL: f.Site.BaseURL},
		Version:  f.Site.Version, DocumentationURL: f.Site.DocumentationURL, IconURL: f.Site.IconURL,
		Capabilities: a2a.Capabilities{Extensions: []a2a.Extension{{
			URI: f.extensionURI(),
			Description: "The actions of the skills with the JSON Schemas of their inputs and outputs; the address " +
				"of the extension answers them.",
			Params: json.RawMessage(`{"schemas":"` + f.extensionURI() + `"}`),
		}}},
		InputModes: []string{a2a.MediaJSON, a2a.MediaText}, OutputModes: []string{a2a.MediaJSON, a2a.MediaText},
		Skills: []a2a.Skill{
			{
				ID: skillSite, Name: "Public site",
				Description: "Site facts, page search, page text, products with verified prices, website services. " +
					"Send one data part with skill, action and input.",
				Tags: []string{"site", "search", "catalog", "shopping"},
				Examples: examples(`{"skill":"site","action":"search_pages","input":{"query":"refund policy"}}`,
					`{"skill":"site","action":"list_products","input":{"available":true}}`),
				InputModes: []string{a2a.MediaJSON}, OutputModes: []string{a2a.MediaJSON},
			},
			{
				ID: skillCheckout, Name: "Checkout",
				Description: "Opens a checkout for one offer. The task waits for a person to pay at the address that " +
					"it names, and is completed when that is done.",
				Tags: []string{"checkout", "shopping", "payment"},
				Examples: examples(
					`{"skill":"checkout","action":"create_checkout","input":{"offer_id":"id from list_products"}}`),
				InputModes: []string{a2a.MediaJSON}, OutputModes: []string{a2a.MediaJSON, "text/html"},
			},
		},
	}
	if f.Signer != nil {
		var err error
		if card, err = card.Sign(f.Signer, f.Site.BaseURL+KeySetPath); err != nil {
			return nil, err
		}
	}
	return answer.JSON(card)
}

func examples(texts ...string) []string { return texts }

// listedSkill is a skill as the extension and a task that asks for input list
// it.
type listedSkill struct {
	Skill   string         `json:"skill"`
	About   string         `json:"description"`
	Actions []listedAction `json:"actions"`
}

type listedAction struct {
	Action       string          `json:"action"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
}

// listed are the skills with their actions, with or without schemas of outputs.
func (f *Handler) listed(outputs bool) []listedSkill {
	var all []listedSkill
	for _, s := range f.skills {
		l := listedSkill{Skill: s.id, About: s.about}
		for _, a := range s.actions {
			entry := listedAction{Action: a.Name, Description: a.Description, InputSchema: a.InputSchema}
			if outputs {
				entry.OutputSchema = a.OutputSchema
			}
			l.Actions = append(l.Actions, entry)
		}
		all = append(all, l)
	}
	return all
}

func (f *Handler) renderSkills() ([]byte, error) {
	return answer.JSON(map[string]any{
		"uri": f.extensionURI(),
		"message": json.RawMessage(
			`{"role":"ROLE_USER","parts":[{"mediaType":"application/json","data":{"skill":"…","action":"…",` +
				`"input":{}}}]}`,
		),
		"skills": f.listed(true),
	})
}
