// Package crawltest simulates the web in tests of what crawls it.
//
//	Web          websites in memory, a crawl.Fetcher
//	RunFetcher   what every crawl.Fetcher promises
package crawltest

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"ace/internal/website/crawl"
)

// Answer is the response of one URL.
type Answer struct {
	Status    int // 0: 200
	Header    map[string]string
	Body      string
	Failure   crawl.Failure // instead of a response
	FirstByte time.Duration // 0: 50 ms
}

// Page is a response that holds HTML.
func Page(html string) Answer {
	return Answer{Header: map[string]string{"Content-Type": "text/html; charset=utf-8"}, Body: html}
}

// Text is a response of some media type.
func Text(kind, body string) Answer {
	return Answer{Header: map[string]string{"Content-Type": kind}, Body: body}
}

// Redirect is a response that leads elsewhere.
func Redirect(status int, to string) Answer {
	return Answer{Status: status, Header: map[string]string{"Location": to}}
}

// Web is websites in memory. URLs that it does not know get 404 where
// their host has others, and crawl.Unreachable elsewhere. It is safe for
// concurrent use.
type Web struct {
	mu       sync.Mutex
	answers  map[string]Answer
	hosts    map[string]bool
	requests []crawl.Request
}

// New returns a web of URLs and their responses. A URL followed by a
// space and a media type is the response to requests that accept this type first.
func New(answers map[string]Answer) *Web {
	w := &Web{answers: maps.Clone(answers), hosts: map[string]bool{}}
	for key := range answers {
		address, _, _ := strings.Cut(key, " ")
		if u, err := url.Parse(address); err == nil {
			w.hosts[u.Scheme+"://"+u.Host] = true
		}
	}
	return w
}

// Fetch implements crawl.Fetcher.
func (w *Web) Fetch(ctx context.Context, r crawl.Request) (*crawl.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, r)
	res := &crawl.Response{URL: r.URL, Header: crawl.Header{}}
	a, ok := w.answer(r)
	if !ok {
		res.Failure = crawl.Unreachable
		return res, nil
	}
	if a.Failure != "" {
		res.Failure = a.Failure
		return res, nil
	}
	res.Status, res.FirstByte = a.Status, a.FirstByte
	if res.Status == 0 {
		res.Status = 200
	}
	if res.FirstByte == 0 {
		res.FirstByte = 50 * time.Millisecond
	}
	for name, value := range a.Header {
		res.Header.Add(name, value)
	}
	if r.Method == http.MethodHead {
		return res, nil
	}
	res.Body = []byte(a.Body)
	if limit := r.DecodedLimit; limit > 0 && int64(len(res.Body)) > limit {
		res.Body, res.Truncated = res.Body[:limit], true
	}
	res.WireBytes, res.DecodedBytes = int64(len(res.Body)), int64(len(res.Body))
	return res, nil
}

func (w *Web) answer(r crawl.Request) (Answer, bool) {
	accept, _, _ := strings.Cut(r.Accept, ",")
	if a, ok := w.answers[r.URL+" "+accept]; ok {
		return a, true
	}
	if a, ok := w.answers[r.URL]; ok {
		return a, true
	}
	u, err := url.Parse(r.URL)
	if err != nil || !w.hosts[u.Scheme+"://"+u.Host] {
		return Answer{}, false
	}
	return Answer{
		Status: 404, Header: map[string]string{"Content-Type": "text/html; charset=utf-8"},
		Body: "<!doctype html><title>Not found</title><h1>Not found</h1>",
	}, true
}

// Requests returns the requests so far.
func (w *Web) Requests() []crawl.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]crawl.Request(nil), w.requests...)
}
