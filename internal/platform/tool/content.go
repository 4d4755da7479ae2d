package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"ace/internal/foundation/problem"
	"ace/internal/foundation/seal"
	"ace/internal/platform/tool/output"
)

// content is what a run returned; it is sealed and stored for a day.
type content struct {
	Output  json.RawMessage `json:"output,omitempty"` // projected
	Next    map[string]any  `json:"next,omitempty"`
	Files   []string        `json:"files,omitempty"` // ids
	Failure *Failure        `json:"failure,omitempty"`
	Part    int             `json:"part,omitempty"` // bytes of one part, as requested
}

// finish ends a run: it seals its content and writes the row. durable says that
// the row must be written before finish returns.
func (s *Service) finish(ctx context.Context, r *Run, shape Shape, o outcome, durable bool) (*content, error) {
	k, err := s.contentOf(ctx, r, shape, o)
	if err != nil {
		return nil, err
	}
	r.EndedAt, r.StoredUntil, r.Request = now(), now().Add(OutputLifetime), ""
	if r.Result, err = s.seal(r, "result", k); err != nil {
		return nil, err
	}
	if s.options.Observer != nil {
		s.options.Observer.RunEnded(r)
	}
	// The caller may read further parts, and files, on any replica at once.
	hasMore := len(k.Files) > 0 || len(k.Output) > k.partSize(shape.MaxBytes)
	switch {
	case !durable && !hasMore && s.record(r):
		return k, nil
	case !durable:
		return k, s.Runs.RecordRuns(ctx, []*Run{r})
	}
	done, err := s.Runs.FinishRun(ctx, r)
	if err == nil && !done {
		err = problem.New(problem.Conflict, "run_in_progress",
			"Another process has taken over this run. Read it by its id.").With("run_id", r.ID).Advise("retry_later")
	}
	return k, err
}

// contentOf returns the content of an outcome, and sets the state of the run.
func (s *Service) contentOf(ctx context.Context, r *Run, shape Shape, o outcome) (*content, error) {
	k := &content{Part: shape.MaxBytes}
	answer := o.answer
	if o.err != nil {
		p, _ := problem.From(o.err)
		o.failure = &Failure{
			Code:       CodeRefused,
			Detail:     p.Code + ": " + p.Detail,
			Retryable:  p.Kind.Temporary(),
			RetryAfter: p.RetryAfter,
			NextAction: cmp.Or(p.NextAction, "none"),
			Unsent:     true,
		}
	}
	if o.failure != nil && o.failure.Answer != nil {
		answer = o.failure.Answer
	}
	r.Status = Succeeded
	if answer != nil {
		if err := s.addAnswer(ctx, r, k, answer, shape.Fields); err != nil {
			p, ok := problem.From(err)
			if !ok {
				return nil, err
			}
			o.failure = &Failure{
				Code: CodeResponseInvalid, AppStatus: answer.Status,
				Detail: "The call was carried out, but its file cannot be stored. " + p.Detail, NextAction: "none",
			}
		}
	}
	if o.failure != nil {
		r.Status, r.Code, k.Failure = Failed, o.failure.Code, o.failure
		switch o.failure.Code {
		case CodeRunCancelled:
			r.Status = Canceled
		case CodeRunInterrupted:
			r.Status = Interrupted
		case CodeApprovalDenied, CodeApprovalExpired:
			r.Status = Denied
		}
	}
	return k, nil
}

// addAnswer adds the output and the file of a response to the content of a run.
func (s *Service) addAnswer(ctx context.Context, r *Run, k *content, answer *Answer, fields []string) error {
	if answer.File != nil {
		f, err := s.Files.Save(ctx, r.AccountID, r.EndUser, answer.File)
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

// decode decodes JSON with its numbers as json.Number.
func decode(data []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode(v)
}

// placeOf returns what a sealed column is bound to.
func placeOf(r *Run, column string) seal.Place {
	return seal.Place{Table: "tool_run", Column: column, Row: r.ID, Account: r.AccountID}
}

func (s *Service) seal(r *Run, column string, v any) (string, error) {
	text, err := output.Encode(v)
	if err != nil {
		return "", fmt.Errorf("encoding the %s of %s: %w", column, r.ID, err)
	}
	sealed, err := s.sealer.Seal(text, placeOf(r, column))
	if err != nil {
		return "", fmt.Errorf("sealing the %s of %s: %w", column, r.ID, err)
	}
	return sealed, nil
}

// unseal returns the content of a run, empty if it has expired.
func (s *Service) unseal(r *Run) (*content, error) {
	k := &content{}
	if r.Result == "" {
		return k, nil
	}
	text, err := s.sealer.Open(r.Result, placeOf(r, "result"))
	if err != nil {
		return nil, fmt.Errorf("unsealing the result of %s: %w", r.ID, err)
	}
	if err := decode(text, k); err != nil {
		return nil, fmt.Errorf("reading the result of %s: %w", r.ID, err)
	}
	return k, nil
}

// storedRequest is the request of a run that a job performs.
type storedRequest struct {
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	ConnectionID string          `json:"connection_id,omitempty"`
	Output       Shape           `json:"output"`
}

// unsealRequest returns the request of a run.
func (s *Service) unsealRequest(r *Run) (*storedRequest, error) {
	text, err := s.sealer.Open(r.Request, placeOf(r, "request"))
	if err != nil {
		return nil, fmt.Errorf("unsealing the request of %s: %w", r.ID, err)
	}
	in := &storedRequest{}
	if err := decode(text, in); err != nil {
		return nil, fmt.Errorf("reading the request of %s: %w", r.ID, err)
	}
	return in, nil
}

// partSize returns the size of a part of the output: limit if it is set, else that
// of the request, else the default.
func (k *content) partSize(limit int) int {
	switch {
	case limit > 0:
		return limit
	case k.Part > 0:
		return max(k.Part, output.MinPart)
	}
	return output.DefaultPart
}

// failureOf returns the failure of a run of which only the code is stored.
func failureOf(r *Run) *Failure {
	switch r.Code {
	case CodeRunCancelled:
		return canceled(r.Sent)
	case CodeRunInterrupted:
		return interrupted().failure
	case CodeApprovalDenied:
		return &Failure{
			Code: r.Code, Detail: "The approval was denied. It was not sent.",
			NextAction: "ask_owner_for_permission",
		}
	case CodeApprovalExpired:
		return &Failure{
			Code:       r.Code,
			Detail:     "Nobody approved it in time. It was not sent; run it again to request approval again.",
			NextAction: "wait_for_approval",
		}
	}
	return &Failure{
		Code: r.Code, AppStatus: r.AppStatus, Detail: "The details have expired.",
		NextAction: "none",
	}
}

// result returns a run with the first part of its output, of at most limit bytes
// if limit is not 0.
func (s *Service) result(ctx context.Context, c *Caller, r *Run, k *content, limit int) (*Result, error) {
	out := &Result{
		Run: r, Failure: k.Failure, Next: k.Next,
		Expired: r.Status.Ended() && r.Result == "" && !r.StoredUntil.IsZero(),
	}
	if out.Failure == nil && r.Code != "" {
		out.Failure = failureOf(r)
	}
	for _, id := range k.Files {
		f, err := s.Files.Get(ctx, c.AccountID, c.endUser(), id)
		if problem.Is(err, "file_not_found") {
			continue // it has expired
		}
		if err != nil {
			return nil, err
		}
		out.Files = append(out.Files, f)
	}
	if k.Output == nil {
		return out, nil
	}
	part, err := output.Cut(k.Output, output.Position{Run: r.ID, Max: k.partSize(limit)})
	if err != nil {
		return nil, fmt.Errorf("cutting the output of %s: %w", r.ID, err)
	}
	out.Part = *part
	return out, nil
}
