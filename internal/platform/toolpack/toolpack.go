// Package toolpack reads and writes the file of tools that were derived from
// descriptions of apps: facts only, some thousands of tools in a few hundred
// kilobytes.
//
//	Write(apps) -> pack:  magic, length of the outlines, outlines, one block an app
//	Open(pack)  -> Pack:  outlines in memory
//	Pack.Of(app) -> app.StoredTools -- Load --> block, inflated and completed;
//	                                            the last 64 apps are cached
//
// Outlines and blocks are JSON, compressed by DEFLATE (RFC 1951). The same tools
// give the same bytes.
package toolpack

import (
	"bytes"
	"compress/flate"
	"container/list"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"ace/internal/platform/app"
)

// magic begins a pack; its digit is the version of the format.
const magic = "ACETOOLS1\n"

// maxCached is how many apps have their tools in memory.
const maxCached = 64

// Pack is an opened file. It is safe for concurrent use.
type Pack struct {
	blocks []byte
	apps   map[string]*entry

	mu     sync.Mutex
	recent list.List // of *loaded, the least recently used last
	cached map[string]*list.Element
}

// entry is an app as the outlines of a pack name it.
type entry struct {
	App      string        `json:"app"`
	Base     string        `json:"base"`
	From     int           `json:"from"` // bytes of its block
	Size     int           `json:"size"`
	Outlines []app.Outline `json:"tools"`
}

type loaded struct {
	app   string
	tools []*app.Tool
}

// record is a tool in a block, beside its outline.
type record struct {
	Body    string            `json:"b,omitempty"`
	Binary  bool              `json:"f,omitempty"`
	Headers map[string]string `json:"h,omitempty"`
	In      []input           `json:"i,omitempty"`
}

type input struct {
	Name     string         `json:"n"`
	Required bool           `json:"r,omitempty"`
	Schema   map[string]any `json:"s"`
	Where    string         `json:"p,omitempty"`
	Wire     string         `json:"w,omitempty"`
	Style    string         `json:"y,omitempty"`
}

// Tools are the tools of one app, to be written.
type Tools struct {
	App   string
	Base  string // of the app, which the paths of the tools are below
	Tools []*app.Tool
}

// Write writes the tools of apps, in the given order.
func Write(w io.Writer, all []Tools) error {
	var blocks bytes.Buffer
	entries := make([]entry, 0, len(all))
	for _, one := range all {
		e := entry{App: one.App, Base: one.Base, From: blocks.Len()}
		records := make([]record, 0, len(one.Tools))
		for _, t := range one.Tools {
			e.Outlines = append(e.Outlines, outlineOf(t))
			records = append(records, recordOf(t))
		}
		if err := deflate(&blocks, records); err != nil {
			return fmt.Errorf("writing the tools of %s: %w", one.App, err)
		}
		e.Size = blocks.Len() - e.From
		entries = append(entries, e)
	}
	var outlines bytes.Buffer
	if err := deflate(&outlines, entries); err != nil {
		return fmt.Errorf("writing the outlines: %w", err)
	}
	head := binary.BigEndian.AppendUint32([]byte(magic), uint32(outlines.Len())) //nolint:gosec // a few megabytes
	for _, part := range [][]byte{head, outlines.Bytes(), blocks.Bytes()} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("writing the pack: %w", err)
		}
	}
	return nil
}

func outlineOf(t *app.Tool) app.Outline {
	o := app.Outline{Name: t.Name, Call: t.Call, Effect: t.Effect}
	for i := range t.In {
		if t.In[i].Required {
			o.Required = append(o.Required, t.In[i].Name)
		} else {
			o.Optional = append(o.Optional, t.In[i].Name)
		}
	}
	return o
}

func recordOf(t *app.Tool) record {
	r := record{Body: t.Body, Binary: t.Binary, Headers: t.Fixed.Headers}
	for i := range t.In {
		in := &t.In[i]
		r.In = append(r.In, input{in.Name, in.Required, in.Schema, in.Where, in.Wire, in.Style})
	}
	return r
}

func deflate(into io.Writer, value any) error {
	w, err := flate.NewWriter(into, flate.BestCompression)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(w).Encode(value); err != nil {
		return err
	}
	return w.Close()
}

// Open opens a pack. The bytes must not change afterwards.
func Open(data []byte) (*Pack, error) {
	rest, found := bytes.CutPrefix(data, []byte(magic))
	if !found || len(rest) < 4 {
		return nil, errors.New("this is no pack of tools, or one of another version")
	}
	size := int(binary.BigEndian.Uint32(rest))
	if rest = rest[4:]; size > len(rest) {
		return nil, errors.New("the pack of tools breaks off")
	}
	var entries []entry
	if err := inflate(rest[:size], &entries); err != nil {
		return nil, fmt.Errorf("reading the outlines: %w", err)
	}
	p := &Pack{blocks: rest[size:], apps: map[string]*entry{}, cached: map[string]*list.Element{}}
	for i := range entries {
		e := &entries[i]
		if e.From < 0 || e.Size < 0 || e.From+e.Size > len(p.blocks) {
			return nil, fmt.Errorf("the pack of tools breaks off at %s", e.App)
		}
		p.apps[e.App] = e
	}
	return p, nil
}

func inflate(data []byte, into any) error {
	return json.NewDecoder(flate.NewReader(bytes.NewReader(data))).Decode(into)
}

// Apps returns the number of apps with tools.
func (p *Pack) Apps() int { return len(p.apps) }

// Of returns the tools of an app, or nil if there are none. Those that were made
// for another base URL are none: their paths would lead elsewhere.
func (p *Pack) Of(a *app.App) app.StoredTools {
	if e := p.apps[a.ID]; e != nil && e.Base == a.Base {
		return stored{p, e}
	}
	return nil
}

// stored implements app.StoredTools.
type stored struct {
	pack  *Pack
	entry *entry
}

func (s stored) Outlines() []app.Outline { return s.entry.Outlines }

func (s stored) Load() ([]*app.Tool, error) {
	p := s.pack
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, found := p.cached[s.entry.App]; found {
		p.recent.MoveToFront(e)
		return e.Value.(*loaded).tools, nil
	}
	tools, err := s.read()
	if err != nil {
		return nil, err
	}
	p.cached[s.entry.App] = p.recent.PushFront(&loaded{s.entry.App, tools})
	if p.recent.Len() > maxCached {
		delete(p.cached, p.recent.Remove(p.recent.Back()).(*loaded).app)
	}
	return tools, nil
}

// read reads the block of an app.
func (s stored) read() ([]*app.Tool, error) {
	var records []record
	if err := inflate(s.pack.blocks[s.entry.From:s.entry.From+s.entry.Size], &records); err != nil {
		return nil, fmt.Errorf("reading the tools of %s: %w", s.entry.App, err)
	}
	if len(records) != len(s.entry.Outlines) {
		return nil, fmt.Errorf("the tools of %s are %d, and their outlines %d", s.entry.App, len(records),
			len(s.entry.Outlines))
	}
	a := &app.App{ID: s.entry.App}
	tools := make([]*app.Tool, len(records))
	for i, r := range records {
		t := s.entry.Outlines[i].Tool(a)
		t.In, t.Body, t.Binary, t.Fixed.Headers = app.Inputs{}, r.Body, r.Binary, r.Headers
		t.Paging = &app.Paging{}
		for _, in := range r.In {
			t.In = append(t.In, app.Input{
				Name:     in.Name,
				Required: in.Required,
				Schema:   in.Schema,
				Where:    in.Where,
				Wire:     in.Wire,
				Style:    in.Style,
			})
		}
		tools[i] = t
	}
	a.Tools = app.OrderedOf(func(t *app.Tool) string { return t.Name }, tools...)
	return tools, a.Complete()
}
