package egress

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"time"

	"ace/internal/foundation/problem"
)

// A body may grow by this factor when it is decoded, once it is larger than
// ratioSlack: text reaches 20, a bomb 1,000.
const (
	maxRatio   = 100
	ratioSlack = 256 * kib
)

// body reads a response within its limits.
type body struct {
	ctx        context.Context
	wire       io.ReadCloser
	compressed bool
	decoder    io.Reader
	wireLimit  int64
	limit      int64
	wireRead   int64
	read       int64
	idle       time.Duration
	timer      *time.Timer
	stop       func()
	err        error // sticky
}

// Read reads decoded bytes. Past a limit it fails with the problem
// response_too_large, past the deadline with target_timeout.
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.decoder == nil {
		if b.err = b.open(); b.err != nil {
			return 0, b.err
		}
	}
	if b.timer != nil {
		b.timer.Reset(b.idle)
	}
	n, err := b.decoder.Read(p)
	b.read += int64(n)
	switch {
	case b.read > b.limit, b.compressed && b.read > ratioSlack && b.read > b.wireRead*maxRatio:
		b.err = tooLarge()
		return 0, b.err
	case err == nil || errors.Is(err, io.EOF):
		b.err = err
		return n, err
	}
	b.err = b.explain(err)
	return n, b.err
}

func (b *body) open() error {
	raw := wireReader{b}
	if !b.compressed {
		b.decoder = raw
		return nil
	}
	decoder, err := gzip.NewReader(raw)
	if errors.Is(err, io.EOF) { // no body at all, as on HEAD and 304
		return io.EOF
	}
	if err != nil {
		return b.explain(err)
	}
	b.decoder = decoder
	return nil
}

func (b *body) explain(err error) error {
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) {
		return problem.New(problem.Unavailable, "target_bad_answer",
			"The answer ended early or is not what it says it is.")
	}
	return callProblem(b.ctx, err)
}

// Close ends the call.
func (b *body) Close() error {
	defer b.stop()
	return b.wire.Close()
}

// wireReader counts what comes off the wire and stops at the limit.
type wireReader struct{ b *body }

func (w wireReader) Read(p []byte) (int, error) {
	n, err := w.b.wire.Read(p)
	w.b.wireRead += int64(n)
	if w.b.wireRead > w.b.wireLimit {
		return 0, tooLarge()
	}
	return n, err
}

func tooLarge() error {
	return problem.New(problem.Unavailable, "response_too_large",
		"The answer of the host is larger than it may be here.")
}
