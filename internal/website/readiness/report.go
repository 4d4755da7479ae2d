package readiness

import (
	"time"

	"ace/internal/website/readiness/judge"
)

// ReportVersion is the version of the shape of reports.
const ReportVersion = "1"

// Report is the result of an audit.
type Report struct {
	Version     string     `json:"report_version"`
	ID          string     `json:"id"` // made of the findings: the same findings have the same id
	Status      RunStatus  `json:"status"`
	Target      Target     `json:"target"`
	StartedAt   time.Time  `json:"started_at"`
	FinishedAt  time.Time  `json:"finished_at"`
	Score       int        `json:"score"` // 0 to 100
	Grade       string     `json:"grade"` // A B C D F
	Coverage    float64    `json:"coverage"`
	Provisional bool       `json:"provisional"` // less than 70 % of the weight could be measured
	Caps        []Cap      `json:"caps"`
	Agent       AgentLevel `json:"agent_level"`
	Summary     Summary    `json:"summary"`
	Categories  []Category `json:"categories"`
	Checks      []Check    `json:"checks"`
	AgentChecks []Check    `json:"agent_checks"`
	TopFixes    []string   `json:"top_fixes"` // ids of checks, the most worthwhile first
	Bots        []Bot      `json:"bots"`
	Pages       []Page     `json:"pages"`
	Limits      Limits     `json:"limits"`
	Ruleset     Ruleset    `json:"ruleset"`
}

// RunStatus says how far an audit came.
type RunStatus string

// The statuses of a run.
const (
	Complete RunStatus = "complete"
	Partial  RunStatus = "partial" // a limit or the website ended it early
)

// Target is the website.
type Target struct {
	Input    string `json:"input"`
	Origin   string `json:"origin"`
	FinalURL string `json:"final_url"` // that redirects led to
}

// Cap is a fault so grave that it bounds the score.
type Cap struct {
	ID     string `json:"id"`
	Limit  int    `json:"limit"`
	Reason string `json:"reason"`
}

// AgentLevel is how far a website serves agents, by the levels that
// isitagentready.com uses, from 0 to 5.
type AgentLevel struct {
	Level int      `json:"level"`
	Name  string   `json:"name"`
	Next  []string `json:"next"` // ids of agent checks that lead to the next level
}

// Summary counts the checks that have a weight.
type Summary struct {
	Pass    int `json:"pass"`
	Partial int `json:"partial"`
	Fail    int `json:"fail"`
	NA      int `json:"na"`
	Unknown int `json:"unknown"`
}

// Category is one group of checks.
type Category struct {
	ID       string `json:"id"`
	Title    string `json:"title"`
	Score    int    `json:"score"`    // 0 to 100, of what was measured
	Weight   int    `json:"weight"`   // of all its checks
	Measured int    `json:"measured"` // of those that were measured; 0: Score says nothing
}

// Check is one check and its result.
type Check struct {
	ID       string  `json:"id"`
	Title    string  `json:"title"`
	Category string  `json:"category"`
	Scope    string  `json:"scope"` // site or page
	Evidence string  `json:"evidence"`
	Weight   int     `json:"weight"`
	Status   Status  `json:"status"`
	Value    float64 `json:"value"` // 0 to 1, three digits
	Pages    []Row   `json:"pages"`
	Why      string  `json:"why"`
	Fix      *Fix    `json:"fix,omitempty"` // nil: nothing to repair
}

// Status is the outcome of a check.
type Status = judge.Status

// The outcomes. NA and Unknown do not count.
const (
	Pass    = judge.Pass
	Some    = judge.Some
	Fail    = judge.Fail
	NA      = judge.NA
	Unknown = judge.Unknown
)

// Validator judges the structured data of a page.
type Validator = judge.Validator

// Issue is one fault of structured data.
type Issue = judge.Issue

// Row is what a check found at one address.
type Row struct {
	URL      string `json:"url"`
	Status   Status `json:"status"`
	Observed string `json:"observed"`
	Expected string `json:"expected"`
	Line     int    `json:"line,omitempty"` // in the source of the response
	Byte     int    `json:"byte,omitempty"` // from its beginning
}

// Fix is what to do about a check.
type Fix struct {
	Effort   int     `json:"effort"`   // 1 minutes, 2 hours, 3 days
	Priority float64 `json:"priority"` // weight that is lost, times reach, by effort
	Text     string  `json:"text"`
	Snippet  string  `json:"snippet,omitempty"`
	DocsURL  string  `json:"docs_url,omitempty"`
}

// Bot is one row of the matrix of crawlers.
type Bot struct {
	Agent    string `json:"agent"`
	Operator string `json:"operator"`
	Purpose  string `json:"purpose"` // search, user or training
	Allowed  bool   `json:"allowed"` // on all pages of the sample
	Rule     string `json:"rule"`    // that decides, with its line; empty: none
	Pages    string `json:"pages"`   // for example "9/10"
}

// Page is one page of the sample.
type Page struct {
	URL       string   `json:"url"`
	Status    int      `json:"status"`
	Failure   string   `json:"failure,omitempty"`
	TTFB      int64    `json:"ttfb_ms"`
	Bytes     int64    `json:"bytes"` // decompressed
	WordsRaw  int      `json:"words_raw"`
	WordsMain int      `json:"words_main"`
	Lang      string   `json:"lang"`
	Types     []string `json:"types"` // of structured data
	Score     int      `json:"score"` // of the page checks; -1: none was measured
}

// Limits is what the crawl kept to and how far it went.
type Limits struct {
	Pages          int     `json:"pages"`
	Requests       int     `json:"requests"`
	RequestsMade   int     `json:"requests_made"`
	BytesRead      int64   `json:"bytes_read"`
	WireLimit      int64   `json:"response_bytes_compressed"`
	DecodedLimit   int64   `json:"response_bytes"`
	IntervalMillis int64   `json:"interval_ms"`
	RobotsToken    string  `json:"robots_token"`
	Stopped        string  `json:"stopped,omitempty"` // why it ended early
	Fetched        []Visit `json:"fetched"`
}

// Visit is one request of the crawl.
type Visit struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	Accept string `json:"accept,omitempty"`
	Status int    `json:"status"`
	Result string `json:"failure,omitempty"`
	Bytes  int64  `json:"bytes"`
}

// Ruleset is what the findings were judged by.
type Ruleset struct {
	Version      string `json:"version"`
	BotsListDate string `json:"bots_list_date"`
	SchemaOrg    string `json:"schemaorg"`
}

// Check finds a check, of the score or of the agent level, by its id.
func (r *Report) Check(id string) (Check, bool) {
	for _, list := range [][]Check{r.Checks, r.AgentChecks} {
		for _, c := range list {
			if c.ID == id {
				return c, true
			}
		}
	}
	return Check{}, false
}
