package main

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"ace/internal/server"
)

// tourPost is what the tour reads of a post in the inbox of the sandbox.
type tourPost struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// statusError is a response of the platform with a status that the tour does not
// expect.
type statusError struct {
	status, method, path string
	code                 string // of the problem
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the platform answered %s to %s %s", e.status, e.method, e.path)
}

// watch has new notes posted to the inbox of the sandbox, writes one, and checks
// the signature of what arrives.
func (t *tour) watch(c *tourCmd, connection string) error {
	address := strings.TrimRight(
		cmp.Or(t.sandbox, c.SandboxBaseURL()),
		"/",
	) + "/inbox/tour-" + strings.ToLower(
		rand.Text()[:8],
	)
	var made struct {
		ID     string `json:"id"`
		Secret string `json:"signing_secret"`
	}
	err := t.api(
		"It also wants to know when somebody else writes a note: each new one is posted to its webhook, signed. "+
			"The inbox of the sandbox stands for that.",
		http.MethodPost,
		"/triggers",
		map[string]string{
			"app": tourApp, "event": "new_note", "connection_id": connection, "webhook_url": address,
		},
		http.StatusCreated,
		&made,
	)
	if refused, ok := errors.AsType[*statusError](err); ok && refused.code == "webhook_url_not_allowed" {
		t.say(
			"The server has a configuration of its own, with which it does not post to the sandbox: the tour watches " +
				"nothing. docs/platform.md tells about triggers.",
		)
		return nil
	}
	if err != nil {
		return err
	}
	in := map[string]any{"arguments": map[string]string{"title": "Bread"}, "connection_id": connection}
	if err := t.api("Somebody writes a note.", http.MethodPost, "/tools/"+tourTool+"/run", in, http.StatusOK,
		nil); err != nil {
		return err
	}
	post, err := t.receive(address, c.Timeout)
	if err != nil {
		return err
	}
	if err := t.verify(post, made.Secret); err != nil {
		return err
	}
	return t.api("Deleting the trigger ends its webhook at the app, too.", http.MethodDelete, "/triggers/"+made.ID, nil,
		http.StatusNoContent, nil)
}

// receive waits until something was posted to an inbox.
func (t *tour) receive(address string, patience time.Duration) (*tourPost, error) {
	explanation := "The app tells the platform, which posts the note to the webhook as Standard Webhooks say."
	for deadline := time.Now().Add(patience); ; {
		//nolint:bodyclose // ask has read and closed it
		_, answer, err := t.ask(explanation, http.MethodGet, address+"?wait=25", nil, nil)
		if err != nil {
			return nil, err
		}
		var got struct {
			Posts []tourPost `json:"posts"`
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			return nil, fmt.Errorf("the inbox of the sandbox returned no JSON: %w", err)
		}
		if len(got.Posts) > 0 {
			return &got.Posts[0], nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf(
				"nothing was posted within %s; \"ace trigger list\" and \"ace trigger show\" tell why",
				patience,
			)
		}
		explanation = "Nothing yet; it asks again."
	}
}

// verify checks the signature of a post, as a receiver does.
func (t *tour) verify(post *tourPost, secret string) error {
	header := http.Header{}
	for name, value := range post.Headers {
		header.Set(name, value)
	}
	if err := server.VerifyPost(secret, header, []byte(post.Body)); err != nil {
		return fmt.Errorf("the signature of the post does not match: %w", err)
	}
	t.say("The signature matches the secret of the trigger: the post is genuine. Any library of Standard Webhooks " +
		"checks that; \"ace trigger show\" prints every attempt, \"ace trigger replay\" posts it again.")
	return nil
}
