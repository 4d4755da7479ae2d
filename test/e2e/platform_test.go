package e2e

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"ace/internal/browsertest"
	"ace/test/harness"
)

// account is what a newcomer has after the first start: a key and a browser.
type account struct {
	t        *testing.T
	platform string
	sandbox  string
	key      string
	browser  *http.Client
	world    *world
}

func newcomer(t *testing.T, env ...string) *account {
	t.Helper()
	addr := harness.FreeAddr(t)
	w := start(t, append([]string{"ACE_HOSTS=store,platform", "ACE_PLATFORM_ADDR=" + addr}, env...)...)
	key, printed := "", regexp.MustCompile(`ace_[0-9A-Za-z]{36}`)
	for deadline := time.Now().Add(harness.Patience); key == "" &&
		time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		key = printed.FindString(w.process.Output()) // printed when everything answers, the store first
	}
	if key == "" {
		t.Fatalf("the first start printed no key:\n%s", w.process.Output())
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &account{t, "http://" + addr, w.sandbox.URL, key, &http.Client{Jar: jar}, w}
}

// call calls the API with the key.
func (a *account) call(method, path, body string) (int, map[string]any) {
	a.t.Helper()
	req, err := http.NewRequestWithContext(a.t.Context(), method, a.platform+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var out map[string]any
	_ = json.NewDecoder(res.Body).Decode(&out) // 204 has none
	return res.StatusCode, out
}

// page is what the person sees.
type page struct {
	address *url.URL
	text    string
}

// visit opens a page, or sends a form, as the person's browser does.
func (a *account) visit(address string, form url.Values) page {
	a.t.Helper()
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(a.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		a.t.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", req.URL.Scheme+"://"+req.URL.Host)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	res, err := a.browser.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	return page{res.Request.URL, string(text)}
}

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
	madeKey     = regexp.MustCompile(`nk_[A-Z2-7]+`)
)

// hidden are the hidden fields of a page's forms.
func (p page) hidden() url.Values {
	form := url.Values{}
	for _, field := range hiddenField.FindAllStringSubmatch(p.text, -1) {
		form.Set(html.UnescapeString(field[1]), html.UnescapeString(field[2]))
	}
	return form
}

// link asks for a sign-in link.
func (a *account) link(way string) string {
	a.t.Helper()
	status, session := a.call(http.MethodPost, "/apps/demo-notes/connect", `{"auth":"`+way+`","verify":"link"}`)
	if status != http.StatusCreated {
		a.t.Fatalf("connect answered %d %v", status, session)
	}
	return session["url"].(string)
}

func TestConnectAndRun(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"key", "oauth2"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			a := newcomer(t)
			status, refused := a.call(http.MethodPost, "/tools/demo_notes__create_note/run",
				`{"arguments":{"title":"Milk"}}`)
			if status != http.StatusConflict || refused["code"] != "not_connected" ||
				refused["next_action"] != "connect_app" {
				t.Errorf("before connecting: %d %v", status, refused)
			}
			form := a.visit(a.link(way), nil)
			fields := form.hidden()
			if way == "key" {
				fields.Set("field.key",
					madeKey.FindString(a.visit(a.sandbox+"/notes/keys", url.Values{"person": {"Ann"}}).text))
			}
			after := a.visit(form.address.String(), fields)
			if way == "oauth2" { // now at the app, which asks the person
				consent := after.hidden()
				consent.Set("person", "Ann")
				consent.Set("decision", "allow")
				after = a.visit(a.sandbox+"/notes/oauth/authorize", consent)
			}
			if !strings.HasPrefix(after.address.String(), a.platform+"/connect/") || !strings.Contains(after.text,
				"Ann") {
				t.Fatalf("after connecting the person is at %s:\n%s", after.address, after.text)
			}
			a.work()
		})
	}
}

// TestConnectInBrowser is the same walk as a person takes it.
func TestConnectInBrowser(t *testing.T) {
	b := browsertest.Start(t)
	for _, way := range []string{"key", "oauth2"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			a := newcomer(t)
			tab := b.Tab(t, browsertest.Phone())
			key := ""
			if way == "key" {
				tab.Open(a.sandbox + "/notes/")
				tab.Fill("#person", "Ann")
				tab.Press("main .button")
				key = tab.Text(".key")
			}
			tab.Open(a.link(way))
			if way == "key" {
				tab.Fill(`[name="field.key"]`, key)
			}
			tab.Press("form.form .button")
			if way == "oauth2" {
				tab.Fill("#person", "Ann")
				tab.Press(`button[value="allow"]`)
			}
			tab.See("Demo Notes is connected")
			tab.See("Ann")
			a.work()
		})
	}
}

// work finds a tool, runs it, reads the connection and gives the key back.
func (a *account) work() {
	a.t.Helper()
	_, found := a.call(http.MethodPost, "/tools/find", `{"task":"write down that milk is out"}`)
	best := found["tools"].([]any)[0].(map[string]any)
	if best["tool"] != "demo_notes__create_note" || best["connection_status"] != "connected" {
		a.t.Errorf("found %v", best)
	}
	status, run := a.call(http.MethodPost, "/tools/demo_notes__create_note/run", `{"arguments":{"title":"Milk"}}`)
	if status != http.StatusOK || run["ok"] != true || run["output"].(map[string]any)["title"] != "Milk" {
		a.t.Errorf("run = %d %v", status, run)
	}
	status, wrong := a.call(http.MethodPost, "/tools/demo_notes__create_note/run", `{"arguments":{}}`)
	if status != http.StatusUnprocessableEntity || wrong["code"] != "invalid_arguments" {
		a.t.Errorf("a run without a title = %d %v", status, wrong)
	}
	_, list := a.call(http.MethodGet, "/connections", "")
	connection := list["connections"].([]any)[0].(map[string]any)
	if connection["status"] != "active" || connection["account"].(map[string]any)["id"] != "Ann" {
		a.t.Errorf("connection = %v", connection)
	}
	if status, _ := a.call(http.MethodDelete, "/keys/self", ""); status != http.StatusNoContent {
		a.t.Errorf("revoking the key = %d", status)
	}
	if status, refused := a.call(http.MethodGet, "/connections", ""); status != http.StatusUnauthorized ||
		refused["code"] != "key_revoked" {
		a.t.Errorf("after the revocation: %d %v", status, refused)
	}
}
