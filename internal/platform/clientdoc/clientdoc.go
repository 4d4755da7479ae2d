// Package clientdoc is an adapter: it fetches the documents in which OAuth clients
// describe themselves, for package authserver.
package clientdoc

import (
	"context"
	"io"
	"mime"
	"net/http"
	"strings"

	"ace/internal/foundation/problem"
)

// limit bounds a document, in bytes: the draft advises 5 KB.
const limit = 16 << 10

// Fetcher fetches documents. HTTP is a client behind the egress guard, for its
// purpose ClientDocument.
type Fetcher struct{ HTTP *http.Client }

// Fetch implements authserver.Documents.
func (f Fetcher) Fetch(ctx context.Context, url string) ([]byte, error) {
	unreadable := problem.New(
		problem.Unauthenticated,
		"invalid_client",
		"The metadata document of this client cannot be read. It is public, JSON, at most 16 KiB, and "+
			"not behind a redirect.",
	)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, unreadable
	}
	req.Header.Set("Accept", "application/json")
	res, err := f.HTTP.Do(req)
	if err != nil {
		return nil, unreadable
	}
	defer func() { _ = res.Body.Close() }()
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil || res.StatusCode != http.StatusOK ||
		kind != "application/json" && !(strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")) {
		return nil, unreadable
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil || len(text) > limit {
		return nil, unreadable
	}
	return text, nil
}
