package testsites

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Transport returns requests to the site without a network. It streams, so
// that slow responses are slow, and works in the fake time of testing/synctest.
// Requests to other hosts fail.
func (s *Site) Transport() http.RoundTripper { return transport{s} }

type transport struct{ site *Site }

// RoundTrip runs the site's handler in a goroutine until it is done, or until
// the response is closed or the request is given up.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme+"://"+r.URL.Host != t.site.URL {
		return nil, fmt.Errorf("no such host in this test: %s", r.URL.Host)
	}
	ctx, cancel := context.WithCancel(r.Context())
	body, pipe := io.Pipe()
	in := r.Clone(ctx)
	in.RequestURI, in.Host = r.URL.RequestURI(), r.URL.Host
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := &writer{header: http.Header{}, pipe: pipe, started: make(chan struct{})}
	context.AfterFunc(ctx, func() { _ = pipe.CloseWithError(ctx.Err()) })
	go func() {
		defer func() {
			w.WriteHeader(http.StatusOK)
			switch {
			case recover() != nil:
				_ = pipe.CloseWithError(io.ErrUnexpectedEOF)
			case ctx.Err() == nil:
				_ = pipe.CloseWithError(io.EOF)
			}
			cancel()
		}()
		t.site.ServeHTTP(w, in)
	}()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-w.started:
	}
	res := &http.Response{
		StatusCode: w.status, Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: &answerBody{body, cancel}, ContentLength: -1, Request: r,
	}
	if r.Method == http.MethodHead || w.status == http.StatusNoContent || w.status == http.StatusNotModified {
		_ = res.Body.Close()
		res.Body, res.ContentLength = http.NoBody, 0
	}
	return res, nil
}

// answerBody ends the handler when the response is closed, as a connection does.
type answerBody struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (b *answerBody) Close() error {
	b.cancel()
	return b.PipeReader.Close()
}

// writer passes a response on while it is written.
type writer struct {
	header, sent http.Header
	pipe         *io.PipeWriter
	once         sync.Once
	started      chan struct{}
	status       int
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) WriteHeader(status int) {
	w.once.Do(func() {
		w.status, w.sent = status, w.header.Clone()
		close(w.started)
	})
}

func (w *writer) Write(p []byte) (int, error) {
	if w.header.Get("Content-Type") == "" {
		w.header.Set("Content-Type", http.DetectContentType(p))
	}
	w.WriteHeader(http.StatusOK)
	return w.pipe.Write(p)
}

func (w *writer) Flush() { w.WriteHeader(http.StatusOK) }
