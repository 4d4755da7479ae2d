package crawl

import (
	"context"
	"strings"
	"time"
)

// Agent is the product token that robots.txt files address this crawler by.
const Agent = "ACE-Audit"

// Fetcher makes one request. It follows no redirect, sends no cookie, reaches
// no private network and reads a body only to the limits of the request.
//
// What the website did wrong is the Failure of the response. An error means that
// ctx has ended or that the fetcher itself is broken.
type Fetcher interface {
	Fetch(ctx context.Context, r Request) (*Response, error)
}

// Request is one call. The zero values ask for a page.
type Request struct {
	URL    string
	Method string // empty: GET; HEAD is the other
	Accept string // empty: HTML before anything else
	// WireLimit and DecodedLimit bound the body before and after it is
	// decompressed, in bytes.
	WireLimit, DecodedLimit int64
}

// Response is one response.
type Response struct {
	URL       string // that was asked for last
	Status    int    // 0: there was no response
	Header    Header
	Body      []byte // decompressed, not decoded from its charset
	Truncated bool   // the body is longer than a limit; Body is its beginning
	// WireBytes and DecodedBytes count what was read.
	WireBytes, DecodedBytes int64
	// FirstByte is the time from the call to the first byte of the response,
	// connecting included where a connection was opened.
	FirstByte time.Duration
	Chain     []Hop   // redirects before this response, filled by Site
	Failure   Failure // empty: a whole response, whatever its status
	Note      string  // what there is to say about the failure beyond its class; safe to show
}

// Hop is one redirect.
type Hop struct {
	URL      string
	Status   int
	Location string // as it was sent
}

// OK reports whether the response is whole, or the beginning of a long one, and
// its status 200.
func (r *Response) OK() bool { return r.Failure == "" && r.Status == 200 }

// MediaType is the type of the body in lower case, without parameters.
func (r *Response) MediaType() string {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// Header holds the fields of a response by their names in lower case.
type Header map[string][]string

// Get returns the values of a field, joined by a comma.
func (h Header) Get(name string) string { return strings.Join(h[strings.ToLower(name)], ", ") }

// Add adds a value.
func (h Header) Add(name, value string) {
	name = strings.ToLower(name)
	h[name] = append(h[name], value)
}

// Failure says why an address gave nothing to read, or not all of it.
type Failure string

// The failures. A status such as 404 is none: it is a response.
const (
	Unreachable  Failure = "unreachable"           // no such name, or nothing listens
	TimedOut     Failure = "timeout"               // no whole response in time
	BadTLS       Failure = "certificate"           // the certificate does not hold
	BadAnswer    Failure = "bad_answer"            // broken off, or no HTTP
	NotAllowed   Failure = "not_allowed"           // a private network, port or scheme
	BadEncoding  Failure = "bad_encoding"          // the compression is broken or unknown
	Bomb         Failure = "decompression_bomb"    // grows past all measure when decompressed
	RedirectLoop Failure = "redirect_loop"         // leads back to where it was
	ManyHops     Failure = "too_many_redirects"    // more than MaxHops
	BadRedirect  Failure = "bad_redirect"          // leads to no address, or from https to http
	OffSite      Failure = "redirect_to_elsewhere" // leads to another website
	ByRobots     Failure = "blocked_by_robots"     // robots.txt excludes us
	OutOfBudget  Failure = "out_of_budget"         // a limit of this crawl, not the website's fault
	AskedToWait  Failure = "asked_to_wait"         // the website wants no more requests now
	NotHTML      Failure = "not_html"              // a response, but no page
	TooComplex   Failure = "too_complex"           // HTML that would grow past all measure in memory
)

// Ours reports whether a failure is a limit of the crawl and says nothing about
// the website.
func (f Failure) Ours() bool { return f == OutOfBudget || f == AskedToWait || f == ByRobots }

// String is the failure in words.
func (f Failure) String() string {
	if text, ok := failureTexts[f]; ok {
		return text
	}
	return string(f)
}

var failureTexts = map[Failure]string{
	Unreachable: "could not be reached", TimedOut: "did not answer in time",
	BadTLS:    "has a certificate that does not hold",
	BadAnswer: "broke off or does not speak HTTP", NotAllowed: "is not on the public internet",
	BadEncoding: "sends a compression that cannot be read",
	Bomb:        "sends a body that grows past all measure when decompressed", RedirectLoop: "redirects in a circle",
	ManyHops:    "redirects more than five times",
	BadRedirect: "redirects to what is no address or away from https", OffSite: "redirects to another website",
	ByRobots:    "is excluded by robots.txt",
	OutOfBudget: "was not asked for: a limit of this crawl was reached",
	AskedToWait: "was not asked for: the website asked to wait",
	NotHTML:     "is no HTML page", TooComplex: "nests its elements past all measure",
}
