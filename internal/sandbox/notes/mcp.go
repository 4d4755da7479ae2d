package notes

import (
	"context"
	"net/http"

	"ace/internal/protocol/mcp"
)

type listInput struct {
	Search string `json:"search,omitempty" maxLength:"200" doc:"Words that title or text hold."`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"20"`
	Cursor string `json:"cursor,omitempty" doc:"next of the page before."`
}

type createInput struct {
	Title string `json:"title" minLength:"1" maxLength:"200"`
	Body  string `json:"body,omitempty" maxLength:"100000"`
}

type callerKey struct{}

// mcp serves the notes as tools. Without a token it says, as MCP asks, where
// one is to be had.
func (f *handler) mcp() http.Handler {
	server := mcp.NewServer(mcp.Implementation{Name: "notes", Title: "Notes", Version: "1.0.0"}, &mcp.Options{
		Versions:     []string{mcp.Version20251125, mcp.Version20250618, mcp.Version20250326, mcp.Version20241105},
		Instructions: "Keeps short notes of one person.",
	})
	mcp.AddTool(server,
		mcp.Tool{
			Name: "list_notes", Title: "List notes",
			Description: "Lists notes, newest first; search narrows them.", Annotations: mcp.Annotations{
				ReadOnly:   true,
				Idempotent: true,
			},
		},
		func(ctx context.Context, _ *mcp.Call, in *listInput) (*listed, error) {
			r := (&http.Request{}).WithContext(ctx)
			return f.n.page(r, of(ctx).person, in.Search, in.Cursor, in.Limit)
		})
	mcp.AddTool(server, mcp.Tool{Name: "create_note", Title: "Create a note", Description: "Writes a new note."},
		func(ctx context.Context, _ *mcp.Call, in *createInput) (*note, error) {
			return f.n.create(ctx, of(ctx).person, in.Title, in.Body)
		})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := f.n.identify(r.Context(), r)
		if err != nil {
			f.writeAPI(w, r, err)
			return
		}
		if c == nil {
			w.Header().Set("WWW-Authenticate",
				`Bearer resource_metadata="`+f.root(r)+"/.well-known/oauth-protected-resource"+f.prefix+`/mcp"`)
			f.writeAPI(w, r, apiError{http.StatusUnauthorized, "unauthorized", "Send a token."})
			return
		}
		server.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, c)))
	})
}

// root is the origin of this listener.
func (f *handler) root(r *http.Request) string {
	origin := f.origin(r)
	return origin[:len(origin)-len(f.prefix)]
}

func of(ctx context.Context) *caller {
	c, _ := ctx.Value(callerKey{}).(*caller)
	return c
}
