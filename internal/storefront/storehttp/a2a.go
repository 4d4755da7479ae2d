package storehttp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"ace/internal/foundation/httpserver"
	"ace/internal/protocol/mcp"
	"ace/internal/storefront/checkout"
	"ace/internal/storefront/storehttp/a2ahttp"
	"ace/internal/storefront/storehttp/admission"
	"ace/internal/storefront/storehttp/agenttool"
	"ace/internal/storefront/storehttp/answer"
	"ace/internal/storefront/storehttp/discovery"
	"ace/internal/storefront/storehttp/sessionhttp"
)

// a2aAgent is the agent of the store over A2A: the tools that read are the
// actions of its site skill.
func (s *server) a2aAgent() (*a2ahttp.Handler, error) {
	tools := s.tools(checkout.A2A)
	var actions []a2ahttp.Action
	for _, name := range []string{
		agenttool.SiteInfo, agenttool.SearchPages, agenttool.ReadPage, agenttool.ListProducts,
		agenttool.ListServices,
	} {
		actions = append(actions, a2aAction(tools.Find(name)))
	}
	about := a2ahttp.Site{
		BaseURL: s.Site.BaseURL, Name: s.Site.Name, Operator: cmp.Or(s.Site.Operator, s.Site.Name),
		Version: Version, IconURL: s.Site.BaseURL + "/assets/icon.svg",
	}
	if skill, ok := s.documents.Link("skill"); ok {
		about.DocumentationURL = skill.URL
	}
	ucp := s.ucp()
	return a2ahttp.New(a2ahttp.Deps{
		Site: about, Actions: actions, Sales: s.Checkout, Clients: clients{s.sessions},
		ContinueURL: s.sessions.ContinueURL, Tasks: s.Tasks, MAC: s.MAC, Signer: s.CardSigner,
		Show: func(ctx context.Context, session *checkout.Session) (json.RawMessage, error) {
			shown, err := ucp.Checkout(ctx, session)
			if err != nil {
				return nil, err
			}
			return answer.JSON(shown)
		},
	})
}

// a2aAction is a tool as an action of the agent.
func a2aAction(tool *agenttool.Ready) a2ahttp.Action {
	return a2ahttp.Action{
		Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema, OutputSchema: tool.OutputSchema,
		Do: func(ctx context.Context, header http.Header, input json.RawMessage) (json.RawMessage, error) {
			call := &mcp.Call{
				Tool: tool.Name, RequestID: httpserver.RequestID(ctx), ClientIP: httpserver.ClientIP(ctx),
				Header: header,
			}
			result, err := tool.Call(ctx, call, input)
			if err != nil {
				return nil, err
			}
			if result.IsError || result.Structured == nil {
				return nil, fmt.Errorf("action %s answered nothing to show", tool.Name)
			}
			return result.Structured, nil
		},
	}
}

// clients are the clients of the agent, with the signatures that held.
type clients struct{ *sessionhttp.Sessions }

// Agent returns what a request says about the software that sent it.
func (c clients) Agent(ctx context.Context, h http.Header) checkout.Agent {
	agent := c.Sessions.Agent(ctx, h)
	agent.Profile = admission.Agent(ctx)
	agent.Signed = agent.Profile != ""
	return agent
}

// mountA2A serves the agent and the documents beside its card.
func (s *server) mountA2A(mux *httpserver.Mux) {
	s.agent.Mount(mux, s.api, func(body []byte) http.HandlerFunc { return discovery.Fixed(typeJSON, 3600, body) })
}
