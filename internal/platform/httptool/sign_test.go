package httptool_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/platform/app"
	"ace/internal/platform/connection"
	"ace/internal/platform/httptool"
	"ace/internal/platform/tool"
)

// A signature covers the request as it goes out: with its query, its body and
// the fields of its header.
func TestSign(t *testing.T) {
	t.Parallel()
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(server.Close)
	a, err := app.Parse([]byte(strings.ReplaceAll(`
id: mail
name: Mail
base: ORIGIN
auth: [{type: sigv4, sigv4: {service: ses, region: "{region}"}}]
tools: {send: {call: POST /send, about: Sends., in: {to: string}}}`, "ORIGIN", server.URL)))
	if err != nil {
		t.Fatal(err)
	}
	send, _ := a.Tools.Get("send")
	call := &tool.Call{
		App: a, Scheme: &a.Schemes[0], Tool: send, Arguments: map[string]any{"to": "ann"},
		Live: &connection.Live{Connection: &connection.Connection{}, Values: app.Map{"secret_access_key": "k"}},
	}
	sign := func(r *http.Request, s *app.Scheme, values app.Values) error {
		body, err := r.GetBody()
		if err != nil {
			return err
		}
		defer func() { _ = body.Close() }()
		key, _ := values.Value("secret_access_key")
		text := make([]byte, 64)
		n, _ := body.Read(text)
		r.Header.Set("Authorization",
			strings.Join([]string{
				s.SigV4.Service, key, r.Header.Get("User-Agent"), r.Header.Get("Content-Type"),
				string(text[:n]),
			}, "|"))
		return nil
	}
	if _, err := httptool.New(server.Client(), &httptool.Options{Sign: sign}).Execute(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if want := `ses|k|ace|application/json|{"to":"ann"}`; got.Get("Authorization") != want {
		t.Errorf("Authorization = %q, want %q", got.Get("Authorization"), want)
	}
	broken := func(*http.Request, *app.Scheme, app.Values) error { return errors.New("no key") }
	if _, err := httptool.New(server.Client(), &httptool.Options{Sign: broken}).Execute(t.Context(), call); err == nil {
		t.Error("a call that cannot be signed is sent")
	}
}
