package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"ace/internal/config"
	"ace/internal/platform/accounthttp"
	"ace/internal/server"
)

// What the tour does on the platform.
const (
	tourApp  = "demo-notes"
	tourTool = "demo_notes__create_note"
	tourTask = "write down that milk is out"
	// tourKeyLife ends the key of a tour that was broken off.
	tourKeyLife = time.Hour
)

// platform has the demo app connected, runs a tool of it and watches an event,
// with a key that is revoked at the end. It leaves nothing behind but two notes.
func (t *tour) platform(c *tourCmd) error {
	t.base = strings.TrimRight(c.PlatformBaseURL(), "/")
	if !t.there(c.DataDir) {
		t.say(
			"No platform of this server answers at %s, or the server runs elsewhere than in the folder %s: the tour "+
				"ends here. --platform-url and --data-dir name others; docs/platform.md tells what a platform is for.",
			t.base, c.DataDir)
		return nil
	}
	key, err := t.makeKey(c)
	if err != nil || key == nil {
		return err
	}
	tool, err := t.find()
	if err != nil {
		return err
	}
	if tool != "" {
		err = t.useApp(c)
	} else {
		t.say(
			"The demo app is not there: the sandbox does not run. An app of the catalogue is connected and used in " +
				"the same way.")
	}
	return errors.Join(err, t.revoke())
}

// there reports whether the platform responds and belongs to the server of the
// data folder, whose socket makes keys.
func (t *tour) there(dataDir string) bool {
	req, err := http.NewRequestWithContext(t.ctx, http.MethodGet, t.base+"/healthz", nil)
	if err != nil || !server.Running(t.ctx, dataDir) {
		return false
	}
	res, _, err := t.send(req) //nolint:bodyclose // send has read and closed it
	return err == nil && res.StatusCode == http.StatusOK
}

// makeKey has the operator create a key. It returns nil where there is no account.
func (t *tour) makeKey(c *tourCmd) (*accounthttp.Key, error) {
	client, done, err := server.Operate(t.ctx, &config.Settings{DataDir: c.DataDir})
	if err != nil {
		return nil, err
	}
	defer func() { _ = done() }()
	name := c.Account
	if name == "" {
		var all accounthttp.Accounts
		if err := operate(t.ctx, client, http.MethodGet, "/accounts", nil, &all); err != nil {
			return nil, err
		}
		if len(all.Accounts) == 0 {
			t.say("The platform has no account yet. \"ace account create NAME\" makes one; then take the tour again.")
			return nil, nil
		}
		name = all.Accounts[0].Name
	}
	end := time.Now().Add(tourKeyLife).UTC()
	in := accounthttp.KeyRequest{Name: "ace tour", Permissions: []string{"read", "connect", "run"}, ExpiresAt: &end}
	key := &accounthttp.Key{}
	if err := operate(t.ctx, client, http.MethodPost, "/accounts/"+url.PathEscape(name)+"/keys", in, key); err != nil {
		return nil, err
	}
	t.key = key.Secret
	t.note(
		"The platform gives an agent the apps of its person, with one key. The operator makes it, or the person on "+
			"the account page.",
		fmt.Sprintf("ace key create --account %s --expires-in 1h", name),
		map[string]any{
			"id": key.ID, "key": shownKey(key.Secret), "permissions": key.Permissions,
			"expires_at": key.ExpiresAt,
		})
	return key, nil
}

// note prints a step that is no request: the command that does the same, and
// what comes of it.
func (t *tour) note(explanation, command string, result map[string]any) {
	t.step++
	if t.json {
		_ = json.NewEncoder(t.out).Encode(map[string]any{
			"step": t.step, "explanation": explanation, "command": command,
			"answer": result,
		})
		return
	}
	text, _ := json.MarshalIndent(result, "  ", "  ")
	_, _ = fmt.Fprintf(t.out, "%s\n\n  %s\n\n  %s\n\n", t.heading(explanation), command, text)
}

// api calls the platform with the key. It decodes the response into out, unless
// that is nil; want is the status of a success.
func (t *tour) api(explanation, method, path string, in any, want int, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("writing the request: %w", err)
		}
	}
	key := map[string]string{"Authorization": "Bearer " + t.key}
	//nolint:bodyclose // ask has read and closed it
	res, answer, err := t.ask(explanation, method, t.base+"/api/v1"+path, body, key)
	if err != nil {
		return err
	}
	if res.StatusCode != want {
		refused := &statusError{status: res.Status, method: method, path: path}
		var problem struct {
			Code string `json:"code"`
		}
		if json.Unmarshal(answer, &problem) == nil {
			refused.code = problem.Code
		}
		return refused
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the answer to %s %s is no JSON: %w", method, path, err)
	}
	return nil
}

// find returns the tool for the task, or nothing where the demo app is not there.
func (t *tour) find() (string, error) {
	var found struct {
		Tools []struct {
			Tool string `json:"tool"`
		} `json:"tools"`
	}
	in := map[string]any{"task": tourTask, "apps": []string{tourApp}, "limit": 1}
	if err := t.api(
		"The agent says what it is about and reads which tool does that, and that the app is not connected yet.",
		http.MethodPost, "/tools/find", in, http.StatusOK, &found); err != nil {
		return "", err
	}
	if len(found.Tools) == 0 {
		return "", nil
	}
	return found.Tools[0].Tool, nil
}

// useApp has the app connected, runs the tool, reads what is kept of that, watches
// an event, and deletes the connection.
func (t *tour) useApp(c *tourCmd) error {
	var link struct {
		URL       string `json:"url"`
		SessionID string `json:"session_id"`
	}
	if err := t.api(
		"It asks for a link that connects the app. The first visitor who opens the link may use it, once; "+
			"the key of the app "+
			"never passes through the agent.",
		http.MethodPost,
		"/apps/"+tourApp+"/connect",
		map[string]string{"auth": "key", "verify": "link"},
		http.StatusCreated,
		&link,
	); err != nil {
		return err
	}
	if c.Pay {
		if err := t.connectInSandbox(link.URL); err != nil {
			return err
		}
	} else {
		t.say(
			"Now a person connects the app. Open this address in a browser; it tells where to find a key of Demo "+
				"Notes:\n\n    %s", link.URL)
	}
	connection, err := t.connected(link.SessionID, c.Timeout)
	if err != nil {
		return err
	}
	var run struct {
		ID string `json:"run_id"`
	}
	in := map[string]any{"arguments": map[string]string{"title": "Milk"}, "connection_id": connection}
	if err := t.api("It runs the tool. The platform checks the arguments, adds the credentials, and calls the app.",
		http.MethodPost, "/tools/"+tourTool+"/run", in, http.StatusOK, &run); err != nil {
		return err
	}
	if err := t.api("Every run is on record: what was called, with which connection, how it ended.", http.MethodGet,
		"/runs/"+run.ID, nil, http.StatusOK, nil); err != nil {
		return err
	}
	if err := t.api("The connection tells whose account at the app it is, and how it is.", http.MethodGet,
		"/connections/"+connection, nil, http.StatusOK, nil); err != nil {
		return err
	}
	if err := t.watch(c, connection); err != nil {
		return err
	}
	return t.api(
		"Deleting the connection ends it at the app, too, where the app allows that, and forgets the credentials.",
		http.MethodDelete,
		"/connections/"+connection,
		nil,
		http.StatusNoContent,
		nil,
	)
}

// connected waits until the person has connected the app.
func (t *tour) connected(session string, patience time.Duration) (connection string, err error) {
	explanation := "Meanwhile the agent waits, 25 seconds at a time, until the person is done."
	for deadline := time.Now().Add(patience); ; {
		var state struct {
			Status       string `json:"status"`
			ConnectionID string `json:"connection_id"`
		}
		if err := t.api(explanation, http.MethodGet, "/connect-sessions/"+session+"?wait=25", nil, http.StatusOK,
			&state); err != nil {
			return "", err
		}
		switch {
		case state.Status == "connected":
			return state.ConnectionID, nil
		case state.Status != "pending" && state.Status != "opened":
			return "", fmt.Errorf("the app was not connected: the link is %s; start the tour again", state.Status)
		case time.Now().After(deadline):
			return "", fmt.Errorf("nobody connected the app within %s; start the tour again, or add --pay", patience)
		}
		explanation = "Not connected yet; it asks again."
	}
}

// revoke gives the key back and shows that it is of no use any more.
func (t *tour) revoke() error {
	if err := t.api("The agent is done and gives its key back. The person and the operator can take it at any time.",
		http.MethodDelete, "/keys/self", nil, http.StatusNoContent, nil); err != nil {
		return err
	}
	if err := t.api("From this moment on it opens nothing, on no replica.", http.MethodGet, "/me",
		nil, http.StatusUnauthorized, nil); err != nil {
		return err
	}
	t.say(
		"That was the platform. Read on in docs/platform.md; \"ace account link NAME\" signs you in to the account " +
			"page, \"ace catalog report\" counts the apps.")
	return nil
}

var (
	// noteKey finds the key that the demo app shows once.
	noteKey = regexp.MustCompile(`nk_[A-Z2-7]+`)
	// hiddenField finds what a form of the connect page carries.
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
)

// connectInSandbox is the person of the tour: it creates a key at the demo app and
// types it into the page behind the link.
func (t *tour) connectInSandbox(address string) error {
	t.say("The tour plays the user: it creates a key at %s/notes/ and types it into the page behind the link.",
		t.sandbox)
	person, err := t.newPerson()
	if err != nil {
		return err
	}
	page, err := t.visit(person, http.MethodPost, t.sandbox+"/notes/keys", url.Values{"person": {"Ann"}})
	if err != nil {
		return err
	}
	key := noteKey.FindString(page.body)
	if key == "" {
		return errors.New("the demo app made no key; open the link yourself and leave --pay out")
	}
	if page, err = t.visit(person, http.MethodGet, address, nil); err != nil {
		return err
	}
	form := url.Values{"field.key": {key}}
	for _, field := range hiddenField.FindAllStringSubmatch(page.body, -1) {
		form.Set(field[1], field[2])
	}
	_, err = t.visit(person, http.MethodPost, page.address, form)
	return err
}
