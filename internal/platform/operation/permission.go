package operation

import (
	"iter"

	"ace/internal/platform/apikey"
)

// ID names an operation. Its text is the operationId of the API's document.
type ID int

// The operations. The zero ID is none.
const (
	_ ID = iota
	GetCatalog
	SearchApps
	FindTools

	GetMe
	GetOwnKey
	RevokeOwnKey
	ListKeys
	CreateKey
	GetKey
	ChangeKey
	RevokeKey
	RotateKey

	GetRedirectURLs
	SetRedirectURLs
	ReadAuditLog
	SetPassword
	ListSessions
	EndSession

	ConnectApp
	GetConnectSession
	CancelConnectSession
	ConfirmConnectSession
	ListConnections
	GetConnection
	ChangeConnection
	DeleteConnection
	CheckConnection
	Reconnect
	ListOAuthClients
	SetOAuthClient
	DeleteOAuthClient

	ListCustomConnectors
	GetCustomConnector
	CreateCustomConnector
	ChangeCustomConnector
	DeleteCustomConnector
	RefreshCustomConnector
	ApproveCustomConnector
	SetReadOnlyTools
	TestCustomConnector

	ListTriggerTypes
	ListTriggers
	GetTrigger
	CreateTrigger
	ChangeTrigger
	DeleteTrigger
	RotateTriggerSecret
	TestTrigger
	ListTriggerEvents
	GetTriggerEvent
	ReplayTriggerEvent
	ReplayFailedEvents

	ListTools
	GetTool
	RunTool
	RequestApp
	ListRuns
	GetRun
	GetRunOutput
	CancelRun
	GetUsage
	UploadFile
	GetFile
	GetSignedFile
	ListApprovals
	GetApproval
	DecideApproval
)

// Rule says who may call an operation. Keys and people are refused where the
// rule does not name them.
type Rule struct {
	Open        bool               // anybody, without credentials
	Keys        bool               // API keys that have Permissions
	People      bool               // people whose role implies Permissions
	Permissions apikey.Permissions // 0: none in particular
	RawRequests bool               // only keys with raw_requests
	Manages     bool               // only people who may manage the account
	Audits      bool               // only people who may read the audit log
}

// table holds every operation: the one place that says who may what.
var table = [...]struct {
	name string
	rule Rule
}{
	GetCatalog: {"catalog", Rule{Open: true}},
	SearchApps: {"searchApps", everybody(apikey.Read)},
	FindTools:  {"findTools", everybody(apikey.Read)},

	GetMe:        {"me", Rule{Keys: true}},
	GetOwnKey:    {"getOwnKey", Rule{Keys: true}},
	RevokeOwnKey: {"revokeOwnKey", Rule{Keys: true}},
	ListKeys:     {"listKeys", people(apikey.Read)}, // without secrets
	CreateKey:    {"createKey", managers()},
	GetKey:       {"getKey", managers()},
	ChangeKey:    {"changeKey", managers()},
	RevokeKey:    {"revokeKey", managers()},
	RotateKey:    {"rotateKey", managers()},

	GetRedirectURLs: {"getRedirectURLs", people(apikey.Read)},
	SetRedirectURLs: {"setRedirectURLs", managers()},
	ReadAuditLog:    {"readAuditLog", Rule{People: true, Audits: true}},
	SetPassword:     {"setPassword", Rule{People: true}},
	ListSessions:    {"listSessions", Rule{People: true}},
	EndSession:      {"endSession", Rule{People: true}},

	ConnectApp:            {"connectApp", everybody(apikey.Connect)},
	GetConnectSession:     {"getConnectSession", everybody(apikey.Connect)},
	CancelConnectSession:  {"cancelConnectSession", everybody(apikey.Connect)},
	ConfirmConnectSession: {"confirmConnectSession", everybody(apikey.Connect)},
	ListConnections:       {"listConnections", everybody(apikey.Read)},
	GetConnection:         {"getConnection", everybody(apikey.Read)},
	ChangeConnection:      {"changeConnection", everybody(apikey.Connect)},
	DeleteConnection:      {"deleteConnection", everybody(apikey.Connect)},
	CheckConnection:       {"checkConnection", everybody(apikey.Connect)},
	Reconnect:             {"reconnect", everybody(apikey.Connect)},
	ListOAuthClients:      {"listOAuthClients", managers()},
	SetOAuthClient:        {"setOAuthClient", managers()},
	DeleteOAuthClient:     {"deleteOAuthClient", managers()},

	ListCustomConnectors:   {"listCustomConnectors", everybody(apikey.Read)},
	GetCustomConnector:     {"getCustomConnector", everybody(apikey.Read)},
	CreateCustomConnector:  {"createCustomConnector", everybody(apikey.Connect)},
	ChangeCustomConnector:  {"changeCustomConnector", everybody(apikey.Connect)},
	DeleteCustomConnector:  {"deleteCustomConnector", everybody(apikey.Connect)},
	RefreshCustomConnector: {"refreshCustomConnector", everybody(apikey.Connect)},
	// A model that holds a key reads what a server wrote: it decides about no tool of it.
	ApproveCustomConnector: {"approveCustomConnector", people(apikey.Connect)},
	SetReadOnlyTools:       {"setReadOnlyTools", people(apikey.Connect)},
	TestCustomConnector:    {"testCustomConnector", everybody(apikey.Connect)},

	ListTriggerTypes:    {"listTriggerTypes", everybody(apikey.Read)},
	ListTriggers:        {"listTriggers", everybody(apikey.Read)},
	GetTrigger:          {"getTrigger", everybody(apikey.Read)},
	CreateTrigger:       {"createTrigger", everybody(apikey.Run)},
	ChangeTrigger:       {"changeTrigger", everybody(apikey.Run)},
	DeleteTrigger:       {"deleteTrigger", everybody(apikey.Run)},
	RotateTriggerSecret: {"rotateTriggerSecret", everybody(apikey.Run)},
	TestTrigger:         {"testTrigger", everybody(apikey.Run)},
	ListTriggerEvents:   {"listTriggerEvents", everybody(apikey.Read)},
	GetTriggerEvent:     {"getTriggerEvent", everybody(apikey.Read)},
	ReplayTriggerEvent:  {"replayTriggerEvent", everybody(apikey.Run)},
	ReplayFailedEvents:  {"replayFailedEvents", everybody(apikey.Run)},

	ListTools:      {"listTools", everybody(apikey.Read)},
	GetTool:        {"getTool", everybody(apikey.Read)},
	RunTool:        {"runTool", everybody(apikey.Run)},
	RequestApp:     {"requestApp", Rule{Keys: true, Permissions: apikey.Run, RawRequests: true}},
	ListRuns:       {"listRuns", everybody(apikey.Read)},
	GetRun:         {"getRun", everybody(apikey.Read)},
	GetRunOutput:   {"getRunOutput", everybody(apikey.Read)},
	CancelRun:      {"cancelRun", everybody(apikey.Run)},
	GetUsage:       {"getUsage", everybody(apikey.Read)},
	UploadFile:     {"uploadFile", everybody(apikey.Run)},
	GetFile:        {"getFile", everybody(apikey.Read)},
	GetSignedFile:  {"getSignedFile", Rule{Open: true}}, // the signature is the permission
	ListApprovals:  {"listApprovals", people(apikey.Read)},
	GetApproval:    {"getApproval", people(apikey.Read)},
	DecideApproval: {"decideApproval", people(apikey.Run)},
}

// everybody lets keys and people call who have a permission.
func everybody(p apikey.Permissions) Rule { return Rule{Keys: true, People: true, Permissions: p} }

// people lets the people call whose role implies a permission.
func people(p apikey.Permissions) Rule { return Rule{People: true, Permissions: p} }

// managers lets the people call who may manage the account.
func managers() Rule { return Rule{People: true, Manages: true} }

// Rule returns who may call the operation. The zero ID is for nobody.
func (id ID) Rule() Rule { return table[id].rule }

// String returns the operationId.
func (id ID) String() string { return table[id].name }

// All returns every operation.
func All() iter.Seq[ID] {
	return func(yield func(ID) bool) {
		for id := ID(1); int(id) < len(table); id++ {
			if !yield(id) {
				return
			}
		}
	}
}
