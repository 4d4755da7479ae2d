package a2ahttp_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ace/internal/protocol/a2a"
)

// TestSiteSkill asks for actions in every way.
func TestSiteSkill(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, parts string
		state       a2a.State // of the task, or
		code        int       // of the fault
		see         string    // in the artifact, the words, or the fields of the fault
	}{
		{"an action", dataPart(search), a2a.Completed, 0, `{"query":"refunds","agent":"tester/1"}`},
		{"no input", dataPart(`{"skill":"site","action":"site_info"}`), a2a.Completed, 0, `{"name":"Store"}`},
		{
			"null input", dataPart(`{"skill":"site","action":"site_info","input":null}`), a2a.Completed,
			0, `{"name":"Store"}`,
		},
		{"no skill", dataPart(`{"action":"site_info"}`), a2a.Completed, 0, `{"name":"Store"}`},
		{"no media type", `[{"data":` + search + `}]`, a2a.Completed, 0, `"query":"refunds"`},
		{
			"words beside it",
			`[{"text":"Please:"},{"data":` + search + `},{"text":"Thanks.","mediaType":"text/plain; charset=utf-8"}]`,
			a2a.Completed, 0, `"query":"refunds"`,
		},
		{"the example as text", `[{"text":` + quoted(search) + `}]`, a2a.Completed, 0, `"query":"refunds"`},
		{
			"JSON as text", `[{"text":` + quoted(search) + `,"mediaType":"application/json"}]`, a2a.Completed,
			0, `"query":"refunds"`,
		},

		{
			"words", hello, a2a.InputRequired,
			0, "Actions: site_info (site), search_pages (site), create_checkout (checkout).",
		},
		{
			"JSON that asks for nothing, as words", `[{"text":"{\"a\":1}"}]`, a2a.InputRequired,
			0, "send a data part such as",
		},
		{"half of an object, as words", `[{"text":"{\"skill\":"}]`, a2a.InputRequired, 0, "send a data part such as"},
		{"no words", `[{"text":""}]`, a2a.InputRequired, 0, "send a data part such as"},

		{
			"unknown action", dataPart(`{"skill":"site","action":"fly"}`), a2a.Rejected,
			0, "The skill site has no action of this name. It has: site_info, search_pages.",
		},
		{
			"action of another skill", dataPart(`{"skill":"site","action":"create_checkout"}`), a2a.Rejected,
			0, "The skill site has no action of this name.",
		},
		{
			"unknown skill", dataPart(`{"skill":"bank","action":"site_info"}`), a2a.Rejected,
			0, "no skill of this name. It has: site, checkout.",
		},
		{
			"unknown action of no skill", dataPart(`{"action":"fly"}`), a2a.Rejected,
			0, "No skill of this agent has an action of this name.",
		},
		{
			"a page that is not there",
			dataPart(`{"skill":"site","action":"search_pages","input":{"query":"nowhere"}}`),
			a2a.Failed,
			0,
			"There is no page at this path.",
		},

		{
			"input off the schema",
			dataPart(`{"skill":"site","action":"search_pages","input":{"query":7,"limit":51,"more":1}}`), "", -32602,
			"message.parts[0].data.input.limit OUT_OF_RANGE, message.parts[0].data.input.more UNKNOWN_FIELD, " +
				"message.parts[0].data.input.query INVALID_TYPE",
		},
		{
			"input missing", `[{"text":"x"},{"data":{"skill":"site","action":"search_pages"}}]`, "", -32602,
			"message.parts[1].data.input.query REQUIRED",
		},
		{
			"input of another type", dataPart(`{"skill":"site","action":"site_info","input":[]}`), "", -32602,
			"message.parts[0].data.input INVALID_TYPE",
		},
		{
			"input that the action refuses",
			dataPart(`{"skill":"site","action":"search_pages","input":{"query":"climb"}}`), "", -32602,
			"message.parts[0].data.input.query PATH_OUTSIDE_SITE",
		},
		{
			"input that leads elsewhere",
			dataPart(`{"skill":"site","action":"search_pages","input":{"query":"elsewhere"}}`), "", -32602,
			"message.parts[0].data.input.query OTHER_HOST",
		},
		{"no action", dataPart(`{"skill":"site"}`), "", -32602, "message.parts[0].data.action MISSING_FIELD"},
		{
			"skill and action of other types", dataPart(`{"skill":1,"action":[]}`), "", -32602,
			"message.parts[0].data.skill INVALID_TYPE, message.parts[0].data.action INVALID_TYPE",
		},
		{"data an array", dataPart(`[]`), "", -32602, "message.parts[0].data INVALID_TYPE"},
		{"data a number", dataPart(`7`), "", -32602, "message.parts[0].data INVALID_TYPE"},
		{"data null", dataPart(`null`), "", -32602, "message.parts[0] INVALID_PART"},
		{
			"text that says it is JSON", `[{"text":"{","mediaType":"application/json"}]`, "", -32602,
			"message.parts[0].text INVALID_JSON",
		},
		{"two actions", `[{"data":` + search + `},{"data":` + search + `}]`, "", -32602, "message.parts[1] TOO_MANY"},

		{"a file", `[{"raw":"AAEC","mediaType":"image/png"}]`, "", -32005, ""},
		{"bytes of JSON", `[{"raw":"e30=","mediaType":"application/json"}]`, "", -32005, ""},
		{"an address", `[{"url":"https://a.example/x.json","mediaType":"application/json"}]`, "", -32005, ""},
		{"data of another type", `[{"data":` + search + `,"mediaType":"application/xml"}]`, "", -32005, ""},
		{"data that says it is text", `[{"data":` + search + `,"mediaType":"text/plain"}]`, "", -32005, ""},
		{"text of another type", `[{"text":"<p>","mediaType":"text/html"}]`, "", -32005, ""},
		{"a type that is none", `[{"text":"x","mediaType":";"}]`, "", -32005, ""},

		{"what passes", dataPart(`{"skill":"site","action":"search_pages","input":{"query":"away"}}`), "", -32603, ""},
		{
			"a fault of ours",
			dataPart(`{"skill":"site","action":"search_pages","input":{"query":"broken"}}`),
			"",
			-32603,
			"",
		},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			task, f := w.try(message(fmt.Sprintf("message-%d", i), tt.parts, `"contextId":"context-of-some-length"`))
			if tt.code != 0 {
				if f == nil || f.Code != tt.code || f.fields() != tt.see || len(f.Data) == 0 {
					t.Errorf("= %+v %+v, want code %d about %q", task, f, tt.code, tt.see)
				}
				if page := w.list(`{"contextId":"context-of-some-length"}`); page.TotalSize != 0 {
					t.Errorf("there are %d tasks, want none", page.TotalSize)
				}
				return
			}
			if f != nil || task.Status.State != tt.state || task.ContextID != "context-of-some-length" ||
				len(task.History) != 1 {
				t.Fatalf("= %+v %+v, want %s", task, f, tt.state)
			}
			said := words(task.Status.Message)
			if tt.state == a2a.Completed {
				if len(task.Artifacts) != 1 || len(task.Artifacts[0].Parts) != 1 ||
					task.Artifacts[0].Parts[0].MediaType != a2a.MediaJSON {
					t.Fatalf("artifacts = %+v, want one of JSON", task.Artifacts)
				}
				said = string(task.Artifacts[0].Parts[0].Data)
			}
			if !strings.Contains(said, tt.see) {
				t.Errorf("said %s, want %s", said, tt.see)
			}
			if diff := cmp.Diff(task, w.get(task.ID)); diff != "" {
				t.Errorf("GetTask (-sent +got):\n%s", diff)
			}
		})
	}
}

func quoted(text string) string { return `"` + strings.ReplaceAll(text, `"`, `\"`) + `"` }

// A conversation goes on in its task until that is over.
func TestConversation(t *testing.T) {
	t.Parallel()
	w := setup(t)
	first := w.send(message("m1", hello))
	follow := `"taskId":"` + first.ID + `"`
	again := w.send(message("m2", hello, follow))
	if again.ID != first.ID || again.Status.State != a2a.InputRequired || len(again.History) != 3 {
		t.Errorf("after more words: %+v, want the same task with three messages behind it", again)
	}
	if _, f := w.try(message("m3", dataPart(search), follow, `"contextId":"another"`)); f == nil || f.Code != -32602 ||
		f.fields() != "message.contextId MISMATCH" {
		t.Errorf("in another context: %+v, want -32602", f)
	}
	if _, f := w.try(message("m3", dataPart(`{"skill":"site"}`), follow)); f == nil || f.Code != -32602 {
		t.Errorf("a faulty request: %+v, want -32602", f)
	}
	done := w.send(message("m4", dataPart(search), follow, `"contextId":"`+first.ContextID+`"`))
	if done.ID != first.ID || done.Status.State != a2a.Completed || len(done.Artifacts) != 1 || len(done.History) != 5 {
		t.Errorf("after a request: %+v, want the task completed", done)
	}
	if _, f := w.try(message("m5", dataPart(search), follow)); f == nil || f.Code != -32004 {
		t.Errorf("to a task that is over: %+v, want -32004", f)
	}
	if same := w.send(message("m4", dataPart(search), follow, `"contextId":"`+first.ContextID+`"`)); same.ID !=
		first.ID || same.Status.State != a2a.Completed {
		t.Errorf("the last message again = %+v, want the task", same)
	}
	for _, id := range []string{"task_none", strings.Replace(first.ID, "task_", "task_a", 1)[:len(first.ID)], "x'"} {
		if _, f := w.try(message("m6", dataPart(search), `"taskId":"`+id+`"`)); f == nil || f.Code != -32001 {
			t.Errorf("to %s: %+v, want -32001", id, f)
		}
		var task a2a.Task
		for _, method := range []string{"GetTask", "CancelTask"} {
			if f := w.call(method, `{"id":"`+id+`"}`, &task); f == nil || f.Code != -32001 {
				t.Errorf("%s %s: %+v, want -32001", method, id, f)
			}
		}
	}
}

// A task does not grow for ever.
func TestManyMessages(t *testing.T) {
	t.Parallel()
	w := setup(t)
	first := w.send(message("m", hello))
	for i := range 60 {
		task, f := w.try(message(fmt.Sprint("m", i), hello, `"taskId":"`+first.ID+`"`))
		if f != nil {
			if f.Code != -32004 || i < 10 {
				t.Errorf("message %d: %+v, want -32004 after some more", i, f)
			}
			return
		}
		if len(task.History) > 42 {
			t.Fatalf("the task has %d messages", len(task.History))
		}
	}
	t.Error("60 messages were taken")
}

func TestOutputModes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		modes string
		media string // of the artifact; "": refused
	}{
		{`[]`, a2a.MediaJSON},
		{`["application/json"]`, a2a.MediaJSON},
		{`["text/html","Application/*; q=1"]`, a2a.MediaJSON},
		{`["*/*"]`, a2a.MediaJSON},
		{`["text/plain"]`, a2a.MediaText},
		{`["image/png","text/*"]`, a2a.MediaText},
		{`["text/html"]`, ""},
		{`["image/png","application/xml"]`, ""},
		{`[""]`, ""},
	}
	for i, tt := range tests {
		w := setup(t)
		params := strings.TrimSuffix(message(fmt.Sprint("m", i), dataPart(search)),
			"}") + `,"configuration":{"acceptedOutputModes":` + tt.modes + `}}`
		task, f := w.try(params)
		switch {
		case tt.media == "":
			if f == nil || f.Code != -32005 {
				t.Errorf("%s: %+v, want -32005", tt.modes, f)
			}
		case f != nil || len(task.Artifacts) != 1 || task.Artifacts[0].Parts[0].MediaType != tt.media:
			t.Errorf("%s: %+v %+v, want an artifact of %s", tt.modes, task, f, tt.media)
		}
	}
}

// TestRepetition sends messages again. What is the same message makes the same
// task.
func TestRepetition(t *testing.T) {
	t.Parallel()
	const long = "0190a5f0-6c1e-7c7e-9d4e-0123456789ab"
	other := `{"skill":"site","action":"search_pages","input":{"query":"other"}}`
	ctx := func(id string) string { return `"contextId":"` + id + `"` }
	tests := []struct {
		name                  string
		first, second         string
		firstFrom, secondFrom string
		same                  bool
		code                  int
	}{
		{"as it was", message(long, dataPart(search)), message(long, dataPart(search)), "a", "a", true, 0},
		{
			"spelled otherwise", message(long, dataPart(search)),
			message(long, dataPart(`{ "input":{"query":"refund\u0073"}, "action":"search_pages","skill":"site"}`)),
			"a", "a", true, 0,
		},
		{"from another network", message(long, dataPart(search)), message(long, dataPart(search)), "a", "b", true, 0},
		{"a short id", message("1", dataPart(search)), message("1", dataPart(search)), "a", "a", true, 0},
		{
			"a short id from another network", message("1", dataPart(search)), message("1", dataPart(search)), "a", "b",
			false, 0,
		},
		{"another id", message("1", dataPart(search)), message("2", dataPart(search)), "a", "a", false, 0},
		{
			"other content without a context", message("1", dataPart(search)), message("1", dataPart(other)), "a", "a",
			false, 0,
		},
		{
			"in a context", message("1", dataPart(search), ctx(long)), message("1", dataPart(search), ctx(long)), "a",
			"b", true, 0,
		},
		{
			"in another context",
			message("1", dataPart(search), ctx(long)),
			message("1", dataPart(search), ctx(long+"x")),
			"a",
			"a",
			false,
			0,
		},
		{
			"other content in a context", message("1", dataPart(search), ctx(long)),
			message("1", dataPart(other), ctx(long)), "a", "a", false, -32602,
		},
		{
			"in a short context", message(long, dataPart(search), ctx("c")), message(long, dataPart(search), ctx("c")),
			"a", "a", true, 0,
		},
		{
			"in a short context of another network", message(long, dataPart(search), ctx("c")),
			message(long, dataPart(search), ctx("c")), "a", "b", false, 0,
		},
		{"a purchase", message(long, dataPart(buyBox)), message(long, dataPart(buyBox)), "a", "a", true, 0},
	}
	for _, tt := range tests {
		w := setup(t)
		first := w.from(tt.firstFrom).send(tt.first)
		second, f := w.from(tt.secondFrom).try(tt.second)
		switch {
		case tt.code != 0:
			if f == nil || f.Code != tt.code || f.fields() != "message.messageId DUPLICATE" {
				t.Errorf("%s: %+v, want %d", tt.name, f, tt.code)
			}
		case f != nil || (second.ID == first.ID) != tt.same:
			t.Errorf("%s: %s, then %s %+v, want the same task %v", tt.name, first.ID, second.ID, f, tt.same)
		}
		if len(w.sales.sessions) > 1 {
			t.Errorf("%s: there are %d sessions", tt.name, len(w.sales.sessions))
		}
	}
}

// Of a message that comes many times at once one task is made, and one session.
func TestRepetitionAtOnce(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{"site": search, "checkout": buyBox} {
		w := setup(t)
		var mu sync.Mutex
		ids := map[string]int{}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				task := w.send(message("a-message-of-some-length", dataPart(data)))
				mu.Lock()
				defer mu.Unlock()
				ids[task.ID]++
			})
		}
		all.Wait()
		if len(ids) != 1 {
			t.Errorf("%s: tasks %v, want one", name, ids)
		}
		if name == "checkout" {
			w.sales.only(t)
		}
	}
}

// TestList lists the tasks of contexts, page by page.
func TestList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		const mine = "context-of-some-length"
		var want []string
		for i := range 5 {
			time.Sleep(time.Second)
			want = append([]string{w.send(message(fmt.Sprint(i), dataPart(search), `"contextId":"`+mine+`"`)).ID},
				want...)
		}
		time.Sleep(time.Second)
		helped := time.Now()
		want = append([]string{w.send(message("help", hello, `"contextId":"`+mine+`"`)).ID}, want...)
		w.send(message("x", dataPart(search), `"contextId":"another-context-of-some-length"`))
		w.send(message("y", dataPart(search)))

		var got []string
		token := ""
		for page := range 3 {
			p := w.list(`{"contextId":"` + mine + `","pageSize":2,"pageToken":"` + token + `"}`)
			for _, task := range p.Tasks {
				got = append(got, task.ID)
				if task.Artifacts != nil {
					t.Errorf("%s shows artifacts that nobody asked for", task.ID)
				}
			}
			if token = p.NextPageToken; p.TotalSize != 6 || p.PageSize != 2 || (token == "") != (page == 2) {
				t.Errorf("page %d = %+v", page, p)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("over all pages (-want +got):\n%s", diff)
		}
		tests := []struct {
			name, params string
			want         int
		}{
			{"all", `"contextId":"` + mine + `"`, 6},
			{"completed", `"contextId":"` + mine + `","status":"TASK_STATE_COMPLETED"`, 5},
			{"canceled", `"contextId":"` + mine + `","status":"TASK_STATE_CANCELED"`, 0},
			{
				"since",
				`"contextId":"` + mine + `","statusTimestampAfter":"` + helped.UTC().Format(time.RFC3339) + `"`,
				1,
			},
			{"no context", ``, 0},
			{"nobody's context", `"contextId":"nobody"`, 0},
		}
		for _, tt := range tests {
			if p := w.list(`{` + tt.params + `}`); p.TotalSize != tt.want || len(p.Tasks) != tt.want || p.Tasks == nil {
				t.Errorf("%s: %d of %d tasks, want %d", tt.name, len(p.Tasks), p.TotalSize, tt.want)
			}
		}
		token = w.list(`{"contextId":"` + mine + `","pageSize":2}`).NextPageToken
		for _, params := range []string{
			`{"contextId":"` + mine + `","pageToken":"x"}`, `{"contextId":"other","pageToken":"` + token + `"}`,
			`{"contextId":"` + mine + `","status":"TASK_STATE_COMPLETED","pageToken":"` + token + `"}`,
		} {
			if f := w.call("ListTasks", params, &a2a.TaskPage{}); f == nil || f.Code != -32602 ||
				f.fields() != "pageToken INVALID_TOKEN" {
				t.Errorf("ListTasks %s = %+v, want -32602", params, f)
			}
		}
	})
}

// A client that makes up the same short context elsewhere sees nothing of it.
func TestShortContextsAreOneNetworks(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.send(message("1", dataPart(search), `"contextId":"chat"`))
	if n := w.list(`{"contextId":"chat"}`).TotalSize; n != 1 {
		t.Errorf("its own network sees %d tasks, want 1", n)
	}
	if n := w.from("b").list(`{"contextId":"chat"}`).TotalSize; n != 0 {
		t.Errorf("another network sees %d tasks, want none", n)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	w := setup(t)
	asks := w.send(message("1", hello))
	var canceled a2a.Task
	if f := w.call("CancelTask", `{"id":"`+asks.ID+`"}`, &canceled); f != nil ||
		canceled.Status.State != a2a.Canceled || words(canceled.Status.Message) == "" {
		t.Errorf("CancelTask = %+v %+v, want it canceled with words", canceled, f)
	}
	for _, id := range []string{
		asks.ID, w.send(message("2", dataPart(search))).ID,
		w.send(message("3", dataPart(`{"action":"fly"}`))).ID,
	} {
		if f := w.call("CancelTask", `{"id":"`+id+`"}`, &canceled); f == nil || f.Code != -32002 ||
			f.Data[0].Reason != "TASK_NOT_CANCELABLE" {
			t.Errorf("CancelTask of a task that is over = %+v, want -32002", f)
		}
	}
}

// Tasks live for an hour, and go with the oldest where there are too many.
func TestKeptFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		task := w.send(message("1", dataPart(search)))
		rec, err := w.tasks.Task(t.Context(), task.ID)
		if err != nil || !rec.ExpiresAt.Equal(time.Now().Add(time.Hour)) {
			t.Errorf("kept until %s, %v, want an hour from now", rec.ExpiresAt, err)
		}
		for i := range a2a.MaxOwned {
			time.Sleep(time.Millisecond)
			w.send(message(fmt.Sprint("n", i), dataPart(search)))
		}
		if f := w.call("GetTask", `{"id":"`+task.ID+`"}`, &a2a.Task{}); f == nil || f.Code != -32001 {
			t.Errorf("the oldest of %d tasks = %+v, want it gone", a2a.MaxOwned+1, f)
		}
	})
}
