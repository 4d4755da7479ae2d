package ucp_test

import (
	"strings"
	"testing"

	"ace/internal/foundation/problem"
	"ace/internal/protocol/ucp"
)

func TestParseAgent(t *testing.T) {
	t.Parallel()
	const profile = "https://platform.example/profiles/v1"
	tests := []struct {
		name   string
		values []string
		want   ucp.Agent
		code   string
	}{
		{"absent", nil, ucp.Agent{}, ""},
		{"profile", []string{`profile="` + profile + `"`}, ucp.Agent{Profile: profile}, ""},
		{
			"version as parameter",
			[]string{`profile="` + profile + `"; version="2026-04-08"`},
			ucp.Agent{Profile: profile, Version: "2026-04-08"},
			"",
		},
		{
			"version as member",
			[]string{`profile="` + profile + `", version="2026-04-08"`},
			ucp.Agent{Profile: profile, Version: "2026-04-08"},
			"",
		},
		{
			"two lines",
			[]string{`version="2026-08-25"`, `profile="` + profile + `"`},
			ucp.Agent{Profile: profile, Version: "2026-08-25"},
			"",
		},
		{
			"other members",
			[]string{`name="x";v=1, profile="` + profile + `", extra=?1`},
			ucp.Agent{Profile: profile},
			"",
		},
		{
			"any version",
			[]string{`profile="` + profile + `";version="banana"`},
			ucp.Agent{Profile: profile, Version: "banana"},
			"",
		},
		{
			"port and query",
			[]string{`profile="https://p.example:8443/x?y=1"`},
			ucp.Agent{Profile: "https://p.example:8443/x?y=1"},
			"",
		},
		{"empty", []string{""}, ucp.Agent{}, "invalid_profile_url"},
		{"not a dictionary", []string{`Mozilla/5.0 (X11)`}, ucp.Agent{}, "invalid_profile_url"},
		{"no profile", []string{`version="2026-08-25"`}, ucp.Agent{}, "invalid_profile_url"},
		{"bare profile", []string{`profile`}, ucp.Agent{}, "invalid_profile_url"},
		{"token profile", []string{`profile=https`}, ucp.Agent{}, "invalid_profile_url"},
		{"list profile", []string{`profile=("https://a.example")`}, ucp.Agent{}, "invalid_profile_url"},
		{"http", []string{`profile="http://platform.example/p"`}, ucp.Agent{}, "invalid_profile_url"},
		{"relative", []string{`profile="/p"`}, ucp.Agent{}, "invalid_profile_url"},
		{"opaque", []string{`profile="https:p"`}, ucp.Agent{}, "invalid_profile_url"},
		{"no host", []string{`profile="https:///p"`}, ucp.Agent{}, "invalid_profile_url"},
		{"port without host", []string{`profile="https://:443/p"`}, ucp.Agent{}, "invalid_profile_url"},
		{"credentials", []string{`profile="https://me:pw@platform.example/p"`}, ucp.Agent{}, "invalid_profile_url"},
		{"fragment", []string{`profile="https://platform.example/p#x"`}, ucp.Agent{}, "invalid_profile_url"},
		{"number version", []string{`profile="` + profile + `";version=1`}, ucp.Agent{}, "invalid_profile_url"},
		{"list version", []string{`profile="` + profile + `", version=("a")`}, ucp.Agent{}, "invalid_profile_url"},
		{
			"long address",
			[]string{`profile="https://p.example/` + strings.Repeat("a", 2100) + `"`},
			ucp.Agent{},
			"invalid_profile_url",
		},
		{
			"long header",
			[]string{`profile="` + profile + `", x="` + strings.Repeat("a", 5000) + `"`},
			ucp.Agent{},
			"invalid_profile_url",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ucp.ParseAgent(tt.values)
			if tt.code != "" {
				if !problem.Is(err, tt.code) || ucp.FromProblem(asProblem(t, err)).Status() != 400 {
					t.Fatalf("ParseAgent(%q) = %v, want %s", tt.values, err, tt.code)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("ParseAgent(%q) = %+v, %v, want %+v", tt.values, got, err, tt.want)
			}
			if got.Plain() != (tt.want.Profile == "") {
				t.Errorf("Plain() = %t", got.Plain())
			}
		})
	}
}

func asProblem(t testing.TB, err error) *problem.Problem {
	t.Helper()
	p, ok := problem.From(err)
	if !ok {
		t.Fatalf("%v is not a problem", err)
	}
	return p
}

func TestNegotiate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		declared, want ucp.Version
		fails          bool
	}{
		{"", "2026-08-25", false},
		{"2026-08-25", "2026-08-25", false},
		{"2026-04-08", "2026-04-08", false},
		{"2026-01-23", "", true},
		{"2027-01-01", "", true},
		{"draft", "", true},
	}
	for _, tt := range tests {
		got, err := ucp.Negotiate(tt.declared)
		if got != tt.want || (err != nil) != tt.fails {
			t.Errorf("Negotiate(%q) = %q, %v, want %q", tt.declared, got, err, tt.want)
		}
		if tt.fails {
			e := ucp.FromProblem(asProblem(t, err))
			if e.Code != ucp.VersionUnsupported || e.Status() != 422 || e.RPCCode() != -32001 ||
				!strings.Contains(e.Content, "2026-08-25 and 2026-04-08") {
				t.Errorf("Negotiate(%q) = %+v, want version_unsupported, 422, with both versions", tt.declared, e)
			}
		}
	}
}

func FuzzParseAgent(f *testing.F) {
	for _, seed := range []string{
		`profile="https://platform.example/p"; version="2026-08-25"`, `profile="https://a"`, `profile=()`, `=`, "",
		`profile="\"`,
		`profile="https://user@host/"`, `profile=:aGk=:;version=?0`, "profile=\"https://h/\"\x00",
		`profile="https://[::1]:443/"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		agent, err := ucp.ParseAgent([]string{header})
		if err != nil {
			if e := ucp.FromProblem(asProblem(t, err)); e.Status() != 400 {
				t.Fatalf("ParseAgent(%q) answers %d", header, e.Status())
			}
			return
		}
		if !strings.HasPrefix(strings.ToLower(agent.Profile), "https://") {
			t.Fatalf("ParseAgent(%q) accepts the profile %q", header, agent.Profile)
		}
	})
}
