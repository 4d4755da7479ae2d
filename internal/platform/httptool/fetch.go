package httptool

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"

	"ace/internal/foundation/problem"
	"ace/internal/platform/tool/file"
)

// Fetcher implements file.Fetcher: it reads a file from a public URL, through
// an egress client for that purpose. It sends no credentials.
type Fetcher struct{ client HTTPClient }

// NewFetcher returns a fetcher.
func NewFetcher(client HTTPClient) *Fetcher { return &Fetcher{client} }

// Fetch implements file.Fetcher.
func (f *Fetcher) Fetch(ctx context.Context, address string) (*file.File, error) {
	refuse := func(detail string) error {
		return problem.New(problem.Unprocessable, "invalid_arguments", detail).Advise("fix_arguments")
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil {
		return nil, refuse("A file is fetched from an https address without a user name.")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, refuse("The address of the file cannot be read.")
	}
	res, err := f.client.Do(req)
	if err != nil {
		p, ok := problem.From(err)
		switch {
		case ok && p.Code == "response_too_large":
			return nil, tooLarge()
		case ok:
			return nil, p
		}
		return nil, problem.New(problem.Unavailable, "target_unreachable", "The file cannot be fetched right now.")
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, refuse("The address of the file answers " + strconv.Itoa(res.StatusCode) +
			". Upload the file instead, or name another address.")
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, file.MaxSize+1))
	if p, ok := problem.From(err); err != nil && ok && p.Code == "response_too_large" || len(data) > file.MaxSize {
		return nil, tooLarge()
	}
	if err != nil {
		return nil, problem.New(problem.Unavailable, "target_unreachable", "The file broke off while it was fetched.")
	}
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		kind = "application/octet-stream"
	}
	return &file.File{Name: fetchedName(res, u), MediaType: kind, Data: data}, nil
}

func tooLarge() error {
	return problem.New(problem.TooLarge, "file_too_large", "The file has more than 25 MiB.")
}

func fetchedName(res *http.Response, u *url.URL) string {
	if _, params, err := mime.ParseMediaType(res.Header.Get("Content-Disposition")); err == nil &&
		params["filename"] != "" {
		return params["filename"]
	}
	if name := path.Base(u.Path); name != "/" && name != "." {
		return name
	}
	return "file"
}
