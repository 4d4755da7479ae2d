package a2a

import "encoding/json"

// CardPath is where an agent card is published.
const CardPath = "/.well-known/agent-card.json"

// JSONRPC is the supported protocol binding.
const JSONRPC = "JSONRPC"

// Card describes an agent, its capabilities and how to call it. Optional fields are omitted if they
// are empty, so that every reading of the signature rules yields the same text.
type Card struct {
	Name               string          `json:"name"`
	Description        string          `json:"description"`
	SupportedInterface []Interface     `json:"supportedInterfaces"`
	Provider           *Provider       `json:"provider,omitempty"`
	Version            string          `json:"version"` // of the agent
	DocumentationURL   string          `json:"documentationUrl,omitempty"`
	IconURL            string          `json:"iconUrl,omitempty"`
	Capabilities       Capabilities    `json:"capabilities"`
	InputModes         []string        `json:"defaultInputModes"`
	OutputModes        []string        `json:"defaultOutputModes"`
	Skills             []Skill         `json:"skills"`
	Signatures         []CardSignature `json:"signatures,omitempty"`
}

// Interface is a URL where the agent is called.
type Interface struct {
	URL             string `json:"url"`
	ProtocolBinding string `json:"protocolBinding"`
	ProtocolVersion string `json:"protocolVersion"`
}

// Provider is the operator of the agent.
type Provider struct {
	Organization string `json:"organization"`
	URL          string `json:"url"`
}

// Capabilities are the optional parts of the protocol. False values are sent explicitly.
type Capabilities struct {
	Streaming         bool        `json:"streaming"`
	PushNotifications bool        `json:"pushNotifications"`
	ExtendedAgentCard bool        `json:"extendedAgentCard"`
	Extensions        []Extension `json:"extensions,omitempty"`
}

// Extension is a capability of the agent beyond the protocol.
type Extension struct {
	URI         string          `json:"uri"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Params      json.RawMessage `json:"params,omitempty"` // an object
}

// Skill is a group of actions of the agent.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Examples    []string `json:"examples,omitempty"`
	InputModes  []string `json:"inputModes,omitempty"`
	OutputModes []string `json:"outputModes,omitempty"`
}

// CardSignature is a JSON Web Signature of a card, without the card.
type CardSignature struct {
	Protected string          `json:"protected"` // base64url of the protected header
	Signature string          `json:"signature"` // base64url
	Header    json.RawMessage `json:"header,omitempty"`
}
