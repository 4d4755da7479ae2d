package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/tool/output"
)

// kept is what of a run is sealed for a day.
type kept struct {
	Output  json.RawMessage `json:"output,omitempty"` // projected
	Next    map[string]any  `json:"next,omitempty"`
	Files   []string        `json:"files,omitempty"` // ids
	Failure *Failure        `json:"failure,omitempty"`
	Part    int             `json:"part,omitempty"` // bytes of one part, as the request wanted
}

// finish ends a run: it seals what came of it and writes the row. named says
// that somebody may ask for the run by its id after a crash.
func (s *Service) finish(ctx context.Context, r *Run, shape Shape, o outcome, named bool) (*kept, error) {
	k, err := s.take(ctx, r, shape, o)
	if err != nil {
		return nil, err
	}
	r.EndedAt, r.KeptUntil, r.Request = now(), now().Add(KeepOutput), ""
	if r.Result, err = s.seal(r, "result", k); err != nil {
		return nil, err
	}
	// What the caller reads on is there for it on every replica.
	readOn := len(k.Files) > 0 || len(k.Output) > partOf(k, shape.MaxBytes)
	switch {
	case !named && !readOn && s.record(r):
		return k, nil
	case !named:
		return k, s.Store.RecordRuns(ctx, []*Run{r})
	}
	done, err := s.Store.FinishRun(ctx, r)
	if err == nil && !done {
		err = problem.New(problem.Conflict, "run_in_progress", "Another process took this run over. Read it under its id.").With("run_id", r.ID).Advise("retry_later")
	}
	return k, err
}

// take turns an outcome into what is kept, and sets the run's state by it.
func (s *Service) take(ctx context.Context, r *Run, shape Shape, o outcome) (*kept, error) {
	k := &kept{Part: shape.MaxBytes}
	answer := o.answer
	if o.refused != nil {
		o.failure = refusal(o.refused)
	}
	if o.failure != nil && o.failure.Answer != nil {
		answer = o.failure.Answer
	}
	r.Status = Succeeded
	if answer != nil {
		if err := s.takeAnswer(ctx, r, k, answer, shape.Fields); err != nil {
			p, ok := problem.From(err)
			if !ok {
				return nil, err
			}
			o.failure = &Failure{Code: CodeResponseInvalid, AppStatus: answer.Status, Detail: "The call was carried out, but its file cannot be kept. " + p.Detail, NextAction: "none"}
		}
	}
	if o.failure != nil {
		r.Status, r.Code, k.Failure = Failed, o.failure.Code, o.failure
		switch o.failure.Code {
		case CodeRunCancelled:
			r.Status = Cancelled
		case CodeRunInterrupted:
			r.Status = Interrupted
		case CodeApprovalDenied, CodeApprovalExpired:
			r.Status = Denied
		}
	}
	return k, nil
}

func (s *Service) takeAnswer(ctx context.Context, r *Run, k *kept, answer *Answer, fields []string) error {
	if answer.File != nil {
		f, err := s.keepFile(ctx, r.AccountID, r.EndUser, answer.File)
		if err != nil {
			return err
		}
		k.Files = append(k.Files, f.ID)
	}
	k.Next = answer.Next
	if answer.Output == nil && answer.File != nil {
		return nil
	}
	text, err := output.Encode(output.Project(answer.Output, fields))
	if err != nil {
		return fmt.Errorf("encoding the output of %s: %w", r.ID, err)
	}
	k.Output, r.OutputBytes = text, len(text)
	return nil
}

// refusal is a problem of the platform in a run that is kept.
func refusal(err error) *Failure {
	p, _ := problem.From(err)
	return &Failure{
		Code: CodeRefused, Detail: p.Code + ": " + p.Detail, Retryable: p.Kind.Temporary(), RetryAfter: p.RetryAfter, NextAction: advice(p), Unsent: true,
	}
}

func advice(p *problem.Problem) string {
	if p.NextAction == "" {
		return "none"
	}
	return p.NextAction
}

// decode reads JSON as it is kept, its numbers as they were written.
func decode(data []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(v)
}

func (s *Service) place(r *Run, column string) seal.Place {
	return seal.Place{Table: "tool_run", Column: column, Row: r.ID, Account: r.AccountID}
}

func (s *Service) seal(r *Run, column string, v any) (string, error) {
	text, err := output.Encode(v)
	if err != nil {
		return "", fmt.Errorf("encoding the %s of %s: %w", column, r.ID, err)
	}
	sealed, err := s.box.Seal(text, s.place(r, column))
	if err != nil {
		return "", fmt.Errorf("sealing the %s of %s: %w", column, r.ID, err)
	}
	return sealed, nil
}

// open answers what is kept of a run; nothing where its time is over.
func (s *Service) open(r *Run) (*kept, error) {
	k := &kept{}
	if r.Result == "" {
		return k, nil
	}
	text, err := s.box.Open(r.Result, s.place(r, "result"))
	if err != nil {
		return nil, fmt.Errorf("opening the result of %s: %w", r.ID, err)
	}
	if err := decode(text, k); err != nil {
		return nil, fmt.Errorf("reading the result of %s: %w", r.ID, err)
	}
	return k, nil
}

// asked is what a run goes on with that nobody waits for.
type asked struct {
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	ConnectionID string          `json:"connection_id,omitempty"`
	Output       Shape           `json:"output"`
}

// asked opens the request of a run.
func (s *Service) asked(r *Run) (*asked, error) {
	text, err := s.box.Open(r.Request, s.place(r, "request"))
	if err != nil {
		return nil, fmt.Errorf("opening the request of %s: %w", r.ID, err)
	}
	in := &asked{}
	if err := decode(text, in); err != nil {
		return nil, fmt.Errorf("reading the request of %s: %w", r.ID, err)
	}
	return in, nil
}

// partOf is how large a part of an output is: as is asked for now, as the request
// wanted, or as is usual.
func partOf(k *kept, most int) int {
	switch {
	case most > 0:
		return most
	case k.Part > 0:
		return max(k.Part, output.MinPart)
	}
	return output.DefaultPart
}

// unsaid is the failure of a run of which only the code is kept.
func unsaid(r *Run) *Failure {
	switch r.Code {
	case CodeRunCancelled:
		return cancelled(r.Sent)
	case CodeRunInterrupted:
		return interrupted().failure
	case CodeApprovalDenied:
		return &Failure{Code: r.Code, Detail: "Whoever was asked did not agree to it. It was not sent.", NextAction: "ask_owner_for_permission"}
	case CodeApprovalExpired:
		return &Failure{Code: r.Code, Detail: "Nobody agreed to it in time. It was not sent; run it again to ask once more.", NextAction: "wait_for_approval"}
	}
	return &Failure{Code: r.Code, AppStatus: r.AppStatus, Detail: "What was said about it is no longer kept.", NextAction: "none"}
}

// told answers a run with the first part of its output.
func (s *Service) told(ctx context.Context, c *Caller, r *Run, k *kept, most int) (*Result, error) {
	out := &Result{Run: r, Failure: k.Failure, Next: k.Next, Gone: r.Status.Over() && r.Result == "" && !r.KeptUntil.IsZero()}
	if out.Failure == nil && r.Code != "" {
		out.Failure = unsaid(r)
	}
	for _, id := range k.Files {
		f, err := s.file(ctx, c, id)
		if problem.Is(err, "file_not_found") {
			continue // its time is over
		}
		if err != nil {
			return nil, err
		}
		out.Files = append(out.Files, f)
	}
	if k.Output == nil {
		return out, nil
	}
	part, err := output.Cut(k.Output, output.Position{Run: r.ID, Max: partOf(k, most)})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cutting the output of %s", r.ID), err)
	}
	out.Part = *part
	return out, nil
}
