package stdwebhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ace/internal/foundation/excerpt"
)

// Defaults of SenderOptions, and bounds of what is read of a response.
const (
	DefaultTimeout = 15 * time.Second
	MaxResponse    = 1 << 10 // bytes of a response that an Attempt holds
	maxDrain       = 16 << 10
	readTime       = time.Second
)

// HTTPClient sends requests: a client of egress for webhooks, which refuses
// internal networks and follows no redirects.
type HTTPClient interface {
	Do(*http.Request) (*http.Response, error)
}

// SenderOptions tunes a Sender.
type SenderOptions struct {
	// Timeout bounds one attempt until the status is there; 0: DefaultTimeout.
	Timeout time.Duration
}

// Sender posts signed messages. One call of Send is one attempt: when to try
// again, and how often, is for its caller to decide and to store. It is safe for
// concurrent use.
type Sender struct {
	client  HTTPClient
	timeout time.Duration
}

// NewSender returns a sender that posts with client.
func NewSender(client HTTPClient, o *SenderOptions) *Sender {
	if o == nil {
		o = new(SenderOptions)
	}
	s := &Sender{client: client, timeout: o.Timeout}
	if s.timeout == 0 {
		s.timeout = DefaultTimeout
	}
	return s
}

// Message is what one receiver is to get, the same on every attempt.
type Message struct {
	URL  string // may hold a secret: no error and no log shows it
	ID   string // stable across attempts: receivers drop what they have seen
	Body []byte // JSON
	// Secrets sign the message: one, or while it is rotated the new one and then
	// the old one.
	Secrets []Secret
	// Header are further fields for the receiver; they cannot replace those of the
	// signature.
	Header map[string]string
}

// Attempt is what one attempt came to.
type Attempt struct {
	At       time.Time     // its start, the signed timestamp
	Duration time.Duration // until the status, or the failure
	Status   int           // of the response; 0: there was none
	Response string        // the beginning of the response, valid UTF-8
	// Err is nil if the receiver accepted the message with a status from 200 to
	// 299. A problem in it is that of the client.
	Err error
}

// Gone reports whether the receiver wants no more messages at this URL: it
// responded with 410.
func (a *Attempt) Gone() bool { return a.Status == http.StatusGone }

// Send posts the message once. A redirect is a failure.
func (s *Sender) Send(ctx context.Context, m Message) Attempt {
	a := Attempt{At: time.Now()}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	res, err := s.post(ctx, m, a.At)
	a.Duration = time.Since(a.At)
	if err != nil {
		a.Err = fmt.Errorf("posting a webhook: %w", err)
		return a
	}
	a.Status = res.StatusCode
	// The status decides. A receiver that sends its body slowly does not hold the
	// attempt up.
	slow := time.AfterFunc(readTime, cancel)
	defer slow.Stop()
	body, _ := io.ReadAll(
		io.LimitReader(res.Body, maxDrain),
	) // what came is enough; the rest lets connections be used again
	_ = res.Body.Close()
	a.Response = excerpt.Prefix(strings.ToValidUTF8(string(body), "\uFFFD"), MaxResponse)
	if a.Status < 200 || a.Status > 299 {
		a.Err = fmt.Errorf("the receiver responded with %d", a.Status)
	}
	return a
}

func (s *Sender) post(ctx context.Context, m Message, at time.Time) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return nil, errors.New("the URL cannot be read")
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range m.Header {
		req.Header.Set(name, value)
	}
	if err := Sign(req.Header, m.Secrets, m.ID, at, m.Body); err != nil {
		return nil, err
	}
	res, err := s.client.Do(req)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // net/http puts the URL into its errors
	}
	return res, err
}
