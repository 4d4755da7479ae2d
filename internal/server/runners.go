package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"ace/internal/foundation/problem"
	"ace/internal/storefront/crawl"
	"ace/internal/storefront/llmsdraft"
	"ace/internal/storefront/paidservice"
	"ace/internal/storefront/webfetch"
)

// worker is who does the work of a service, and the schema of its reports.
type worker struct {
	runner paidservice.Runner
	schema json.RawMessage
}

// runners are those of the services that are built in, by id.
func (s *Server) runners() map[string]worker {
	options := &webfetch.Options{}
	if s.identity != nil {
		options.Sign = s.sign
	}
	fetcher := webfetch.New(s.guard, s.cfg.BaseURL(), options)
	drafts := llmsdraft.New(fetcher, nil)
	return map[string]worker{
		paidservice.LLMsTxtDraft: {runner: runner[llmsdraft.Request]{
			check: llmsdraft.Request.Check,
			run: func(ctx context.Context, r llmsdraft.Request, progress crawl.Progress) (*paidservice.Work, error) {
				draft, err := drafts.Run(ctx, r, progress)
				if err != nil {
					return nil, err
				}
				return work(draft, draft.Files(), func(f llmsdraft.File) paidservice.File { return paidservice.File(f) })
			},
		}},
	}
}

// runner makes a paidservice.Runner of a service whose arguments are a struct.
type runner[R any] struct {
	check func(R) error
	run   func(ctx context.Context, r R, progress crawl.Progress) (*paidservice.Work, error)
}

// Check implements paidservice.Runner.
func (r runner[R]) Check(arguments json.RawMessage) error {
	request, err := readRequest[R](arguments)
	if err != nil {
		return err
	}
	return r.check(request)
}

// Run implements paidservice.Runner.
func (r runner[R]) Run(ctx context.Context, arguments json.RawMessage, progress func(paidservice.Progress)) (*paidservice.Work, error) {
	request, err := readRequest[R](arguments)
	if err != nil {
		return nil, err
	}
	return r.run(ctx, request, func(stage string, done, planned int) {
		progress(paidservice.Progress{Stage: stage, Done: done, Total: planned})
	})
}

// readRequest reads the arguments. One that is not known is refused: it may
// be a misspelled limit.
func readRequest[R any](arguments json.RawMessage) (request R, err error) {
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		return request, problem.New(problem.Invalid, "invalid_arguments", "The arguments do not fit the service. input_schema in GET /v1/services says what it takes.")
	}
	return request, nil
}

// work packs a report and its files.
func work[F any](report any, files []F, file func(F) paidservice.File) (*paidservice.Work, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // it is not shown as HTML, and people read it
	if err := encoder.Encode(report); err != nil {
		return nil, fmt.Errorf("encoding a report: %w", err)
	}
	w := &paidservice.Work{Report: bytes.TrimSpace(text.Bytes())}
	for _, f := range files {
		w.Files = append(w.Files, file(f))
	}
	return w, nil
}
