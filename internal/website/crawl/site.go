package crawl

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"ace/internal/foundation/problem"
)

// Site is one website while it is read. It is for one goroutine.
type Site struct {
	Input  string   // as the caller gave it
	Origin *url.URL // of the page that Input led to, path "/"
	Home   *Page    // the page that Input led to; nil if Excluded
	Robots *Robots  // of Origin
	// Excluded says that robots.txt keeps us away: no page has been read.
	Excluded *Decision
	Sitemaps []*Sitemap // after Candidates or Sample
	Visits   []Visit    // every request, in order

	fetcher    Fetcher
	o          Options
	until      time.Time
	started    time.Time
	bytes      int64
	refusing   bool // the website asked us to stop
	stopped    Failure
	robots     map[string]*Robots
	pages      map[string]*Page
	files      map[Request]*Response
	candidates []*Candidate
	collected  bool
}

// Visit is one request that was made.
type Visit struct {
	Method, URL string
	Accept      string
	Status      int
	Failure     Failure
	Bytes       int64 // decompressed
	At          time.Duration
}

// Open reads robots.txt and the page at target, an address of a website with or
// without its scheme. Redirects are followed to wherever they lead, each host's
// robots.txt first.
//
// It returns invalid_url (Invalid) for what is no address, target_not_allowed
// (Unprocessable) for one outside the public internet, and target_unreachable
// (Unavailable) if no host responds. A page with any other response is
// the site's Home, with its Failure.
func Open(ctx context.Context, fetcher Fetcher, target string, o *Options) (*Site, error) {
	u, guessed, err := ParseTarget(target)
	if err != nil {
		return nil, err
	}
	options := o.withDefaults()
	now := time.Now()
	s := &Site{
		Input: target, fetcher: fetcher, o: options, started: now, until: now.Add(options.MaxWall),
		robots: map[string]*Robots{}, pages: map[string]*Page{}, files: map[Request]*Response{},
	}
	if deadline, ok := ctx.Deadline(); ok && deadline.Add(-options.Reserve).Before(s.until) {
		s.until = deadline.Add(-options.Reserve)
	}
	failure, err := s.open(ctx, u)
	if guessed && (failure == Unreachable || failure == BadTLS) && err == nil { // the address named no scheme
		plain := *u
		plain.Scheme = "http"
		var second Failure
		if second, err = s.open(ctx, &plain); second == "" {
			failure = ""
		}
	}
	if err != nil {
		return nil, err
	}
	if failure != "" {
		return nil, s.unreachable(failure)
	}
	return s, nil
}

// ParseTarget reads the address of a website as people write it. guessed says
// that it named no scheme. It returns invalid_url (Invalid).
func ParseTarget(target string) (u *url.URL, guessed bool, err error) {
	text := strings.TrimSpace(target)
	if text != "" && !strings.Contains(text, "://") {
		text, guessed = "https://"+text, true
	}
	bad := problem.New(problem.Invalid, "invalid_url",
		"Give the address of a public website, such as https://example.com.").At("/url")
	if len(text) > 2048 {
		return nil, false, bad
	}
	u, err = url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.Opaque != "" {
		return nil, false, bad
	}
	if host := u.Hostname(); !strings.Contains(host, ":") {
		ascii, err := idna.Lookup.ToASCII(strings.ToLower(strings.TrimSuffix(host, ".")))
		if err != nil || ascii == "" {
			return nil, false, bad
		}
		if port := u.Port(); port != "" {
			ascii += ":" + port
		}
		u.Host = ascii
	}
	if u.Scheme == "http" && u.Port() == "80" || u.Scheme == "https" && u.Port() == "443" {
		u.Host = u.Hostname()
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment, u.RawFragment = "", ""
	return u, guessed, nil
}

// unreachable is the problem of a website that cannot be read at all.
func (s *Site) unreachable(f Failure) error {
	if f == "" {
		return nil
	}
	if f == NotAllowed {
		detail := "This address may not be called: it is not on the public internet, or not on port 80 or 443."
		if note := s.Robots.Response.Note; note != "" {
			detail = note
		}
		return problem.New(problem.Unprocessable, "target_not_allowed", detail).At("/url")
	}
	return problem.New(problem.Unavailable, "target_unreachable",
		"The website "+f.String()+". Check the address and that the website is up.").At("/url")
}

// open returns the failure that keeps the whole website from being read; the
// failures of single pages are none.
func (s *Site) open(ctx context.Context, u *url.URL) (Failure, error) {
	s.Origin = &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}
	robots, err := s.robotsOf(ctx, u)
	if err != nil {
		return "", err
	}
	s.Robots = robots
	switch f := robots.Response.Failure; {
	case f.nobody():
		return f, nil
	case f == TimedOut || f == BadAnswer:
		// Does the host respond at all? The body is not read.
		res, err := s.single(ctx, Request{URL: u.String(), WireLimit: 1, DecodedLimit: 1}, robots)
		if err != nil || res.Status == 0 {
			return f, err
		}
	}
	res, err := s.follow(ctx, Request{URL: u.String()}, everywhere)
	if err != nil {
		return "", err
	}
	if final, err := url.Parse(res.URL); err == nil {
		s.Origin = &url.URL{Scheme: final.Scheme, Host: final.Host, Path: "/"}
		if r := s.robots[authority(final)]; r != nil {
			s.Robots = r
		}
		if res.Failure == ByRobots {
			d := s.Robots.Decide(s.o.Agent, final.RequestURI())
			s.Excluded = &d
			return "", nil
		}
	}
	if f := res.Failure; f.nobody() || f == TimedOut {
		return f, nil
	}
	s.Home = newPage(u.String(), res)
	if to := s.Home.refresh(); to != nil && SameSite(to, s.Home.URL) {
		page, err := s.Get(ctx, to.String())
		if err != nil {
			return "", err
		}
		if page.OK() {
			page.Response.Chain = append([]Hop{{
				URL: s.Home.URL.String(), Status: res.Status, Location: to.String(),
			}}, page.Response.Chain...)
			s.Home = page
		}
	}
	s.Home.Home = true
	s.pages[u.String()] = s.Home
	s.pages[s.Home.URL.String()] = s.Home
	return "", nil
}

// Get returns the page at an address of the website, reading it at most once.
// What goes wrong there is the page's Failure. An error means that ctx ended.
func (s *Site) Get(ctx context.Context, address string) (*Page, error) {
	u := s.parse(address)
	if u == nil {
		return newPage(address, failed(address, BadRedirect)), nil
	}
	u.Fragment, u.RawFragment = "", ""
	if p := s.pages[u.String()]; p != nil {
		return p, nil
	}
	res, err := s.follow(ctx, Request{URL: u.String()}, sameSite)
	if err != nil {
		return nil, err
	}
	p := newPage(u.String(), res)
	s.pages[u.String()] = p
	return p, nil
}

// Fetch returns any file of the website, at most once for the same request. It
// keeps to robots.txt, the pace and the budget as pages do.
func (s *Site) Fetch(ctx context.Context, r Request) (*Response, error) {
	u := s.parse(r.URL)
	if u == nil {
		return failed(r.URL, BadRedirect), nil
	}
	r.URL = u.String()
	if res := s.files[r]; res != nil {
		return res, nil
	}
	res, err := s.follow(ctx, r, sameSite)
	if err == nil {
		s.files[r] = res
	}
	return res, err
}

// Probe makes one request and follows no redirect. The rules of the website's
// origin count for it, so that http can be probed beside https.
func (s *Site) Probe(ctx context.Context, r Request) (*Response, error) {
	u := s.parse(r.URL)
	if u == nil {
		return failed(r.URL, BadRedirect), nil
	}
	if !s.Robots.Decide(s.o.Agent, u.RequestURI()).Allowed {
		return failed(r.URL, ByRobots), nil
	}
	return s.single(ctx, r, s.Robots)
}

// Stopped says why the crawl ended before it was done; empty: it did not.
func (s *Site) Stopped() Failure { return s.stopped }

// Requests is how many calls have been made.
func (s *Site) Requests() int { return len(s.Visits) }

// Bytes is how much has been read, decompressed.
func (s *Site) Bytes() int64 { return s.bytes }

// Limits returns the limits that this crawl keeps to.
func (s *Site) Limits() Options { return s.o }

// Allowed reports whether robots.txt lets this crawler read an address.
func (s *Site) Allowed(u *url.URL) bool {
	r := s.robots[authority(u)]
	return r == nil || r.Decide(s.o.Agent, u.RequestURI()).Allowed
}

// Gap is the time between two requests to the website.
func (s *Site) Gap() time.Duration { return s.gap(s.Robots) }

func (s *Site) gap(r *Robots) time.Duration {
	gap := max(s.o.Interval, 0)
	if r != nil && s.o.Interval >= 0 {
		if delay, ok := r.named(s.o.Agent); ok {
			return max(min(delay, MaxDelay), LeastDelay)
		}
		gap = max(gap, min(r.Delay(s.o.Agent), MaxDelay))
	}
	return gap
}

// robotsOf reads the robots.txt of an address's host, once.
func (s *Site) robotsOf(ctx context.Context, u *url.URL) (*Robots, error) {
	key := authority(u)
	if r := s.robots[key]; r != nil {
		return r, nil
	}
	at := url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/robots.txt"}
	res, err := s.follow(ctx, Request{URL: at.String(), Accept: "text/plain, */*;q=0.1", DecodedLimit: MaxRobots + 1},
		forRobots)
	if err != nil {
		return nil, err
	}
	r := &Robots{}
	switch {
	case res.OK():
		r = ParseRobots(res.Body)
	case res.Failure == ManyHops, res.Failure == OffSite, res.Failure == RedirectLoop, res.Failure == BadRedirect,
		res.Failure == "" && res.Status < 500:
		r.Access = Full
	default:
		r.Access = None
	}
	r.Response = res
	s.robots[key] = r
	return r, nil
}

// reach says where the redirects of a request may lead.
type reach int

const (
	sameSite   reach = iota // the host stays, give or take "www."
	everywhere              // as far as the network guard lets
	forRobots               // the same, and robots.txt is not asked
)

// follow makes a request and those that its redirects lead to.
func (s *Site) follow(ctx context.Context, r Request, to reach) (*Response, error) {
	var chain []Hop
	seen := map[string]bool{}
	for {
		u := s.parse(r.URL)
		if u == nil {
			return failed(r.URL, BadRedirect), nil
		}
		if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
			return failed(r.URL, NotAllowed), nil
		}
		seen[r.URL] = true
		res, err := s.hop(ctx, r, u, to)
		if err != nil {
			return nil, err
		}
		res.Chain = chain
		location := res.Header.Get("Location")
		if res.Failure != "" || !isRedirect(res.Status) || location == "" {
			return res, nil
		}
		next, failure := nextHop(u, location, to)
		switch {
		case failure != "":
		case seen[next]:
			failure = RedirectLoop
		case len(chain) >= MaxHops:
			failure = ManyHops
		}
		chain = append(chain, Hop{URL: r.URL, Status: res.Status, Location: location})
		if failure != "" {
			res.Chain, res.Failure = chain, failure
			return res, nil
		}
		r.URL = next
	}
}

func nextHop(from *url.URL, location string, to reach) (string, Failure) {
	u, err := from.Parse(location)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.User != nil, len(location) > 2048:
		return "", BadRedirect
	case from.Scheme == "https" && u.Scheme == "http":
		return "", BadRedirect
	case to == sameSite && !SameSite(from, u):
		return "", OffSite
	}
	u.Fragment, u.RawFragment = "", ""
	u.Host = strings.ToLower(u.Host)
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), ""
}

func isRedirect(status int) bool {
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308
}

// hop makes one request if robots.txt lets it.
func (s *Site) hop(ctx context.Context, r Request, u *url.URL, to reach) (*Response, error) {
	if to == forRobots {
		return s.single(ctx, r, nil)
	}
	robots, err := s.robotsOf(ctx, u)
	if err != nil {
		return nil, err
	}
	if !robots.Decide(s.o.Agent, u.RequestURI()).Allowed {
		if f := robots.Response.Failure; f.nobody() { // at a host that a redirect led to
			return failed(r.URL, f), nil
		}
		return failed(r.URL, ByRobots), nil
	}
	return s.single(ctx, r, robots)
}

// single makes one request within pace and budget.
func (s *Site) single(ctx context.Context, r Request, robots *Robots) (*Response, error) {
	if s.refusing {
		s.stopped = AskedToWait
		return failed(r.URL, AskedToWait), nil
	}
	none := failed(r.URL, OutOfBudget)
	if len(s.Visits) >= s.o.MaxRequests || s.bytes >= s.o.MaxBytes {
		s.stopped = OutOfBudget
		return none, ctx.Err()
	}
	host := r.URL
	if u, err := url.Parse(r.URL); err == nil {
		host = u.Host
	}
	if ok, err := s.o.Pacer.Wait(ctx, host, s.gap(robots), s.until); !ok || err != nil {
		s.stopped = OutOfBudget
		return none, err
	}
	if r.WireLimit == 0 {
		r.WireLimit = s.o.WireLimit
	}
	if r.DecodedLimit == 0 {
		r.DecodedLimit = s.o.DecodedLimit
	}
	at := time.Since(s.started)
	inner, cancel := context.WithDeadline(ctx, s.until)
	defer cancel()
	res, err := s.fetcher.Fetch(inner, r)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("reading %s: %w", host, ctx.Err())
	case inner.Err() != nil && (err != nil || res.Failure != ""):
		res, s.stopped = none, OutOfBudget
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", host, err)
	}
	if res.Header == nil {
		res.Header = Header{}
	}
	s.bytes += res.DecodedBytes
	method := r.Method
	if method == "" {
		method = "GET"
	}
	s.Visits = append(s.Visits, Visit{
		Method: method, URL: r.URL, Accept: r.Accept, Status: res.Status,
		Failure: res.Failure, Bytes: res.DecodedBytes, At: at,
	})
	s.heed(host, res)
	return res, nil
}

// heed slows down, or stops, where the website asks for it.
func (s *Site) heed(host string, res *Response) {
	if res.Status != 429 || s.o.Interval < 0 {
		return
	}
	wait := 2 * time.Second
	if seconds, err := strconv.Atoi(strings.TrimSpace(res.Header.Get("Retry-After"))); err == nil && seconds > 0 {
		wait = time.Duration(min(seconds, 3600)) * time.Second
	}
	if wait > MaxDelay {
		s.refusing = true
		return
	}
	s.o.Pacer.Hold(host, wait)
}

// parse reads an address, which may be relative to the website; nil: it is none.
func (s *Site) parse(address string) *url.URL {
	u, err := s.Origin.Parse(address)
	if err != nil {
		return nil
	}
	return u
}

func failed(address string, f Failure) *Response {
	return &Response{URL: address, Failure: f, Header: Header{}}
}

// nobody reports whether a failure means that a host cannot be called at all.
func (f Failure) nobody() bool {
	return f == Unreachable || f == BadTLS || f == NotAllowed || f == OutOfBudget
}

// authority identifies a host that has a robots.txt of its own.
func authority(u *url.URL) string { return u.Scheme + "://" + strings.ToLower(u.Host) }

// SameSite reports whether two addresses are on one host, give or take a
// leading "www.", the scheme and the port that goes with it.
func SameSite(a, b *url.URL) bool {
	bare := func(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.") }
	port := func(u *url.URL) string {
		if u.Scheme == "http" && u.Port() == "80" || u.Scheme == "https" && u.Port() == "443" {
			return ""
		}
		return u.Port()
	}
	return bare(a) == bare(b) && port(a) == port(b)
}

// SameDomain reports whether two addresses are below the same registered name,
// for example docs.example.co.uk and www.example.co.uk.
func SameDomain(a, b *url.URL) bool {
	return RegisteredName(a) == RegisteredName(b)
}

// RegisteredName is the name that the owner of an address registered, or its
// host where there is none.
func RegisteredName(u *url.URL) string {
	host := strings.ToLower(u.Hostname())
	if name, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		return name
	}
	return host
}
