package trigger_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ace/internal/platform/app"
)

// pollRow is what a vendor documents of one of its lists.
type pollRow struct {
	id     string // of the trigger
	config map[string]any
	scheme string
	values app.Map

	list string // method and address
	// asks are values of the first page of each poll but the first; see call.wants.
	asks map[string]string
	// page is how many items the vendor puts on a page: as few as it may choose, or
	// as many as it was asked for.
	page int
	ids  []string // pointers to what differs from item to item
	// times are pointers to the times of an item: the first is that by which the
	// vendor looks for items and sorts them.
	times []string
	// stir changes an item so that it is another event; default: its times.
	stir func(f *pollFake, item any)
	// any says that the vendor promises no order.
	any bool
	// few says that one poll reads no more than a page.
	few bool
	// one says that the list is one item, which changes.
	one    bool
	answer func(f *pollFake, c *call) any
	// start is the call for a first cursor, where there is one.
	start string
	// lost is how the vendor says that it has forgotten a cursor; 0: it never does.
	lost int
}

// pollFake is a vendor with a list.
type pollFake struct {
	row    *pollRow
	t      *testing.T
	items  []any // oldest first
	calls  int   // of the list
	forget bool
}

// reply is an answer with headers or a status of its own.
type reply struct {
	header map[string]string
	value  any
}

func (f *pollFake) serve(r *rig) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		c := read(r.t, request)
		w.Header().Set("Content-Type", "application/json")
		if f.row.start != "" && c.line == f.row.start && !f.isList(c) {
			f.write(w, f.begin(c))
			return
		}
		if c.line != f.row.list {
			r.t.Errorf("the vendor has no %s", c.line)
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if f.forget {
			f.forget = false
			w.WriteHeader(f.row.lost)
			_, _ = w.Write([]byte(`{"error":{"message":"it is too old"}}`))
			return
		}
		if f.calls++; f.calls == 2 {
			c.wants(f.row.asks)
		}
		f.write(w, f.row.answer(f, c))
	}
}

func (f *pollFake) write(w http.ResponseWriter, value any) {
	if with, ok := value.(reply); ok {
		for name, text := range with.header {
			w.Header().Set(name, text)
		}
		value = with.value
	}
	_, _ = w.Write(encoded(f.t, value))
}

// isList reports whether a call at the address of both is that for the list.
func (f *pollFake) isList(c *call) bool {
	return f.row.start == f.row.list && c.text("?token") != "latest" && c.text("?stream_position") != "now"
}

// begin returns the cursor of now.
func (f *pollFake) begin(c *call) any {
	now := strconv.Itoa(1000 + len(f.items))
	return map[string]any{
		"historyId": now, "startPageToken": now, "next_stream_position": now, "cursor": "c" + now, "entries": []any{},
		"@odata.deltaLink": strings.TrimPrefix(c.line, "GET ") + "?token=" + now, "value": []any{},
	}
}

// page returns a part of a list, and where the next begins; empty: nowhere.
func (f *pollFake) page(list []any, from string) (part []any, next string) {
	start, err := strconv.Atoi("0" + strings.TrimPrefix(from, "p"))
	if err != nil || start > len(list) {
		f.t.Errorf("a page at %q", from)
		return []any{}, ""
	}
	end := min(start+f.row.page, len(list))
	if end < len(list) {
		next = "p" + strconv.Itoa(end)
	}
	return append([]any{}, list[start:end]...), next
}

// since returns the items of a time or later.
func (f *pollFake) since(at time.Time) []any {
	return slices.DeleteFunc(slices.Clone(f.items), func(item any) bool {
		when, ok := app.ReadTime(app.PickText(item, f.row.times[0]))
		return !ok || when.Before(at)
	})
}

// written reads a time in the one form that the vendor documents.
func (f *pollFake) written(layout, text string) time.Time {
	at, err := time.Parse(layout, text)
	if err != nil {
		f.t.Errorf("the vendor does not read the time %q: %v", text, err)
	}
	return at
}

// within finds a time in a query language.
func (f *pollFake) within(shape, text string) string {
	found := regexp.MustCompile(shape).FindStringSubmatch(text)
	if found == nil {
		f.t.Errorf("the vendor does not understand %q", text)
		return ""
	}
	return found[1]
}

func (f *pollFake) seconds(text string, unit time.Duration) time.Time {
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f.t.Errorf("%q is no number", text)
	}
	return time.Unix(0, number*int64(unit))
}

func newest(list []any) []any {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// feed returns the items after a position, a page of them, and the next position.
func (f *pollFake) feed(position string) (part []any, next string, more bool) {
	from, err := strconv.Atoi(position)
	if from -= 1000; err != nil || from < 0 || from > len(f.items) {
		f.t.Errorf("the vendor does not know the cursor %q", position)
		return []any{}, position, false
	}
	end := min(from+f.row.page, len(f.items))
	return append([]any{}, f.items[from:end]...), strconv.Itoa(1000 + end), end < len(f.items)
}

// copied returns the n-th variation of an item, that much later.
func (f *pollFake) copied(item any, n int, later time.Duration) any {
	made := decoded(f.t, encoded(f.t, item))
	for _, pointer := range f.row.ids {
		put(f.t, made, pointer, func(old any) any {
			switch v := old.(type) {
			case float64:
				return v + float64(n)
			case string:
				if number, err := strconv.ParseInt(v, 10, 64); err == nil {
					return strconv.FormatInt(number+int64(n), 10)
				}
				return fmt.Sprint(v, "x", n+100)
			}
			return fmt.Sprint(n)
		})
	}
	f.move(made, later)
	return made
}

func (f *pollFake) move(item any, later time.Duration) {
	for _, pointer := range f.row.times {
		put(f.t, item, pointer, func(old any) any { return shifted(f.t, old, later) })
	}
}

func TestPollsOfVendors(t *testing.T) {
	t.Parallel()
	for _, row := range polls() {
		t.Run(row.id, func(t *testing.T) {
			t.Parallel()
			at(t, row.id, row.scheme, row.values, func(r *rig) { r.tryPoll(&row) })
		})
	}
}

// what returns what an event of an item is about.
func (r *rig) what(item any) any {
	if r.def.Poll.Data == "" {
		return item
	}
	value, _ := app.Pick(item, r.def.Poll.Data)
	return value
}

func (r *rig) tryPoll(row *pollRow) {
	f := &pollFake{row: row, t: r.t}
	r.serve = f.serve(r)
	sample := r.sample()
	if data := r.def.Poll.Data; data != "" {
		sample = map[string]any{strings.TrimPrefix(data, "/"): sample}
	}
	f.items = []any{f.copied(sample, -2, -3*time.Hour), f.copied(sample, -1, -2*time.Hour)}
	if row.one {
		f.items = f.items[:1]
		put(r.t, f.items[0], row.ids[0], func(any) any { return app.PickText(sample, row.ids[0]) })
	}
	r.create(row.config)
	r.wantEvents("at first", 0)
	r.tend()
	r.wantEvents("of a list that has not changed", 0)

	time.Sleep(time.Until(moment.Add(time.Second)))
	f.add(sample)
	r.tend()
	r.wantSample(r.wantEvents("after an insertion", 1))
	r.tend()
	r.wantEvents("of a list that has not changed since", 1)

	want := 1
	if !row.one {
		want += r.insertPage(f, sample)
	}
	want += r.stirOne(f, want)
	if row.lost != 0 {
		want += r.forgetCursor(f, sample, want)
	}
	r.tend()
	r.wantEvents("of a list that has not changed in the end", want)
	r.end()
}

// add puts an item into the list.
func (f *pollFake) add(item any) {
	if f.row.one {
		f.items = nil
	}
	f.items = append(f.items, item)
}

// insertPage inserts a page of items and one, while other items go, and returns how
// many.
func (r *rig) insertPage(f *pollFake, sample any) int {
	r.t.Helper()
	n := f.row.page + 1
	late := time.Until(moment)
	var all []any
	for i := range n {
		item := f.copied(sample, i+1, -late+time.Duration(i)*time.Second)
		f.add(item)
		all = append(all, r.what(item))
	}
	if f.row.start == "" {
		f.items = slices.Delete(f.items, 0, 1) // what goes is no event
	}
	r.tend()
	if f.row.few {
		r.tend()
	}
	got := r.wantEvents("after a page of items and one", 1+n)
	if shown := all[max(0, n-len(got)):]; !f.row.any && !slices.EqualFunc(got[len(got)-len(shown):], shown,
		func(a, b any) bool { return string(encoded(r.t, a)) == string(encoded(r.t, b)) }) {
		r.t.Errorf("the events are not in the order in which they happened:\n%s\nwant\n%s",
			encoded(r.t, got), encoded(r.t, shown))
	}
	return n
}

// stirOne changes the newest item, and returns how many events that is.
func (r *rig) stirOne(f *pollFake, before int) int {
	r.t.Helper()
	if r.def.Poll.Version == "" {
		return 0
	}
	last := decoded(r.t, encoded(r.t, f.items[len(f.items)-1]))
	later := time.Since(moment) + time.Second
	if f.row.stir != nil {
		f.row.stir(f, last)
	} else {
		f.move(last, later)
	}
	if f.row.start == "" {
		f.items = f.items[:len(f.items)-1]
	}
	f.items = append(f.items, last)
	r.tend()
	r.wantEvents("after a change", before+1)
	return 1
}

// forgetCursor lets the vendor forget how far the polls came.
func (r *rig) forgetCursor(f *pollFake, sample any, before int) int {
	r.t.Helper()
	f.forget = true
	r.tend()
	if f.forget || r.now().LastError == "" {
		r.t.Errorf("a cursor that was forgotten: %q", r.now().LastError)
	}
	r.tend()
	r.wantEvents("after the cursor was forgotten", before)
	time.Sleep(time.Minute)
	f.add(f.copied(sample, 2000, time.Since(moment)))
	r.tend()
	r.wantEvents("of what comes after that", before+1)
	return 1
}

// object is an answer.
type object = map[string]any

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// number is where a page begins that is named by an offset.
func place(text string) string { return strings.TrimLeft(text, "0") }

// numbered is where a page begins that is named by its number.
func (f *pollFake) numbered(text string) string {
	n, err := strconv.Atoi(text)
	if text != "" && err != nil {
		f.t.Errorf("the page %q", text)
	}
	return strconv.Itoa(max(n-1, 0) * f.row.page)
}

// with is an object with a member where there is a value.
func with(o object, name, value string) object {
	if value != "" {
		o[name] = value
	}
	return o
}

func polls() []pollRow {
	return slices.Concat(atlassian(), google(), microsoft(), files(), crm(), chats(), lists())
}

func atlassian() []pollRow {
	// https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-search/
	jira := func(event, field string) pollRow {
		return pollRow{
			id: "jira." + event, config: object{"jql": "project = SHOP"}, values: app.Map{"cloudid": "1324a887"},
			list: "POST https://api.atlassian.com/ex/jira/1324a887/rest/api/3/search/jql",
			asks: map[string]string{"/jql": "~(project = SHOP) AND " + field + " >= ", "/fields/1": field},
			page: 2, ids: []string{"/id", "/key"}, times: []string{"/fields/" + field},
			answer: func(f *pollFake, c *call) any {
				ago := f.within(`>= "-([0-9]+)m" ORDER BY `+field+` ASC$`, c.text("/jql"))
				minutes, err := strconv.Atoi(ago)
				if err != nil {
					f.t.Error(err)
				}
				part, next := f.page(
					f.since(time.Now().Add(-time.Duration(minutes)*time.Minute)),
					c.text("/nextPageToken"),
				)
				return with(object{"issues": part, "isLast": next == ""}, "nextPageToken", next)
			},
		}
	}
	// https://developer.atlassian.com/cloud/confluence/cql-functions/#now
	confluence := func(event, kind, field string) pollRow {
		return pollRow{
			id: "confluence." + event, config: object{"space_key": "PORT"}, values: app.Map{"cloudid": "1324a887"},
			list: "GET https://api.atlassian.com/ex/confluence/1324a887/wiki/rest/api/search",
			asks: map[string]string{"?cql": "~space = \"PORT\" and type = " + kind},
			page: 2, ids: []string{"/content/id"}, times: []string{"/lastModified"},
			answer: func(f *pollFake, c *call) any {
				ago := f.within(field+` >= now\("-([0-9]+)m"\) order by `+field+` asc$`, c.text("?cql"))
				minutes, err := strconv.Atoi(ago)
				if err != nil {
					f.t.Error(err)
				}
				part, next := f.page(f.since(time.Now().Add(-time.Duration(minutes)*time.Minute)), c.text("?cursor"))
				links := object{"base": "https://acme.atlassian.net/wiki"}
				if next != "" {
					links["next"] = "/rest/api/search?cql=x&limit=50&cursor=" + next
				}
				return object{"results": part, "limit": 50, "_links": links}
			},
		}
	}
	// https://developer.atlassian.com/cloud/trello/rest/api-group-boards/
	trello := func(event, filter string) pollRow {
		return pollRow{
			id: "trello." + event, scheme: "token", config: object{"board_id": "5fc4da0f"},
			list: "GET https://api.trello.com/1/boards/5fc4da0f/actions", asks: map[string]string{"?filter": filter},
			page: 3, ids: []string{"/id"}, times: []string{"/date"},
			answer: func(f *pollFake, c *call) any {
				return newest(f.since(f.written("2006-01-02T15:04:05.000Z", c.text("?since"))))
			},
		}
	}
	return []pollRow{
		jira("new_issue", "created"), jira("issue_updated", "updated"),
		confluence("page_changed", "page", "lastmodified"), confluence("new_comment", "comment", "created"),
		trello("card_created", "createCard"), trello("card_moved", "updateCard:idList"),
	}
}

func google() []pollRow {
	gmail := func(event, kind string, config object, more object) pollRow {
		return pollRow{
			id: "gmail." + event, config: config, start: "GET https://gmail.googleapis.com/gmail/v1/users/me/profile",
			list: "GET https://gmail.googleapis.com/gmail/v1/users/me/history", page: 2, lost: 404,
			asks: map[string]string{"?historyTypes": kind},
			ids:  []string{"/message/id", "/message/threadId"},
			answer: func(f *pollFake, c *call) any {
				from := c.text("?startHistoryId")
				if token := c.text("?pageToken"); token != "" {
					from = token
				}
				part, next, left := f.feed(from)
				out := object{"historyId": strconv.Itoa(1000 + len(f.items))}
				if left {
					out["nextPageToken"] = next
				}
				var history []any
				for i, entry := range part {
					history = append(
						history,
						object{"id": strconv.Itoa(i), kind[:len(kind)-len("Added")] + "sAdded": []any{entry}},
					)
				}
				if history != nil {
					out["history"] = history
				}
				return out
			},
		}
	}
	return []pollRow{
		gmail("new_email", "messageAdded", nil, nil),
		gmail("email_labeled", "labelAdded", object{"label_id": "Label_7"}, nil),
		{
			id: "google-calendar.event_changed", lost: 410, page: 2, ids: []string{"/id", "/iCalUID"},
			list:  "GET https://www.googleapis.com/calendar/v3/calendars/primary/events",
			asks:  map[string]string{"?showDeleted": "true", "?orderBy": "updated"},
			times: []string{"/updated"},
			answer: func(f *pollFake, c *call) any {
				at := f.written("2006-01-02T15:04:05.000Z", c.text("?updatedMin"))
				part, next := f.page(f.since(at), c.text("?pageToken"))
				return with(object{"kind": "calendar#events", "items": part}, "nextPageToken", next)
			},
		},
		{
			id: "google-drive.file_changed", start: "GET https://www.googleapis.com/drive/v3/changes/startPageToken",
			list: "GET https://www.googleapis.com/drive/v3/changes", page: 2, ids: []string{"/fileId", "/file/id"},
			times: []string{"/time"},
			answer: func(f *pollFake, c *call) any {
				part, next, more := f.feed(c.text("?pageToken"))
				if more {
					return object{"kind": "drive#changeList", "changes": part, "nextPageToken": next}
				}
				return object{"kind": "drive#changeList", "changes": part, "newStartPageToken": next}
			},
		},
		{
			id: "google-drive.new_file", config: object{"folder_id": "0AB"}, page: 2, ids: []string{"/id"},
			list: "GET https://www.googleapis.com/drive/v3/files", times: []string{"/createdTime"},
			asks: map[string]string{"?orderBy": "createdTime", "?fields": "~nextPageToken"},
			answer: func(f *pollFake, c *call) any {
				at := f.within(`^'0AB' in parents and createdTime >= '([^']+)'$`, c.text("?q"))
				part, next := f.page(f.since(f.written(time.RFC3339, at)), c.text("?pageToken"))
				return with(object{"files": part}, "nextPageToken", next)
			},
		},
	}
}

// graph is the address of Microsoft Graph.
const graph = "https://graph.microsoft.com/v1.0"

// skip is pages of Microsoft Graph.
func skip(list, name string) func(f *pollFake, c *call) any {
	return func(f *pollFake, c *call) any {
		part, next := f.page(f.items, c.text("?"+name))
		out := object{"@odata.context": graph + "/$metadata", "value": part}
		if next != "" {
			out["@odata.nextLink"] = list + "?" + name + "=" + strings.TrimPrefix(next, "p")
		}
		return out
	}
}

// delta is the changes since a token.
func delta(list string) func(f *pollFake, c *call) any {
	return func(f *pollFake, c *call) any {
		part, next, more := f.feed(c.text("?token"))
		if more {
			return object{"value": part, "@odata.nextLink": list + "?token=" + next}
		}
		return object{"value": part, "@odata.deltaLink": list + "?token=" + next}
	}
}

func microsoft() []pollRow {
	const plan, tasks = graph + "/planner/plans/xqQg5FS2/tasks", graph + "/me/todo/lists/l1/tasks"
	const drive, children = graph + "/me/drive/root/delta", graph + "/me/drive/items/root/children"
	const items = graph + "/sites/s1/lists/l1/items/delta"
	etag := func(f *pollFake, item any) {
		put(f.t, item, "/@odata.etag", func(any) any { return `W/"another"` })
	}
	return []pollRow{
		{
			id: "microsoft-planner.new_task", config: object{"plan_id": "xqQg5FS2"}, list: "GET " + plan, page: 2,
			ids: []string{"/id"}, times: []string{"/createdDateTime"}, any: true, answer: skip(plan, "$skiptoken"),
		},
		{
			id: "microsoft-planner.task_updated", config: object{"plan_id": "xqQg5FS2"}, list: "GET " + plan, page: 2,
			ids: []string{"/id"}, stir: etag, any: true, answer: skip(plan, "$skiptoken"),
		},
		{
			id: "microsoft-to-do.task_completed", config: object{"list_id": "l1"}, list: "GET " + tasks, page: 2,
			asks: map[string]string{"?$filter": "status eq 'completed'"},
			ids:  []string{"/id"}, times: []string{"/lastModifiedDateTime"}, any: true, answer: skip(tasks, "$skip"),
		},
		{
			id: "onedrive.file_changed", start: "GET " + drive, list: "GET " + drive, page: 2, lost: 410,
			ids: []string{"/id"}, times: []string{"/lastModifiedDateTime"}, answer: delta(drive),
		},
		{
			id:   "onedrive.new_file",
			list: "GET " + children,
			page: 2,
			ids:  []string{"/id"},
			times: []string{
				"/createdDateTime",
				"/lastModifiedDateTime",
			},
			any:    true,
			answer: skip(children, "$skiptoken"),
		},
		{
			id: "sharepoint.list_item_changed", config: object{"site_id": "s1", "list_id": "l1"}, start: "GET " + items,
			list: "GET " + items, page: 2, lost: 410, ids: []string{"/id"}, times: []string{"/lastModifiedDateTime"},
			answer: delta(items),
		},
	}
}

func files() []pollRow {
	return []pollRow{
		{
			id: "box.file_uploaded", config: object{"folder_id": "0"}, page: 100, ids: []string{"/id"},
			list: "GET https://api.box.com/2.0/folders/0/items", times: []string{"/created_at"}, any: true,
			asks: map[string]string{"?limit": "100", "?fields": "~created_at"},
			answer: func(f *pollFake, c *call) any {
				part, _ := f.page(f.items, place(c.text("?offset")))
				folder := object{"type": "folder", "id": "99", "created_at": moment.Format(time.RFC3339)}
				if c.text("?offset") == "" {
					part[len(part)-1] = folder // which is no file; it hides none of those that are new
					part = append(part[:len(part)-1], f.items[len(part)-1])
				}
				return object{"entries": part, "limit": 100, "total_count": len(f.items)}
			},
		},
		{
			id:    "box.file_changed",
			page:  500,
			few:   true,
			ids:   []string{"/event_id"},
			start: "GET https://api.box.com/2.0/events",
			list:  "GET https://api.box.com/2.0/events",
			asks:  map[string]string{"?stream_type": "changes"},
			answer: func(f *pollFake, c *call) any {
				part, next, _ := f.feed(c.text("?stream_position"))
				number, err := strconv.Atoi(next)
				if err != nil {
					f.t.Error(err)
				}
				return object{"entries": part, "chunk_size": len(part), "next_stream_position": number}
			},
		},
		{
			id:     "dropbox.file_changed",
			config: object{"path": "/Invoices"},
			page:   2,
			lost:   409,
			ids:    []string{"/id", "/rev"},
			start:  "POST https://api.dropboxapi.com/2/files/list_folder/get_latest_cursor",
			list:   "POST https://api.dropboxapi.com/2/files/list_folder/continue",
			times:  []string{"/server_modified"},
			stir: func(f *pollFake, item any) {
				put(f.t, item, "/rev", func(any) any { return "a1c10ce0dd79" })
			},
			answer: func(f *pollFake, c *call) any {
				part, next, more := f.feed(strings.TrimPrefix(c.text("/cursor"), "c"))
				deleted := object{".tag": "deleted", "name": "x.pdf", "path_lower": "/invoices/x.pdf"}
				return object{"entries": append(part, deleted), "cursor": "c" + next, "has_more": more}
			},
		},
		{
			id: "dropbox.new_shared_link", page: 2, ids: []string{"/url", "/id"}, any: true,
			list: "POST https://api.dropboxapi.com/2/sharing/list_shared_links",
			answer: func(f *pollFake, c *call) any {
				part, next := f.page(f.items, c.text("/cursor"))
				return with(object{"links": part, "has_more": next != ""}, "cursor", next)
			},
		},
	}
}

func crm() []pollRow {
	hubspot := func(event, kind, field string) pollRow {
		return pollRow{
			id: "hubspot." + event, list: "POST https://api.hubapi.com/crm/v3/objects/" + kind + "/search", page: 2,
			asks: map[string]string{
				"/filterGroups/0/filters/0/propertyName": field, "/filterGroups/0/filters/0/operator": "GTE",
				"/sorts/0/propertyName": field, "/sorts/0/direction": "ASCENDING",
			},
			ids: []string{"/id", "/properties/hs_object_id"}, times: []string{"/properties/" + field},
			answer: func(f *pollFake, c *call) any {
				at := f.seconds(c.text("/filterGroups/0/filters/0/value"), time.Millisecond)
				part, next := f.page(f.since(at), c.text("/after"))
				out := object{"total": len(f.items), "results": part}
				if next != "" {
					out["paging"] = object{"next": object{"after": next}}
				}
				return out
			},
		}
	}
	intercom := func(event, field, pointer string) pollRow {
		return pollRow{
			id: "intercom." + event, values: app.Map{"region": "api"}, page: 2, any: true,
			list: "POST https://api.intercom.io/conversations/search", ids: []string{"/id"}, times: []string{pointer},
			asks: map[string]string{"/query/field": field, "/query/operator": ">", "/pagination/per_page": "150"},
			answer: func(f *pollFake, c *call) any {
				at := f.seconds(c.text("/query/value"), time.Second)
				part, next := f.page(f.since(at.Add(time.Second)), c.text("/pagination/starting_after"))
				pages := object{"type": "pages", "per_page": 150}
				if next != "" {
					pages["next"] = object{"starting_after": next}
				}
				return object{"type": "conversation.list", "conversations": part, "pages": pages}
			},
		}
	}
	salesforce := func(event, field string) pollRow {
		return pollRow{
			id: "salesforce." + event, config: object{"object": "Lead"}, page: 3, ids: []string{"/Id"},
			values: app.Map{"instance_url": "https://acme.my.salesforce.com"},
			list:   "GET https://acme.my.salesforce.com/services/data/v65.0/query", times: []string{"/" + field},
			answer: func(f *pollFake, c *call) any {
				at := f.within(
					`^SELECT FIELDS\(STANDARD\) FROM Lead WHERE `+field+` >= (\S+) ORDER BY `+field+`, Id LIMIT 2000$`,
					c.text("?q"),
				)
				list := f.since(f.written("2006-01-02T15:04:05Z", at))
				return object{"totalSize": len(list), "done": true, "records": list}
			},
		}
	}
	// https://shopify.dev/docs/api/usage/search-syntax
	shopify := func(event, kind, field, pointer string) pollRow {
		return pollRow{
			id: "shopify." + event, values: app.Map{"shop": "acme"}, page: 2, ids: []string{"/id"},
			list: "POST https://acme.myshopify.com/admin/api/2026-04/graphql.json", times: []string{pointer},
			asks: map[string]string{"/query": "~" + kind + "(first: 100, after: $after, query: $query, sortKey: "},
			answer: func(f *pollFake, c *call) any {
				at := f.written(time.RFC3339, f.within(`^`+field+`:>='([^']+)'$`, c.text("/variables/query")))
				part, next := f.page(f.since(at), c.text("/variables/after"))
				return object{"data": object{kind: object{
					"nodes": part, "pageInfo": object{"hasNextPage": next != "", "endCursor": orNull(next)},
				}}}
			},
		}
	}
	zendesk := func(event, field string) pollRow {
		return pollRow{
			id: "zendesk." + event, values: app.Map{"subdomain": "acme"}, page: 100, ids: []string{"/id"},
			list: "GET https://acme.zendesk.com/api/v2/tickets.json", times: []string{"/" + field},
			asks: map[string]string{"?sort_by": field, "?sort_order": "desc", "?per_page": "100"},
			answer: func(f *pollFake, c *call) any {
				part, next := f.page(newest(f.items), f.numbered(c.text("?page")))
				return object{"tickets": part, "next_page": orNull(next), "count": len(f.items)}
			},
		}
	}
	return []pollRow{
		hubspot("new_contact", "contacts", "createdate"), hubspot("deal_changed", "deals", "hs_lastmodifieddate"),
		intercom("new_conversation", "created_at", "/created_at"),
		intercom("customer_replied", "statistics.last_contact_reply_at", "/statistics/last_contact_reply_at"),
		salesforce("new_record", "CreatedDate"), salesforce("record_updated", "SystemModstamp"),
		shopify("new_order", "orders", "created_at", "/createdAt"),
		shopify("product_updated", "products", "updated_at", "/updatedAt"),
		zendesk("new_ticket", "created_at"), zendesk("ticket_updated", "updated_at"),
		{
			id: "pipedrive.deal_updated", values: app.Map{"api_domain": "https://acme.pipedrive.com"}, page: 2,
			list: "GET https://acme.pipedrive.com/api/v2/deals", ids: []string{"/id"}, times: []string{"/update_time"},
			asks: map[string]string{"?sort_by": "update_time", "?sort_direction": "asc"},
			answer: func(f *pollFake, c *call) any {
				at := f.written("2006-01-02T15:04:05Z", c.text("?updated_since"))
				part, next := f.page(f.since(at), c.text("?cursor"))
				return object{"success": true, "data": part, "additional_data": object{"next_cursor": orNull(next)}}
			},
		},
	}
}

func chats() []pollRow {
	return []pollRow{
		{
			id: "slack.new_message", config: object{"channel": "C012AB3CD"}, page: 2,
			list: "GET https://slack.com/api/conversations.history", times: []string{"/ts"},
			asks: map[string]string{"?channel": "C012AB3CD"},
			answer: func(f *pollFake, c *call) any {
				part, next := f.page(newest(f.since(f.seconds(c.text("?oldest"), time.Second))), c.text("?cursor"))
				return object{
					"ok":                true,
					"messages":          part,
					"has_more":          next != "",
					"response_metadata": object{"next_cursor": next},
				}
			},
		},
		{
			id: "slack.new_channel", page: 2, list: "GET https://slack.com/api/conversations.list", any: true,
			ids: []string{"/id"}, times: []string{"/created"}, asks: map[string]string{"?exclude_archived": "true"},
			answer: func(f *pollFake, c *call) any {
				part, next := f.page(f.items, c.text("?cursor"))
				return object{"ok": true, "channels": part, "response_metadata": object{"next_cursor": next}}
			},
		},
		{
			id:     "discord.new_message",
			scheme: "bot",
			config: object{"channel_id": "290926798999357250"},
			page:   3,
			ids:    []string{"/id"},
			list:   "GET https://discord.com/api/v10/channels/290926798999357250/messages",
			times:  []string{"/timestamp"},
			asks:   map[string]string{"?limit": "100"},
			answer: func(f *pollFake, c *call) any {
				after, err := strconv.ParseInt("0"+c.text("?after"), 10, 64)
				if err != nil {
					f.t.Error(err)
				}
				return newest(slices.DeleteFunc(slices.Clone(f.items), func(item any) bool {
					id, err := strconv.ParseInt(app.PickText(item, "/id"), 10, 64)
					return err != nil || id <= after
				}))
			},
		},
		{
			id: "discord.new_member", scheme: "bot", config: object{"guild": "197038439483310086"}, page: 2, any: true,
			list: "GET https://discord.com/api/v10/guilds/197038439483310086/members",
			ids:  []string{"/user/id"}, times: []string{"/joined_at"},
			answer: func(f *pollFake, c *call) any {
				from := slices.IndexFunc(f.items, func(item any) bool {
					return app.PickText(item, "/user/id") == c.text("?after")
				})
				part, _ := f.page(f.items, strconv.Itoa(from+1))
				return part
			},
		},
		{ // https://www.twilio.com/docs/messaging/api/message-resource: newest first, by whole days
			id: "twilio.message_received", values: app.Map{"sid": "AC01", "token": credential},
			config: object{"number": "+15551234567"}, page: 2, ids: []string{"/sid"},
			list:  "GET https://api.twilio.com/2010-04-01/Accounts/AC01/Messages.json",
			times: []string{"/date_sent"}, asks: map[string]string{"?To": "+15551234567"},
			answer: twilio("messages", "DateSent>"),
		},
		{
			id: "twilio.call_completed", values: app.Map{"sid": "AC01", "token": credential}, page: 2,
			list: "GET https://api.twilio.com/2010-04-01/Accounts/AC01/Calls.json", ids: []string{"/sid"}, any: true,
			times: []string{"/end_time", "/start_time"}, asks: map[string]string{"?Status": "completed"},
			answer: twilio("calls", "StartTime>"),
		},
	}
}

func twilio(name, since string) func(f *pollFake, c *call) any {
	return func(f *pollFake, c *call) any {
		at := f.written(time.DateOnly, c.text("?"+since))
		part, next := f.page(newest(f.since(at)), c.text("?PageToken"))
		address := any(nil)
		if next != "" {
			address = strings.TrimPrefix(
				c.line,
				"GET https://api.twilio.com",
			) + "?PageSize=100&Page=1&PageToken=" + next
		}
		return object{name: part, "page_size": 100, "next_page_uri": address}
	}
}

func lists() []pollRow {
	airtable := func(event, function string, changed func(f *pollFake, item any)) pollRow {
		return pollRow{
			id: "airtable." + event, config: object{"base_id": "appA", "table_id": "tblB"}, page: 2, any: true,
			list: "GET https://api.airtable.com/v0/appA/tblB", ids: []string{"/id"}, times: []string{"/createdTime"},
			stir: changed,
			answer: func(f *pollFake, c *call) any {
				at := f.within(`^IS_AFTER\(`+function+`\(\), '([^']+)'\)$`, c.text("?filterByFormula"))
				part, next := f.page(f.since(f.written("2006-01-02T15:04:05.000Z", at)), c.text("?offset"))
				return with(object{"records": part}, "offset", next)
			},
		}
	}
	mailchimp := func(event, path, name, since, field string, config object) pollRow {
		return pollRow{
			id: "mailchimp." + event, values: app.Map{"dc": "us6"}, config: config, page: 100, ids: []string{"/id"},
			list: "GET https://us6.api.mailchimp.com/3.0/" + path, times: []string{"/" + field},
			asks: map[string]string{"?sort_field": field, "?sort_dir": "DESC", "?count": "100"},
			answer: func(f *pollFake, c *call) any {
				list := newest(f.since(f.written(time.RFC3339, c.text("?"+since))))
				part, _ := f.page(list, place(c.text("?offset")))
				return object{name: part, "total_items": len(list)}
			},
		}
	}
	changedRecord := func(f *pollFake, item any) {
		put(f.t, item, "/fields/Count", func(any) any { return 11 })
		put(f.t, item, "/createdTime", func(any) any { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") })
	}
	return []pollRow{
		airtable("new_record", "CREATED_TIME", nil),
		airtable("record_changed", "LAST_MODIFIED_TIME", changedRecord),
		mailchimp("member_subscribed", "lists/57afe96172/members", "members", "since_timestamp_opt", "timestamp_opt",
			object{"list_id": "57afe96172"}),
		mailchimp("campaign_sent", "campaigns", "campaigns", "since_send_time", "send_time", nil),
		{
			id: "asana.task_completed", config: object{"project": "12002"}, page: 2, any: true,
			list: "GET https://app.asana.com/api/1.0/tasks", ids: []string{"/gid"},
			times: []string{"/modified_at", "/completed_at"},
			asks:  map[string]string{"?project": "12002", "?opt_fields": "~completed_at,modified_at"},
			answer: func(f *pollFake, c *call) any {
				at := f.written("2006-01-02T15:04:05.000Z", c.text("?modified_since"))
				part, next := f.page(f.since(at), c.text("?offset"))
				open := object{"gid": "9", "completed": false, "modified_at": time.Now().UTC().Format(time.RFC3339)}
				out := object{"data": append(part, open), "next_page": nil}
				if next != "" {
					out["next_page"] = object{"offset": next}
				}
				return out
			},
		},
		{
			id:     "notion.database_entry_changed",
			config: object{"data_source_id": "1a44be12"},
			page:   2,
			ids:    []string{"/id"},
			list:   "POST https://api.notion.com/v1/data_sources/1a44be12/query",
			times:  []string{"/last_edited_time"},
			asks:   map[string]string{"/filter/timestamp": "last_edited_time", "/sorts/0/direction": "ascending"},
			answer: func(f *pollFake, c *call) any {
				at := f.written(time.RFC3339, c.text("/filter/last_edited_time/on_or_after"))
				part, next := f.page(f.since(at), c.text("/start_cursor"))
				return object{"object": "list", "results": part, "has_more": next != "", "next_cursor": orNull(next)}
			},
		},
		{
			id: "notion.page_updated", config: object{"page_id": "59833787"}, one: true, ids: []string{"/id"},
			list: "GET https://api.notion.com/v1/pages/59833787", times: []string{"/last_edited_time"},
			answer: func(f *pollFake, _ *call) any { return f.items[0] },
		},
		{
			id: "sendgrid.new_bounce", values: app.Map{"region": "api"}, page: 500, ids: []string{"/email"}, any: true,
			list: "GET https://api.sendgrid.com/v3/suppression/bounces", times: []string{"/created"},
			asks: map[string]string{"?limit": "500"},
			answer: func(f *pollFake, c *call) any {
				part, _ := f.page(f.since(f.seconds(c.text("?start_time"), time.Second)), place(c.text("?offset")))
				return part
			},
		},
		{
			id:    "todoist.new_task",
			list:  "GET https://api.todoist.com/api/v1/tasks",
			page:  2,
			ids:   []string{"/id"},
			any:   true,
			times: []string{"/added_at", "/updated_at"},
			asks:  map[string]string{"?limit": "200"},
			answer: func(f *pollFake, c *call) any {
				part, next := f.page(f.items, c.text("?cursor"))
				return object{"results": part, "next_cursor": orNull(next)}
			},
		},
		{
			id: "typeform.form_changed", values: app.Map{"region": "api.typeform.com"}, page: 200, ids: []string{"/id"},
			list: "GET https://api.typeform.com/forms", times: []string{"/last_updated_at"},
			asks: map[string]string{"?sort_by": "last_updated_at", "?order_by": "desc", "?page_size": "200"},
			answer: func(f *pollFake, c *call) any {
				part, _ := f.page(newest(f.items), f.numbered(c.text("?page")))
				return object{"items": part, "total_items": len(f.items), "page_count": 1 + len(f.items)/200}
			},
		},
		{
			id: "zoom.meeting_created", list: "GET https://api.zoom.us/v2/users/me/meetings", page: 2, any: true,
			ids: []string{"/id"}, times: []string{"/created_at"}, asks: map[string]string{"?type": "upcoming"},
			answer: func(f *pollFake, c *call) any {
				part, next := f.page(f.items, c.text("?next_page_token"))
				return object{"meetings": part, "next_page_token": next, "page_size": 300}
			},
		},
	}
}
