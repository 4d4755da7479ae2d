package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"ace/internal/foundation/egress"
	"ace/internal/foundation/openapi"
	"ace/internal/foundation/plainjson"
	"ace/internal/foundation/problem"
	"ace/internal/storefront/paidservice"
	"ace/internal/website/crawl"
	"ace/internal/website/datapack"
	"ace/internal/website/llmsdraft"
	"ace/internal/website/readiness"
	"ace/internal/website/readiness/reportpage"
	"ace/internal/website/webfetch"
)

// worker is who does the work of a service, and the schema of its reports.
type worker struct {
	runner paidservice.Runner
	schema json.RawMessage
}

// runners are those of the services, by id. They read websites under one name,
// and together they keep to the pace that each website is read at.
func (s *Server) runners() (map[string]worker, error) {
	options := &webfetch.Options{OwnHosts: []string{ownHost(s.cfg.BaseURL())}} // a store may be audited by itself
	options.Trusted = s.practicing(egress.SiteAudit(), "/site", "/robots.txt").Trusted
	if s.identity != nil {
		options.Sign = s.sign
	}
	fetcher, limits := webfetch.New(s.guard, s.cfg.BaseURL(), options), &crawl.Options{Pacer: crawl.NewPacer()}
	packer, err := datapack.New(fetcher, &datapack.Options{Crawl: limits})
	if err != nil {
		return nil, fmt.Errorf("wiring the structured data pack: %w", err)
	}
	page, err := reportpage.New()
	if err != nil {
		return nil, fmt.Errorf("wiring the audit: %w", err)
	}
	auditor := readiness.New(fetcher, &readiness.Options{Crawl: limits, Validate: validator(packer)})
	drafts := llmsdraft.New(fetcher, &llmsdraft.Options{Crawl: limits})
	return map[string]worker{
		paidservice.AISearchAudit:      {audits(auditor, page), openapi.SchemaOf[readiness.Report]()},
		paidservice.StructuredDataPack: {packs(packer), packSchema()},
		paidservice.LLMsTxtDraft:       {draftsOf(drafts), openapi.SchemaOf[llmsdraft.Draft]()},
	}, nil
}

// packSchema names the parts of a pack. Its pages hold JSON-LD, which has no
// schema of its own.
func packSchema() json.RawMessage {
	return json.RawMessage(
		`{"type":"object","required":["pages","site"],"properties":{"pages":{"type":"array",` +
			`"items":{"type":"object"}},"site":{"type":"object"}}}`,
	)
}

// validator lets the audit judge structured data as the pack does.
func validator(packer *datapack.Packer) readiness.Validator {
	return func(p *crawl.Page) []readiness.Issue {
		if p.Document == nil {
			return nil
		}
		var issues []readiness.Issue
		for _, issue := range packer.Check(p.Document.Source, p.URL.String()).Issues {
			issues = append(issues,
				readiness.Issue{Error: issue.Severity == "error", Message: issue.Message, Line: issue.Line})
		}
		return issues
	}
}

func audits(auditor *readiness.Auditor, page *reportpage.Page) paidservice.Runner {
	return runner[readiness.Request]{
		check: readiness.Request.Check,
		run: func(ctx context.Context, r readiness.Request, progress crawl.Progress) (*paidservice.Work, error) {
			report, err := auditor.Run(ctx, r, progress)
			if err != nil {
				return nil, err
			}
			html, err := page.Render(report)
			if err != nil {
				return nil, err
			}
			return work(report, []paidservice.File{
				{Name: "report.html", MediaType: "text/html; charset=utf-8", Data: html},
				{Name: "report.md", MediaType: "text/markdown; charset=utf-8", Data: []byte(report.Markdown())},
			}, same)
		},
	}
}

// packArguments are the arguments of the structured data pack.
type packArguments struct {
	URL      string `json:"url"`
	MaxPages int    `json:"max_pages,omitempty"`
}

// check refuses what can never be packed, in the words of the audit, whose
// arguments are the same.
func (a packArguments) check() error {
	return readiness.Request{URL: a.URL, MaxPages: a.MaxPages}.Check()
}

func packs(packer *datapack.Packer) paidservice.Runner {
	return runner[packArguments]{
		check: packArguments.check,
		run: func(ctx context.Context, a packArguments, progress crawl.Progress) (*paidservice.Work, error) {
			pack, err := packer.Run(ctx, datapack.Request{URL: a.URL, MaxPages: a.MaxPages}, progress)
			if err != nil {
				return nil, err
			}
			return work(pack, pack.Files(), func(f datapack.File) paidservice.File { return paidservice.File(f) })
		},
	}
}

func draftsOf(drafts *llmsdraft.Service) paidservice.Runner {
	return runner[llmsdraft.Request]{
		check: llmsdraft.Request.Check,
		run: func(ctx context.Context, r llmsdraft.Request, progress crawl.Progress) (*paidservice.Work, error) {
			draft, err := drafts.Run(ctx, r, progress)
			if err != nil {
				return nil, err
			}
			return work(draft, draft.Files(), func(f llmsdraft.File) paidservice.File { return paidservice.File(f) })
		},
	}
}

func same(f paidservice.File) paidservice.File { return f }

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
func (r runner[R]) Run(ctx context.Context, arguments json.RawMessage,
	progress func(paidservice.Progress),
) (*paidservice.Work, error) {
	request, err := readRequest[R](arguments)
	if err != nil {
		return nil, err
	}
	return r.run(ctx, request, func(phase string, done, planned int) {
		progress(paidservice.Progress{Phase: phase, Done: done, Total: planned})
	})
}

// readRequest reads the arguments. One that is not known is refused: it may
// be a misspelled limit.
func readRequest[R any](arguments json.RawMessage) (request R, err error) {
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&request); err != nil {
		return request, problem.New(problem.Invalid, "invalid_arguments",
			"The arguments do not fit the service. input_schema in GET /v1/services says what it takes.")
	}
	return request, nil
}

// work packs a report and its files.
func work[F any](report any, files []F, file func(F) paidservice.File) (*paidservice.Work, error) {
	var text bytes.Buffer
	encoder := plainjson.NewEncoder(&text)
	if err := encoder.Encode(report); err != nil {
		return nil, fmt.Errorf("encoding a report: %w", err)
	}
	w := &paidservice.Work{Report: bytes.TrimSpace(text.Bytes())}
	for _, f := range files {
		w.Files = append(w.Files, file(f))
	}
	return w, nil
}
