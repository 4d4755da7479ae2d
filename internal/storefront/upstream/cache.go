package upstream

import (
	"container/list"
	"net/http"
	"time"

	"ace/internal/storefront/site"
)

// validators let the website say that nothing changed.
type validators struct{ etag, modified string }

func validatorsOf(h http.Header) validators {
	return validators{etag: h.Get("ETag"), modified: h.Get("Last-Modified")}
}

func (v validators) set(h http.Header) {
	if v.etag != "" {
		h.Set("If-None-Match", v.etag)
	}
	if v.modified != "" {
		h.Set("If-Modified-Since", v.modified)
	}
}

// cached is a page as the website sent it.
type cached struct {
	page       *site.Page
	validators validators
	checked    time.Time // when the website was last asked
	confirmed  time.Time // when it last responded
}

func newCached(page *site.Page, h http.Header) *cached {
	now := time.Now()
	return &cached{page: page, validators: validatorsOf(h), checked: now, confirmed: now}
}

func (c *cached) size() int64 {
	const overhead = 1 << 10
	return int64(len(c.page.Markdown) + len(c.page.HTML) + overhead)
}

// cache keeps the pages that were used last, up to a number of bytes.
type cache struct {
	limit, used int64
	byPath      map[string]*list.Element
	order       *list.List // of *slot, last used first
}

type slot struct {
	path string
	page *cached
}

func newCache(limit int64) *cache {
	return &cache{limit: limit, byPath: map[string]*list.Element{}, order: list.New()}
}

func (c *cache) get(path string) *cached {
	e, ok := c.byPath[path]
	if !ok {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*slot).page
}

func (c *cache) put(path string, page *cached) {
	c.drop(path)
	if page.size() > c.limit {
		return
	}
	c.byPath[path] = c.order.PushFront(&slot{path, page})
	c.used += page.size()
	for c.used > c.limit {
		c.drop(c.order.Back().Value.(*slot).path)
	}
}

func (c *cache) drop(path string) {
	if e, ok := c.byPath[path]; ok {
		c.used -= e.Value.(*slot).page.size()
		c.order.Remove(e)
		delete(c.byPath, path)
	}
}
