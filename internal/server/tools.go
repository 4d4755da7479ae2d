package server

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"time"

	"ace/internal/foundation/egress"
	"ace/internal/platform/connection"
	"ace/internal/platform/httptool"
	"ace/internal/platform/library"
	"ace/internal/platform/tool"
	"ace/internal/platform/tool/file"
	"ace/internal/platform/tool/lookup"
	"ace/internal/storage/platformstore"
)

// runTools wires what runs tools.
//
//	tool.Service -> connections, executor -> apps, through the egress guard
//	            \-> runs and files in the database
func (s *Server) runTools(p *platform, store *platformstore.Store, apps *library.Library) {
	runs := platformstore.Runs{Store: store}
	p.tools = tool.New(tool.Ports{
		Runs: runs, Queue: runs, History: runs, Tools: lookup.Tools{Apps: apps},
		Files: file.New(runs, s.sealer, &file.Options{
			BaseURL: s.cfg.PlatformBaseURL(), Fetcher: httptool.NewFetcher(s.guard.Client(egress.FileFetch())),
		}),
		Connections: p.connections, Executor: p.executor, Opener: links{p.connections}, Keys: p.keys,
	}, s.sealer, &tool.Options{Log: s.log, Observer: s.metrics, Step: s.step})
}

// patient returns a purpose whose calls may take as long as a run may: how long
// one takes is for the run to say.
func patient(p egress.Purpose) egress.Purpose {
	p.Deadline = tool.MaxTimeout
	return p
}

// links makes the sign-in links that refusals hold.
type links struct{ connections *connection.Service }

// sameLinkFor is how long one caller who is refused again and again gets the
// same link.
const sameLinkFor = 5 * time.Minute

// Link implements tool.Opener. The id of the session follows from who asks for
// what, so that a program that tries again does not create a session each time.
func (l links) Link(ctx context.Context, c *tool.Caller, appID, connectionID, endUser string) (*tool.Link, error) {
	window := time.Now().Truncate(sameLinkFor).Unix()
	for n := range 3 {
		id := sessionID(c.AccountID, c.Actor.Kind, c.Actor.ID, appID, connectionID, endUser, fmt.Sprint(window),
			fmt.Sprint(n))
		session, err := l.connections.Open(ctx, c.Actor, c.AccountID, connection.Request{
			ID: id, App: appID, Options: connection.ConnectOptions{EndUser: endUser, Reconnects: connectionID},
		})
		if err != nil {
			return nil, err
		}
		if !session.StatusAt(time.Now()).Over() {
			return &tool.Link{
				URL: l.connections.Link(session.ID), SessionID: session.ID,
				ExpiresAt: session.ExpiresAt,
			}, nil
		}
	}
	return nil, errors.New("the links of these minutes are used up")
}

// sessionID is an id of the shape of connection.NewSessionID that follows from
// parts.
func sessionID(parts ...string) string {
	sum := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	const length = 26
	text := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum.Sum(nil))
	prefix, _, _ := strings.Cut(connection.NewSessionID(), "_")
	return prefix + "_" + strings.ToLower(text)[:length]
}
