// Package app defines third-party apps: how to sign in to one, how to call it,
// which tools it has and which events it sends.
//
//	catalog/curated/<app>.yaml ── Parse ──> App ── Check ──> errors, or none
//	                                         |
//	   Schemes: how an account connects      |  Tools: calls with an input schema
//	   Params: subdomain, region             |  Who:   whose account it is
//	                                         v
//	                            Catalog: apps by id, tools by id
//
// A definition is data: adding an app never needs code. Its fields are a closed
// set, each with one meaning, which the packages that execute it (httptool,
// oauthclient) implement and test. Values are picked from JSON by JSON
// Pointers; text is made by templates such as "Bearer {key}".
//
// Definitions are written in our own words; docs and checked say where and when
// their facts were read.
package app

// Tier is how complete the tools of an app are.
type Tier string

// The tiers, the best first.
const (
	Full    Tier = "full"    // tools made by hand
	API     Tier = "api"     // tools derived from the app's own description
	MCP     Tier = "mcp"     // tools of the app's MCP server
	Request Tier = "request" // sign-in and requests of the caller's own making
)

// App is everything that is known of one app.
type App struct {
	ID      string `yaml:"id"`   // ^[a-z][a-z0-9-]{0,39}$
	Name    string `yaml:"name"` // as its vendor writes it
	About   string `yaml:"about"`
	Domain  string `yaml:"domain"`  // of the vendor, for people
	Docs    string `yaml:"docs"`    // where the facts were read
	Checked string `yaml:"checked"` // and when: 2026-11-21
	// Verified says how the facts of an app without tools of its own were checked:
	// spec (the vendor's description), docs (its documentation), lists (two
	// independent lists that agree).
	Verified   string   `yaml:"verified"`
	Icon       string   `yaml:"icon"`
	Categories []string `yaml:"categories"`
	Aliases    []string `yaml:"aliases"` // other names, for finding
	Tier       Tier     `yaml:"tier"`

	// Base is the base URL of the API; it may contain {params}. Hosts are
	// further hosts that calls may go to, for uploads.
	Base    string            `yaml:"base"`
	Hosts   []string          `yaml:"hosts"`
	Params  map[string]Param  `yaml:"params"`
	Headers map[string]string `yaml:"headers"` // of every call; templates

	Schemes []Scheme `yaml:"auth"`
	// Resolve runs once after connecting, to discover what calls need: the
	// cloud id of Jira, the data center of Mailchimp.
	Resolve []Step  `yaml:"resolve"`
	Who     *Who    `yaml:"who"`
	Release []Step  `yaml:"release"` // before a connection is deleted
	Errors  Errors  `yaml:"errors"`
	Rate    Rate    `yaml:"rate"`
	Paging  *Paging `yaml:"paging"`

	// MCP is the server whose tools these are; their calls say
	// "tools/call name-there".
	MCP *MCPServer `yaml:"mcp"`

	Tools    Ordered[*Tool]    `yaml:"tools"`
	Triggers Ordered[*Trigger] `yaml:"triggers"`
	Stored   StoredTools       `yaml:"-"` // further tools; nil: none

	// Listed is false for apps outside the public catalog: the demo app and
	// connectors of one account.
	Listed bool `yaml:"-"`
	// Custom says that an account has added the app itself: it is called as a
	// connector, at any host of the account.
	Custom bool `yaml:"-"`
	// Withheld are the names of tools that changed at their server and are neither
	// found nor run until somebody approves them.
	Withheld []string `yaml:"-"`
}

// MCPServer is an MCP server that is reached over HTTP.
type MCPServer struct {
	URL       string `yaml:"url"`
	Transport string `yaml:"transport"` // streamable_http (also ""), sse: the pair of 2024-11-05
}

// Param is a value that a connection needs besides its credentials, such as
// the subdomain of a tenant. It is never a secret.
type Param struct {
	Title       string   `yaml:"title"`
	About       string   `yaml:"about"`
	Match       string   `yaml:"match"` // regular expression of the whole value
	Example     string   `yaml:"example"`
	Default     string   `yaml:"default"`
	Enum        []string `yaml:"enum"`
	StripPrefix string   `yaml:"strip_prefix"` // taken off what people paste
	StripSuffix string   `yaml:"strip_suffix"`
	Scheme      string   `yaml:"scheme"`  // asked for with this scheme alone
	Learned     bool     `yaml:"learned"` // not asked for: Resolve or the token answer tells it
	Optional    bool     `yaml:"optional"`
	// Host says that the value is a whole host name, not a label: the only kind
	// that may lead calls elsewhere than the vendor's own domain.
	Host bool `yaml:"host"`
}

// Who reads whose account a connection is. It is also its health check.
type Who struct {
	Call    string            `yaml:"call"` // "GET /user"; with get: the path alone
	Get     string            `yaml:"get"`
	Base    string            `yaml:"base"` // where not the app's
	Body    string            `yaml:"body"` // for calls that need one, as written
	Query   map[string]string `yaml:"query"`
	GraphQL string            `yaml:"graphql"`
	ID      string            `yaml:"id"` // pointers into the answer
	Label   string            `yaml:"label"`
	Email   string            `yaml:"email"`
	Tenant  string            `yaml:"tenant"`
	Expect  Expect            `yaml:"expect"`
}

// Expect says when an answer is a success although HTTP does not tell.
type Expect struct {
	Status  []int  `yaml:"status"`  // empty: 200 to 299
	Pointer string `yaml:"pointer"` // and the value there
	Equals  string `yaml:"equals"`  // is this, as text
	Present bool   `yaml:"present"` // or is there at all
	Absent  bool   `yaml:"absent"`  // or is not there
}

// Errors say where an app tells what went wrong.
type Errors struct {
	OK      Expect   `yaml:"ok"`      // for apps that fail with status 200
	Message []string `yaml:"message"` // pointers; the first text counts
	Code    []string `yaml:"code"`
	// Codes sort the app's own codes into ours: app_unauthorized, app_not_found,
	// app_rate_limited …
	Codes map[string]string `yaml:"codes"`
}

// Rate is how often an app may be called, and how it says to wait.
type Rate struct {
	Per       string  `yaml:"per"` // connection (also ""), app, or an input's name
	RPS       float64 `yaml:"rps"`
	After     string  `yaml:"after"`     // header with seconds to wait; default Retry-After
	At        string  `yaml:"at"`        // header with the time to go on, in Unix seconds
	Remaining string  `yaml:"remaining"` // header that is 0 at the limit
	Status    []int   `yaml:"status"`    // besides 429
}

// Kinds of paging.
const (
	PagingCursor  = "cursor"   // a value of the answer goes into the next call
	PagingPage    = "page"     // numbers count up
	PagingOffset  = "offset"   // entries to skip
	PagingLink    = "link"     // the header Link names the next page (RFC 8288)
	PagingNextURL = "next_url" // the answer names the address of the next page
	PagingGraphQL = "graphql"  // pageInfo of Relay
)

// Paging is how lists go on.
type Paging struct {
	Type  string `yaml:"type"`
	Out   string `yaml:"out"`   // pointer to the cursor, or to the next address
	More  string `yaml:"more"`  // pointer to a flag; absent: there is more while Out has a value
	In    string `yaml:"in"`    // input that takes the cursor, number or offset
	Where string `yaml:"where"` // query (also ""), or body
	First int    `yaml:"first"` // number of the first page; 0 is meant where the app counts from 0
	Size  Size   `yaml:"size"`
}

// Size is how many entries a page has.
type Size struct {
	Name string `yaml:"name"`
	Max  int    `yaml:"max"`
}

// Effects of a tool.
const (
	Reads    = "read"
	Writes   = "write"
	Destroys = "destructive"
)

// Bodies of a call.
const (
	BodyJSON      = "json"
	BodyForm      = "form"
	BodyBrackets  = "form_brackets" // a[b][]=c, as Stripe reads it
	BodyMultipart = "multipart"
	BodyGraphQL   = "graphql"
	BodyRaw       = "raw"     // one input is the body: a text, or a file
	BodyRelated   = "related" // a JSON part, then the part of the input with where: media (RFC 2387)
	BodyNone      = "none"
)

// Tool is one call that a model can make.
type Tool struct {
	ID    string `yaml:"-"` // app__name, for models
	App   string `yaml:"-"`
	Name  string `yaml:"-"`     // the key in the definition
	Title string `yaml:"title"` // for people
	About string `yaml:"about"` // for models, in our words
	Call  string `yaml:"call"`  // "POST /v0/{baseId}"; inputs in braces stand in the path
	Base  string `yaml:"base"`  // where not the app's

	Effect     string   `yaml:"effect"` // read, write, destructive; default by method
	Idempotent bool     `yaml:"idempotent"`
	Scopes     []string `yaml:"scopes"`
	Phrases    []string `yaml:"phrases"` // tasks it is for, as people say them
	// Was are names that the tool had: their ids go on leading to it.
	Was []string `yaml:"was" json:",omitempty"`

	In Inputs `yaml:"in"`
	// Body is how inputs become a body; default json, none for GET and HEAD.
	Body string `yaml:"body"`
	Wrap string `yaml:"wrap"` // member that the whole body goes into: {"data": …}
	// Mail is where in the body an e-mail goes (RFC 5322, base64url), which the
	// inputs with where: mail make up.
	Mail string `yaml:"mail"`
	// Fixed are values that the caller does not choose, by where they go.
	Fixed   Fixed  `yaml:"fixed"`
	GraphQL string `yaml:"graphql"` // the document; inputs are its variables

	Out    map[string]string `yaml:"out"`   // names of results and pointers to them; empty: the whole answer
	Items  string            `yaml:"items"` // pointer to the list that pages are of
	OK     Expect            `yaml:"ok"`
	Paging *Paging           `yaml:"paging"` // where not the app's; type none: one page
	Binary bool              `yaml:"binary"` // the answer is a file
	// Example is one set of arguments that fits the schema.
	Example map[string]any `yaml:"example"`

	InputSchema []byte `yaml:"-"` // JSON Schema 2020-12, made of In
	// OutputSchema is likewise of what a run answers; nil: it is not known.
	OutputSchema []byte `yaml:"-" json:",omitempty"`
	Builtin      bool   `yaml:"-"` // one of App.Builtin
	Free         bool   `yaml:"-"` // the caller makes the request; see With
}

// Fixed are constant parts of a call; templates of params and inputs. In the
// body they may stand at any depth, and names that begin with / are pointers.
type Fixed struct {
	Query   map[string]string `yaml:"query"`
	Headers map[string]string `yaml:"headers"`
	Body    map[string]any    `yaml:"body"`
	Raw     string            `yaml:"raw"` // the whole body, as it is; JSON
}

// Input is one argument of a tool.
type Input struct {
	Name     string
	Required bool
	Schema   map[string]any // JSON Schema
	Where    string         // path, query, header, body, media, fixed, mail; "" by the rules of Place
	Wire     string         // the vendor's own name, where ours differs; from / on a pointer into the body
	Style    string         // how lists and objects stand in a query; empty: repeated
	As       any            // what is sent in place of the value; see Sent
	Each     any            // likewise of every entry of a list
}

// Step is a call and what to keep of its answer.
type Step struct {
	Scheme  string            `yaml:"scheme"` // only where this scheme connected; "": always
	Call    string            `yaml:"call"`
	Base    string            `yaml:"base"`
	Query   map[string]string `yaml:"query"`
	Headers map[string]string `yaml:"headers"`
	Body    map[string]any    `yaml:"body"`
	Form    map[string]string `yaml:"form"`
	XML     string            `yaml:"xml"` // template of the body
	// Keep are values of the answer: name = pointer, header:NAME or cookie:NAME.
	// A name that ends in ? may be missing.
	Keep map[string]string `yaml:"keep"`
	OK   Expect            `yaml:"ok"`
}
