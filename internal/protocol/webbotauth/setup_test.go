package webbotauth_test

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/foundation/httpsig"
	"ace/internal/protocol/webbotauth"
)

// document is the response of a fake server.
type document struct {
	status    int
	mediaType string
	cache     string
	body      string
	err       error
	wait      chan struct{} // closed when the response may be sent
}

// web is a network of documents by URL. It counts the requests.
type web struct {
	mu        sync.Mutex
	documents map[string]document
	calls     []*http.Request
	running   int
	most      int // concurrent requests
}

func newWeb() *web { return &web{documents: map[string]document{}} }

func (w *web) put(address string, d document) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d.status == 0 {
		d.status = http.StatusOK
	}
	if d.mediaType == "" {
		d.mediaType = webbotauth.MediaType
	}
	w.documents[address] = d
}

func (w *web) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.calls)
}

// Do implements webbotauth.Fetcher.
func (w *web) Do(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	d, ok := w.documents[r.URL.String()]
	w.calls = append(w.calls, r)
	w.running++
	w.most = max(w.most, w.running)
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.running--
		w.mu.Unlock()
	}()
	if d.wait != nil {
		select {
		case <-d.wait:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	switch {
	case !ok:
		return nil, errors.New("no such host")
	case d.err != nil:
		return nil, d.err
	}
	h := http.Header{"Content-Type": {d.mediaType}}
	if d.cache != "" {
		h.Set("Cache-Control", d.cache)
	}
	return &http.Response{StatusCode: d.status, Header: h, Body: io.NopCloser(strings.NewReader(d.body))}, nil
}

func keysOf(t testing.TB, f webbotauth.Fetcher, o *webbotauth.KeysOptions) *webbotauth.Keys {
	t.Helper()
	keys := webbotauth.NewKeys(f, slog.New(slog.DiscardHandler), o)
	t.Cleanup(keys.Close)
	return keys
}

// vector reads a shared vector; without the shared folder the test is skipped.
func vector(t testing.TB, into any, name ...string) {
	t.Helper()
	shared := os.Getenv("ACE_SHARED_DIR")
	if shared == "" {
		t.Skip("left out: ACE_SHARED_DIR is not set")
	}
	data, err := os.ReadFile(filepath.Join(append([]string{shared, "specs/discovery/vectors"}, name...)...))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func request(t testing.TB, method, address, body string, headers map[string]string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return r
}

func toVerify(r *http.Request, body string) webbotauth.Request {
	return webbotauth.Request{
		Message: httpsig.RequestMessage(r, "https"), Client: netip.MustParseAddr("203.0.113.7"),
		Body: func() ([]byte, error) { return []byte(body), nil },
	}
}

// settled verifies until the keys are there: the first call starts the fetch, the second one has
// its result. It must run in a bubble.
func settled(v *webbotauth.Verifier, now time.Time, r webbotauth.Request) webbotauth.Outcome {
	v.Verify(now, r)
	synctest.Wait()
	return v.Verify(now, r)
}
