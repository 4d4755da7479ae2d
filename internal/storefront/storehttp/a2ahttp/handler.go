package a2ahttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/a2a"
	"ace/internal/protocol/mcp"
	"ace/internal/storefront/checkout"
)

// Path is where the agent is called, with and without a slash at its end.
const Path = "/agent/a2a"

// SkillsPath is the identifier and the address of the extension that says how
// the skills are asked: their actions with schemas.
const SkillsPath = Path + "/ext/site-skill/v1"

// KeySetPath is where the keys of the card's signatures are published.
const KeySetPath = "/.well-known/jwks.json"

// Site is what the card says about the store.
type Site struct {
	BaseURL, Name    string // BaseURL is without a slash at the end
	Operator         string // who runs the store
	Version          string // of the API
	DocumentationURL string // may be empty
	IconURL          string // may be empty
}

// Action is something that the site skill does.
type Action struct {
	Name, Description string
	// InputSchema and OutputSchema are JSON Schemas of objects. OutputSchema may
	// be nil.
	InputSchema, OutputSchema json.RawMessage
	// Do runs the action on an input that fits the schema and returns a JSON object. Problems of
	// kind Malformed, Invalid, Forbidden and Unprocessable are about the input.
	Do func(ctx context.Context, header http.Header, input json.RawMessage) (json.RawMessage, error)
}

// Sales runs checkout sessions; *checkout.Service is one.
type Sales interface {
	Create(ctx context.Context, req checkout.Request) (*checkout.Session, error)
	Get(ctx context.Context, id string) (*checkout.Session, error)
	Cancel(ctx context.Context, id, trace string) (*checkout.Session, error)
}

// Clients identifies clients; *sessionhttp.Sessions is one.
type Clients interface {
	// Agent returns what a request says about the software that sent it.
	Agent(ctx context.Context, h http.Header) checkout.Agent
	// ClientKey is a keyed digest of the network that a client calls from.
	ClientKey(ctx context.Context) string
}

// Deps are what the agent is made of. All but Signer are required.
type Deps struct {
	Site    Site
	Actions []Action // of the site skill
	Sales   Sales
	Clients Clients
	// ContinueURL is where to send the buyer of an open session.
	ContinueURL func(*checkout.Session) string
	// Show returns a session as other protocols show it: a JSON object.
	Show  func(ctx context.Context, session *checkout.Session) (json.RawMessage, error)
	Tasks a2a.Store
	// MAC is a keyed digest: ids that clients make up are kept as nothing else.
	MAC func(label string, parts ...[]byte) string
	// Signer signs the card. Nil: it is not signed.
	Signer *httpsig.Signer
}

// Handler is the agent. It is safe for concurrent use.
type Handler struct {
	Deps
	skills []skill
	server *a2a.Server

	card, keys, schemas []byte // documents, rendered once
}

var _ a2a.Agent = (*Handler)(nil)

// skill is a group of actions, as messages name it.
type skill struct {
	id, about string
	actions   []*action
}

// action is an Action that is ready to be asked for. Do is nil for those of the
// checkout skill.
type action struct {
	Action
	skill string
	input *mcp.Schema
}

// New returns an agent. It fails on a schema that cannot be compiled.
func New(d Deps) (*Handler, error) {
	f := &Handler{Deps: d}
	site := skill{
		id:    skillSite,
		about: "Facts about the store, its pages, what it sells and which website services it has. Reads only.",
	}
	sale := skill{
		id: skillCheckout,
		about: "Opens a checkout for one offer. A person pays on the page that the task names; nothing is charged " +
			"before.",
	}
	for _, a := range d.Actions {
		site.actions = append(site.actions, &action{Action: a, skill: site.id})
	}
	sale.actions = append(sale.actions, &action{skill: sale.id, Action: Action{
		Name:        actionCreate,
		Description: "Starts the purchase of one offer and answers a task that waits for the payment. Charges nothing.",
		InputSchema: createSchema(),
	}})
	f.skills = []skill{site, sale}
	for _, s := range f.skills {
		for _, a := range s.actions {
			var err error
			if a.input, err = mcp.CompileSchema(a.InputSchema); err != nil {
				return nil, fmt.Errorf("input schema of action %s: %w", a.Name, err)
			}
		}
	}
	f.server = a2a.New(f, &a2a.Options{Extensions: []string{f.extensionURI()}})
	var errs [3]error
	f.card, errs[0] = f.renderCard()
	f.keys, errs[1] = f.renderKeys()
	f.schemas, errs[2] = f.renderSkills()
	return f, errors.Join(errs[:]...)
}

// ServeHTTP serves the endpoint.
func (f *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.server.ServeHTTP(w, r) }

func (f *Handler) extensionURI() string { return f.Site.BaseURL + SkillsPath }
