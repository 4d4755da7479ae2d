// Package inbox stores what is posted to it and shows it: a receiver of webhooks
// to try triggers with, in the sandbox.
//
//	POST   /inbox/{name}   stores a post; the response is 204
//	GET    /inbox/{name}   the posts under that name, oldest first
//	DELETE /inbox/{name}   forgets them
//
// Anybody may use any name. Posts live in memory; where there are too many, the
// oldest are forgotten, whatever their name.
package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits of an inbox.
const (
	MaxBody  = 1 << 20  // bytes of a post
	MaxPosts = 1000     // that are stored
	MaxBytes = 16 << 20 // of the posts that are stored
	maxName  = 64
	maxWait  = 25 * time.Second
)

// Post is a request that has arrived.
type Post struct {
	Number     int64             `json:"number"` // over all names, from 1
	ReceivedAt time.Time         `json:"received_at"`
	Headers    map[string]string `json:"headers"` // names in lower case
	Body       string            `json:"body"`    // as it was sent: signatures are over these bytes
}

// Posts are those under one name.
type Posts struct {
	Posts []Post `json:"posts"`
}

// Inbox stores posts. It is safe for concurrent use; New returns one.
type Inbox struct {
	mu      sync.Mutex
	stored  []named
	last    int64
	bytes   int
	arrived chan struct{} // closed with the next post
}

type named struct {
	name string
	post Post
}

// New returns an inbox without posts.
func New() *Inbox { return &Inbox{arrived: make(chan struct{})} }

// Handler serves the inbox; prefix is where it is mounted.
func (i *Inbox) Handler(prefix string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+prefix+"/{name}", i.receive)
	mux.HandleFunc("GET "+prefix+"/{name}", i.show)
	mux.HandleFunc("DELETE "+prefix+"/{name}", i.clear)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Ace-Sandbox", "true")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		mux.ServeHTTP(w, r)
	})
}

func (i *Inbox) receive(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if len(name) > maxName {
		refuse(w, http.StatusNotFound, "The name of an inbox has at most 64 characters.")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		refuse(w, http.StatusRequestEntityTooLarge, "The inbox stores posts of at most 1 MiB.")
		return
	}
	if err != nil {
		return // the sender has gone
	}
	headers := map[string]string{}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	i.store(name, Post{ReceivedAt: time.Now().UTC(), Headers: headers, Body: string(body)})
	w.WriteHeader(http.StatusNoContent)
}

func (i *Inbox) store(name string, p Post) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.last++
	p.Number = i.last
	i.stored = append(i.stored, named{name, p})
	i.bytes += len(p.Body)
	for len(i.stored) > MaxPosts || i.bytes > MaxBytes {
		i.bytes -= len(i.stored[0].post.Body)
		i.stored = slices.Delete(i.stored, 0, 1)
	}
	close(i.arrived)
	i.arrived = make(chan struct{})
}

// since returns the posts under a name with a number above after, oldest first,
// and what is closed when there may be more.
func (i *Inbox) since(name string, after int64) ([]Post, <-chan struct{}) {
	i.mu.Lock()
	defer i.mu.Unlock()
	posts := []Post{}
	for _, one := range i.stored {
		if one.name == name && one.post.Number > after {
			posts = append(posts, one.post)
		}
	}
	return posts, i.arrived
}

// show returns posts; with ?wait=SECONDS it waits until there is one, with
// ?after=NUMBER it leaves out those up to there.
func (i *Inbox) show(w http.ResponseWriter, r *http.Request) {
	after, errAfter := number(r, "after")
	wait, errWait := number(r, "wait")
	if errAfter != nil || errWait != nil {
		refuse(w, http.StatusBadRequest, "after and wait are whole numbers.")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), min(time.Duration(wait)*time.Second, maxWait))
	defer cancel()
	posts, arrived := i.since(r.PathValue("name"), after)
	for len(posts) == 0 && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-arrived:
			posts, arrived = i.since(r.PathValue("name"), after)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(Posts{posts}) // a caller that has gone is no fault
}

// number reads a parameter; one that is left out is 0.
func number(r *http.Request, name string) (int64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	return int64(n), err
}

func (i *Inbox) clear(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stored = slices.DeleteFunc(i.stored, func(one named) bool {
		if one.name != r.PathValue("name") {
			return false
		}
		i.bytes -= len(one.post.Body)
		return true
	})
	w.WriteHeader(http.StatusNoContent)
}

func refuse(w http.ResponseWriter, status int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": reason})
}
