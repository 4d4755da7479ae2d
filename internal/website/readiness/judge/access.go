package judge

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"ace/internal/website/crawl"
	"ace/internal/website/readiness/prose"
)

// pageStatus: a plain GET gets 200 and HTML after few redirects.
func pageStatus(_ *Audit, p *crawl.Page) Finding {
	hops := len(p.Response.Chain)
	way := ""
	if hops > 0 {
		way = fmt.Sprintf(" after %s: %s", prose.Count(hops, "redirect", "redirects"), chainText(p))
	}
	switch {
	case p.Failure.Ours():
		return Unmeasured("the page %s", p.Failure)
	case p.Challenge() != "":
		return Unmeasured("our client was refused (%s): what search engines get cannot be seen from here",
			p.Challenge())
	case p.Failure == crawl.NotHTML:
		return NotApplicable("the address answers %s, which is no page", prose.Cut(p.Response.MediaType(), 60))
	case p.Failure == crawl.OffSite:
		return NotApplicable("the address leads to another website%s", way)
	case p.Failure != "":
		return Measured(0, "the page %s%s", p.Failure, way)
	case p.Response.Status != 200:
		return Measured(0, "status %d%s", p.Response.Status, way)
	case hops > 2:
		return Measured(0.5, "status 200%s", way)
	}
	return Measured(1, "status 200, %s%s", p.Response.MediaType(), way)
}

func chainText(p *crawl.Page) string {
	var parts []string
	for _, h := range p.Response.Chain {
		parts = append(parts, fmt.Sprintf("%s → %d", prose.Cut(h.URL, 100), h.Status))
	}
	return strings.Join(append(parts, prose.Cut(p.URL.String(), 100)), " → ")
}

// checkHTTPS: http leads to https for good, and the certificate holds.
func checkHTTPS(a *Audit) SiteFinding {
	origin := a.Site.Origin
	found := func(f Finding) SiteFinding { return SiteFinding{Finding: f, URL: "http://" + origin.Host + "/"} }
	if port := origin.Port(); port != "" {
		return found(NotApplicable("port %s is not the one of the public website", port))
	}
	if origin.Scheme == "http" {
		return found(Measured(0, "the website is served over http"))
	}
	r := a.Plain
	if r == nil || r.Failure.Ours() {
		return found(Unmeasured("http was not asked for"))
	}
	location := r.Header.Get("Location")
	switch {
	case r.Failure == crawl.Unreachable || r.Failure == crawl.TimedOut:
		return found(Measured(1, "https with a valid certificate; nothing answers on port 80"))
	case r.Failure != "":
		return found(Unmeasured("http %s", r.Failure))
	case (r.Status == 301 || r.Status == 308) && strings.HasPrefix(location, "https://"):
		return found(Measured(1, "http answers %d to %s; the certificate is valid", r.Status, prose.Cut(location, 100)))
	case strings.HasPrefix(location, "https://"):
		return found(Measured(0.5, "http answers %d to %s, which says that it is not for good", r.Status,
			prose.Cut(location, 100)))
	case r.Status == 200:
		return found(Measured(0, "http answers 200: the website can be read without encryption"))
	}
	return found(Measured(0.5, "http answers %d and does not lead to https", r.Status))
}

// checkRobotsFetch: robots.txt has a status that permits crawlers to know the rules.
func checkRobotsFetch(a *Audit) SiteFinding {
	r := a.Site.Robots.Response
	found := func(f Finding) SiteFinding { return SiteFinding{Finding: f, URL: r.URL} }
	switch {
	case r.Failure.Ours():
		return found(Unmeasured("robots.txt %s", r.Failure))
	case r.Failure != "" && a.Site.Robots.Access == crawl.None:
		return found(Measured(0, "robots.txt %s: crawlers take it that all is forbidden", r.Failure))
	case r.Failure != "":
		return found(Measured(0.5, "robots.txt %s: crawlers take it that there are no rules", r.Failure))
	case r.Status >= 500:
		return found(Measured(0, "status %d: crawlers take it that all is forbidden", r.Status))
	case r.Status == 404 || r.Status == 410:
		return found(Measured(1, "status %d: there is none, so all crawlers may read everything", r.Status))
	case r.Status != 200:
		return found(Measured(0.5,
			"status %d: most crawlers take it that there are no rules, some that all is forbidden", r.Status))
	}
	return found(robotsBody(a, r))
}

func robotsBody(a *Audit, r *crawl.Response) Finding {
	body := bytes.TrimSpace(r.Body)
	switch kind := r.MediaType(); {
	case len(body) > 0 && body[0] == '<':
		return Measured(0.25, "status 200 with a page of HTML instead of rules").At(crawl.Place{Line: 1})
	case r.Truncated || len(r.Body) > crawl.MaxRobots:
		return Measured(0.5, "larger than 500 KiB: what follows is not read")
	case kind != "text/plain":
		return Measured(0.7, "status 200, Content-Type %s instead of text/plain", prose.Cut(kind, 60))
	}
	return Measured(1, "status 200, text/plain, %s, %s", prose.Count(len(r.Body), "byte", "bytes"),
		prose.Count(len(a.Site.Robots.Groups), "group", "groups"))
}

// pageChallenge: a crawler that says who it is gets the page.
func pageChallenge(_ *Audit, p *crawl.Page) Finding {
	if p.Failure == crawl.AskedToWait {
		return Measured(0, "the website asked to wait longer than this crawl may take (429)")
	}
	if p.Response.Status == 0 {
		return Unmeasured("the page %s", p.Failure)
	}
	if why := p.Challenge(); why != "" {
		return Measured(0, "%s", why)
	}
	return Measured(1, "status %d, no challenge", p.Response.Status)
}

// Times to the first byte.
const (
	quickAnswer = 800 * time.Millisecond
	slowAnswer  = 2500 * time.Millisecond
)

// checkLatency: the median time to the first byte.
func checkLatency(a *Audit) SiteFinding {
	var times []time.Duration
	var rows []AtAddress
	for _, p := range a.Pages {
		if p.Response.Status == 0 || p.Response.FirstByte <= 0 {
			continue
		}
		t := p.Response.FirstByte
		times = append(times, t)
		rows = append(rows,
			AtAddress{p.URL.String(), Measured(latencyValue(t), "first byte after %d ms", t.Milliseconds())})
	}
	if len(times) == 0 {
		return SiteFinding{Finding: Unmeasured("no page answered"), URL: a.Home().URL.String()}
	}
	slices.Sort(times)
	median := times[(len(times)-1)/2]
	return SiteFinding{
		Finding: Measured(latencyValue(median), "median %d ms", median.Milliseconds()),
		URL:     a.Home().URL.String(), Rows: rows,
	}
}

func latencyValue(t time.Duration) float64 {
	return min(max(float64(slowAnswer-t)/float64(slowAnswer-quickAnswer), 0), 1)
}
