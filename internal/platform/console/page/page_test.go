package page

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ace/internal/platform/account"

	"github.com/google/go-cmp/cmp"
)

func TestAgo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		tests := []struct {
			ago  time.Duration
			want string
		}{
			{0, "just now"},
			{59 * time.Second, "just now"},
			{-time.Hour, "just now"}, // a clock that jumped
			{time.Minute, "1 minute ago"},
			{59 * time.Minute, "59 minutes ago"},
			{time.Hour, "1 hour ago"},
			{47 * time.Hour, "1 day ago"},
			{29 * 24 * time.Hour, "29 days ago"},
			{30 * 24 * time.Hour, "on " + Day(now.Add(-30*24*time.Hour))},
		}
		for _, tt := range tests {
			if got := Ago(now.Add(-tt.ago)); got != tt.want {
				t.Errorf("Ago(%v) = %q, want %q", tt.ago, got, tt.want)
			}
		}
		if Ago(time.Time{}) != "never" || Used(time.Time{}) != "never used" || Used(now) != "used just now" {
			t.Error("what never happened is shown wrongly")
		}
	})
}

func TestWords(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 9, 5, 0, 0, time.FixedZone("", 3600))
	for got, want := range map[string]string{
		Day(at): "21 November 2026", Hour(at): "08:05", Stamp(at): "2026-11-21T08:05:00Z", Count(1, "key"): "1 key",
		Count(0, "key"): "0 keys", Count(7, "tool"): "7 tools",
		initial("éclair"): "É", initial(""): "?", initial("7shifts"): "7",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if first, again := hue("Desk"), hue("Desk"); first != again || !strings.HasPrefix(hue(""), "hue-") {
		t.Error("a colour changes, or is none")
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	tests := map[string][]part{
		"":               nil,
		"plain":          {{"plain", false}},
		"Send `a: b`.":   {{"Send ", false}, {"a: b", true}, {".", false}},
		"`a``b`":         {{"a", true}, {"b", true}},
		"an odd ` sign":  {{"an odd ", false}, {" sign", true}},
		"`<b>` stays so": {{"<b>", true}, {" stays so", false}},
	}
	for in, want := range tests {
		if diff := cmp.Diff(want, ticks(in)); diff != "" {
			t.Errorf("ticks(%q) (-want +got):\n%s", in, diff)
		}
	}
}

func TestTold(t *testing.T) {
	t.Parallel()
	tests := []struct {
		about, fault string
		want         told
	}{
		{"", "", told{}},
		{"x", "", told{Ids: "f3-about"}},
		{"", "y", told{"f3-fault", true}},
		{"x", "y", told{"f3-about f3-fault", true}},
	}
	for _, tt := range tests {
		if got := tell(3, tt.about, tt.fault); got != tt.want {
			t.Errorf("tell(%q, %q) = %+v, want %+v", tt.about, tt.fault, got, tt.want)
		}
	}
}

func TestFrame(t *testing.T) {
	t.Parallel()
	s, err := New(Site{BaseURL: "https://platform.example", Name: "X"})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/account/keys", nil)
	nobody := s.Frame(r, nil, "Title")
	if nobody.Account != "" || nobody.Token != "" || !nobody.Hidden || !nobody.Here("/account") ||
		nobody.Here("/acc") || nobody.Here("/apps") {
		t.Errorf("frame of nobody: %+v", nobody)
	}
	for role, want := range map[account.Role][2]bool{
		account.Owner: {true, true}, account.Admin: {true, true},
		account.Member: {}, account.Auditor: {false, true},
	} {
		session := &account.Session{
			Account: account.Account{Name: "demo"}, User: account.User{Name: "Ann", Role: role},
			Token: "t",
		}
		f := s.Frame(r, session, "Title")
		if f.Person != "Ann" || f.Account != "demo" || f.Token != "t" || [2]bool{f.Manages, f.Audits} != want {
			t.Errorf("frame of %s: %+v", role, f)
		}
		session.User.Email = "ann@acme.example"
		if f := s.Frame(r, session, ""); f.Person != "ann@acme.example" {
			t.Errorf("frame with an address: %q", f.Person)
		}
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	s, err := New(Site{})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ path, mediaType, cache string }{
		{s.assets.style, "text/css; charset=utf-8", "immutable"},
		{s.assets.script, "text/javascript; charset=utf-8", "immutable"},
		{"/assets/icon.svg", "image/svg+xml", "max-age=86400"},
	}
	for _, tt := range tests {
		r := httptest.NewRequest(http.MethodGet, tt.path, nil)
		r.SetPathValue("file", strings.TrimPrefix(tt.path, "/assets/"))
		w := httptest.NewRecorder()
		s.Serve(w, r)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != tt.mediaType ||
			!strings.Contains(w.Header().Get("Cache-Control"), tt.cache) || w.Body.Len() == 0 {
			t.Errorf("%s: %d %v", tt.path, w.Code, w.Header())
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/assets/console.css", nil)
	r.SetPathValue("file", "../pages/layout.html")
	w := httptest.NewRecorder()
	s.Serve(w, r)
	if w.Code != http.StatusNotFound {
		t.Errorf("a path out of the folder: %d", w.Code)
	}
}

func TestContentPolicy(t *testing.T) {
	t.Parallel()
	if got := ContentPolicy(""); !strings.Contains(got, "form-action 'self';") {
		t.Errorf("ContentPolicy() = %q", got)
	}
	if got := ContentPolicy("https: http://127.0.0.1:1"); !strings.Contains(got,
		"form-action 'self' https: http://127.0.0.1:1;") {
		t.Errorf("ContentPolicy(…) = %q", got)
	}
}

// TestStyle: every colour of tiles that a name may get is in the style sheet.
func TestStyle(t *testing.T) {
	t.Parallel()
	s, err := New(Site{})
	if err != nil {
		t.Fatal(err)
	}
	css := string(s.assets.files[strings.TrimPrefix(s.assets.style, "/assets/")].body)
	seen := map[string]bool{}
	for i := range 200 {
		seen[hue(strings.Repeat("x", i%7)+Count(i, "app"))] = true
	}
	if len(seen) != hues {
		t.Errorf("%d colours are used, want %d", len(seen), hues)
	}
	for name := range seen {
		if !strings.Contains(css, "."+name+" {") {
			t.Errorf("the style sheet has no %s", name)
		}
	}
}
