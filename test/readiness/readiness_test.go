// Package readiness looks at a running store as the scanners do that judge how
// ready a site is for agents: row by row, each with the rule by which it
// passes, and with the reason where it does not.
//
//	rows_test.go     the rows of isitagentready.com, commerce included
//	further_test.go  what other scanners ask beyond them
//	afdocs_test.go   npm afdocs itself
//
// "make readiness" prints the table.
package readiness

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"ace/test/harness"
)

// expected is what becomes of a row.
type expected string

const (
	passes     expected = "pass"
	fails      expected = "fail by design"
	deployment expected = "left to the deployment"
)

// row is one check of a scanner.
type row struct {
	check string
	rule  string // by which it passes
	want  expected
	why   string // where it does not pass
	// scored says that it counts for the score: commerce never does.
	scored bool
	// probe returns nil if the rule holds.
	probe func(s *scan) error
}

// scan is a scanner in front of a store. Like the real ones it reads a document
// once, and waits if required.
type scan struct {
	t     *testing.T
	base  string
	known map[string]*answer
}

// answer is a response with its body.
type answer struct {
	*http.Response

	body []byte
}

// start starts the real binary with a sandbox and further settings.
func start(t *testing.T, settings ...string) *scan {
	t.Helper()
	store := harness.FreeAddr(t)
	p := harness.Start(t, harness.Build(t, ""), append([]string{
		"ACE_STORE_ADDR=" + store, "ACE_PLATFORM_ADDR=" + harness.FreeAddr(t),
		"ACE_SANDBOX_ADDR=" + harness.FreeAddr(t), "ACE_ADMIN_ADDR=",
		"ACE_DATA_DIR=" + harness.DataDir(t), "ACE_CONTACT=help@store.example",
	}, settings...), "serve")
	s := &scan{t: t, base: "http://" + store, known: map[string]*answer{}}
	if !p.Ready(s.base + "/healthz") {
		t.Fatal("the store did not start")
	}
	for { // the offers become pages as soon as the processor has named them
		if s.hasOffers() {
			return s
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (s *scan) hasOffers() bool {
	_, list, err := harness.Call(s.t, http.MethodGet, s.base+"/sitemap.xml", "")
	return err == nil && strings.Contains(list, "/products/")
}

// get reads a path or an address as a scanner does: under its own name, and
// with a query that no cache knows.
func (s *scan) get(path string, header ...string) (*answer, error) {
	key := path + "\n" + strings.Join(header, "\n")
	if a := s.known[key]; a != nil {
		return a, nil
	}
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	a, err := s.do(http.MethodGet, fmt.Sprintf("%s%scb=%d", path, mark, len(s.known)), "", header...)
	if err == nil {
		s.known[key] = a
	}
	return a, err
}

// do makes a request, again as long as it is asked to wait.
func (s *scan) do(method, path, body string, header ...string) (*answer, error) {
	for {
		a, err := s.once(method, path, body, header...)
		if err != nil || a.StatusCode != http.StatusTooManyRequests {
			return a, err
		}
		wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
		if err != nil {
			return nil, err
		}
		time.Sleep(time.Duration(wait) * time.Second)
	}
}

func (s *scan) once(method, path, body string, header ...string) (*answer, error) {
	if strings.HasPrefix(path, "/") {
		path = s.base + path
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "AgentReadinessScanner/1.0")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return &answer{res, text}, err
}

// read reads a path that must answer 200 in a media type; an empty one is any.
func (s *scan) read(path, mediaType string, header ...string) (*answer, error) {
	a, err := s.get(path, header...)
	if err != nil {
		return nil, err
	}
	if kind := a.Header.Get("Content-Type"); a.StatusCode != http.StatusOK || !strings.HasPrefix(kind, mediaType) {
		return nil, fmt.Errorf("%s is %d %s, not 200 %s", path, a.StatusCode, kind, mediaType)
	}
	return a, nil
}

// readJSON reads a path into v.
func (s *scan) readJSON(path string, v any) (*answer, error) {
	a, err := s.read(path, "application/")
	if err == nil {
		err = json.Unmarshal(a.body, v)
	}
	return a, err
}

// sells reports whether a website service can be bought right now.
func (s *scan) sells(service string) bool {
	var list struct {
		Services []struct {
			ID        string
			Available bool
		}
	}
	if _, err := s.readJSON("/v1/services", &list); err != nil {
		return false // a store without services
	}
	for _, one := range list.Services {
		if one.ID == service {
			return one.Available
		}
	}
	return false
}

// unless returns the text as an error where ok is false.
func unless(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

var errNoRule = errors.New("nothing to look at from here")

// TestReadiness holds the running store, with its real limit, to each row.
func TestReadiness(t *testing.T) {
	t.Parallel()
	s := start(t)
	passed, total := 0, 0
	got := map[string]bool{}
	for _, r := range append(rows(s.sells("ai-search-audit")), further()...) {
		err := errNoRule
		if r.probe != nil {
			err = r.probe(s)
		}
		ok := err == nil
		got[r.check] = ok
		mark := "pass"
		if !ok {
			mark = string(r.want) + ": " + r.why
		}
		t.Logf("%-24s %s (%s)", r.check, mark, r.rule)
		if ok != (r.want == passes) {
			t.Errorf("%s is to %s by the rule %q: %v", r.check, r.want, r.rule, err)
		}
		if !ok && r.why == "" && r.want != passes {
			t.Errorf("%s does not say why it does not pass", r.check)
		}
		if r.scored && r.want != deployment { // what cannot be judged is neutral
			total++
			if ok {
				passed++
			}
		}
	}
	score := 100 * passed / total
	t.Logf("score %d of 100 (%d of %d), level %d of 5", score, passed, total, level(got))
	if score < 80 || level(got) != 5 {
		t.Errorf("score %d, level %d, want at least 80 and 5", score, level(got))
	}
}

// level climbs the ladder as two published guides describe it.
func level(got map[string]bool) int {
	all := func(checks ...string) bool {
		for _, c := range checks {
			if !got[c] {
				return false
			}
		}
		return true
	}
	integration := []string{"apiCatalog", "mcpServerCard", "a2aAgentCard", "agentSkills"}
	any := false
	for _, c := range integration {
		any = any || got[c]
	}
	two := 0
	for _, ok := range []bool{got["webBotAuth"], all(integration...), got["authMd"]} {
		if ok {
			two++
		}
	}
	n := 0
	for _, step := range []bool{
		all("robotsTxt", "sitemap", "linkHeaders"), all("robotsTxtAiRules", "contentSignals"),
		got["markdownNegotiation"], any, got["oauthDiscovery"] || two >= 2,
	} {
		if !step {
			break
		}
		n++
	}
	return n
}
