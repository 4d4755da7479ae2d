package trigger

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"ace/internal/platform/app"
	"ace/internal/platform/tool"
)

// Limits of one poll.
const (
	maxPages = 5
	maxItems = 1000
)

// found is what one poll of an app has found, in the order of the list.
type found struct {
	items  []seen
	cursor string
	more   bool      // there are further pages that were not read
	list   string    // pointer to the list in the output
	since  time.Time // older items are no events
	past   bool      // there was one
}

type seen struct {
	key  string
	data any
}

// all returns the keys of everything that was found.
func (f *found) all() []Item {
	list := make([]Item, 0, len(f.items))
	for _, one := range f.items {
		list = append(list, Item{Key: one.key})
	}
	return list
}

// look asks the app for its list, page by page.
func (s *Service) look(ctx context.Context, a *app.App, def *app.Trigger, t *Trigger) (*found, error) {
	p := def.Poll
	f := &found{cursor: t.Cursor, list: p.Items}
	if f.cursor == "" && p.Baseline != nil {
		answer, err := s.call(ctx, a, t, "baseline", &p.Baseline.TriggerCall, values(t, nil))
		if err != nil {
			return nil, err
		}
		f.cursor = app.PickText(answer.Output, p.Baseline.Cursor)
		return f, nil
	}
	from := f.cursor
	if p.Time != "" {
		from = f.lookBack(p, time.Now())
	}
	called, arguments, err := s.pollCall(ctx, a, def, t, from)
	if err != nil {
		return nil, err
	}
	for page := 1; ; page++ {
		answer, err := s.Caller.Call(ctx, &tool.AppCall{
			AccountID: t.AccountID, App: a, Tool: called, ConnectionID: t.ConnectionID, Arguments: arguments,
		})
		if err != nil {
			return nil, err
		}
		if def.Generic {
			err = f.readItems(a, p, answer)
		} else {
			err = f.read(p, answer.Output, values(t, nil))
		}
		if err != nil {
			return nil, err
		}
		if answer.Next == nil || f.past && p.Order != app.OldestFirst && p.Order != app.AnyOrder {
			return f, nil
		}
		if page == maxPages || len(f.items) >= maxItems {
			f.more = true
			f.skipOverlap(p)
			return f, nil
		}
		arguments = answer.Next
		called = app.FurtherPage(called)
	}
}

// overlap is how far a poll looks back from a cursor that is a time.
const overlap = 2 * time.Minute

// lookBack reads the cursor, which is the time of the newest item, and returns how
// the app reads the time from which items are looked for.
func (f *found) lookBack(p *app.Poll, now time.Time) string {
	at, ok := app.ReadTime(f.cursor)
	if !ok { // the first poll
		at = now
		f.cursor = writeCursor(at)
	}
	f.since = at.Add(-overlap)
	if p.Cursor == "" { // items do not say when they changed
		f.cursor = writeCursor(now)
	}
	return p.WriteTime(f.since, now)
}

// skipOverlap lets the next poll go on where this one has stopped: it has more to
// read than what is behind it.
func (f *found) skipOverlap(p *app.Poll) {
	if at, ok := app.ReadTime(f.cursor); ok && p.Time != "" && p.Cursor != "" && p.Order == app.OldestFirst {
		f.cursor = writeCursor(at.Add(overlap))
	}
}

func writeCursor(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// pollCall returns the tool of a poll and its arguments.
func (s *Service) pollCall(ctx context.Context, a *app.App, def *app.Trigger, t *Trigger, cursor string) (*app.Tool,
	map[string]any, error,
) {
	p := def.Poll
	if def.Generic {
		return s.itemsCall(ctx, a, p, t)
	}
	known := values(t, map[string]any{"cursor": cursor})
	if p.Tool == "" {
		called := p.List(a, t.Event+"_poll")
		if cursor == "" { // what names it is left out at first
			called.Fixed.Query = without(called.Fixed.Query)
		}
		return called, known, nil
	}
	called, ok := a.Tools.Get(p.Tool)
	if !ok || !called.ReadOnly() {
		return nil, nil, &tool.Failure{
			Code: tool.CodeBadRequest, Detail: a.Name + " has no tool " + p.Tool + " that only reads.",
		}
	}
	filled, err := app.Fill(p.Arguments, arguments(known))
	if err != nil {
		return nil, nil, fmt.Errorf("the arguments of a poll of %s: %w", a.ID, err)
	}
	given, _ := filled.(map[string]any)
	if given == nil {
		given = map[string]any{}
	}
	return called, given, nil
}

// without leaves out the parameters that name the cursor.
func without(query map[string]string) map[string]string {
	left := maps.Clone(query)
	maps.DeleteFunc(left, func(_, template string) bool { return slices.Contains(app.Names(template), "cursor") })
	return left
}

// read adds the items of one response.
func (f *found) read(p *app.Poll, output any, known map[string]any) error {
	value, _ := app.Pick(output, f.list)
	list, isList := value.([]any)
	if !isList && value != nil {
		list = []any{value}
	}
	if next := app.PickText(output, cmp.Or(p.Cursor, noValue)); next != "" && p.Time == "" {
		f.advance(p, next)
	}
	for _, one := range list {
		next := app.PickText(one, cmp.Or(p.Cursor, noValue))
		switch {
		case p.Time != "" && p.Cursor != "" && !f.meet(next):
			continue
		case p.Time == "" && next != "":
			f.advance(p, next)
		}
		entries := []any{one}
		if p.Each != "" {
			inside, _ := app.Pick(one, p.Each)
			entries, _ = inside.([]any)
		}
		for _, entry := range entries {
			if err := f.add(p, entry, known); err != nil {
				return err
			}
		}
	}
	return nil
}

// noValue is a pointer to nothing: an empty one means the whole document.
const noValue = "/\x00"

// meet moves the cursor to the time of an item, and reports whether it may be new.
func (f *found) meet(text string) bool {
	at, ok := app.ReadTime(text)
	if !ok {
		return false // a draft, or what has not ended yet
	}
	if at.Before(f.since) {
		f.past = true
		return false
	}
	if before, _ := app.ReadTime(f.cursor); at.After(before) {
		f.cursor = writeCursor(at)
	}
	return true
}

// advance moves the cursor forward: a list may be in any order.
func (f *found) advance(p *app.Poll, next string) {
	number, err := strconv.ParseInt(next, 10, 64)
	if err == nil {
		next = strconv.FormatInt(number+p.Step, 10)
	}
	before, wasNumber := strconv.ParseInt(f.cursor, 10, 64)
	switch {
	case err == nil && wasNumber == nil:
		if number+p.Step > before {
			f.cursor = next
		}
	case next > f.cursor || p.Baseline != nil:
		f.cursor = next
	}
}

// add adds an item that is meant.
func (f *found) add(p *app.Poll, item any, known map[string]any) error {
	for pointer, template := range p.Match {
		want, err := app.Expand(template, arguments(known), nil)
		if err != nil {
			return fmt.Errorf("reading which items are meant: %w", err)
		}
		if app.PickText(item, pointer) != want {
			return nil
		}
	}
	key := app.PickText(item, p.ID)
	if key == "" {
		return nil // nothing identifies it
	}
	switch p.Version {
	case "":
	case app.Digest:
		text, err := json.Marshal(item)
		if err != nil {
			return fmt.Errorf("encoding an item: %w", err)
		}
		sum := sha256.Sum256(text)
		key += ":" + hex.EncodeToString(sum[:16])
	default:
		key += ":" + app.PickText(item, p.Version)
	}
	if !slices.ContainsFunc(f.items, func(other seen) bool { return other.key == key }) {
		data := item
		if p.Data != "" {
			data, _ = app.Pick(item, p.Data)
		}
		f.items = append(f.items, seen{key, data})
	}
	return nil
}

// drainAfter is the pause before the next poll where a list had more new items
// than one poll reads.
const drainAfter = 5 * time.Second

// poll looks once for events of an active trigger, and stores those that are new.
func (s *Service) poll(ctx context.Context, a *app.App, def *app.Trigger, t *Trigger, token int64) error {
	f, err := s.look(ctx, a, def, t)
	if err != nil {
		return err
	}
	now := time.Now()
	batch := &Batch{TriggerID: t.ID, Poll: &PollState{
		Token: token, Cursor: f.cursor, Interval: t.Interval,
		NextAt: now.Add(spread(t.Interval)), IdleAt: now.Add(spread(t.rest())),
	}}
	meant, err := s.filter(t.Filter)
	if err != nil {
		return err
	}
	for _, one := range f.items {
		s.addNew(ctx, batch, t, def, meant, one.key, now, one.data)
	}
	if def.Poll.Order != app.OldestFirst {
		slices.Reverse(batch.Items) // events are numbered in the order in which they happened
	}
	switch {
	case f.more && def.Poll.Time != "" && def.Poll.Order != app.OldestFirst:
		batch.Poll.Error = "More new items than one poll reads: the oldest of them may be missing."
	case f.more && f.cursor != t.Cursor: // the cursor has moved: the rest comes at once
		batch.Poll.NextAt, batch.Poll.IdleAt = now.Add(drainAfter), time.Time{}
		batch.Poll.Error = "More new items than one poll reads: the rest follows within seconds."
	}
	s.options.Step("trigger polled")
	_, err = s.Store.Ingest(ctx, batch)
	return err
}

// A trigger that has found nothing new in so many polls is polled half as often,
// and after as many again half as often as that, until maxRest.
const (
	restAfter = 12
	maxRest   = 15 * time.Minute
)

// rest returns the time until the next poll if the one that is under way finds
// nothing new.
func (t *Trigger) rest() time.Duration {
	wait := t.Interval
	for idle := t.Idle + 1; idle >= restAfter && wait < maxRest; idle -= restAfter {
		wait = min(2*wait, maxRest)
	}
	return wait
}

// spread returns a time about d, a tenth either way, so that triggers that were
// created together are not polled together.
func spread(d time.Duration) time.Duration {
	return d*9/10 + time.Duration(rand.Int64N(int64(d)/5+1))
}

// phase returns when a trigger is polled first, within its interval.
func phase(t *Trigger) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.ID)) // a hash accepts everything
	return time.Duration(h.Sum64() % uint64(max(t.Interval, time.Second)))
}
