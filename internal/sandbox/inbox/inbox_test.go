package inbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ace/internal/sandbox/inbox"
)

func send(t *testing.T, method, address, body string) (status int, got inbox.Posts) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Webhook-Id", "evt_1")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return 0, got
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	if method == http.MethodGet && res.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	return res.StatusCode, got
}

func serve(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(inbox.New().Handler("/inbox"))
	t.Cleanup(s.Close)
	return s.URL + "/inbox/"
}

func TestPostsAreShownAsTheyCame(t *testing.T) {
	t.Parallel()
	base := serve(t)
	const body = `{"a": 1,  "b":"ü"}`
	for range 2 {
		if status, _ := send(t, http.MethodPost, base+"ann", body); status != http.StatusNoContent {
			t.Errorf("a post gets %d", status)
		}
	}
	send(t, http.MethodPost, base+"bob", "other")
	_, got := send(t, http.MethodGet, base+"ann", "")
	if len(got.Posts) != 2 || got.Posts[0].Number != 1 || got.Posts[0].Body != body ||
		got.Posts[0].Headers["webhook-id"] != "evt_1" {
		t.Errorf("the inbox shows %+v", got)
	}
	if _, got = send(t, http.MethodGet, base+"ann?after=1", ""); len(got.Posts) != 1 || got.Posts[0].Number != 2 {
		t.Errorf("after the first it shows %+v", got)
	}
	send(t, http.MethodDelete, base+"ann", "")
	if _, got = send(t, http.MethodGet, base+"ann", ""); len(got.Posts) != 0 {
		t.Errorf("after it was emptied it shows %+v", got)
	}
	if _, got = send(t, http.MethodGet, base+"bob?wait=25", ""); len(got.Posts) != 1 {
		t.Errorf("the other inbox shows %+v", got)
	}
}

// A reader that waits gets the post that arrives meanwhile, not one of another
// name.
func TestReadersWait(t *testing.T) {
	t.Parallel()
	base := serve(t)
	got := make(chan inbox.Posts, 1)
	go func() {
		for {
			if _, posts := send(t, http.MethodGet, base+"ann?wait=25", ""); len(posts.Posts) > 0 {
				got <- posts
				return
			}
		}
	}()
	send(t, http.MethodPost, base+"bob", "other")
	send(t, http.MethodPost, base+"ann", "mine")
	if posts := <-got; len(posts.Posts) != 1 || posts.Posts[0].Body != "mine" {
		t.Errorf("the reader got %+v", posts)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	base := serve(t)
	for _, tt := range []struct {
		method, path, body string
		want               int
	}{
		{http.MethodPost, "ann", strings.Repeat("x", inbox.MaxBody+1), http.StatusRequestEntityTooLarge},
		{http.MethodPost, strings.Repeat("a", 65), "", http.StatusNotFound},
		{http.MethodGet, "ann?wait=soon", "", http.StatusBadRequest},
		{http.MethodGet, "ann?after=-1", "", http.StatusBadRequest},
		{http.MethodPut, "ann", "", http.StatusMethodNotAllowed},
	} {
		if got, _ := send(t, tt.method, base+tt.path, tt.body); got != tt.want {
			t.Errorf("%s %.20s = %d, want %d", tt.method, tt.path, got, tt.want)
		}
	}
}

// A flood costs bounded memory: the oldest posts are forgotten.
func TestTheOldestAreForgotten(t *testing.T) {
	t.Parallel()
	base := serve(t)
	large := strings.Repeat("x", inbox.MaxBody)
	for range inbox.MaxBytes/inbox.MaxBody + 3 {
		send(t, http.MethodPost, base+"large", large)
	}
	if _, got := send(t, http.MethodGet, base+"large", ""); len(got.Posts) != inbox.MaxBytes/inbox.MaxBody ||
		got.Posts[0].Number != 4 {
		t.Errorf("%d large posts are kept", len(got.Posts))
	}
	for n := range inbox.MaxPosts {
		send(t, http.MethodPost, base+"many", fmt.Sprint(n))
	}
	if _, got := send(t, http.MethodGet, base+"many", ""); len(got.Posts) != inbox.MaxPosts {
		t.Errorf("%d posts are kept", len(got.Posts))
	}
	if _, got := send(t, http.MethodGet, base+"large", ""); len(got.Posts) != 0 {
		t.Errorf("%d large posts are still kept", len(got.Posts))
	}
}
