package oauthclient

import (
	"cmp"
	"fmt"
	"net/url"

	"ace/internal/platform/app"
	"ace/internal/platform/oauthclient/reply"
)

// Installed turns the webhook by which an app's own store reports an
// installation into the callback that Finish takes: with the code at the place
// that the definition names, and the installation's id. It is for schemes with
// oauth.install; whose installation it is the caller finds out.
func Installed(s *app.Scheme, webhook []byte) (callback url.Values, err error) {
	if s.OAuth == nil || s.OAuth.Install == nil {
		return nil, fmt.Errorf("scheme %s is not installed from outside", s.ID)
	}
	document := reply.Parse("json", webhook)
	callback = url.Values{}
	code, id := app.PickText(document, s.OAuth.Install.Code), app.PickText(document, s.OAuth.Install.ID)
	if s.OAuth.Install.Code == "" {
		code = ""
	}
	if code != "" {
		callback.Set(cmp.Or(s.OAuth.Callback.Code, "code"), code)
	}
	if s.OAuth.Install.ID != "" && id != "" {
		callback.Set("installation_id", id)
	}
	if len(callback) == 0 {
		return nil, fmt.Errorf("the webhook of an installation by %s names neither code nor installation", s.ID)
	}
	return callback, nil
}
