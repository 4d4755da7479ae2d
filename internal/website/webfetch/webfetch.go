// Package webfetch fetches pages of foreign websites for the crawler: it is
// crawl.Fetcher on the egress guard's client.
//
//	request -> our User-Agent, signature (Web Bot Auth) -> egress client,
//	           purpose SiteAudit, no redirect followed: the crawler asks for
//	           each hop, so that each is judged and signed by itself
//	        -> time to the first byte
//	        -> body: bytes off the wire counted and bounded, then decompressed,
//	           bounded again and stopped where it grows as only bombs do
//	        -> what went wrong as a crawl.Failure
package webfetch

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/problem"
	"ace/internal/website/crawl"
)

// Options are the parts of a Fetcher that have defaults.
type Options struct {
	// Sign, if set, signs each request before it goes out.
	Sign func(*http.Request) error
	// Trusted and OwnHosts are those of the purpose that pages are fetched for.
	Trusted, OwnHosts []string
	// Timeout bounds one call, reading of the body included. 0: ten seconds.
	Timeout time.Duration
}

// Fetcher calls websites. It is safe for concurrent use.
type Fetcher struct {
	client    *http.Client
	userAgent string
	sign      func(*http.Request) error
}

// Guard makes the client of a purpose, as egress.Guard does.
type Guard interface {
	Client(p egress.Purpose) *http.Client
}

// UserAgent is the name that a store at baseURL crawls under. The address in it
// is a page that says who we are and how to keep us away.
func UserAgent(baseURL string) string {
	return crawl.Agent + "/1.0 (+" + strings.TrimSuffix(baseURL, "/") + "/support)"
}

// New returns a fetcher for the store at baseURL.
func New(guard Guard, baseURL string, o *Options) *Fetcher {
	if o == nil {
		o = new(Options)
	}
	purpose := egress.SiteAudit()
	purpose.Redirects = 0
	purpose.Trusted, purpose.OwnHosts = o.Trusted, o.OwnHosts
	purpose.Deadline = cmp.Or(o.Timeout, purpose.Deadline)
	// Limits are kept here: a page that is too long is read as far as it may be,
	// and that it is too long is a finding.
	purpose.WireLimit, purpose.DecodedLimit = math.MaxInt64, 0
	return &Fetcher{client: guard.Client(purpose), userAgent: UserAgent(baseURL), sign: o.Sign}
}

// accepts is what a page is asked for with.
const accepts = "text/html, application/xhtml+xml;q=0.9, */*;q=0.5"

// Fetch implements crawl.Fetcher.
func (f *Fetcher) Fetch(ctx context.Context, r crawl.Request) (*crawl.Response, error) {
	var first time.Time
	traced := httptrace.WithClientTrace(ctx,
		&httptrace.ClientTrace{GotFirstResponseByte: func() { first = time.Now() }})
	req, err := http.NewRequestWithContext(traced, cmp.Or(r.Method, http.MethodGet), r.URL, http.NoBody)
	if err != nil {
		return &crawl.Response{URL: r.URL, Failure: crawl.NotAllowed, Header: crawl.Header{}}, nil
	}
	req.Header.Set("User-Agent", f.userAgent)
	req.Header.Set("Accept", cmp.Or(r.Accept, accepts))
	req.Header.Set("Accept-Encoding", "gzip")
	if f.sign != nil {
		if err := f.sign(req); err != nil {
			return nil, fmt.Errorf("signing a request: %w", err)
		}
	}
	out := &crawl.Response{URL: r.URL, Header: crawl.Header{}}
	start := time.Now()
	res, err := f.client.Do(req)
	if err != nil {
		return out, fail(ctx, out, err)
	}
	defer func() { _ = res.Body.Close() }() // read as far as it is wanted
	if first.IsZero() {                     // a transport that does not report it
		first = time.Now()
	}
	out.FirstByte = max(first.Sub(start), time.Microsecond)
	out.Status = res.StatusCode
	for name, values := range res.Header {
		out.Header[strings.ToLower(name)] = values
	}
	if req.Method == http.MethodHead {
		return out, nil
	}
	return out, fail(ctx, out, read(out, res, r))
}

// read reads the body into out.
func read(out *crawl.Response, res *http.Response, r crawl.Request) error {
	wire := &counter{r: res.Body, limit: r.WireLimit}
	defer func() { out.WireBytes = min(wire.n, r.WireLimit) }()
	var body io.Reader = wire
	encoding := strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding")))
	gzipped := encoding == "gzip" || encoding == "x-gzip"
	switch {
	case gzipped:
		unzipped, err := gzip.NewReader(wire)
		if errors.Is(err, io.EOF) {
			return nil // nothing at all
		}
		if err != nil {
			return err
		}
		body = unzipped
	case encoding != "" && encoding != "identity":
		out.Failure, out.Note = crawl.BadEncoding, "Content-Encoding: "+printable(encoding)
		return nil
	}
	return fill(out, body, wire, gzipped, r.DecodedLimit)
}

// Growth that no text reaches, beyond a size that does not matter.
const (
	bombRatio = 100
	bombSlack = 512 << 10
)

// fill reads until the body ends, a limit is reached or it turns out a bomb.
func fill(out *crawl.Response, body io.Reader, wire *counter, gzipped bool, limit int64) error {
	chunk := make([]byte, 32<<10)
	for {
		n, err := body.Read(chunk)
		out.DecodedBytes += int64(n)
		switch {
		case gzipped && out.DecodedBytes > bombSlack && out.DecodedBytes > wire.n*bombRatio:
			out.Body, out.Failure = nil, crawl.Bomb
			return nil
		case out.DecodedBytes > limit:
			out.Body = append(out.Body, chunk[:n-int(out.DecodedBytes-limit)]...)
			out.DecodedBytes, out.Truncated = limit, true
			return nil
		}
		out.Body = append(out.Body, chunk[:n]...)
		switch {
		case wire.n > wire.limit:
			out.Truncated = true
			return nil
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// counter counts what comes off the wire and ends one byte past the limit.
type counter struct {
	r        io.Reader
	n, limit int64
}

// Read reads no further than one byte past the limit.
func (c *counter) Read(p []byte) (int, error) {
	left := c.limit + 1 - c.n
	if left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	if int64(len(p)) > left {
		p = p[:left]
	}
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// fail notes in out what a call failed with. It returns an error if ctx ended.
func fail(ctx context.Context, out *crawl.Response, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p, known := problem.From(err)
	switch {
	case !known && (errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum)):
		out.Failure, out.Note = crawl.BadEncoding, "the gzip data is broken"
	case !known && timedOut(err):
		out.Failure = crawl.TimedOut
	case !known:
		out.Failure = crawl.BadAnswer
	case p.Code == "target_not_allowed":
		out.Failure, out.Note = crawl.NotAllowed, p.Detail
	case p.Code == "target_unreachable":
		out.Failure = crawl.Unreachable
	case p.Code == "target_timeout":
		out.Failure = crawl.TimedOut
	case p.Kind == problem.Unprocessable: // target_bad_answer of a certificate
		out.Failure, out.Note = crawl.BadTLS, p.Detail
	default:
		out.Failure = crawl.BadAnswer
	}
	return nil
}

func timedOut(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// printable keeps a value of a foreign header fit to be shown.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	return s[:min(len(s), 60)]
}
