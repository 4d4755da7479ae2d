package webbotauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxSet limits the response of a key source, in bytes.
const maxSet = 64 << 10

// fetched is the result of one fetch.
type fetched struct {
	set   keySet
	fresh time.Duration
	err   error
}

// fetch reads the keys of a source: one request, and a second one if a card references the URL of
// its keys.
func (k *Keys) fetch(ctx context.Context, source Source) fetched {
	body, fresh, err := k.get(ctx, source)
	if err != nil {
		return fetched{err: err}
	}
	if source.Kind != CIMD {
		set, err := readKeySet(body, source.Kind)
		return fetched{set, fresh, err}
	}
	set, next, err := readCard(body, source.URL)
	if err != nil || set != nil {
		return fetched{set, fresh, err}
	}
	body, second, err := k.get(ctx, next)
	if err != nil {
		return fetched{err: err}
	}
	set, err = readKeySet(body, next.Kind)
	return fetched{set, min(fresh, second), err}
}

// get reads one document. Any status but 200, including a redirect, is a failure.
func (k *Keys) get(ctx context.Context, source Source) (body []byte, fresh time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, source.URL, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("requesting keys: %w", err)
	}
	req.Header.Set("Accept", MediaType)
	if source.Kind != Directory {
		req.Header.Set("Accept", "application/json, application/jwk-set+json, "+MediaType)
	}
	if k.options.Sign != nil {
		if err := k.options.Sign(req); err != nil {
			return nil, 0, fmt.Errorf("signing a key request: %w", err)
		}
	}
	res, err := k.fetcher.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("requesting keys: %w", cause(err))
	}
	defer func() { _ = res.Body.Close() }()
	switch {
	case res.StatusCode != http.StatusOK:
		return nil, 0, fmt.Errorf("%w: HTTP %d", ErrKeySet, res.StatusCode)
	case !mediaTypeFits(res.Header.Get("Content-Type"), source.Kind):
		return nil, 0, fmt.Errorf("%w: another media type", ErrKeySet)
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, maxSet+1))
	if err != nil {
		return nil, 0, fmt.Errorf("reading keys: %w", err)
	}
	if len(body) > maxSet {
		return nil, 0, fmt.Errorf("%w: larger than %d bytes", ErrKeySet, maxSet)
	}
	return body, freshness(res.Header), nil
}

// cause removes the URL that net/http adds to its errors: the log line already has it.
func cause(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
