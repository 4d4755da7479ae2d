package toolindex_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"ace/internal/platform/app"
	"ace/internal/platform/toolindex"
)

const mail = `
id: gmail
name: Gmail
aliases: [google mail]
categories: [email]
about: Mail of Google.
base: https://gmail.example
tools:
  send_email: {call: POST /send, title: Send e-mail, about: Sends a mail., phrases: [send an email to someone,
    write a mail], in: {to!: string, subject: string}}
  list_emails: {call: GET /list, title: List e-mails, about: Lists mails., phrases: [show my inbox,
    read my latest emails]}
  delete_email: {call: "DELETE /x/{id}", title: Delete e-mail, about: Deletes a mail., in: {id!: string}}
`

const repo = `
id: github
name: GitHub
aliases: [gh]
categories: [developer]
about: Code and issues.
base: https://api.github.example
tools:
  create_issue: {call: POST /issues, title: Create issue, about: Opens an issue., phrases: [report a bug,
    open an issue]}
  list_issues: {call: GET /issues, title: List issues, about: Lists issues., phrases: [show open issues]}
  close_issue: {call: PATCH /issues, title: Close issue, about: Closes an issue., phrases: [close an issue]}
  merge_pull_request: {call: PUT /merge, title: Merge pull request, about: Merges a pull request.}
`

const boxApp = `
id: box
name: Box
categories: [files]
about: Files of a company.
base: https://box.example
tools:
  upload_file: {call: POST /files, title: Upload file, about: Uploads a file., phrases: [put a file into a folder]}
  list_folder: {call: GET /folders, title: List folder, about: Lists what a folder holds.}
`

func apps(t testing.TB) []*app.App {
	t.Helper()
	var all []*app.App
	for _, text := range []string{mail, repo, boxApp} {
		a, err := app.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

func TestFind(t *testing.T) {
	t.Parallel()
	x := toolindex.New(apps(t))
	tests := []struct{ task, want string }{
		{"send an email to my boss", "gmail__send_email"},
		{"what is new in my inbox?", "gmail__list_emails"},
		{"throw this mail away", "gmail__delete_email"},
		{"report a bug", "github__create_issue"},
		{"open a ticket on GitHub", "github__create_issue"},
		{"which issues are open in gihub", "github__list_issues"},
		{"close the bug", "github__close_issue"},
		{"merge the PR", "github__merge_pull_request"},
		{"put a document into Box", "box__upload_file"},
		{"show a folder in box", "box__list_folder"},
		{"listFolder", "box__list_folder"},
	}
	for _, tt := range tests {
		hits := x.Find(toolindex.Query{Task: tt.task, Limit: 5}).Hits
		if len(hits) == 0 || hits[0].Tool != tt.want || hits[0].Score != 1 || len(hits[0].MatchedOn) == 0 {
			t.Errorf("Find(%q) = %s, want %s first", tt.task, show(hits), tt.want)
		}
	}
}

func show(hits []toolindex.Hit) string {
	var all []string
	for _, hit := range hits {
		all = append(all, fmt.Sprintf("%s %.2f %v", hit.Tool, hit.Score, hit.MatchedOn))
	}
	return strings.Join(all, ", ")
}

func TestFindNarrows(t *testing.T) {
	t.Parallel()
	x := toolindex.New(apps(t))
	tests := []struct {
		name  string
		query toolindex.Query
		want  func(h toolindex.Hit) bool
	}{
		{
			"these apps",
			toolindex.Query{Task: "list", Apps: []string{"box"}},
			func(h toolindex.Hit) bool { return h.App == "box" },
		},
		{
			"read only",
			toolindex.Query{Task: "an issue", ReadOnly: true},
			func(h toolindex.Hit) bool { return h.Effect == app.Reads },
		},
		{
			"connected only",
			toolindex.Query{
				Task: "list", ConnectedOnly: true,
				Connected: func(id string) bool { return id == "gmail" },
			},
			func(h toolindex.Hit) bool { return h.App == "gmail" },
		},
		{
			"allowed",
			toolindex.Query{
				Task:    "issue",
				Allowed: func(h *toolindex.Handle) bool { return h.Tool == "github__list_issues" },
			},
			func(h toolindex.Hit) bool { return h.Tool == "github__list_issues" },
		},
	}
	for _, tt := range tests {
		tt.query.Limit = 10
		hits := x.Find(tt.query).Hits
		if len(hits) == 0 {
			t.Errorf("%s: nothing was found", tt.name)
		}
		for _, hit := range hits {
			if !tt.want(hit) {
				t.Errorf("%s: found %s", tt.name, hit.Tool)
			}
		}
	}
}

func TestFindIsFair(t *testing.T) {
	t.Parallel()
	x := toolindex.New(apps(t))
	r := x.Find(toolindex.Query{Task: "list issues", Limit: 10})
	hits, mentioned := r.Hits, r.Named
	count := 0
	for _, hit := range hits {
		if hit.App == "github" {
			count++
		}
	}
	if count > 3 || len(mentioned) != 0 {
		t.Errorf("without an app named: %s, mentioned %v", show(hits), mentioned)
	}
	if mentioned := x.Find(toolindex.Query{Task: "list issues on github", Limit: 10}).Named; len(mentioned) != 1 ||
		mentioned[0] != "github" {
		t.Errorf("mentioned = %v", mentioned)
	}
	share := func(connected string) float64 {
		hits := x.Find(toolindex.Query{
			Task: "list", Limit: 10,
			Connected: func(id string) bool { return id == connected },
		}).Hits
		for _, hit := range hits {
			if hit.App == "box" {
				return hit.Score
			}
		}
		return 0
	}
	if share("box") <= share("") {
		t.Error("a connected app gains nothing")
	}
}

const planner = `
id: day-planner
name: Day Planner
categories: [calendar]
about: Days and what is planned on them.
base: https://planner.example
tools:
  list_planners: {call: GET /planners, title: List planners, about: Lists the planners.,
    phrases: [which planners are there]}
  list_meetings: {call: GET /meetings, title: List meetings, about: Lists what is planned.,
    phrases: [what is on my planner tomorrow, show my appointments]}
`

// TestNamesSayWhichAppAndNotWhat: the words of an app's name are no words for its
// tools, and an app that is named goes before tools of others that fit better.
func TestNamesSayWhichAppAndNotWhat(t *testing.T) {
	t.Parallel()
	all := apps(t)
	a, err := app.Parse([]byte(planner))
	if err != nil {
		t.Fatal(err)
	}
	x := toolindex.New(append(all, a))
	tests := []struct{ task, want string }{
		{"what is on in my Day Planner tomorrow", "day_planner__list_meetings"},
		{"which planners does Day Planner have", "day_planner__list_planners"},
		{"where is my latest email in Box", "box__list_folder"},
	}
	for _, tt := range tests {
		if hits := x.Find(toolindex.Query{Task: tt.task, Limit: 3}).Hits; len(hits) == 0 || hits[0].Tool != tt.want {
			t.Errorf("Find(%q) = %s, want %s first", tt.task, show(hits), tt.want)
		}
	}
}

func TestFindNothing(t *testing.T) {
	t.Parallel()
	x := toolindex.New(apps(t))
	for _, task := range []string{"", "   ", "zzzz qqqq", "the of to", strings.Repeat("ü", 10000)} {
		if hits := x.Find(toolindex.Query{Task: task, Limit: 5}).Hits; len(hits) != 0 {
			t.Errorf("Find(%.20q) = %s", task, show(hits))
		}
	}
	if hits := toolindex.New(nil).Find(toolindex.Query{Task: "send", Limit: 5}).Hits; len(hits) != 0 {
		t.Errorf("an empty index found %s", show(hits))
	}
}

func TestApps(t *testing.T) {
	t.Parallel()
	x := toolindex.New(apps(t))
	tests := []struct{ search, want string }{
		{"gmail", "gmail"},
		{"GMAIL", "gmail"},
		{"google mail", "gmail"},
		{"gmial", "gmail"},
		{"gm", "gmail"},
		{"git hub", "github"},
		{"gh", "github"},
		{"developer", "github"},
		{"files of a company", "box"},
	}
	for _, tt := range tests {
		if hits := x.Apps(tt.search); len(hits) == 0 || hits[0].App != tt.want {
			t.Errorf("Apps(%q) = %v, want %s", tt.search, hits, tt.want)
		}
	}
	if hits := x.Apps(""); len(hits) != 3 || hits[0].App != "box" {
		t.Errorf("Apps of nothing = %v", hits)
	}
	if _, ok := x.Closest("qqqq"); ok {
		t.Error("nothing is close to qqqq")
	}
}

func TestDeterministic(t *testing.T) {
	t.Parallel()
	first := toolindex.New(apps(t)).Find(toolindex.Query{Task: "list my issues and mails", Limit: 10}).Hits
	for range 20 {
		again := toolindex.New(apps(t)).Find(toolindex.Query{Task: "list my issues and mails", Limit: 10}).Hits
		if show(first) != show(again) {
			t.Fatalf("two answers: %s and %s", show(first), show(again))
		}
	}
}

func FuzzFind(f *testing.F) {
	x := toolindex.New(apps(f))
	f.Add("send an email")
	f.Add("ÜÄ\x00'’…")
	f.Fuzz(func(t *testing.T, task string) {
		hits := x.Find(toolindex.Query{Task: task, Limit: 3}).Hits
		if len(hits) > 3 {
			t.Errorf("%d hits", len(hits))
		}
		x.Apps(task)
	})
}

func BenchmarkFind(b *testing.B) {
	x := toolindex.New(apps(b))
	for b.Loop() {
		x.Find(toolindex.Query{Task: "send an email to my boss about the open issues", Limit: 8})
	}
}

// TestWith holds that the apps of a second segment are found as if they were in
// the first.
func TestWith(t *testing.T) {
	t.Parallel()
	all := apps(t)
	whole, base := toolindex.New(all), toolindex.New(all[:2])
	split := base.With(all[2:])
	if split.Len() != whole.Len() || base.Len() >= whole.Len() {
		t.Errorf("Len = %d, and %d without the second segment, want %d", split.Len(), base.Len(), whole.Len())
	}
	for _, task := range []string{
		"send an email to my boss", "put a document into Box", "show a folder in box", "list issues and folders",
		"upload a file to bxo", "close the bug", "what is in the folder?",
	} {
		wanted, found := whole.Find(
			toolindex.Query{Task: task, Limit: 3},
		), split.Find(
			toolindex.Query{Task: task, Limit: 3},
		)
		want, wantApps, got, gotApps := wanted.Hits, wanted.Named, found.Hits, found.Named
		if len(got) == 0 || len(got) != len(want) || got[0].Tool != want[0].Tool ||
			strings.Join(gotApps, " ") != strings.Join(wantApps, " ") {
			t.Errorf("Find(%q) = %s, apps %v, want %s, apps %v", task, show(got), gotApps, show(want), wantApps)
		}
	}
	if hits := split.Apps("box"); len(hits) == 0 || hits[0].App != "box" {
		t.Errorf("Apps(mailbox) = %v", hits)
	}
	if hits := base.Apps("box"); len(hits) != 0 {
		t.Errorf("the index without Box finds it: %v", hits)
	}
	if id, ok := split.Closest("gihub"); !ok || id != "github" {
		t.Errorf("Closest(gihub) = %s, %v", id, ok)
	}
	if hits := toolindex.New(nil).
		With(all).
		Find(toolindex.Query{Task: "merge the PR", Limit: 1}).
		Hits; len(
		hits,
	) != 1 ||
		hits[0].Tool != "github__merge_pull_request" {
		t.Errorf("beside an empty index: %s", show(hits))
	}
}

// TestFindManyTimesAtOnce finds from many goroutines: each search has memory of
// its own, which is clean afterwards.
func TestFindManyTimesAtOnce(t *testing.T) {
	t.Parallel()
	x := toolindex.New(apps(t)[:2]).With(apps(t)[2:])
	tasks := []string{"send an email", "open a ticket on GitHub", "show a folder in box", "qqqq", "", "gihub issues"}
	want := map[string]string{}
	for _, task := range tasks {
		hits := x.Find(toolindex.Query{Task: task, Limit: 5}).Hits
		want[task] = show(hits)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 100 {
				task := tasks[(i+j)%len(tasks)]
				if hits := x.Find(toolindex.Query{Task: task, Limit: 5}).Hits; show(hits) != want[task] {
					t.Errorf("Find(%q) = %s, want %s", task, show(hits), want[task])
				}
			}
		})
	}
	all.Wait()
}

// BenchmarkHostileTask measures a task of the longest form whose words are all
// unknown, each of which might be a typo.
func BenchmarkHostileTask(b *testing.B) {
	x := toolindex.New(apps(b))
	var task strings.Builder
	for i := range 150 {
		fmt.Fprintf(&task, "w%cx%cz ", 'a'+i%26, 'a'+i/26)
	}
	b.ReportAllocs()
	for b.Loop() {
		x.Find(toolindex.Query{Task: task.String(), Limit: 10})
	}
}

// TestFindSaysWhatIsMissing finds for apps that have no tool, or are not here.
func TestFindSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	all := append(apps(t),
		&app.App{ID: "netlify", Name: "Netlify", Base: "https://api.netlify.example", Tier: app.Request},
		&app.App{ID: "files-server", Name: "Files Server", Tier: app.MCP},
		&app.App{ID: "issue", Name: "Issue", Base: "https://issue.example", Tier: app.Request})
	x := toolindex.New(all, "Spotify", "Apple Music", "List", "GitHub")
	tests := []struct {
		task, tools string // ids; "*": some of other apps
		missing     string
		noTool      bool
		raw         bool
	}{
		{"deploy my netlify site", "netlify__request", "", true, true},
		{"deploy my netlfy site", "netlify__request", "", true, true},
		{"deploy my netlify site", "", "", true, false},
		{"list what files server has", "", "", true, true},
		{"list issues on github", "*", "", false, true},
		{"list issues", "*", "", false, true}, // a common word is no app
		{"list the songs of my spotify playlist", "", "Spotify", false, true},
		{"list songs in apple music", "", "Apple Music", false, true},
		{"list issues of github about spotify", "*", "Spotify", false, true},
	}
	for _, tt := range tests {
		r := x.Find(toolindex.Query{Task: tt.task, Limit: 5, RawRequests: tt.raw})
		var ids []string
		for _, h := range r.Hits {
			ids = append(ids, h.Tool)
		}
		got := strings.Join(ids, " ")
		if tt.tools == "*" && got != "" && !strings.Contains(got, "request") {
			got = "*"
		}
		if missing := strings.Join(r.Missing, " "); got != tt.tools || missing != tt.missing || r.NoTool != tt.noTool {
			t.Errorf("Find(%q, raw %v) = %s, missing %q, no tool %v; want %s, %q, %v", tt.task, tt.raw, got, missing,
				r.NoTool, tt.tools, tt.missing, tt.noTool)
		}
	}
	limited := x.Find(toolindex.Query{Task: "list", Apps: []string{"netlify"}, Limit: 5, RawRequests: true})
	if !limited.NoTool || show(limited.Hits) == "" {
		t.Errorf("limited to an app without tools: %+v", limited)
	}
	if r := x.Find(
		toolindex.Query{Task: "list netlify sites", Limit: 5, RawRequests: true, ReadOnly: true},
	); len(
		r.Hits,
	) != 0 {
		t.Errorf("reading only, %s was found", show(r.Hits))
	}
}

// TestOneAppFillsTheList finds more than three tools of one app where no other
// app has any.
func TestOneAppFillsTheList(t *testing.T) {
	t.Parallel()
	a := &app.App{ID: "one", Name: "One"}
	var all []*app.Tool
	for _, name := range []string{"list_red", "list_green", "list_blue", "list_white", "list_black"} {
		all = append(all, &app.Tool{ID: "one__" + name, App: "one", Name: name, Title: name, Call: "GET /"})
	}
	a.Tools = app.OrderedOf(func(t *app.Tool) string { return t.Name }, all...)
	if hits := toolindex.New([]*app.App{a}).Find(toolindex.Query{Task: "list", Limit: 4}).Hits; len(hits) != 4 {
		t.Errorf("Find = %s, want four", show(hits))
	}
}

// TestSeveralSteps holds that a task of several steps is not judged by its first
// verb.
func TestSeveralSteps(t *testing.T) {
	t.Parallel()
	a := &app.App{ID: "lab", Name: "Lab"}
	all := []*app.Tool{
		{ID: "lab__list_fibers", App: "lab", Name: "list_fibers", Title: "List fibers", Call: "GET /"},
		{
			ID: "lab__delete_evidence", App: "lab", Name: "delete_evidence", Title: "Delete evidence", Call: "DELETE /",
			Effect: app.Destroys,
		},
	}
	a.Tools = app.OrderedOf(func(t *app.Tool) string { return t.Name }, all...)
	hits := toolindex.New([]*app.App{a}).Find(toolindex.Query{
		Task:  "show yesterday's report of kitchen supplies, then delete evidence gathered before January last year",
		Limit: 2,
	}).Hits
	if len(hits) == 0 || hits[0].Tool != "lab__delete_evidence" {
		t.Errorf("Find = %s, want lab__delete_evidence first", show(hits))
	}
}

// TestLanguages finds tools for tasks in other languages, and takes English tasks
// for what they are.
func TestLanguages(t *testing.T) {
	t.Parallel()
	tool := func(name string) *app.Tool {
		return &app.Tool{ID: "desk__" + name, Name: name, App: "desk", Title: app.TitleOf(name), Call: "POST /"}
	}
	index := toolindex.New([]*app.App{{
		ID: "desk", Name: "Desk", Tools: app.OrderedOf(func(t *app.Tool) string { return t.Name },
			tool("create_invoice"), tool("delete_invoice"), tool("send_message"), tool("list_files")),
	}})
	for task, want := range map[string]string{
		"erstelle eine Rechnung":              "desk__create_invoice",
		"lösche die Rechnungen":               "desk__delete_invoice",
		"envía un mensaje":                    "desk__send_message",
		"supprime la facture dans Desk":       "desk__delete_invoice",
		"exclua a fatura no Desk":             "desk__delete_invoice",
		"Deskでファイルを表示して":                      "desk__list_files",
		"删除Desk的发票":                           "desk__delete_invoice",
		"메시지를 보내 줘":                           "desk__send_message",
		"create an invoice for the shop 東京商店": "desk__create_invoice",
		"send a message to Der Spiegel":       "desk__send_message",
	} {
		hits := index.Find(toolindex.Query{Task: task, Limit: 5}).Hits
		if len(hits) == 0 || hits[0].Tool != want {
			t.Errorf("%q finds %+v, want %s", task, hits, want)
		}
	}
}
