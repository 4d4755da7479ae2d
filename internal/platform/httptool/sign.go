package httptool

import (
	"fmt"
	"net/http"

	"ace/internal/platform/app"
	"ace/internal/platform/tool"
)

// Sign adds a signature over a whole request, for the schemes that have one. It
// does not change other requests. The request can be read again.
type Sign func(r *http.Request, s *app.Scheme, values app.Values) error

// sign is called immediately before a request is sent.
func (e *Executor) sign(c *tool.Call, r *http.Request) error {
	if e.options.Sign == nil || c.Scheme == nil {
		return nil
	}
	if err := e.options.Sign(r, c.Scheme, c.Live.Values); err != nil {
		return fmt.Errorf("signing a call of %s: %w", c.App.ID, err)
	}
	return nil
}
